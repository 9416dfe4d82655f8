// Several processes share one sandbox file, and some of them are killed. The sandbox file keeps
// every answered transaction, and no transaction is executed twice.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fresh } from './support.js';
import { runsAll } from '../support/part.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const program = join(root, 'node_modules', `.sandbox-swapper-${process.pid}.mjs`);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandbox-'));
  await build({
    entryPoints: [join(root, 'test/sandbox/swapper.ts')],
    outfile: program,
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
  });
});

afterAll(async () => {
  await rm(folder, { recursive: true });
  await rm(program);
});

/** The number of receive transactions that fund a new sandbox. */
const initial = 5;

interface Swapper {
  readonly child: ChildProcess;
  /** The ids of the transactions that the child process has printed. */
  readonly answered: string[];
  readonly ended: Promise<number | null>;
}

function swapper(
  file: string,
  count: number,
  onAnswer: (answered: string[]) => void = () => undefined,
): Swapper {
  const child = spawn(process.execPath, [program, file, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const answered: string[] = [];
  createInterface(child.stdout).on('line', (line) => {
    answered.push(line);
    onAnswer(answered);
  });
  return { child, answered, ended: new Promise((resolve) => child.on('close', resolve)) };
}

/**
 * Opens the sandbox file, and returns its balances, its completed transactions and their states.
 */
async function accountFor(file: string) {
  const sandbox = await fresh({ file });
  const [usd, usdt] = [(await sandbox.wallet('USD')).amount, (await sandbox.wallet('USDT')).amount];
  const { transactions } = (await sandbox.control('GET', 'status')).body;
  const stateOf = async (txnId: string): Promise<string> =>
    (await sandbox.get(txnId)).body.txnState;
  return {
    usd,
    usdt,
    completed: transactions.completed - initial,
    stateOf,
    close: () => sandbox.close(),
  };
}

describe('the sandbox on a file', { timeout: 60_000 }, () => {
  test.runIf(runsAll)(
    'serves several processes that open one sandbox file at the same time',
    async () => {
      const file = join(folder, 'shared.db');
      const swappers = Array.from({ length: 4 }, () => swapper(file, 25));
      expect(await Promise.all(swappers.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
      const account = await accountFor(file);
      expect(new Set(swappers.flatMap(({ answered }) => answered)).size).toBe(100);
      expect(account).toMatchObject({ completed: 100, usd: 5_100, usdt: 9_899.75 });
      await account.close();
    },
  );

  test('waits while another process locks the sandbox file', async () => {
    const file = join(folder, 'held.db');
    const sandbox = await fresh({ file });
    const holder = new Database(file);
    holder.exec('BEGIN IMMEDIATE');
    setTimeout(() => holder.exec('COMMIT'), 600);
    expect((await sandbox.call('GET', '/transaction')).status).toBe(200);
    holder.close();
    await sandbox.close();
  });

  test('keeps every answered transaction after its processes were killed', async () => {
    const file = join(folder, 'killed.db');
    const swappers = [0, 1].map((index) =>
      swapper(file, 100_000, (answered) => {
        if (answered.length === 20 + index * 15) swappers[index]?.child.kill('SIGKILL');
      }),
    );
    await Promise.all(swappers.map(({ ended }) => ended));
    const answered = swappers.flatMap((each) => each.answered);
    const account = await accountFor(file);
    const states = await Promise.all(answered.map(account.stateOf));
    expect(answered.length).toBeGreaterThanOrEqual(55);
    expect(new Set(states)).toEqual(new Set(['completed']));
    expect(account.completed).toBeGreaterThanOrEqual(answered.length);
    expect(account.usd).toBe(5_000 + account.completed);
    await account.close();
  });
});
