// Measures how long a payment, `tx pending` and the home screen take if the journal contains one
// payment, and if it contains a million payments with their trails. Measures the cost of the trail
// for one payment, and the memory in which `db verify` replays a million steps. Measures how long a payment under a daily limit takes after one
// payment in the last day, and after 20,000 payments.
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import Database from 'libsql';
import { inFolder, inTurns, program, run } from './support/process.mjs';
import { startSandboxServer } from './support/sandbox-server.mjs';

const rounds = 15;
const budget = 'bench';
const many = 1_000_000;
const ofOneDay = 20_000;
const batchRows = 40;
const atMost = 1.1;
const atMostForTrail = 1.05;
/** The number of payments whose trails have a million steps. */
const verified = 166_667;
const dayMs = 86_400_000;
/** A copy of `periodMs` in src/store/journal/spending.ts. */
const periodMs = 600_000;

export function measure() {
  return inFolder(async (folder) => {
    const sandbox = await startSandboxServer();
    try {
      const bench = { folder, sandbox, homes: await startHomes(folder, sandbox) };
      return [
        ...(await longHistory(bench)),
        ...(await trailOfOne(bench)),
        await verification(bench),
        ...(await fullDay(bench)),
        sizeOf(bench.homes),
      ];
    } finally {
      await sandbox.stop();
    }
  });
}

const commandIn = ({ folder, sandbox }, home, ...args) =>
  run(folder, [program, ...args], { ...sandbox.env, SVCPAY_HOME: home });

const pay = async (bench, home, ...more) =>
  commandIn(
    bench,
    home,
    'send',
    'lightning',
    await bench.sandbox.invoice(),
    '--yes',
    '--no-wait',
    '-q',
    ...more,
  );

const address = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';

/**
 * Pays on-chain, because svcpay compares a payment with earlier payments only if the payment has no
 * invoice.
 */
const payAgain = (bench, home) => {
  const words = ['send', 'onchain', address, '3000sat', '--yes', '--again', '--no-wait', '-q'];
  return commandIn(bench, home, ...words);
};

/**
 * Creates the homes `few`, `many` and `day` with one payment each, and then adds more payments to
 * the journals of `many` and `day`.
 */
async function startHomes(folder, sandbox) {
  const homes = {
    few: join(folder, 'few'),
    many: join(folder, 'many'),
    day: join(folder, 'day'),
    plain: join(folder, 'plain'),
    trailless: join(folder, 'trailless'),
    tenth: join(folder, 'tenth'),
    whole: join(folder, 'whole'),
  };
  const bench = { folder, sandbox };
  await pay(bench, homes.few);
  await sandbox.settle();
  await commandIn(bench, homes.few, 'tx', 'pending');
  for (const home of ['plain', 'many', 'trailless', 'tenth', 'whole'])
    await cp(homes.few, homes[home], { recursive: true });
  const trailless = new Database(join(homes.trailless, 'journal.db'));
  trailless.exec(`CREATE TRIGGER no_trail BEFORE INSERT ON trail
    BEGIN SELECT RAISE(IGNORE); END`);
  trailless.close();
  fillJournal(join(homes.tenth, 'journal.db'), Math.floor(verified / 10), 1);
  fillJournal(join(homes.whole, 'journal.db'), verified, 1);
  // The daily limits of the homes are high enough for all measured payments.
  await commandIn(bench, homes.few, 'limits', 'set', '--per-day', '1000btc');
  await commandIn(
    bench,
    homes.few,
    'budget',
    'add',
    budget,
    '--per-day',
    '1000btc',
    '--total',
    '9000btc',
  );
  await cp(homes.few, homes.day, { recursive: true });
  fillJournal(join(homes.many, 'journal.db'), many, 1);
  fillJournal(
    join(homes.day, 'journal.db'),
    ofOneDay,
    Math.floor((0.9 * dayMs) / ofOneDay),
    budget,
  );
  return homes;
}

