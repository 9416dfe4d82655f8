// Pays with one home after another in turns, and fills the journal of a home with copies of its
// only payment.
import Database from 'libsql';
import { inTurns, program, run } from './process.mjs';

export const rounds = 15;
export const atMost = 1.1;
/** A copy of `periodMs` in src/store/journal/spending.ts. */
const periodMs = 60_000;

export const commandIn = ({ folder, sandbox }, home, ...args) =>
  run(folder, [program, ...args], { ...sandbox.env, SVCPAY_HOME: home });

export const pay = async (bench, home, ...more) =>
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

export async function compared(commands, what, few, full, bare = 'with a few', most = atMost) {
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

export function rowOf(name, all, none, bare, most = atMost) {
  const ratio = all.ms / none.ms;
  return {
    name: `svcpay ${name}`,
    measured: timeOf(all),
    bare: `${timeOf(none)} ${bare}`,
    ratio: Number(ratio.toFixed(2)),
    target: `<= ${most}`,
    met: ratio <= most,
  };
}

const timeOf = ({ ms, cpuMs }) =>
  `${ms.toFixed(1)} ms${cpuMs === undefined ? '' : `, ${cpuMs.toFixed(1)} ms of processor`}`;

/**
 * Copies the only payment of the journal, and charges the copies to the budget `charged`. Each
 * copied payment has its own ids, and times that are `apartMs` before those of the previous copy.
 */
export function fillJournal(path, count, apartMs, charged = '') {
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
  // Each amount here is less than one bitcoin, so it has no whole part.
  if (charged !== '')
    db.exec(`UPDATE attempts SET budget = '${charged}' WHERE payment_id NOT IN before`);
  const ofDay = `limit_time / ${periodMs}`;
  const parts = [
    ["''", ofDay],
    ['budget', ofDay],
    ['budget', -1],
  ];
  for (const [part, period] of charged === '' ? parts.slice(0, 1) : parts)
    db.exec(`INSERT INTO spending (account, budget, period, ccy, whole, trillionths)
      SELECT account, ${part}, ${period}, spend_ccy, 0,
        sum(CAST(round(approved_total * 1e8) AS INTEGER) * 10000)
      FROM attempts WHERE payment_id NOT IN before GROUP BY 1, 2, 3, 4
      ON CONFLICT DO UPDATE SET trillionths = trillionths + excluded.trillionths`);
  db.exec('COMMIT');
  const [{ rows }] = db.prepare('SELECT count(*) AS rows FROM attempts').all();
  if (rows <= count) throw new Error(`The journal has ${rows} attempts.`);
  db.close();
}
