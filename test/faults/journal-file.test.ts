// svcpay pays nothing if its journal is damaged, of a newer version, read-only or on a full disk.
import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import Database from 'libsql';
import * as v from 'valibot';
import { describe, expect } from 'vitest';
import { codeOf } from '../../src/formats/text.js';
import { lockTimeoutMs } from '../../src/store/files/sqlite-file.js';
import { test, type Payment } from '../support/faults.js';
import { svcpay } from '../support/in-process.js';
import { svcpay as svcpayProcess, type Run } from '../support/svcpay.js';

const program = resolve(import.meta.dirname, '../../bin/svcpay.js');
const journalIn = (home: string): string => join(home, 'journal.db');

async function withJournal({ sandbox, around }: Payment): Promise<Buffer> {
  const other = await sandbox.invoice('2000sat');
  await svcpay(['send', 'lightning', other, '--quote-only', '-q'], around);
  // This checkpoint merges the write-ahead log now, because a closed connection merges the log only
  // when its memory is freed.
  const db = new Database(journalIn(around.home));
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  return readFileSync(journalIn(around.home));
}

const send = ({ command, around }: Payment): Promise<Run> => svcpay(command, around);

const created = ({ sandbox }: Payment, since: number): number =>
  sandbox.requests('POST', '/api/v2/transaction').length - since;

const damages: readonly { what: string; damage: (whole: Buffer) => Buffer }[] = [
  {
    what: 'is not a database',
    damage: () => Buffer.from('These are not the payments you are looking for.'.repeat(200)),
  },
  { what: 'is truncated', damage: (whole) => whole.subarray(0, Math.floor(whole.length / 2)) },
  { what: 'has an overwritten page', damage: (whole) => Buffer.from(whole).fill(0xff, 4096, 8192) },
  { what: 'has a torn header', damage: (whole) => Buffer.from(whole).fill(0, 0, 16) },
];

describe.concurrent('svcpay with a damaged journal', () => {
  test.for(damages.map((each) => [each.what, each] as const))(
    'stops payments and keeps the file until tx resume --new-journal if the journal %s',
    async ([, { damage }], { payment }) => {
      const file = journalIn(payment.around.home);
      const damaged = damage(await withJournal(payment));
      writeFileSync(file, damaged);
      const run = await send(payment);
      expect(run).toMatchObject({ exitCode: 2, stdout: '' });
      expect(run.error()).toMatchObject({
        message: expect.stringContaining('damaged'),
        hint: expect.stringContaining('--new-journal'),
      });
      expect(created(payment, 1)).toBe(0);
      expect(readFileSync(file).equals(damaged)).toBe(true);

      expect(await svcpay(['tx', 'resume', '--new-journal'], payment.around)).toMatchObject({
        exitCode: 0,
      });
      const aside =
        readdirSync(payment.around.home).find((name) => name.startsWith('journal.db.damaged-')) ??
        '';
      expect(readFileSync(join(payment.around.home, aside)).equals(damaged)).toBe(true);
      expect(await send(payment)).toMatchObject({ exitCode: 0 });
      expect(await payment.timesPaid()).toBe(1);
    },
  );

  test('stops payments until tx resume --new-journal if the journal lost its tables', async ({
    payment,
  }) => {
    const file = journalIn(payment.around.home);
    await withJournal(payment);
    for (const part of ['', '-wal', '-shm']) rmSync(file + part, { force: true });
    const empty = new Database(file);
    empty.exec('CREATE TABLE a (b); DROP TABLE a');
    empty.close();
    const run = await send(payment);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.error()).toMatchObject({
      message: expect.stringContaining('damaged'),
      hint: expect.stringContaining('--new-journal'),
    });
    expect(created(payment, 1)).toBe(0);
    const replaced = await svcpay(['tx', 'resume', '--new-journal'], payment.around);
    expect(replaced).toMatchObject({ exitCode: 0 });
    expect(await send(payment)).toMatchObject({ exitCode: 0 });
  });

  test('pays once if the journal is replaced after a payment, because the service has the reference', async ({
    payment,
  }) => {
    const first = await send(payment);
    writeFileSync(journalIn(payment.around.home), 'damaged');
    await svcpay(['tx', 'resume', '--new-journal'], payment.around);
    const again = await send(payment);
    expect(again.json()).toEqual(first.json());
    expect(await payment.timesPaid()).toBe(1);
  });

  test('stops payments until tx resume --new-journal if the journal is missing after a payment', async ({
    payment,
  }) => {
    const { home } = payment.around;
    const first = await send(payment);
    for (const part of ['', '-wal', '-shm']) rmSync(journalIn(home) + part, { force: true });
    const lost = await send(payment);
    expect(lost).toMatchObject({ exitCode: 2, stdout: '' });
    expect(lost.error()).toMatchObject({
      message: expect.stringContaining('is missing'),
      hint: expect.stringContaining('svcpay tx resume --new-journal'),
    });
    expect(await svcpay(['tx', 'pending'], payment.around)).toMatchObject({ exitCode: 2 });
    expect(await svcpay(['db', 'status'], payment.around)).toMatchObject({ exitCode: 2 });
    expect(existsSync(journalIn(home))).toBe(false);
    expect(created(payment, 1)).toBe(0);

    expect(await svcpay(['tx', 'resume', '--new-journal'], payment.around)).toMatchObject({
      exitCode: 0,
    });
    expect(await svcpay(['db', 'import'], payment.around)).toMatchObject({ exitCode: 0 });
    expect((await send(payment)).json()).toEqual(first.json());
    expect(await payment.timesPaid()).toBe(1);
    expect(await svcpay(['tx', 'resume', '--new-journal'], payment.around)).toMatchObject({
      exitCode: 2,
    });
  });

  test('refuses tx resume --new-journal while the journal is valid', async ({ payment }) => {
    const whole = await withJournal(payment);
    expect(await svcpay(['tx', 'resume', '--new-journal'], payment.around)).toMatchObject({
      exitCode: 2,
    });
    expect(readFileSync(journalIn(payment.around.home)).equals(whole)).toBe(true);
  });
});

