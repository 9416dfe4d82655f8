// Tests the first commands of a new user: log in, list wallets, receive, swap, list, watch and log
// out, at a terminal and in a pipe.
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Sandbox } from '../../src/sandbox/server.js';
import { svcpay } from '../support/in-process.js';
import { inside } from '../support/shapes.js';
import { startSvcpay, svcpay as started, svcpayTty, test } from '../support/svcpay.js';

const login = (sandbox: Sandbox, home: string) =>
  started(
    [
      'login',
      '--base-url',
      sandbox.url,
      '--api-key',
      sandbox.apiKey,
      '--api-secret-stdin',
      '--json',
    ],
    {
      home,
      input: `${sandbox.apiSecret}\n`,
    },
  );

const mode = (path: string): number => statSync(path).mode & 0o777;

describe('svcpay login', () => {
  test('stores the secret in a file that only its owner can read, and prints the path', async ({
    sandbox,
    home,
  }) => {
    const run = await login(sandbox, home);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.json()).toMatchObject({
      accountId: sandbox.accountId,
      secretIn: expect.stringContaining('secrets.json'),
    });
    expect(run.stdout + run.stderr).not.toContain(sandbox.apiSecret);
    expect(mode(home)).toBe(0o700);
    expect(readdirSync(home).map((file) => [file, mode(join(home, file))])).toEqual(
      readdirSync(home).map((file) => [file, 0o600]),
    );
  });

  test('asks for address, key and secret at a terminal without showing the secret', async ({
    sandbox,
    home,
  }) => {
    const tty = svcpayTty(['login'], { home });
    await tty.waitFor('Address of the service');
    tty.type(`${sandbox.url}\r`);
    await tty.waitFor('API key');
    tty.type(`${sandbox.apiKey}\r`);
    await tty.waitFor('API secret');
    tty.type('\u001B');
    await tty.waitFor(`API key (esc back) (${sandbox.apiKey})`);
    tty.type('\r');
    await tty.waitFor('API secret');
    tty.type(`${sandbox.apiSecret}\r`);
    expect(await tty.ended).toBe(0);
    expect(tty.text()).toContain(sandbox.accountId);
    expect(tty.raw()).not.toContain(sandbox.apiSecret);
    expect(await svcpay(['wallets', 'BTC', '-q'], { home })).toMatchObject({
      exitCode: 0,
      stdout: '1\n',
    });
  });

  test('replaces a sandbox profile with a real service after the person confirms', async ({
    sandbox,
    home,
  }) => {
    await svcpay(['login', '--sandbox'], { home });
    const blind = await svcpay(['login', '--api-key', sandbox.apiKey, '--api-secret-stdin'], {
      home,
      input: sandbox.apiSecret,
    });
    expect(blind).toMatchObject({ exitCode: 9, stdout: '' });
    const tty = svcpayTty(['login', '--api-key', sandbox.apiKey], { home });
    await tty.waitFor('Address of the service');
    tty.type(`${sandbox.url}\r`);
    await tty.waitFor('Replace it?');
    tty.type('y\r');
    await tty.waitFor('API secret');
    tty.type(`${sandbox.apiSecret}\r`);
    expect(await tty.ended).toBe(0);
    expect((await svcpay(['whoami', '--json'], { home })).json()).toMatchObject({
      accountId: sandbox.accountId,
      baseUrl: sandbox.url,
    });
  });

  test('stores a token so that the next command does not sign in again', async ({
    sandbox,
    home,
  }) => {
    await login(sandbox, home);
    await svcpay(['wallets'], { home });
    expect(sandbox.requests('POST', '/api/v2/authentication/token-signature')).toHaveLength(1);
  });

  test('lists every missing login option if there is no terminal', async ({ home }) => {
    const run = await started(['login'], { home });
    expect(run).toMatchObject({ exitCode: 9, stdout: '' });
    expect(run.stderr).toContain('Missing --base-url URL, --api-key KEY and --api-secret-stdin.');
  });

  test('stores a secret that svcpay logout deletes', async ({ sandbox, home }) => {
    await login(sandbox, home);
    expect(await svcpay(['logout', '--yes'], { home })).toMatchObject({ exitCode: 0 });
    const kept = readdirSync(home)
      .map((file) => readFileSync(join(home, file), 'utf8'))
      .join('');
    expect(kept).not.toContain(sandbox.apiSecret);
    expect(await svcpay(['wallets'], { home })).toMatchObject({ exitCode: 4, stdout: '' });
  });

  test('names the profiles with the same API key that svcpay logout logs out too', async ({
    sandbox,
    home,
  }) => {
    const { url, apiKey, apiSecret } = sandbox;
    const words = ['login', '--base-url', url, '--api-key', apiKey, '--api-secret-stdin'];
    for (const profile of ['default', 'second'])
      await svcpay([...words, '--profile', profile], { home, input: apiSecret });
    const run = await svcpay(['logout', '--profile', 'second', '--yes'], { home });
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.stderr).toContain('Logged out of profile second, default.');
    expect(await svcpay(['wallets'], { home })).toMatchObject({ exitCode: 4 });
  });
});

