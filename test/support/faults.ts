// What every test of faults has: a service behind a proxy that breaks, and the books of that
// service.
import { expect } from 'vitest';
import * as v from 'valibot';
import type { Sandbox } from '../../src/sandbox/index.js';
import { startFaultyProxy, type FaultyProxy } from './faulty-proxy.js';
import { quickTime, svcpay, type Here, type Time } from './in-process.js';
import { test as base, type Run } from './svcpay.js';

/** What a payment of 1000 sat takes from the wallet of a fresh sandbox, fees included. */
const charge = 0.00001003;
const funds = 1;

const statusSchema = v.object({
  accounts: v.array(
    v.object({ wallets: v.array(v.object({ ccy: v.string(), amount: v.number() })) }),
  ),
  transactions: v.record(v.string(), v.number()),
});

export interface Payment {
  readonly invoice: string;
  readonly proxy: FaultyProxy;
  readonly sandbox: Sandbox;
  readonly around: Here & Time;
  /** Runs `send lightning` for this payment's invoice and reference. */
  send(...flags: string[]): Promise<Run>;
  /** The command line of `send`, to be started in another way. */
  readonly command: readonly string[];
  /** Runs `tx resume` and `tx pending`. */
  settled(): Promise<{ readonly resumed: Run; readonly pending: unknown }>;
  /** How often the service has paid; fails when its ledger says something else. */
  timesPaid(): Promise<number>;
}

/** Enough for a program on a busy machine, which every request reaches. */
export const timeoutFlags = ['--timeout', '10s'];

interface Fixtures {
  readonly proxy: FaultyProxy;
  readonly payment: Payment;
}

export const test = base.extend<Fixtures>({
  proxy: async ({ sandbox }, use) => {
    const proxy = await startFaultyProxy(sandbox);
    await use(proxy);
    await proxy.stop();
  },
  payment: async ({ home, sandbox, proxy }, use) => {
    const invoice = await sandbox.invoice('1000sat', { expiry: '2d' });
    const around = { home, sandbox: proxy, ...quickTime() };
    // What the service takes a second for is over at once.
    proxy.afterwards(
      'confirmation',
      async () => void (await sandbox.clock.advance('2s')),
      Infinity,
    );
    const command = [
      'send',
      'lightning',
      invoice,
      '--ref',
      'order-1',
      '--yes',
      '--json',
      ...timeoutFlags,
    ];
    await use({
      invoice,
      proxy,
      sandbox,
      around,
      command,
      send: (...flags) => svcpay([...command, ...flags], around),
      async settled() {
        proxy.mend();
        // The default of 30 s is 3 s of quick time, too few on a busy machine.
        const resume = ['tx', 'resume', '--json', '--wait-timeout', '2m', ...timeoutFlags];
        const resumed = await svcpay(resume, around);
        const pending = (await svcpay(['tx', 'pending', '--json'], around)).json();
        return { resumed, pending };
      },
      timesPaid: () => timesPaid(sandbox),
    });
  },
});

/** The completed receives of the first balances. */
const firstBalances = 5;

async function timesPaid(sandbox: Sandbox): Promise<number> {
  const status = v.parse(
    statusSchema,
    await (await fetch(`${sandbox.url}/_sandbox/status`)).json(),
  );
  const moved = ['srccreated', 'destsent', 'completed'].reduce(
    (sum, state) => sum + (status.transactions[state] ?? 0),
    0,
  );
  const completed = (status.transactions['completed'] ?? 0) - firstBalances;
  const [wallet] = status.accounts[0]?.wallets.filter(({ ccy }) => ccy === 'BTC') ?? [];
  expect(wallet?.amount.toFixed(8)).toBe((funds - completed * charge).toFixed(8));
  return moved - firstBalances;
}

/** All of them succeeded, and reported one transaction. */
export function expectSameTransaction(runs: readonly Run[]): void {
  expect(runs.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual(
    runs.map(() => ({ exitCode: 0, stderr: expect.any(String) })),
  );
  for (const run of runs) expect(run.json()).toEqual(runs[0]?.json());
}
