// After invalid input or with a wrong service, svcpay explains the error, ends with the exit code
// of the error, leaves stdout empty and sends no needless request.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect } from 'vitest';
import { encodeInvoice } from '../../src/formats/bolt11/encode.js';
import { quickTime, svcpay } from '../support/in-process.js';
import { createRequests } from '../support/orders.js';
import { svcpay as runProcess, test } from '../support/svcpay.js';

const key = new Uint8Array(32).fill(7);

const invoice = (network: 'mainnet' | 'testnet', timestamp: number): string =>
  encodeInvoice(
    {
      network,
      amountMsat: 1_000_000n,
      timestamp,
      paymentHash: '11'.repeat(32),
      paymentSecret: '22'.repeat(32),
      description: 'coffee',
      expiry: 600,
    },
    key,
  );

const inSeconds = (ms: number): number => Math.floor(ms / 1000);

const changeOne = (text: string): string => {
  const at = text.length - 20;
  return `${text.slice(0, at)}${text[at] === 'q' ? 'p' : 'q'}${text.slice(at + 1)}`;
};

interface Case {
  readonly why: string;
  readonly args: (fresh: string) => string[];
  readonly message: RegExp;
  readonly env?: Record<string, string>;
}

const refusedHere: readonly Case[] = [
  {
    why: 'unknown options and wrong values, in one message',
    args: () => ['tx', 'list', '--bar', '--al', '--limit', 'x', '--state', 'complet'],
    message:
      /^There is no option "--bar"\. .*Did you mean --all\? .*Did you mean completed\? "x" is not a whole number/,
  },
  {
    why: 'an unknown name in --fields',
    args: (it) => ['send', 'lightning', it, '--yes', '--json', '--fields', 'txnStat'],
    message: /txnStat.* is not a field/,
  },
  {
    why: '--sandbox together with --base-url',
    args: () => ['wallets', '--sandbox', '--base-url', 'https://pay.example'],
    message: /either --sandbox or --base-url/,
  },
  {
    why: 'send --no-wait with --wait-timeout',
    args: (it) => ['send', it, '--yes', '--no-wait', '--wait-timeout', '5m'],
    message: /either --no-wait or --wait-timeout/,
  },
  {
    why: 'tx resume --no-wait with --wait-timeout',
    args: () => ['tx', 'resume', '--no-wait', '--wait-timeout', '5s'],
    message: /either --no-wait or --wait-timeout/,
  },
  {
    why: 'an invoice with a changed character',
    args: (it) => ['send', 'lightning', changeOne(it)],
    message: /checksum is wrong/,
  },
  {
    why: 'an expired invoice',
    args: () => ['send', 'lightning', invoice('testnet', inSeconds(Date.now()) - 840)],
    message: /^Not sent: the invoice expired 4 minutes ago\. Ask for a new one\./,
  },
  {
    why: 'a testnet invoice on a mainnet profile',
    args: () => ['send', 'lightning', invoice('testnet', inSeconds(Date.now()))],
    env: { SVCPAY_NETWORK: 'mainnet' },
    message: /testnet invoice.*mainnet/,
  },
  {
    why: 'a bitcoin amount without a unit',
    args: () => ['receive', 'lightning', '50000'],
    message: /50000 has no unit\. Write 50000sat \(0\.0005 BTC\)/,
  },
  {
    why: 'a bitcoin amount with nine decimals',
    args: () => ['receive', 'lightning', '0.000000001btc'],
    message: /9 decimals.*at most 8/,
  },
  {
    why: 'a swap amount without a unit',
    args: () => ['swap', '1', 'BTC', 'USDT'],
    message: /1 has no unit/,
  },
  {
    why: 'a swap between a wallet and itself',
    args: () => ['swap', '1btc', 'BTC'],
    message: /two different wallets/,
  },
  { why: 'an unknown command', args: () => ['wallet'], message: /Did you mean wallets/ },
  { why: 'an unknown option', args: () => ['wallets', '--jsn'], message: /Did you mean --json/ },
  {
    why: 'a reference that ends like a second attempt',
    args: (it) => ['send', 'lightning', it, '--ref', 'a~2'],
    message: /cannot be a reference/,
  },
];