describe('svcpay wallets', () => {
  test('prints the wallets as a table with column headings if stdout is a terminal', async ({
    around,
  }) => {
    const tty = svcpayTty(['wallets'], around);
    expect(await tty.ended).toBe(0);
    expect(tty.text()).toMatch(/Currency\s+Available\s+Reserved\s+Total/);
    expect(tty.text()).toMatch(/VND\s+50 000 000\s+0\s+50 000 000/);
  });

  test('prints the wallets as tab-separated rows without colour if stdout is a pipe', async ({
    around,
  }) => {
    const run = await started(['wallets'], around);
    expect(run.stdout.split('\n')[0]).toBe('BTC\t1\t0\t1');
  });

  test('prints the same JSON whether --json comes before or after the command', async ({
    around,
  }) => {
    const after = await svcpay(['wallets', '--json'], around);
    const before = await svcpay(['--json', 'wallets'], around);
    expect(after.json()).toEqual(before.json());
    expect(after.json()).toContainEqual(
      expect.objectContaining({ ccy: 'BTC', availableBalance: 1 }),
    );
  });

  test('prints the field names of the specification if the service uses other names', async ({
    home,
  }) => {
    const env = { SVCPAY_MAKER: 'acme' };
    const run = await svcpay(['--sandbox', 'swap', '25usdt', 'BTC', '--yes', '--json'], {
      home,
      env,
    });
    expect(run.json()).toMatchObject({
      txnState: 'completed',
      sourceReq: { method: 'servicepay', servicepayFees: expect.any(Number) },
    });
    expect(run.stdout).not.toContain('acme');
  });
});

describe('svcpay receive lightning', () => {
  test('prints only the invoice with -q', async ({ around }) => {
    const run = await started(['receive', 'lightning', '50000sat', '-q'], around);
    expect(run.stdout).toMatch(/^lntb500u1[a-z0-9]+\n$/);
    expect(run.stderr).toBe('');
  });

  test('shows the invoice and a countdown until the payment arrives', async ({ around }) => {
    const tty = svcpayTty(['receive', 'lightning', '50000sat'], around);
    await tty.waitFor(/lntb500u1/);
    await tty.waitFor(/Page\s+http/);
    await tty.waitFor(/Waiting for the payment {3}expires in 59:/);
    const [{ responseBody = '' } = {}] = around.sandbox.requests('POST', '/api/v2/transaction');
    const { txnId } = inside(JSON.parse(responseBody)) as { txnId: string };
    await around.sandbox.pay(txnId);
    expect(await tty.ended).toBe(0);
    expect(tty.text()).toMatch(/✓ Received 0\.00050000 BTC \(50 000 sat\)/);
  });

  test('prints a notice if the window is too small for the QR code', async ({ around }) => {
    const tty = svcpayTty(['receive', 'lightning', '50000sat', '--no-wait'], {
      ...around,
      columns: 40,
      rows: 20,
    });
    expect(await tty.ended).toBe(0);
    expect(tty.text()).toContain('too small');
    expect(tty.text()).not.toContain('▀');
  });

  test('prints a line for every state change with -o jsonl', async ({ around }) => {
    const { child, ended, stdout } = startSvcpay(
      ['receive', 'lightning', '50000sat', '--wait', '-o', 'jsonl'],
      around,
    );
    await new Promise<void>((seen) =>
      child.stdout.on('data', () => stdout().includes('\n') && seen()),
    );
    await around.sandbox.pay(JSON.parse(stdout()).txnId);
    const states = (await ended).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).txnState);
    expect(states).toEqual(['srccreated', 'completed']);
  });

  test('ends with exit 8 after Ctrl-C and suggests svcpay tx watch', async ({ around }) => {
    const tty = svcpayTty(['receive', 'lightning', '50000sat'], around);
    await tty.waitFor('Waiting for the payment');
    tty.type('\u0003');
    expect(await tty.ended).toBe(8);
    expect(tty.text()).toMatch(/svcpay tx watch [0-9a-f-]{36}/);
    expect(tty.raw()).toContain('\u001B[?25h');
  });

  test('prints the existing invoice if the reference is repeated', async ({ around }) => {
    const receive = ['receive', 'lightning', '50000sat', '--ref', 'order-118', '-q'];
    const [first, second] = [await svcpay(receive, around), await svcpay(receive, around)];
    expect(second.stdout).toBe(first.stdout);
  });

  test('writes the QR code to the file that --qr-file names', async ({ around, home }) => {
    const file = join(home, 'code.svg');
    await svcpay(['receive', 'lightning', '50000sat', '-q', '--qr-file', file], around);
    expect(existsSync(file) && readFileSync(file, 'utf8')).toMatch(/^<svg /);
  });
});

