// Tests svcpay receive: on-chain requests, QR codes at a terminal, and permanent addresses.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { svcpay, svcpayTty } from '../support/in-process.js';
import { scan, scanned, sextantPixelsOf } from '../support/scanner.js';
import { svcpayTty as startedTty, test } from '../support/svcpay.js';
import { comesIn } from '../support/shapes.js';
import { until } from '../support/until.js';

test('ends after --wait-timeout if the terminal is gone and nothing else interrupts the wait', async ({
  around,
  home,
}) => {
  const end = join(home, 'end');
  // In a session of its own and without the terminal as its input, svcpay hears of the closed
  // terminal only when a write fails.
  const job = `setsid -f sh -c '"$@" < /dev/null; echo $? > "$0"' '${end}' "$@"; sleep 60`;
  const command = ['receive', 'lightning', '1000sat', '--wait', '--wait-timeout', '3s'];
  const tty = startedTty(command, { ...around, job });
  await tty.waitFor('Waiting for the payment');
  tty.close();
  await until(() => existsSync(end) && readFileSync(end, 'utf8') === '8\n');
});

describe('svcpay receive onchain', () => {
  test('sends the specified body and prints the created transaction', async ({ around }) => {
    const run = await svcpay(['receive', 'onchain', '0.01btc', '--json', '--note', 'rent'], around);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.json()).toMatchObject({
      txnState: 'srcintent',
      sourceReq: { reqDetails: { amount: 0.01 } },
    });
    const [request] = around.sandbox.requests('POST', '/api/v2/transaction');
    expect(JSON.parse(request?.requestBody ?? '')).toEqual({
      sourceReq: { ccy: 'BTC', method: 'on-chain', reqDetails: {} },
      destReq: { ccy: 'BTC', method: 'servicepay', reqDetails: {}, amtRequested: 0.01 },
      note: 'rent',
      extRefId: expect.any(String),
    });
  });

  test('prints only the address with -q and writes the QR code to a file', async ({ around }) => {
    const file = join(around.home, 'code.svg');
    const run = await svcpay(['receive', 'onchain', '0.01btc', '-q', '--qr-file', file], around);
    expect(run.stdout).toMatch(/^tb1q[0-9a-z]{38}\n$/);
    expect(readFileSync(file, 'utf8')).toMatch(/^<svg/);
  });

  test('prints the existing deposit address if the reference is repeated', async ({ around }) => {
    const args = ['receive', 'onchain', '0.01btc', '-q', '--ref', 'rent-march'];
    const [first, second] = [await svcpay(args, around), await svcpay(args, around)];
    expect(second.stdout).toBe(first.stdout);
    // The service refuses the create request of the second run, with status 200 in some live
    // response formats.
    expect(
      around.sandbox.requests('POST', '/api/v2/transaction').filter(({ status }) => status === 200),
    ).toHaveLength(comesIn('error-in-200') ? 2 : 1);
  });

  test('shows a QR code at a terminal, then the detected and the confirmed payment', async ({
    around,
  }) => {
    const tty = svcpayTty(['receive', 'onchain', '0.005btc'], around);
    await tty.waitFor('Receive 0.00500000 BTC (500 000 sat) on-chain');
    await tty.waitFor('▀');
    await tty.waitFor(/bitcoin:tb1q[0-9a-z]{38}\?amount=0\.005/);
    const address = /tb1q[0-9a-z]{38}/.exec(tty.text())?.[0] ?? '';
    await tty.waitFor(/Waiting for the payment\s+expires in/);
    await around.sandbox.pay(address);
    await tty.waitFor(/Seen, \d of \d confirmations/);
    await around.sandbox.mine(1);
    expect(await tty.ended).toBe(0);
    expect(tty.text()).toContain('✓ Received 0.00500000 BTC');
  });

  test('fills a small window with the QR code of an invoice when a person presses Enter', async ({
    around,
  }) => {
    const tty = svcpayTty(['receive', 'lightning', '50000sat'], { ...around, rows: 20 });
    await tty.waitFor('too small for the QR code: Enter shows the QR code full-screen');
    const invoice = /\n(lntb\w+)\n/.exec(tty.text())?.[1] ?? '';
    await tty.waitFor('c copy · ⏎ QR · esc leave');
    tty.type('\r');
    await tty.waitFor('any key back');
    const page = tty.raw().slice(tty.raw().indexOf('\u001B[?1049h'));
    const drawn = page
      .split('\r\n')
      .filter((line) => line.includes('48;5;231m'))
      .map((line) => line.replace(/^.*?(?=\u001B\[38;5;16;48;5;231m)/, '').replace('\u001B[K', ''));
    expect(drawn.length).toBeLessThan(24);
    expect(scan(await sextantPixelsOf(drawn))).toBe(invoice.toUpperCase());
    tty.type('q');
    await tty.waitFor('Waiting for the payment');
    expect(tty.raw().lastIndexOf('\u001B[?1049l')).toBeGreaterThan(
      tty.raw().lastIndexOf('\u001B[?1049h'),
    );
    tty.type('c');
    await tty.waitFor('invoice copied');
    expect(tty.raw()).toContain(`\u001B]52;c;${Buffer.from(invoice).toString('base64')}\u0007`);
    tty.type('\r');
    await tty.waitFor('any key back');
    await around.sandbox.pay(invoice);
    await tty.waitFor('Received 0.00050000 BTC');
    expect(await tty.ended).toBe(0);
    expect(tty.raw().lastIndexOf('\u001B[?1049l')).toBeLessThan(
      tty.raw().lastIndexOf('Received 0.00050000 BTC'),
    );
  });

  test('links an address to the configured explorer only at a terminal', async ({ around }) => {
    expect(
      await svcpay(['config', 'set', 'explorer', 'javascript:alert(1)'], around),
    ).toMatchObject({ exitCode: 2, stdout: '' });
    await svcpay(['config', 'set', 'explorer', 'https://mempool.space/testnet/'], around);
    const tty = svcpayTty(['receive', 'address', 'btc'], around);
    expect(await tty.ended).toBe(0);
    const address = /tb1q[0-9a-z]{38}/.exec(tty.text())?.[0] ?? '';
    expect(tty.raw()).toContain(
      `\u001B]8;;https://mempool.space/testnet/address/${address}\u001B\\${address}\u001B]8;;\u001B\\`,
    );
    const decoded = svcpayTty(['decode', address], around);
    expect(await decoded.ended).toBe(0);
    expect(decoded.raw()).toContain(`/address/${address}\u001B\\${address}`);
    const piped = await svcpay(['decode', address, '-o', 'table'], around);
    expect(piped.stdout).toContain(address);
    expect(piped.stdout).not.toContain('\u001B');
  });

  test('stops on Ctrl-Z, and continues to wait if the shell brings svcpay to the foreground', async ({
    around,
  }) => {
    const job = '"$@"; echo "stopped with $?"; read -r line; fg';
    const tty = startedTty(['receive', 'lightning', '50000sat'], { ...around, job });
    const [waiting, hint] = ['Waiting for the payment', 'c copy · ⏎ QR · esc leave'];
    await tty.waitFor(hint);
    tty.type('\r');
    await tty.waitFor('any key back');
    tty.type('\u001A');
    await tty.waitFor('stopped with 148');
    expect(tty.raw().slice(tty.raw().lastIndexOf('\u001B[?1049l'))).not.toContain(waiting);
    tty.type('\r');
    await tty.waitFor(waiting);
    tty.type('c');
    await tty.waitFor('invoice copied');
    await around.sandbox.pay(/\n(lntb\w+)\n/.exec(tty.text())?.[1] ?? '');
    await tty.waitFor('Received 0.00050000 BTC');
    expect(await tty.ended).toBe(0);
  });

  test('reads no keys with --no-input', async ({ around }) => {
    const tty = svcpayTty(['receive', 'lightning', '50000sat', '--no-input'], {
      ...around,
      rows: 20,
    });
    await tty.waitFor('too small for the QR code: --qr-file');
    await tty.waitFor('Waiting for the payment');
    expect(tty.text()).not.toContain('c copy');
    tty.type('\u0003');
    expect(await tty.ended).toBe(8);
  });

  test('reports a detected payment if the wait for its confirmations times out', async ({
    around,
  }) => {
    const args = ['receive', 'onchain', '0.01btc', '--ref', 'seen'];
    const asked = await svcpay([...args, '-q'], around);
    await around.sandbox.pay(asked.stdout.trim());
    const run = await svcpay([...args, '--wait', '--wait-timeout', '1s'], around);
    expect(run).toMatchObject({ exitCode: 8, stdout: '' });
    expect(run.stderr).toContain(
      'Stopped waiting. The payment was seen and is waiting for confirmations.',
    );
  });

  test('ends with exit 6 if the receive request with the reference has expired unpaid', async ({
    around,
  }) => {
    const asked = await svcpay(['receive', 'onchain', '0.01btc', '-q', '--ref', 'late'], around);
    expect(asked.exitCode).toBe(0);
    await around.sandbox.clock.advance('61m');
    const run = await svcpay(
      ['receive', 'onchain', '0.01btc', '-o', 'jsonl', '--ref', 'late'],
      around,
    );
    expect(run).toMatchObject({ exitCode: 6, stdout: '' });
    expect(run.stderr).toContain('the payment request expired unpaid');
  });

  test.for([
    [
      'an amount in another currency',
      ['0.01usdt'],
      /amount in USDT, but the amount must be in BTC/,
    ],
    [
      'a QR code file that is not a picture',
      ['0.01btc', '--qr-file', 'code.pdf'],
      /must end in \.svg or \.png/,
    ],
  ] as const)(
    'refuses %s before it creates a transaction',
    async ([, args, message], { around }) => {
      const run = await svcpay(['receive', 'onchain', ...args], around);
      expect(run).toMatchObject({ exitCode: 2, stdout: '' });
      expect(run.stderr).toMatch(message);
      expect(around.sandbox.requests('POST', '/api/v2/transaction')).toHaveLength(0);
    },
  );
});

