// svcpay doctor reports its findings, and advises how to fix each problem.
import { chmodSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { svcpay, svcpayTty } from '../support/in-process.js';
import { test, type Environment } from '../support/svcpay.js';

interface Check {
  readonly check: string;
  readonly state: string;
  readonly advice: string | null;
}

async function checks(around: Environment) {
  const run = await svcpay(['doctor', '--json'], around);
  const all = run.json() as Check[];
  return { run, all, problems: all.filter(({ state }) => state === 'problem') };
}

describe('svcpay doctor', () => {
  test('finds no problem in a new home and creates no journal', async ({ around }) => {
    const { run, all } = await checks(around);
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    expect(all.map(({ check }) => check)).toEqual([
      'Version',
      'Node',
      'Files',
      'Settings',
      'Journal',
      'Limits',
      'Secret',
      'Service',
      'Clock',
      'Token',
    ]);
    expect(readdirSync(around.home)).not.toContain('journal.db');
  });

  test('prints advice at a terminal and ends with exit 1 if it finds a problem', async ({
    home,
  }) => {
    const tty = svcpayTty(['doctor'], { home });
    expect(await tty.ended).toBe(1);
    expect(tty.text()).toMatch(/✗ Settings {2}profile default is not logged in\n +svcpay login\n/);
    expect(tty.text()).toContain('1 problem.');
  });

  test('suggests a chmod command for files that other users can read', async ({ around }) => {
    await svcpay(['wallets'], around);
    const tokens = join(around.home, 'tokens.json');
    chmodSync(tokens, 0o644);
    const { run, problems } = await checks(around);
    expect(run.exitCode).toBe(1);
    expect(problems).toMatchObject([{ check: 'Files', advice: `chmod go= '${tokens}'` }]);
  });

  test('suggests tx resume if the journal is damaged', async ({ around }) => {
    writeFileSync(join(around.home, 'journal.db'), 'not a database', { mode: 0o600 });
    expect((await checks(around)).problems).toMatchObject([
      { check: 'Journal', advice: expect.stringContaining('tx resume') },
    ]);
  });

  test('reports an emptied journal and a missing journal', async ({ around }) => {
    await svcpay(
      ['send', 'lightning', await around.sandbox.invoice('1000sat'), '--yes', '--no-wait'],
      around,
    );
    expect((await checks(around)).problems).toEqual([]);
    writeFileSync(join(around.home, 'journal.db'), '');
    expect((await checks(around)).problems).toMatchObject([{ check: 'Journal' }]);
    rmSync(join(around.home, 'journal.db'));
    expect((await checks(around)).problems).toMatchObject([
      { check: 'Journal', detail: expect.stringContaining('is missing') },
    ]);
  });

  test('shows the configured limits and the proxy', async ({ around }) => {
    await svcpay(['limits', 'set', '--per-day', '5000sat'], around);
    const env = {
      SVCPAY_BASE_URL: 'https://127.0.0.2.example',
      HTTPS_PROXY: 'http://127.0.0.1:9',
      NO_PROXY: 'other.example',
    };
    const { all } = await checks({ ...around, env });
    expect(all).toContainEqual({
      check: 'Limits',
      state: 'ok',
      detail: '1 amount limit, any destination',
      advice: null,
    });
    expect(all).toContainEqual(
      expect.objectContaining({
        check: 'Proxy',
        detail: 'requests go through 127.0.0.1:9; requests to other.example use no proxy',
      }),
    );
  });

  test('skips the checks that need the service if the service does not answer', async ({
    around,
  }) => {
    const { all, problems } = await checks({
      ...around,
      sandbox: { ...around.sandbox, url: 'http://127.0.0.1:9' },
    });
    expect(problems).toMatchObject([{ check: 'Service' }]);
    expect(all.at(-1)?.check).toBe('Service');
  });

  test('suggests svcpay login if the service refuses the API key', async ({ around }) => {
    const { problems } = await checks({
      ...around,
      sandbox: { ...around.sandbox, apiSecret: 'wrong' },
    });
    expect(problems).toMatchObject([
      { check: 'Token', advice: expect.stringContaining('svcpay login') },
    ]);
  });
});