describe('svcpay swap', () => {
  test('puts the amount only on the source side of the create request', async ({ around }) => {
    await svcpay(['swap', '25', 'USDT', 'BTC', '--yes'], around);
    const [request] = around.sandbox.requests('POST', '/api/v2/transaction');
    expect(JSON.parse(request?.requestBody ?? '')).toEqual({
      sourceReq: { ccy: 'USDT', method: 'servicepay', reqDetails: {}, amtRequested: 25 },
      destReq: { ccy: 'BTC', method: 'servicepay', reqDetails: {} },
      extRefId: expect.any(String),
    });
  });

  test('ends with exit 7 before money moves if the fee exceeds --max-fee', async ({ around }) => {
    const run = await svcpay(['swap', '25usdt', 'BTC', '--max-fee', '0.1%', '--yes'], around);
    expect(run).toMatchObject({ exitCode: 7, stdout: '' });
    expect(around.sandbox.requests('PUT')).toHaveLength(0);
  });

  test('refuses an amount above the balance with exit 7', async ({ around }) => {
    const run = await svcpay(['swap', '20000usdt', 'BTC', '--yes', '--json'], around);
    expect(run).toMatchObject({ exitCode: 7, stdout: '' });
    expect(run.error().message).toContain('10 000.00 USDT');
  });

  test('prints a quote and does not confirm the swap if --quote-only is set', async ({
    around,
  }) => {
    const run = await svcpay(['swap', '25usdt', 'BTC', '--quote-only', '--json'], around);
    expect(run.json()).toMatchObject({ txnState: 'quoted' });
    expect(around.sandbox.requests('PUT')).toHaveLength(0);
  });
});

describe('svcpay tx', () => {
  test('lists the newest transaction last and shows a transaction by its id', async ({
    around,
  }) => {
    await started(['swap', '25usdt', 'BTC', '--yes'], around);
    const { stdout: id } = await svcpay(['swap', '1usdt', 'BTC', '--yes', '-q'], around);
    const list = await svcpay(['tx', 'list', '-q'], around);
    expect(list.stdout.trim().split('\n').at(-1)).toBe(id.trim());
    const one = await svcpay(['tx', 'get', id.trim(), '--json'], around);
    expect(one.json()).toMatchObject({ txnId: id.trim(), txnState: 'completed' });
  });

  test('tx get exits with 5 if the id is unknown', async ({ around }) => {
    expect(await svcpay(['tx', 'get', 'nobody'], around)).toMatchObject({
      exitCode: 5,
      stdout: '',
    });
  });

  test('tx watch exits with 6 if the watched invoice expires', async ({ around }) => {
    const { stdout } = await svcpay(['receive', 'lightning', '1000sat', '--json'], around);
    const { txnId } = JSON.parse(stdout);
    const watching = svcpay(['tx', 'watch', txnId, '--json'], around);
    await around.sandbox.clock.advance('2h');
    const run = await watching;
    expect(run).toMatchObject({ exitCode: 6, stdout: '' });
    expect(run.error()).toMatchObject({ kind: 'payment-failed', txnId });
  });
});

describe('svcpay demo', () => {
  test('runs a complete demonstration without an account', async ({ home }) => {
    const run = await started(['demo'], { home });
    expect(run).toMatchObject({ exitCode: 0 });
    for (const sign of ['$ svcpay wallets', 'lntb500u1', 'Coffee House', 'You pay', 'done']) {
      expect(run.stdout + run.stderr).toContain(sign);
    }
    expect(run.stdout + run.stderr).not.toContain('\u001B');
  });
});