describe('svcpay with invalid input', () => {
  test.for(refusedHere.map((each) => [each.why, each] as const))(
    'refuses %s before it creates a transaction',
    async ([, { args, message, env }], { around }) => {
      const fresh = await around.sandbox.invoice('1000sat');
      const run = await svcpay([...args(fresh), '--yes'], { ...around, ...(env && { env }) });
      expect(run).toMatchObject({ exitCode: 2, stdout: '' });
      expect(run.stderr).toMatch(message);
      expect(createRequests(around.sandbox)).toHaveLength(0);
    },
  );

  test('lists the existing wallets if the account lacks the requested wallet', async ({
    around,
  }) => {
    const refused = [
      ['send', 'ada@example.com', '5xyz', '--from', 'XYZ', '--yes'],
      ['swap', '5usdt', 'XYZ', '--yes'],
    ];
    for (const args of refused) {
      const run = await svcpay(args, around);
      expect(run).toMatchObject({ exitCode: 3, stdout: '' });
      expect(run.stderr).toMatch(
        /^Nothing moved: this account has no XYZ wallet\. It has BTC, USDT, USD, CAD, VND\.\n {2}Request req-\S+\n$/,
      );
    }
    expect((await svcpay(['wallets', 'XYZ'], around)).stderr).toContain('It has BTC, USDT');
  });

  test('reports an insufficient balance only once', async ({ around }) => {
    const run = await svcpay(['swap', '99999usdt', 'BTC', '--yes'], around);
    expect(run).toMatchObject({ exitCode: 7, stdout: '' });
    expect(run.stderr.match(/10 000(?:\.00)? USDT/g)).toHaveLength(1);
  });

  test('refuses a reference with invalid UTF-8 because it could look identical to another reference', async ({
    around,
  }) => {
    const fresh = await around.sandbox.invoice('1000sat');
    for (const byte of ['376', '377']) {
      const run = await runProcess(['send', 'lightning', fresh, '--yes'], {
        ...around,
        redirect: `--ref "$(printf 'a\\${byte}')"`,
      });
      expect(run).toMatchObject({ exitCode: 2, stdout: '' });
      expect(run.stderr).toContain('UTF-8');
    }
    expect(createRequests(around.sandbox)).toHaveLength(0);
  });

  test('writes the error as JSON to the last line of stderr with --json', async ({ around }) => {
    const run = await svcpay(['receive', 'lightning', '50000', '--json'], around);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.error()).toMatchObject({
      kind: 'usage',
      exitCode: 2,
      message: expect.stringContaining('50000 has no unit.'),
    });
  });
});

describe('svcpay with blanks around an argument', () => {
  const padded = (word: string): string => `\u00A0 ${word} \r\n`;

  test('removes blanks and line ends around a pasted amount, invoice, id or currency', async ({
    around,
  }) => {
    const asked = await svcpay(['receive', 'lightning', padded('1000sat'), '--json'], around);
    expect(asked.json()).toMatchObject({ destReq: { amtRequested: 0.00001 } });
    const fresh = await around.sandbox.invoice('1000sat');
    const paid = await svcpay(
      [
        'send',
        'lightning',
        padded(fresh),
        '--max-fee',
        padded('9sat'),
        '--ref',
        'r-2',
        '--yes',
        '-q',
      ],
      around,
    );
    expect(paid).toMatchObject({ exitCode: 0 });
    const lines = [
      ['tx', 'get', padded(paid.stdout.trim())],
      ['wallets', padded('btc')],
    ];
    for (const line of lines) expect(await svcpay(line, around)).toMatchObject({ exitCode: 0 });
  });

  test('treats references that differ in a leading blank as different payments', async ({
    around,
  }) => {
    const send = async (ref: string) =>
      svcpay(
        ['send', 'lightning', await around.sandbox.invoice('1000sat'), '--ref', ref, '--yes', '-q'],
        around,
      );
    const [one, other] = [await send('order-1'), await send(' order-1')];
    expect([one.exitCode, other.exitCode]).toEqual([0, 0]);
    for (const [ref, { stdout }] of [
      ['order-1', one],
      [' order-1', other],
    ] as const) {
      expect(await svcpay(['tx', 'get', ref, '-q'], around)).toMatchObject({ exitCode: 0, stdout });
      expect(await svcpay(['tx', 'resume', ref, '-q'], around)).toMatchObject({ exitCode: 0 });
    }
    expect(new Set([one.stdout, other.stdout]).size).toBe(2);
    const rows = await Promise.all([0, 1].map(() => around.sandbox.invoice('1000sat')));
    const file = `ref,to\nrow,${rows[0]}\n"row ",${rows[1]}\n`;
    // A blank in a cell of a file is invisible, so svcpay refuses the reference.
    expect(await svcpay(['batch', '-', '--yes'], { ...around, input: file })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Line 3, ref: The reference "row " must not begin or end'),
    });
    expect(createRequests(around.sandbox)).toHaveLength(2);
  });

  test('keeps a trailing blank as part of a file name', async ({ around }) => {
    const run = await svcpay(
      ['receive', 'lightning', '1000sat', '--qr-file', `${around.home}/a.svg `],
      around,
    );
    expect(run).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('must end in') });
  });
});