async function longHistory(bench) {
  const commands = {
    'send lightning': (home) => pay(bench, home),
    'tx pending': (home) => commandIn(bench, home, 'tx', 'pending', '-q'),
    '(the home screen)': (home) => homeScreen(bench, home),
  };
  return compared(commands, `${many} payments in the journal`, bench.homes.plain, bench.homes.many);
}

/** Opens the home screen at a terminal, and measures the time until its menu. */
async function homeScreen({ sandbox }, home) {
  const env = { ...process.env, ...sandbox.env, SVCPAY_HOME: home };
  const startedAt = performance.now();
  const terminal = spawn(process.execPath, [program], { cols: 100, rows: 40, env });
  let shown = '';
  const ms = await new Promise((resolve, reject) => {
    terminal.onData((text) => {
      shown += text;
      if (shown.includes('What next?')) resolve(performance.now() - startedAt);
    });
    terminal.onExit(() => reject(new Error(`The home screen ended: ${shown}`)));
  });
  terminal.kill();
  return { ms };
}

/** Compares a payment with a payment whose steps the journal drops. */
const trailOfOne = (bench) =>
  compared(
    { 'send lightning': (home) => pay(bench, home) },
    'with its trail',
    bench.homes.trailless,
    bench.homes.plain,
    'without its trail',
    atMostForTrail,
  );

async function verification(bench) {
  const verify = (home) => commandIn(bench, home, 'db', 'verify');
  const [few, all] = [await verify(bench.homes.tenth), await verify(bench.homes.whole)];
  const ratio = all.memoryMb / few.memoryMb;
  return {
    name: 'svcpay db verify, 1000000 steps, highest memory',
    measured: `${Math.round(all.memoryMb)} MB, ${(all.ms / 1000).toFixed(1)} s`,
    bare: `${Math.round(few.memoryMb)} MB with 100000 steps`,
    ratio: Number(ratio.toFixed(2)),
    target: `<= ${atMost}`,
    met: ratio <= atMost,
  };
}

async function fullDay(bench) {
  let batches = 0;
  const batch = async (home) => {
    batches += 1;
    const rows = [];
    for (let row = 0; row < batchRows; row += 1)
      rows.push(`batch-${batches}-${row},${await bench.sandbox.invoice()},`);
    const file = join(bench.folder, `batch-${batches}.csv`);
    await writeFile(file, ['ref,to,amount', ...rows, ''].join('\n'));
    return commandIn(bench, home, 'batch', file, '--yes', '--json', '--no-wait');
  };
  const commands = {
    'send lightning with a daily limit': (home) => pay(bench, home),
    'send lightning within a budget': (home) => pay(bench, home, '--budget', budget),
    'send onchain with a daily limit': (home) => payAgain(bench, home),
    'limits list': (home) => commandIn(bench, home, 'limits', 'list'),
    [`batch of ${batchRows} rows with a daily limit`]: batch,
  };
  const what = `${ofOneDay} payments in one day`;
  return [
    ...(await compared(commands, what, bench.homes.few, bench.homes.day)),
    await budgeted(bench, what),
  ];
}

/** What a budget costs in a home with many payments in the day, all of which it was charged. */
async function budgeted(bench, what) {
  const { day } = bench.homes;
  const { none, all } = await inTurns(rounds, {
    none: () => pay(bench, day),
    all: () => pay(bench, day, '--budget', budget),
  });
  return rowOf(`send lightning within a budget, ${what}`, all, none, 'without a budget');
}

async function compared(commands, what, few, full, bare = 'with a few', most = atMost) {
  const rows = [];
  for (const [name, command] of Object.entries(commands)) {
    const { none, all } = await inTurns(rounds, {
      none: () => command(few),
      all: () => command(full),
    });
    rows.push(rowOf(`${name}, ${what}`, all, none, bare, most));
  }
  return rows;
}

