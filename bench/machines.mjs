// Measures many machines on one PostgreSQL database: the payments per second of 1, 2, 4 and 8
// processes. Compares the speed of the payments with that of a loop of plain SQL that makes the same
// commits through the same database client. Measures the time of the journal's methods, such as
// `begin` and `find`, with few and with many payments.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { inFolder, median } from './support/process.mjs';

const root = resolve(import.meta.dirname, '..');
const machine = join(import.meta.dirname, 'support/machine.mjs');
const seconds = 0.5;
const turns = 10;
const processes = [1, 2, 4, 8];
const atLeast = 0.7;
const [few, many] = [10_000, 1_000_000];
const atMostMore = 1.1;

const source = `
  import pg from 'pg';
  import { postgresDatabase } from './src/store/database/postgres.js';
  import { prepareTables } from './test/support/prepared-database.js';
  import { journalPart } from './src/store/journal/schema.js';
  import { openSqlJournal } from './src/store/journal/sql-journal.js';
  export { startPostgres } from './test/support/postgres.js';
  export { pg };
  export async function openJournalAt(url) {
    const database = postgresDatabase({ url, source: 'the bench', clock: () => performance.now() });
    await prepareTables(database, journalPart);
    return openSqlJournal(database, () => true);
  }`;

export async function measure() {
  return inFolder(async () => {
    const bundle = join(root, 'node_modules/.cache/bench-machines.cjs');
    await build({
      stdin: { contents: source, resolveDir: root, loader: 'ts' },
      outfile: bundle,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      external: ['pg'],
      logLevel: 'error',
    });
    const { startPostgres, openJournalAt } = createRequire(import.meta.url)(bundle);
    const server = await startPostgres({ durable: true });
    try {
      const rows = [];
      for (const count of processes) rows.push(await pace(bundle, server, openJournalAt, count));
      return [...rows, ...(await growth(server, openJournalAt))];
    } finally {
      await server.stop();
    }
  });
}

async function pace(bundle, server, openJournalAt, count) {
  const url = server.database();
  await (await openJournalAt(url)).close();
  const machines = await Promise.all(
    Array.from({ length: count }, () => started([machine, bundle, url, String(seconds)])),
  );
  const together = async (mode) => sum(await Promise.all(machines.map(({ ask }) => ask(mode))));
  // Alternates short runs of the plain SQL loop and of the journal, so that other load affects both
  // equally.
  const [bare, ours] = [[], []];
  for (let turn = 0; turn < turns; turn += 1) {
    bare.push(await together('bare'));
    ours.push(await together('journal'));
  }
  await Promise.all(machines.map(({ end }) => end()));
  const [commits, payments] = [sum(bare), sum(ours)];
  const ratio = payments / commits;
  return {
    name: `${count} processes`,
    measured: `${Math.round(payments / (turns * seconds))} payments/s`,
    bare: `${Math.round(commits / (turns * seconds))} times the commits`,
    ratio: Number(ratio.toFixed(2)),
    target: `>= ${atLeast}`,
    met: ratio >= atLeast,
  };
}

const sum = (values) => values.reduce((total, each) => total + each, 0);

/** Starts a process that acts as one machine and reads commands from stdin. */
async function started(args) {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((done) => child.once('close', done));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`a machine ended with ${await ended}`);
    return value;
  };
  await next();
  return {
    ask: (mode) => (child.stdin.write(`${mode}\n`), next().then(Number)),
    end: () => (child.stdin.end(), ended),
  };
}

/** Measures the journal's methods with few and with many payments. */
async function growth(server, openJournalAt) {
  const url = server.database();
  const name = new URL(url).pathname.slice(1);
  const journal = await openJournalAt(url);
  const costs = [];
  let from = 0;
  for (const upTo of [few, many]) {
    server.sql(filling(from, upTo), name);
    server.sql('ANALYZE', name);
    from = upTo;
    costs.push(await cost(journal, upTo));
  }
  await journal.close();
  const [before, after] = costs;
  return Object.keys(before).map((what) => ({
    name: `${what} with 1 000 000 payments`,
    measured: `${after[what].toFixed(2)} ms`,
    bare: `${before[what].toFixed(2)} ms with 10 000`,
    ratio: Number((after[what] / before[what]).toFixed(2)),
    target: `<= ${atMostMore}`,
    met: after[what] / before[what] <= atMostMore,
  }));
}

const filling = (from, upTo) => `
  INSERT INTO svcpay.payments (id, scope, account, ref, ref_alike, kind, instruction, digest, idempotency_key, terms, unfinished, opened_at, updated_at)
  SELECT 'i' || n, 'ne01', 'ne01', 'r' || n, 'r' || n, 'send lightning', '{}', 'f' || n, 'bolt11:' || n, '{}', 0, n, n
    FROM generate_series(${from + 1}, ${upTo}) AS n;
  INSERT INTO svcpay.attempts (payment_id, number, account, request, state, outcome, txn_id, txn_state, approved_total, spend_ccy, submitted_at, limit_time)
  SELECT 'i' || n, 1, 'ne01', '{}', 'paid', 'paid', 't' || n, 'completed', '0.00001', 'BTC', n, n FROM generate_series(${from + 1}, ${upTo}) AS n`;

async function cost(journal, size) {
  const times = { begin: [], find: [], spent: [], latest: [], open: [] };
  for (let turn = 0; turn < 300; turn += 1) {
    const id = `new-${size}-${turn}`;
    const draft = {
      id,
      scope: `ne01-${size}`,
      account: 'ne01',
      ref: id,
      kind: 'swap',
      request: '{}',
      instruction: '{}',
      digest: id,
      idempotencyKey: `bolt11:${id}`,
      terms: {},
    };
    times.begin.push(await timed(() => journal.begin(draft)));
    times.find.push(await timed(() => journal.find('ne01', `t${turn + 1}`)));
    times.spent.push(await timed(() => journal.spent('ne01', undefined)));
    times.latest.push(await timed(() => journal.latest('ne01', 5)));
    times.open.push(await timed(() => journal.open('ne01')));
  }
  return Object.fromEntries(Object.entries(times).map(([what, all]) => [what, median(all)]));
}

async function timed(action) {
  const startedAt = performance.now();
  await action();
  return performance.now() - startedAt;
}
