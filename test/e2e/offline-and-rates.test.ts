// Tests svcpay decode without a service, svcpay rates and svcpay account.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished } from 'vitest';
import { svcpay, svcpayTty } from '../support/in-process.js';
import { test } from '../support/svcpay.js';
import { comesIn } from '../support/shapes.js';

/** An invoice from the examples of BOLT11. */
const invoice =
  'lnbc2500u1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqw' +
  'zqfqypqdq5xysxxatsyp3k7enxv4jsxqzpu9qrsgquk0rl77nj30yxdy8j9vdx85fkpmdla2087ne0xh8nhedh8w27kyke0lp53ut353s06fv3qfegext0eh0ymj' +
  'pf39tuven09sam30g4vgpfna3rh';

describe('svcpay decode', () => {
  test('decodes an invoice from a pipe without a service', async ({ home }) => {
    const run = await svcpay(['decode', '-', '--json'], { home, input: `${invoice}\n` });
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.json()).toMatchObject({
      kind: 'bolt11',
      amountMsat: '250000000',
      description: '1 cup coffee',
      expired: true,
    });
  });

  test('shows the network and the type of a Bitcoin address at a terminal', async ({ home }) => {
    const tty = svcpayTty(
      ['decode', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0'],
      { home },
    );
    await tty.waitFor('Bitcoin address');
    await tty.waitFor(/Network\s+mainnet/);
    await tty.waitFor(/Type\s+P2TR, taproot/);
    expect(await tty.ended).toBe(0);
  });

  test('refuses an invoice with a wrong checksum', async ({ home }) => {
    const run = await svcpay(['decode', invoice.replace('zqfqypq', 'zqfqypp')], { home });
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toMatch(/checksum is wrong/);
  });
});

describe('svcpay rates', () => {
  test('prints an exchange rate in either direction', async ({ around }) => {
    expect((await svcpay(['rates', 'BTC/USD', '-q'], around)).stdout).toBe('100000\n');
    const inverse = await svcpay(['rates', 'usdbtc', '-q'], around);
    expect(inverse).toMatchObject({ stdout: '0.00001\n', stderr: '' });
    expect((await svcpay(['rates', 'nonsense'], around)).exitCode).toBe(2);
  });

  test('suggests a swap quote if the service does not publish rates', async ({ home }) => {
    const server = createServer((request, answer) => {
      const token = { accessToken: 't', expiredAt: Date.now() + 3_600_000, accountId: 'ne01-x' };
      const isToken = request.url?.includes('token-signature') === true;
      answer.writeHead(isToken ? 200 : 404, { 'content-type': 'application/json' });
      answer.end(JSON.stringify(isToken ? token : { error: 'not found' }));
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const sandbox = { url: `http://127.0.0.1:${port}`, apiKey: 'k', apiSecret: 's' };
    const run = await svcpay(['rates'], { home, sandbox });
    expect(run).toMatchObject({ exitCode: 5, stdout: '' });
    expect(run.stderr).toMatch(/does not publish rates[\s\S]*swap 25usdt BTC --quote-only/);
  });
});

test('svcpay account prints the record of the account, and exits 5 for an unknown account', async ({
  around,
}) => {
  const run = await svcpay(['account', '--json'], around);
  expect(run.json()).toMatchObject({
    [comesIn('account-record') ? 'id' : 'accountId']: around.sandbox.accountId,
  });
  expect(await svcpay(['account', 'ne01-strange'], around)).toMatchObject({
    exitCode: 5,
    stdout: '',
  });
});
