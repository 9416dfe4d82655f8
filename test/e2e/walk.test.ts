// Tests commands at a terminal in windows of three sizes: waits, questions and interruptions.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { svcpay } from '../support/in-process.js';
import { startInPty } from '../support/pty.js';
import { comesIn } from '../support/shapes.js';
import { environment, test } from '../support/svcpay.js';
import { windows } from '../support/windows.js';
import { runsAll } from '../support/part.js';

const enter = '\r';
const escape = '\u001B';
const interrupt = '\u0003';
const tron = 'TJCnKsPa7y5okkXvQAidZBzqx3QyQ6sxMW';
const down = '\u001B[B';

describe.for(windows)('svcpay in a window of $columns x $rows', { timeout: 60_000 }, (window) => {
  const { columns, rows, svcpayTty, start } = window;
  test('shows the host during a wait and ignores keys typed before the question', async ({
    around,
    sandbox,
  }) => {
    await sandbox.faults.add({ kind: 'latency', delay: '1500ms', times: 3 });
    const tty = svcpayTty(['send', 'alice@example.com', '5000sat'], around);
    await tty.waitFor(/Waiting for 127\.0\.0\.1:\d+/);
    tty.type(`yes${enter}echo typed ahead`);
    await tty.waitFor(/You pay[^]*Pay .*\? \(y\/N\)/);
    expect(tty.text()).not.toMatch(/yes|typed/);
    tty.type(`n${enter}`);
    expect(await tty.ended).toBe(9);
    expect(tty.text()).not.toMatch(/yes|typed/);
    expect(sandbox.requests('PUT')).toHaveLength(0);
  });

  test.skipIf(comesIn('list-abbreviated'))(
    'shows the overview without waiting for slow exchange rates',
    async ({ around, sandbox }) => {
      await svcpay(['send', 'alice@example.com', '120000sat', '--yes', '--no-wait'], around);
      await sandbox.clock.advance('5m');
      await sandbox.faults.add({
        kind: 'latency',
        path: '/api/v2/rate',
        times: 'always',
        delay: '60s',
      });
      const tty = svcpayTty([], around);
      await tty.waitFor('What next?');
      tty.type(`${down}${down}`);
      await tty.waitFor('❯ Swap');
      const [above = '', menu = ''] = tty.text().split('What next?');
      expect(above).toMatch(/BTC +0\.99\d+( +(Last)?.* ↑ alice@\S+ +−120 000 sat)?\n/);
      expect(
        Math.max(
          ...above
            .split('\n')
            .filter((line) => !line.includes('Waiting'))
            .map((line) => line.length),
        ),
      ).toBeLessThanOrEqual(columns);
      expect(menu).not.toContain('Waiting');
      tty.type(escape);
      expect(await tty.ended).toBe(0);
    },
  );

  test('asks again at login after an unreachable host and after a wrong key', async ({
    home,
    sandbox,
  }) => {
    const tty = svcpayTty(['login'], { home });
    await tty.waitFor('Address of the service');
    tty.type(`localhost:1${enter}`);
    await tty.waitFor(/refused[^]*Address of the service/);
    tty.type(`${sandbox.url.replace('http://', '')}${enter}`);
    await tty.waitFor('API key');
    tty.type(`mistyped${enter}`);
    await tty.waitFor('API secret');
    tty.type(`wrong${enter}`);
    await tty.waitFor(/Check the API key[^]*API secret/);
    tty.type('\u001B');
    await tty.waitFor(/API key \(/);
    tty.type(`${'\u007F'.repeat('mistyped'.length)}${sandbox.apiKey}${enter}`);
    await tty.waitFor('API secret');
    tty.type(`${sandbox.apiSecret}${enter}`);
    await tty.waitFor('Saved as profile "default", now your default.');
    expect(await tty.ended).toBe(0);
  });

  test('reports a missing login before the first question of a guided command', async ({
    home,
  }) => {
    for (const command of ['send', 'swap', 'payout', 'receive']) {
      const tty = svcpayTty([command], { home });
      expect(await tty.ended).toBe(4);
      expect(tty.text()).toMatch(/you are not logged in/i);
      expect(tty.text()).not.toContain('?');
    }
  });

  test('removes a withdrawn answer from the screen even with --no-color', async ({ around }) => {
    const pty = start(['swap', '--no-color'], around);
    await pty.shows(/\? From[^]*❯ 1\.0/);
    pty.type(enter);
    await pty.shows(/✓ from BTC[^]*\? To/);
    pty.type(escape);
    await pty.shows('? From');
    expect(pty.screen().join('\n')).not.toMatch(/from BTC|\? To/);
    pty.type(enter);
    await pty.shows('? To');
    pty.type(enter);
    await pty.shows('Amount to give');
    pty.type(`1000sat${enter}`);
    await pty.shows(/You pay[^]*\(y\/N\)\s+quote valid 5\d s/);
    pty.type(`n${enter}`);
    await pty.shows('What now?');
    pty.type(escape);
    expect(await pty.exit).toBe(9);
    expect(pty.written()).not.toMatch(/\u001B\[(?:1|2|3\d|9\d)m/);
  });

  test('lets pasted text replace a refused answer to a question', async ({ around }) => {
    const pty = start(['send'], around);
    await pty.shows('Pay to');
    pty.type(`${tron.slice(0, -1)}X${enter}`);
    await pty.shows('checksum');
    pty.type(tron);
    pty.type(enter);
    await pty.shows('Amount in USDT');
    pty.type(interrupt);
    expect(await pty.exit).toBe(130);
  });

  test('creates and stores a webhook secret in svcpay webhook listen if the secret is missing', async ({
    around,
  }) => {
    const tty = svcpayTty(['webhook', 'listen', '--port', '0'], around);
    await tty.waitFor(/Created a webhook secret and saved it in[^]*Listening on/);
    tty.type(interrupt);
    await tty.ended;
    expect(await svcpay(['webhook', 'listen', '--print-secret', '-q'], around)).toMatchObject({
      stdout: expect.stringMatching(/^whsec_\S{43}\n$/),
    });
  });

  test.skipIf(comesIn('list-abbreviated'))(
    'offers a search of the history if svcpay tx get has no id',
    async ({ around, sandbox }) => {
      await svcpay(['swap', '25', 'USDT', 'BTC', '--yes'], around);
      await svcpay(['send', 'alice@example.com', '5000sat', '--yes', '--no-wait'], around);
      await sandbox.clock.advance('1m');
      const tty = svcpayTty(['tx', 'get'], around);
      await tty.waitFor(/Which transaction\?[^]*−5 000 sat/);
      tty.type('swp');
      await tty.waitFor(/❯ [^\n]*25\.00 USDT/);
      tty.type(enter);
      await tty.waitFor(/Swap +done/);
      expect(await tty.ended).toBe(0);
      expect(await svcpay(['tx', 'get'], around)).toMatchObject({
        exitCode: 9,
        stderr: expect.stringContaining('Missing ID'),
      });
    },
  );

  test.runIf((runsAll || columns === 80) && !comesIn('list-without-pagination', 'list-bare'))(
    'shows the progress of an export and the last written row after Ctrl-C',
    async ({ around, sandbox }) => {
      await sandbox.seed('history', 12);
      // The service does not answer the third and later requests for the list, so svcpay gets only
      // one or two pages.
      await sandbox.faults.add({
        kind: 'latency',
        method: 'GET',
        path: '/api/v2/transaction',
        nth: 3,
        times: 'always',
        delay: '60s',
      });
      const file = join(around.home, 'export.csv');
      const line = `exec "${process.execPath}" bin/svcpay.js tx export -o csv > "${file}"`;
      const pty = startInPty('sh', ['-c', line], { columns, rows, env: environment(around) });
      await pty.shows(/Writing (?:100 of \d{3}|200) transactions/);
      pty.type('\u0003');
      expect(await pty.exit).toBe(130);
      const shown = pty.screen().join(' ').replaceAll(/\s+/g, ' ');
      const rowsWritten = readFileSync(file, 'utf8').trimEnd().split('\n');
      const count = rowsWritten.length - 1;
      expect([100, 200]).toContain(count);
      const [, last = ''] = rowsWritten.at(-1)?.split(',') ?? [];
      expect(shown).toMatch(
        new RegExp(
          `The export is incomplete: it contains ${count}(?: of \\d{3})? transactions, ending with ${last} of 20`,
        ),
      );
    },
  );
});
