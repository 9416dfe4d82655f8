// Measures how long a payment, `tx pending` and the home screen take if the journal contains one
// payment, and if it contains a million payments with their trails. Measures the cost of the trail
// for one payment, and the memory in which `db verify` replays a million steps.
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import Database from 'libsql';
import { atMost, commandIn, compared, fillJournal, pay } from './support/journal.mjs';
import { inFolder, program } from './support/process.mjs';
import { startSandboxServer } from './support/sandbox-server.mjs';

const many = 1_000_000;
const atMostForTrail = 1.05;
/** The number of payments whose trails have a million steps. */
const verified = 166_667;

export function measure() {
  return inFolder(async (folder) => {
    const sandbox = await startSandboxServer();
    try {
      const bench = { folder, sandbox, homes: await startHomes(folder, sandbox) };
      return [
        ...(await longHistory(bench)),
        ...(await trailOfOne(bench)),
        await verification(bench),
        sizeOf(bench.homes),
      ];
    } finally {
      await sandbox.stop();
    }
  });
}

/** Creates homes with one payment each, and then adds more payments to the journals of some. */
async function startHomes(folder, sandbox) {
  const homes = {
    few: join(folder, 'few'),
    many: join(folder, 'many'),
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
  fillJournal(join(homes.many, 'journal.db'), many, 1);
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
