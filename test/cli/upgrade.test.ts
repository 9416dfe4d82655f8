// Tests how svcpay finds its installation, and when it reports a newer version.
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { installationOf, newerVersion, upgradeNotice } from '../../src/cli/upgrade.js';

test.for([
  [
    '/opt/homebrew/Cellar/svcpay/0.1.0/libexec/lib/node_modules/svcpay/bin/svcpay.js',
    'brew upgrade svcpay',
  ],
  [
    'C:\\Users\\ann\\scoop\\apps\\svcpay\\current\\node_modules\\svcpay\\bin\\svcpay.js',
    'scoop update svcpay',
  ],
  ['/usr/local/lib/node_modules/svcpay/bin/svcpay.js', 'npm install --global svcpay'],
  [
    'C:\\Users\\ann\\AppData\\Roaming\\npm\\node_modules\\svcpay\\bin\\svcpay.js',
    'npm install --global svcpay',
  ],
  ['/srv/shop/node_modules/svcpay/bin/svcpay.js', 'npm install svcpay'],
  ['/ann/.local/share/pnpm/global/5/node_modules/svcpay/bin/svcpay.js', 'pnpm add --global svcpay'],
  ['/src/svcpay/bin/svcpay.js', 'git pull && npm ci'],
] as const)('upgrades the program %s with its own installer', ([script, upgrade]) => {
  expect(installationOf(script).upgrade).toBe(upgrade);
});

describe('upgradeNotice', () => {
  const script = '/usr/local/lib/node_modules/svcpay/bin/svcpay.js';
  const now = Date.parse('2026-11-30T12:00:00Z');

  function folderWith(newest: string | undefined, hoursAgo = 25): string {
    const folder = mkdtempSync(join(tmpdir(), 'svcpay-upgrade-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    if (newest !== undefined) {
      const file = join(folder, 'newest-version');
      writeFileSync(file, newest);
      utimesSync(file, now / 1000, now / 1000 - hoursAgo * 3_600);
    }
    return folder;
  }

  function noticeIn(folder: string, env: Record<string, string> = {}, from = script) {
    const checks: string[] = [];
    const proc = { env, now: () => now, version: '0.2.0' };
    const notice = upgradeNotice(proc, from, (file) => checks.push(file), folder);
    return { notice, checks: checks.length };
  }

  test('reports a newer version with its command, and starts the next check', () => {
    expect(noticeIn(folderWith('0.10.0\n'))).toEqual({
      notice: 'svcpay 0.10.0 is available (installed: 0.2.0): npm install --global svcpay',
      checks: 1,
    });
  });

  test.for([
    ['the installed version', '0.2.0'],
    ['an older version', '0.1.9'],
    ['nothing yet', undefined],
    ['text that is not a version', '\u001B[31m9.9.9'],
  ] as const)('checks again without a notice if the last check found %s', ([, newest]) => {
    expect(noticeIn(folderWith(newest))).toEqual({ notice: undefined, checks: 1 });
  });

  test.for([
    ['within a day of the last check', {}, 23, script],
    ['in CI', { CI: 'true' }, 25, script],
    ['with SVCPAY_NO_UPDATE_CHECK', { SVCPAY_NO_UPDATE_CHECK: '1' }, 25, script],
    ['with SVCPAY_HOME', { SVCPAY_HOME: '/tmp/home' }, 25, script],
    ['in a clone', {}, 25, '/src/svcpay/bin/svcpay.js'],
  ] as const)('neither reports nor checks %s', ([, env, hours, from]) => {
    const folder = folderWith('9.9.9', hours);
    expect(noticeIn(folder, env, from)).toEqual({ notice: undefined, checks: 0 });
    expect(newerVersion(folder, '0.2.0')).toBe('9.9.9');
  });
});