describe('svcpay receive at a terminal', () => {
  test.for([
    [80, 24],
    [60, 20],
    [140, 45],
  ] as const)(
    'shows a scannable address and a complete invoice in a window of %dx%d',
    async ([columns, rows], { around }) => {
      const asked = async (...words: readonly string[]) => {
        const tty = svcpayTty(['receive', ...words], { ...around, columns, rows });
        await tty.waitFor(/Waiting for the payment +expires in/);
        tty.type('\u0003');
        expect(await tty.ended).toBe(8);
        return tty;
      };
      const onchain = await asked('onchain', '0.01btc');
      const [uri = '', address = ''] =
        /bitcoin:(tb1q[0-9a-z]{38})\?amount=0\.01/.exec(onchain.text()) ?? [];
      expect(await scanned(onchain.raw())).toBe(
        uri.replace(address, address.toUpperCase()).replace('bitcoin', 'BITCOIN'),
      );
      expect(onchain.text()).toMatch(new RegExp(`▀[^\\n]*\\n(?: *\\n)*${address}\\n`));
      expect(onchain.text()).toMatch(
        /[✗●•!] Stopped waiting\. The address can be paid until \d\d:\d\d\.\n {2}svcpay tx watch [0-9a-f-]{36}\n/,
      );

      const lightning = await asked(
        'lightning',
        '50000sat',
        '--qr-file',
        join(around.home, 'code.png'),
      );
      const invoice = /\n(lntb\w+)\n/.exec(lightning.text())?.[1] ?? '';
      expect(lightning.raw()).toContain(`\n${invoice}\r\n`);
      if (columns === 140) expect(await scanned(lightning.raw())).toBe(invoice.toUpperCase());
      expect(/[\u{1FB00}-\u{1FB3B}]/u.test(lightning.raw())).toBe(columns === 80);
      expect(lightning.text().match(/too small for the QR code/g) ?? []).toHaveLength(
        columns === 60 ? 1 : 0,
      );
      expect(lightning.text().replace(/\s+/g, ' ')).toContain('QR code written to');
      expect(lightning.text()).toMatch(/The invoice can be paid until \d\d:\d\d\./);
    },
  );
});

