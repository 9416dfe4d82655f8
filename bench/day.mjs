// Measures how long a payment under a daily limit, and within a budget, takes after one payment in
// the last day, and after 20,000 payments that the budget was charged.
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commandIn, compared, fillJournal, pay, rounds, rowOf } from './support/journal.mjs';
import { inFolder, inTurns } from './support/process.mjs';
import { startSandboxServer } from './support/sandbox-server.mjs';

const budget = 'bench';
const ofOneDay = 20_000;
const batchRows = 40;
const dayMs = 86_400_000;

export function measure() {
  return inFolder(async (folder) => {
    const sandbox = await startSandboxServer();
    try {
      return await fullDay({ folder, sandbox, homes: await startHomes({ folder, sandbox }) });
    } finally {
      await sandbox.stop();
    }
  });
}

/** The limits of both homes are high enough for all measured payments. */
async function startHomes(bench) {
  const homes = { few: join(bench.folder, 'few'), day: join(bench.folder, 'day') };
  const inFew = (...args) => commandIn(bench, homes.few, ...args);
  await pay(bench, homes.few);
  await bench.sandbox.settle();
  await inFew('tx', 'pending');
  await inFew('limits', 'set', '--per-day', '1000btc');
  await inFew('budget', 'add', budget, '--per-day', '1000btc', '--total', '9000btc');
  await cp(homes.few, homes.day, { recursive: true });
  const apartMs = Math.floor((0.9 * dayMs) / ofOneDay);
  fillJournal(join(homes.day, 'journal.db'), ofOneDay, apartMs, budget);
  return homes;
}

const address = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';

/**
 * Pays on-chain, because svcpay compares a payment with earlier payments only if the payment has no
 * invoice.
 */
const payAgain = (bench, home) => {
  const words = ['send', 'onchain', address, '3000sat', '--yes', '--again', '--no-wait', '-q'];
  return commandIn(bench, home, ...words);
};

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
  return rowOf(`send lightning within a budget or none, ${what}`, all, none, 'without a budget');
}
