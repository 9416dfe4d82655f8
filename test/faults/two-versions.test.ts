// This version and a later version, which has one more upgrade step, use one database during an
// upgrade.
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { beforeAll, describe, expect } from 'vitest';
import { test, timeoutFlags } from '../support/faults.js';
import { runsAll } from '../support/part.js';
import { hasPostgres } from '../support/postgres.js';
import { usingPostgres } from '../support/shared-postgres.js';
import { startSvcpay, svcpay, type Environment } from '../support/svcpay.js';
import { until } from '../support/until.js';
import { deliver, startApplication, startListening, webhookSecret } from '../support/webhooks.js';

const server = usingPostgres();
const root = resolve(import.meta.dirname, '../..');

/** The step that the later version adds to the tables of a file. */
const steps = {
  'src/store/journal/schema.ts': "ALTER TABLE payments ADD COLUMN label TEXT NOT NULL DEFAULT ''",
  'src/store/events/postgres-events.ts': "ALTER TABLE events ADD COLUMN label TEXT DEFAULT ''",
};

const withLaterSteps: Plugin = {
  name: 'later steps',
  setup(bundler) {
    for (const [file, step] of Object.entries(steps))
      bundler.onLoad({ filter: new RegExp(`${file}$`) }, async ({ path }) => {
        const text = await readFile(path, 'utf8');
        const more = `steps: [...postgresSteps, ${JSON.stringify(step)}] }`;
        const contents = text.replace('steps: postgresSteps }', more);
        if (contents === text) throw new Error(`${file} has no steps.`);
        return { contents, loader: 'ts' };
      });
  },
};

let program = '';
beforeAll(async () => {
  const outdir = mkdtempSync(join(root, 'node_modules/.cache/later-'));
  await build({
    entryPoints: [join(root, 'src/main.ts')],
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    outExtension: { '.js': '.mjs' },
    logLevel: 'error',
    plugins: [withLaterSteps],
  });
  program = join(outdir, 'main.mjs');
  return () => rmSync(outdir, { recursive: true, force: true });
}, 60_000);

describe.runIf(runsAll && hasPostgres)('this version and a later version on one database', () => {
  /** The homes of this version and of the later version, which share a new database. */
  async function bothIn(around: Environment) {
    const env = {
      SVCPAY_DATABASE_URL: server().database(),
      SVCPAY_WEBHOOK_SECRET: webhookSecret,
    };
    const ours = { ...around, home: join(around.home, 'ours'), env };
    expect(await svcpay(['db', 'upgrade', '--new'], ours)).toMatchObject({ exitCode: 0 });
    return { ours, later: { ...ours, home: join(around.home, 'later'), program } };
  }
  const send = (invoice: string, ref: string, around: Environment) =>
    svcpay(['send', 'lightning', invoice, '--ref', ref, '--yes', '--json'], around);
  const upgrade = async (later: Environment): Promise<void> => {
    const run = await svcpay(['db', 'upgrade'], later);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.stderr).toContain('Upgrading the journal from version 1 to 2');
    expect(run.stderr).toContain('Upgrading the inbox from version 1 to 2');
  };

  test('pay once or refuse, before, during and after the upgrade', async ({ payment }) => {
    const { ours, later } = await bothIn(payment.around);
    const early = await send(payment.invoice, 'early', later);
    expect([early.exitCode, early.error().message]).toEqual([
      2,
      expect.stringContaining('requires version 2'),
    ]);

    const held = payment.proxy.hold('confirmation', 'before');
    const running = startSvcpay([...payment.command, ...timeoutFlags], ours);
    const { release } = await held;
    await upgrade(later);
    await release();
    expect(await running.ended).toMatchObject({ exitCode: 0 });
    expect(await payment.timesPaid()).toBe(1);

    const invoice = await payment.sandbox.invoice('1000sat', { expiry: '2d' });
    const old = await send(invoice, 'old', ours);
    expect([old.exitCode, old.error().message]).toEqual([
      2,
      expect.stringContaining('written by a newer svcpay'),
    ]);
    expect(await send(payment.invoice, 'again', later)).toMatchObject({ exitCode: 2 });
    expect(await send(invoice, 'new', later)).toMatchObject({ exitCode: 0 });
    expect(await payment.timesPaid()).toBe(2);
  });

  test('store and deliver each event once, while receivers of both versions run', async ({
    home,
  }) => {
    const { ours, later } = await bothIn({ home });
    const application = await startApplication(() => 200);
    const flags = ['--consumer', 'app', '--forward-to', application.url];
    const refused = await svcpay(['webhook', 'listen', '--port', '0', ...flags], later);
    expect([refused.exitCode, refused.stderr]).toEqual([
      2,
      expect.stringContaining('requires version 2'),
    ]);
    const old = await startListening(flags, ours);
    const event = (name: string) => ({ txnId: name, txnState: 'completed', updatedAt: 1 });
    expect(await deliver(old.url, event('before'))).toBe(200);
    await upgrade(later);
    const next = await startListening(flags, later);
    for (const name of ['first', 'second', 'third'])
      for (const { url } of [old, next]) expect(await deliver(url, event(name))).toBe(200);
    await until(() => application.bodies.length >= 4);
    for (const { child, ended } of [old, next]) {
      child.kill('SIGTERM');
      expect(await ended).toMatchObject({ exitCode: 0 });
    }
    const delivered = application.bodies.map((body) => JSON.parse(body).txnId);
    expect(delivered.toSorted()).toEqual(['before', 'first', 'second', 'third']);
    expect((await svcpay(['webhook', 'consumers', 'list'], ours)).exitCode).toBe(2);
  });
});
