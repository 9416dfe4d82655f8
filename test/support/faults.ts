// The fixtures for all fault tests: a service behind a faulty proxy, and a check of the service's
// ledger.
import { expect } from 'vitest';
import * as v from 'valibot';
import type { Sandbox } from '../../src/sandbox/server.js';
import { startFaultyProxy, type FaultyProxy } from './faulty-proxy.js';
import { quickTime, svcpay, type Here, type Time } from './in-process.js';
import { test as base, type Run } from './svcpay.js';

/** The amount that a fresh sandbox debits for a payment of 1000 sat, including fees. */
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
  /** Runs `svcpay send lightning` with the invoice and the reference of the payment. */
  send(...flags: string[]): Promise<Run>;
  /** The arguments of `svcpay send`, for tests that start the command themselves. */
  readonly command: readonly string[];
  /** Runs `tx resume` and `tx pending`. */
  settled(): Promise<{ readonly resumed: Run; readonly pending: unknown }>;
  /**
   * Resolves with the number of payments that moved money, and fails if the BTC balance does not
   * match the number of completed payments.
   */
  timesPaid(): Promise<number>;
}

/** A timeout that is long enough for a request through the proxy on a busy machine. */
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
    // The service's clock advances after each confirmation, so that the payment settles
    // immediately.
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
        // The default timeout of 30 s takes only 3 s in `quickTime`, which is too short on a busy
        // machine.
        const resume = ['tx', 'resume', '--json', '--wait-timeout', '2m', ...timeoutFlags];
        const resumed = await svcpay(resume, around);
        const pending = (await svcpay(['tx', 'pending', '--json'], around)).json();
        return { resumed, pending };
      },
      timesPaid: () => timesPaid(sandbox),
    });
  },
});

/** The number of completed receive transactions that fund a fresh sandbox. */
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

/** Expects that all runs succeeded and reported the same transaction. */
export function expectSameTransaction(runs: readonly Run[]): void {
  expect(runs.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual(
    runs.map(() => ({ exitCode: 0, stderr: expect.any(String) })),
  );
  for (const run of runs) expect(run.json()).toEqual(runs[0]?.json());
}