function rowOf(name, all, none, bare, most = atMost) {
  const ratio = all.ms / none.ms;
  return {
    name: `svcpay ${name}`,
    measured: `${all.ms.toFixed(1)} ms`,
    bare: `${none.ms.toFixed(1)} ms ${bare}`,
    ratio: Number(ratio.toFixed(2)),
    target: `<= ${most}`,
    met: ratio <= most,
  };
}

/** The size of a large journal for each of its payments, and the share of the trails. */
function sizeOf({ many: home }) {
  const db = new Database(join(home, 'journal.db'), { readonly: true });
  const [{ count }] = db.prepare('SELECT count(*) AS count FROM payments').all();
  const [{ size }] = db
    .prepare('SELECT page_count * page_size AS size FROM pragma_page_count, pragma_page_size')
    .all();
  const [{ steps }] = db
    .prepare(
      `SELECT sum(length(payment_id) + length(step) + length(detail)
         + length(coalesce(actor, '')) + 16) AS steps FROM trail`,
    )
    .all();
  db.close();
  return {
    name: 'size of the journal, a payment',
    measured: `${(size / count / 1000).toFixed(1)} kB`,
    bare: `${((size - steps) / count / 1000).toFixed(1)} kB without its trail`,
    ratio: Number((size / (size - steps)).toFixed(2)),
    target: '-',
    met: true,
  };
}

/**
 * Copies the only payment of the journal, and charges the copies to the budget `charged`. Each
 * copied payment has its own ids, and times that are `apartMs` before those of the previous copy.
 */
function fillJournal(path, count, apartMs, charged = '') {
  const db = new Database(path);
  const names = (table) =>
    db
      .prepare(`SELECT name FROM pragma_table_info('${table}')`)
      .all()
      .map(({ name }) => name);
  const own = new Set([
    'id',
    'ref',
    'fingerprint',
    'idempotency_key',
    'last_change',
    'payment_id',
    'txn_id',
  ]);
  const times = new Set(['at', 'opened_at', 'updated_at', 'submitted_at', 'limit_time']);
  const [{ txnId }] = db.prepare('SELECT txn_id AS "txnId" FROM attempts').all();
  // The trail repeats the transaction id.
  const value = (name) =>
    own.has(name)
      ? `${name} || '-' || n`
      : times.has(name)
        ? `${name} - n * ${apartMs}`
        : name === 'detail'
          ? `replace(detail, '${txnId}', '${txnId}-' || n)`
          : name;
  db.exec('PRAGMA foreign_keys = OFF; BEGIN; CREATE TEMP TABLE before AS SELECT id FROM payments');
  for (const table of ['payments', 'attempts', 'trail'])
    db.exec(`WITH RECURSIVE count(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM count WHERE n < ${count})
      INSERT INTO ${table} (${names(table).join(', ')})
      SELECT ${names(table).map(value).join(', ')} FROM ${table} CROSS JOIN count`);
  // The journal stores amounts in groups of nine digits. Each amount here is less than one bitcoin,
  // so it changes only the group of the nine digits after the decimal point (exponent -1).
  if (charged !== '')
    db.exec(`UPDATE attempts SET budget = '${charged}' WHERE payment_id NOT IN before`);
  const ofDay = `limit_time / ${periodMs}`;
  const parts = [
    ["''", ofDay],
    ['budget', ofDay],
    ['budget', -1],
  ];
  for (const [part, period] of charged === '' ? parts.slice(0, 1) : parts)
    db.exec(`INSERT INTO spending (account, budget, period, ccy, exponent, units)
      SELECT account, ${part}, ${period}, spend_ccy, -1, sum(CAST(round(approved_total * 1e9) AS INTEGER))
      FROM attempts WHERE payment_id NOT IN before GROUP BY 1, 2, 3, 4
      ON CONFLICT DO UPDATE SET units = units + excluded.units`);
  db.exec('COMMIT');
  const [{ rows }] = db.prepare('SELECT count(*) AS rows FROM attempts').all();
  if (rows <= count) throw new Error(`The journal has ${rows} attempts.`);
  db.close();
}
