// What a long history costs: a payment and a look at what is pending, with a million payments in the journal and with one.
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import { inFolder, inTurns, program, run } from './support/process.mjs';
import { startSandboxServer } from './support/sandbox-server.mjs';

const rounds = 15;
const many = 1_000_000;
const atMost = 1.1;

export function measure() {
  return inFolder(async (folder) => {
    const sandbox = await startSandboxServer();
    const homes = { few: join(folder, 'few'), many: join(folder, 'many') };
    const svcpay = (home, ...args) =>
      run(folder, [program, ...args], { ...sandbox.env, SVCPAY_HOME: homes[home] });
    const pay = async (home) =>
      svcpay(home, 'send', 'lightning', await sandbox.invoice(), '--yes', '--no-wait', '-q');
    try {
      await pay('few');
      await sandbox.settle();
      await svcpay('few', 'tx', 'pending');
      await cp(homes.few, homes.many, { recursive: true });
      multiply(join(homes.many, 'journal.db'));
      const commands = {
        'send lightning': pay,
        'tx pending': (home) => svcpay(home, 'tx', 'pending', '-q'),
      };
      const rows = [];
      for (const [name, command] of Object.entries(commands)) {
        const { none, all } = await inTurns(rounds, {
          none: () => command('few'),
          all: () => command('many'),
        });
        const ratio = all.ms / none.ms;
        rows.push({
          name: `svcpay ${name}, ${many} payments in the journal`,
          measured: `${all.ms.toFixed(1)} ms`,
          bare: `${none.ms.toFixed(1)} ms with a few`,
          ratio: Number(ratio.toFixed(2)),
          target: `<= ${atMost}`,
          met: ratio <= atMost,
        });
      }
      return rows;
    } finally {
      await sandbox.stop();
    }
  });
}

/** Copies the rows of every table, so often that there are as many payments, each with names and numbers of its own. */
function multiply(path) {
  const db = new Database(path);
  const all = (sql) => db.prepare(sql).all();
  db.exec('PRAGMA foreign_keys = OFF; BEGIN');
  const tables = all(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  );
  for (const { name } of tables) {
    const unique = all(
      `SELECT DISTINCT c.name FROM pragma_index_list('${name}') AS i, pragma_index_info(i.name) AS c WHERE i."unique" = 1`,
    );
    const foreign = all(`SELECT "from" AS name FROM pragma_foreign_key_list('${name}')`);
    const own = new Set([...unique, ...foreign].map((column) => column.name));
    const columns = all(`SELECT name, type, pk FROM pragma_table_info('${name}')`).filter(
      ({ type, pk }) => !(pk === 1 && type === 'INTEGER'),
    );
    if (columns.length === 0 || all(`SELECT 1 FROM "${name}" LIMIT 1`).length === 0) continue;
    const values = columns.map(({ name: column, type, pk }) =>
      type === 'TEXT' && (pk > 0 || own.has(column)) ? `"${column}" || '-' || n` : `"${column}"`,
    );
    const names = columns.map((column) => `"${column.name}"`).join(', ');
    db.exec(`WITH RECURSIVE count(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM count WHERE n < ${many})
      INSERT OR IGNORE INTO "${name}" (${names}) SELECT ${values.join(', ')} FROM "${name}" CROSS JOIN count`);
  }
  db.exec('COMMIT');
  const counts = tables.map(({ name }) => all(`SELECT count(*) AS rows FROM "${name}"`)[0].rows);
  if (Math.max(...counts) <= many) throw new Error(`The journal has ${Math.max(...counts)} rows.`);
  db.close();
}