describe.concurrent('svcpay send', () => {
  test.for(
    [
      { what: 'a newer svcpay', sql: 'PRAGMA user_version = 99', message: 'newer svcpay' },
      { what: 'another program', sql: 'PRAGMA application_id = 1', message: 'another program' },
    ].map((each) => [each.what, each] as const),
  )(
    'pays nothing and leaves the journal unchanged if the journal is from %s',
    async ([, { sql, message }], { payment }) => {
      await withJournal(payment);
      const file = journalIn(payment.around.home);
      const db = new Database(file);
      db.exec(`${sql}; PRAGMA wal_checkpoint(TRUNCATE)`);
      db.close();
      const before = readFileSync(file);
      const run = await send(payment);
      expect(run).toMatchObject({ exitCode: 2, stdout: '' });
      expect(run.error().message).toContain(message);
      expect(readFileSync(file).equals(before)).toBe(true);
      expect(created(payment, 1)).toBe(0);
    },
  );

  test('pays nothing if the folder of the journal cannot be created', async ({ payment }) => {
    const home = join(payment.around.home, 'journal.db');
    writeFileSync(home, '');
    const run = await svcpay(payment.command, { ...payment.around, home: join(home, 'folder') });
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(created(payment, 0)).toBe(0);
  });

  test.skipIf(!canMount())(
    'pays nothing if the journal is on a read-only disk',
    async ({ payment }) => {
      await withJournal(payment);
      const { home } = payment.around;
      const run = await mounted(['-o', 'bind,ro', home, home], () =>
        svcpayProcess(payment.command, payment.around),
      );
      expect(run).toMatchObject({ exitCode: 2, stdout: '' });
      expect(created(payment, 1)).toBe(0);
    },
  );

  test.skipIf(!canMount())('pays nothing if the journal is on a full disk', async ({ payment }) => {
    const home = join(payment.around.home, 'full');
    mkdirSync(home);
    const disk = ['-t', 'tmpfs', '-o', 'size=600k', 'none', home];
    const around = { ...payment.around, home };
    const [run, status] = await mounted(disk, async () => {
      await svcpayProcess([...payment.command, '--quote-only'], around);
      fill(join(home, 'filled'));
      return [
        await svcpayProcess(payment.command, around),
        await svcpayProcess(['db', 'status'], around),
      ];
    });
    expect(run).toMatchObject({ exitCode: 75, stdout: '' });
    expect(run.error().message).toMatch(/disk/);
    expect(status).toMatchObject({ exitCode: 75 });
    expect(await payment.timesPaid()).toBe(0);
  });
});

