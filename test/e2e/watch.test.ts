// Tests the live screen of svcpay watch, and the summary after it, in windows of three sizes.
import { describe, expect } from 'vitest';
import { quickTime, startOnScreen, svcpay } from '../support/in-process.js';
import { comesIn } from '../support/shapes.js';
import { test } from '../support/svcpay.js';
import { windows } from '../support/windows.js';

const bitcoin = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';

describe.for(windows)(
  'svcpay watch in a window of $columns x $rows',
  { timeout: 60_000 },
  (window) => {
    const { rows, start } = window;
    test.skipIf(comesIn('list-abbreviated'))(
      'shows balances and payments, opens a receipt on Enter and prints a summary on q',
      async ({ around, sandbox }) => {
        await svcpay(['swap', '25', 'USDT', 'BTC', '--yes'], around);
        await sandbox.clock.advance('3m');
        await svcpay(['send', bitcoin, '120000sat', '--yes', '--no-wait', '--ref', 'rent'], around);
        const pty = start(['watch'], { ...around, ...quickTime() });
        await pty.shows(
          /BTC +0\.\d{8} .*▁[^]*Open\n +❯ ↑ On-chain +−120 000 sat[^]*Latest\n +[\d:-]+ +⇄ → 25 000 sat +−25\.00 USDT/,
        );
        expect(pty.written()).toContain('\u001B[?1049h');
        expect(pty.written()).toContain('\u001B[?2026h');
        expect(pty.screen().length).toBeLessThanOrEqual(rows);
        expect(pty.screen().filter((line) => /\d …|\d…/.test(line.split('·')[0] ?? ''))).toEqual(
          [],
        );
        pty.type('\r');
        await pty.shows(/On-chain send[^]*✓ quoted[^]*esc back/);
        pty.type('\r');
        await pty.shows('Latest');
        await svcpay(['receive', 'lightning', '50000sat', '--no-wait'], {
          ...around,
          home: `${around.home}/elsewhere`,
        });
        await pty.shows(/\+50 000 sat +● invoice ready/);
        pty.type('q');
        expect(await pty.exit).toBe(0);
        expect(pty.screen().join('\n')).toMatch(
          /^ {2}Watched for [\d:.]+( s)?, last updated at \d\d:\d\d:\d\d:\s+no balance\s+changed\.$/m,
        );
        expect(pty.isCursorHidden()).toBe(false);
      },
    );
  },
);

test('svcpay watch shows the age of its data while a request hangs and ends at once on q', async ({
  around,
  sandbox,
}) => {
  let passedMs = 0;
  const now = (): number => Date.now() + passedMs;
  const screen = startOnScreen(['watch'], { ...around, now });
  await screen.shows(/as of \d\d:\d\d:\d\d · (just now|\d seconds? ago)[^]*q leave/);
  await sandbox.faults.add({ kind: 'latency', delay: '60s', times: 'always' });
  passedMs = 12_000;
  await screen.shows(/as of \d\d:\d\d:\d\d · 1[2-9] seconds ago[^]*q leave/);
  expect(screen.screen().join('\n')).not.toMatch(/live|Waiting/);
  const asked = performance.now();
  screen.type('q');
  expect(await screen.exit).toBe(0);
  expect(performance.now() - asked).toBeLessThan(5_000);
}, 60_000);

test('svcpay watch exits with 2 and suggests commands for scripts if there is no terminal', async ({
  around,
}) => {
  expect(await svcpay(['watch'], around)).toMatchObject({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringContaining('svcpay tx watch'),
  });
});