describe('svcpay with wrong credentials', () => {
  test.for([
    ['key', { SVCPAY_API_KEY: 'somebody-else' }],
    ['secret', { SVCPAY_API_SECRET: 'not-the-secret' }],
  ] as const)(
    'ends with exit 4 and suggests svcpay login for a wrong API %s',
    async ([, change], { around }) => {
      const run = await svcpay(['wallets'], { ...around, env: change });
      expect(run).toMatchObject({ exitCode: 4, stdout: '' });
      expect(run.stderr).toContain('svcpay login');
      expect(run.stderr).not.toContain(around.sandbox.apiSecret);
    },
  );

  test('stores no profile if the secret at login is wrong', async ({ around, home }) => {
    const { url, apiKey } = around.sandbox;
    const login = ['login', '--base-url', url, '--api-key', apiKey, '--api-secret-stdin'];
    expect(await svcpay(login, { home, input: 'wrong\n' })).toMatchObject({
      exitCode: 4,
      stdout: '',
    });
    const after = await svcpay(['whoami'], { home });
    expect(after).toMatchObject({ exitCode: 4, stdout: '' });
    expect(after.stderr).toContain('not logged in');
  });
});

describe('svcpay with a wrong service address', () => {
  test('ends with exit 75 if the service is unreachable', async ({ around }) => {
    await around.sandbox.stop();
    const run = await svcpay(['wallets', '--timeout', '2s'], around);
    expect(run).toMatchObject({ exitCode: 75, stdout: '' });
  });

  test('refuses plain http to a remote host with exit 2', async ({ home }) => {
    const env = {
      SVCPAY_BASE_URL: 'http://pay.example',
      SVCPAY_API_KEY: 'k',
      SVCPAY_API_SECRET: 's',
    };
    const run = await svcpay(['wallets'], { home, env });
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toContain('https');
  });

  test.for([
    ['an HTML page', 200, /"Welcome"/],
    ['a redirect', 302, /redirects to a different address.*https:\/\/login\.example\//],
  ] as const)(
    'ends with exit 75 and describes the response if the address responds with %s',
    async ([, status, message], { home }) => {
      const server = createServer((_request, response) => {
        const headers = {
          'content-type': 'text/html',
          location: 'https://login.example/?from=here',
        };
        response.writeHead(status, headers).end('<html><body>Welcome</body></html>');
      });
      await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const around = {
        home,
        env: { SVCPAY_BASE_URL: url, SVCPAY_API_KEY: 'k', SVCPAY_API_SECRET: 's' },
        ...quickTime(),
      };
      for (const line of [
        ['wallets'],
        ['send', 'ann@pay.example', '1000sat', '--yes'],
        ['tx', 'list'],
      ]) {
        expect(await svcpay(line, around)).toMatchObject({
          exitCode: 75,
          stdout: '',
          stderr: expect.stringMatching(message),
        });
      }
      server.close();
    },
  );
});
