// The live screen: what it shows, opens and leaves behind, in windows of three sizes.
import { describe, expect } from 'vitest';
import { svcpay } from '../support/in-process.js';
import { startInPty } from '../support/pty.js';
import { comesIn } from '../support/shapes.js';
import { environment, test } from '../support/svcpay.js';

const sizes = [
  [80, 24],
  [60, 20],
  [140, 45],
] as const;
const bitcoin = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';

describe.for(sizes)('svcpay watch at %dx%d', { timeout: 60_000 }, ([columns, rows]) => {
  test.skipIf(comesIn('list-abbreviated'))(
    'shows balances, open and latest payments, opens a receipt, and leaves a summary',
    async ({ around, sandbox }) => {
      await svcpay(['swap', '25', 'USDT', 'BTC', '--yes'], around);
      await sandbox.clock.advance('3m');
      await svcpay(['send', bitcoin, '120000sat', '--yes', '--no-wait', '--ref', 'rent'], around);
      const pty = startInPty(process.execPath, ['bin/svcpay.js', 'watch'], {
        columns,
        rows,
        env: environment(around),
      });
      await pty.shows(
        /BTC +0\.\d{8}[^]*30 days[^]*Open\n +❯ ↑ On-chain +−120 000 sat[^]*Latest\n +3 min +⇄ Swap +25\.00 USDT/,
      );
      expect(pty.written()).toContain('\u001B[?1049h');
      expect(pty.written()).toContain('\u001B[?2026h');
      expect(pty.screen().length).toBeLessThanOrEqual(rows);
      expect(pty.screen().filter((line) => /\d …|\d…/.test(line.split('·')[0] ?? ''))).toEqual([]);
      pty.type('\r');
      await pty.shows(/On-chain send[^]*✓ quoted[^]*any key back/);
      pty.type('x');
      await pty.shows('Latest');
      await svcpay(['receive', 'lightning', '50000sat', '--no-wait'], {
        ...around,
        home: `${around.home}/elsewhere`,
      });
      await pty.shows(/↓ Lightning +50 000 sat/);
      pty.type('q');
      expect(await pty.exit).toBe(0);
      expect(pty.screen().join('\n')).toMatch(
        /^ {2}Watched for [\d:.]+( s)?: no balance changed\.$/m,
      );
      expect(pty.isCursorHidden()).toBe(false);
    },
  );
});

test('svcpay watch in a pipe suggests commands for scripts', async ({ around }) => {
  expect(await svcpay(['watch'], around)).toMatchObject({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringContaining('svcpay tx watch'),
  });
});
