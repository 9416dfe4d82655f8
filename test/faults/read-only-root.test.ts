// svcpay runs in a container with a read-only root, a database, and an empty folder for temporary
// files.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect } from 'vitest';
import { batchHead, lightningRows, paidReferences } from '../support/batch.js';
import { svcpay as svcpayHere } from '../support/in-process.js';
import { hasPostgres } from '../support/postgres.js';
import { sharedPostgres } from '../support/shared-postgres.js';
import { environment, runOf, test, type Environment, type Run } from '../support/svcpay.js';

const program = resolve(import.meta.dirname, '../../bin/svcpay.js');
const temporary = mkdtempSync(join(tmpdir(), 'svcpay-read-only-'));
afterAll(() => rmSync(temporary, { recursive: true }));
const canMount =
  process.platform === 'linux' &&
  process.getuid?.() === 0 &&
  spawnSync('unshare', ['-m', 'true']).status === 0;

/** Runs a command line that can write only to an empty temporary folder. */
async function onReadOnlyRoot(args: readonly string[], around: Environment): Promise<Run> {
  const readOnly =
    'mount -t tmpfs tmpfs "$TMPDIR" && mount -o remount,bind,ro / && ! touch /var/tmp/x 2>/dev/null && exec "$0" "$@"';
  const env = { ...environment(around), TMPDIR: temporary };
  const child = spawn('unshare', ['-m', 'sh', '-c', readOnly, process.execPath, program, ...args], {
    env,
  });
  child.stdin.end(around.input ?? '');
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return runOf({ exitCode: Number(exitCode), stdout, stderr });
}

test.skipIf(!hasPostgres || !canMount)(
  'svcpay pays once on a read-only root file system if SVCPAY_DATABASE_ID names its database',
  { timeout: 60_000 },
  async ({ around, home }) => {
    const server = await sharedPostgres();
    const address = { SVCPAY_DATABASE_URL: server.database() };
    const made = await svcpayHere(['db', 'upgrade', '--new'], { home, env: address });
    expect(made).toMatchObject({ exitCode: 0 });
    const [, id = ''] = /SVCPAY_DATABASE_ID=(\S+)/.exec(made.stderr) ?? [];
    const container = {
      ...around,
      home: '/var/lib/svcpay-read-only',
      env: { ...address, SVCPAY_DATABASE_ID: id },
    };
    for (const [env, hint] of [
      [address, `SVCPAY_DATABASE_ID=${id}`],
      [{ ...address, SVCPAY_DATABASE_ID: 'another' }, `SVCPAY_DATABASE_ID=${id}`],
    ] as const) {
      const invoice = await around.sandbox.invoice('1000sat');
      const refused = await onReadOnlyRoot(['send', 'lightning', invoice, '--yes', '--json'], {
        ...container,
        env,
      });
      expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
      expect(refused.error().hint).toContain(hint);
    }
    expect(around.sandbox.requests('POST', '/api/v2/transaction')).toHaveLength(0);
    const input = [batchHead, ...lightningRows(3)].join('\n');
    for (let turn = 0; turn < 2; turn += 1) {
      const batch = await onReadOnlyRoot(
        ['batch', '-', '--yes', '--result', join(temporary, 'result.csv'), '--json'],
        { ...container, input },
      );
      expect(batch).toMatchObject({ exitCode: 0 });
    }
    const invoice = await around.sandbox.invoice('1000sat');
    expect(
      await onReadOnlyRoot(
        ['send', 'lightning', invoice, '--ref', 'row-4', '--yes', '-q'],
        container,
      ),
    ).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await paidReferences(around)).toEqual(['row-1', 'row-2', 'row-3', 'row-4']);
  },
);