describe('svcpay receive address', () => {
  test.for([
    ['Bitcoin', ['btc'], /^tb1q[0-9a-z]{38}\n$/],
    ['TRON', ['usdt', '--chain', 'tron'], /^T[1-9A-HJ-NP-Za-km-z]{33}\n$/],
    ['Ethereum', ['usdt', '--chain', 'eth'], /^0x[0-9a-fA-F]{40}\n$/],
  ] as const)(
    'prints only the %s deposit address with -q',
    async ([, args, address], { around }) => {
      const run = await svcpay(['receive', 'address', ...args, '-q'], around);
      expect(run).toMatchObject({ exitCode: 0 });
      expect(run.stdout).toMatch(address);
    },
  );

  test('prints the deposit address record of the service with --json', async ({ around }) => {
    const run = await svcpay(['receive', 'address', 'usdt', '--chain', 'tron', '--json'], around);
    expect(run.json()).toMatchObject({
      ...(!comesIn('usdt-address-renamed', 'usdt-address-bare') && {
        walletCcy: 'USDT',
        chainId: 'TRON',
      }),
      staticOnchainAddress: expect.stringMatching(/^T/),
    });
  });

  test('asks for the chain of a USDT address at a terminal and shows a QR code', async ({
    around,
  }) => {
    const tty = svcpayTty(['receive', 'address', 'usdt'], around);
    await tty.waitFor('on which chain');
    tty.type('\r');
    await tty.waitFor('Your USDT address on TRON');
    await tty.waitFor('▀');
    await tty.waitFor('USDT on TRON: anything else sent here is lost');
    expect(await tty.ended).toBe(0);
  });

  test.for([
    ['a USDT address without --chain in a script', ['usdt'], 9, /--chain tron\|eth/],
    [
      '--chain for a Bitcoin address',
      ['btc', '--chain', 'tron'],
      2,
      /--chain works only with usdt/,
    ],
    ['a currency without addresses', ['vnd'], 2, /not one of btc, usdt/],
  ] as const)('refuses %s', async ([, args, exitCode, message], { around }) => {
    const run = await svcpay(['receive', 'address', ...args], around);
    expect(run).toMatchObject({ exitCode, stdout: '' });
    expect(run.stderr).toMatch(message);
  });
});