test.concurrent('svcpay send waits only once for a journal that another program locks after the confirmation', async ({
  payment,
}) => {
  const { home } = payment.around;
  await svcpay(['config', 'set', 'fiat', 'USD'], payment.around);
  let lockedAt = 0;
  let unlock = (): void => undefined;
  payment.proxy.afterwards('confirmation', async () => {
    const db = new Database(journalIn(home));
    db.exec('BEGIN IMMEDIATE');
    unlock = () => db.close();
    lockedAt = performance.now();
  });
  // This command runs as a process, because svcpay blocks its thread while it waits for the
  // journal.
  const run = await svcpayProcess(payment.command, payment.around);
  const tookMs = performance.now() - lockedAt;
  unlock();
  expect(run).toMatchObject({ exitCode: 0 });
  expect(run.json()).toMatchObject({ txnState: 'completed' });
  expect(run.stderr).toContain('locked by another program');
  expect(tookMs).toBeLessThan(2 * lockTimeoutMs);
  expect(await payment.settled()).toMatchObject({ resumed: { exitCode: 0 }, pending: [] });
  expect(await payment.timesPaid()).toBe(1);
});

/** Writes a file until its disk is full. */
function fill(path: string): void {
  try {
    for (;;) appendFileSync(path, Buffer.alloc(1024));
  } catch (error) {
    if (codeOf(error) !== 'ENOSPC') throw error;
  }
}

/**
 * Whether the test run may mount file systems, as the tests with bind mounts and small disks must.
 * The tests that only limit the size of files need no permission to mount.
 */
function canMount(): boolean {
  return (
    process.platform === 'linux' &&
    process.getuid?.() === 0 &&
    spawnSync('unshare', ['-m', 'true']).status === 0
  );
}

async function mounted<T>(args: readonly string[], action: () => Promise<T>): Promise<T> {
  const done = spawnSync('mount', args, { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(done.stderr);
  try {
    return await action();
  } finally {
    spawnSync('umount', [args.at(-1) ?? '']);
  }
}

const pendingSchema = v.array(v.object({ agreed: v.boolean() }));

const hasLimits = existsSync('/bin/sh') && process.platform !== 'win32';

describe.skipIf(!hasLimits)('svcpay send on a disk that fills up', { concurrent: true }, () => {
  // Limits on the size of each file, in blocks of 512 bytes: the lowest is too small for the
  // tables, and the highest is enough for the whole payment.
  const room = [16, 64, 128, 144, 152, 160, 168, 176, 184, 192, 256];
  test.for(room)(
    'pays at most once if its files are limited to %d blocks, and resumes when there is space',
    async (blocks, { payment }) => {
      const run = await limited(payment, blocks);
      expect([0, 2]).toContain(run.exitCode);
      expect(await payment.timesPaid()).toBe(run.exitCode === 0 ? 1 : 0);
      if (run.exitCode === 2) expect(run.error().message).toContain('cannot be written');
      const { resumed, pending } = await payment.settled();
      expect(resumed).toMatchObject({ exitCode: 0 });
      // If the full disk prevents svcpay from marking an unsubmitted quote as abandoned, the quote
      // stays open, and tx resume skips it.
      expect(v.parse(pendingSchema, pending).filter(({ agreed }) => agreed)).toEqual([]);
      expect(await payment.send()).toMatchObject({ exitCode: 0 });
      expect(await payment.timesPaid()).toBe(1);
    },
  );
});

function limited({ command, around }: Payment, blocks: number): Promise<Run> {
  const line = [
    '-c',
    `ulimit -f ${blocks}; exec "$@"`,
    'sh',
    process.execPath,
    program,
    ...command,
  ];
  const { home, sandbox } = around;
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    SVCPAY_HOME: home,
    SVCPAY_BASE_URL: sandbox?.url ?? '',
    SVCPAY_API_KEY: sandbox?.apiKey ?? '',
    SVCPAY_API_SECRET: sandbox?.apiSecret ?? '',
  };
  const child = spawn('/bin/sh', line, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const error = (): ReturnType<Run['error']> =>
    JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error;
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', (code) =>
      done({ exitCode: code ?? 1, stdout, stderr, error, json: () => JSON.parse(stdout) }),
    );
  });
}
