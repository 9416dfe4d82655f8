// Tests the payment driver on machines that share a database: one machine dies at each step of a
// payment, or loses its connection at each commit, and other machines, whose clocks are an hour
// apart, resume the payment.
import { describe, expect, onTestFinished, test } from 'vitest';
import { postgresDatabase } from '../../src/store/database/postgres.js';
import { prepareTables } from '../support/prepared-database.js';
import { journalPart } from '../../src/store/journal/schema.js';
import { verify } from '../../src/wallet/payment/story.js';
import { openSqlJournal } from '../../src/store/journal/sql-journal.js';
import type { Transaction } from '../../src/api/types.js';
import type { PaymentDeps } from '../../src/wallet/payment/model.js';
import { pay } from '../../src/wallet/payment/pay.js';
import { startDatabaseProxy } from '../support/database-proxy.js';
import { hasPostgres } from '../support/postgres.js';
import { usingPostgres } from '../support/shared-postgres.js';
import { bench, asked, type Bench } from '../wallet/support/machine.js';

const hourMs = 3_600_000;

const server = usingPostgres();

/**
 * Kills a machine at one of its steps: the effect of the step remains, and no later call of the
 * machine returns.
 */
class Death {
  #count = 0;
  #isDead = false;
  #tell: () => void = () => undefined;
  readonly came = new Promise<void>((done) => (this.#tell = done));

  constructor(readonly step: number) {}

  async meets(call: () => unknown): Promise<unknown> {
    const result = this.#isDead ? undefined : await call();
    this.#isDead ||= (this.#count += 1) === this.step;
    if (!this.#isDead) return result;
    this.#tell();
    return new Promise(() => undefined);
  }
}

/** Wraps `target`, so that each of its calls counts as a step. */
function mortal<T extends object>(target: T, death: Death): T {
  return new Proxy(target, {
    get(from, name) {
      const value: unknown = Reflect.get(from, name);
      if (typeof value === 'function') {
        const call = value.bind(from);
        return name === 'serviceNow' || name === 'eachTransaction'
          ? call
          : (...args: unknown[]) => death.meets(() => call(...args));
      }
      return typeof value === 'object' && value !== null ? mortal(value, death) : value;
    },
  });
}

async function machine(
  on: Bench,
  owner: string,
  skewMs: number,
  address: string,
): Promise<PaymentDeps> {
  const database = postgresDatabase({
    url: address,
    source: 'the test',
    clock: () => performance.now(),
  });
  onTestFinished(() => database.close());
  await prepareTables(database, journalPart);
  const journal = openSqlJournal(database, (each) => !each.startsWith('dead'));
  // Each simulated wait also pauses for 1 ms of real time, so that another process can continue.
  const sleep = (ms: number): Promise<void> => (
    (on.time += ms),
    new Promise((done) => setTimeout(done, 1))
  );
  return { ...on.deps, journal, owner, sleep, now: () => on.time + skewMs };
}

const send = (ref: string, deps: PaymentDeps): Promise<Transaction> =>
  pay(
    { instruction: asked, ref, terms: {}, consent: { by: 'yes' } },
    { wait: 'forever', retry: false },
    deps,
  );

const paid = ({ transactions }: Bench, ref: string): number =>
  transactions.filter(
    ({ txnState, extRefId }) => txnState !== 'quoted' && extRefId?.split('~')[0] === ref,
  ).length;

describe.skipIf(!hasPostgres)(
  'the payment driver on a shared database',
  { timeout: 300_000 },
  () => {
    test.each([2, 10])(
      'pays once if %d processes resume a payment together after another process died at any step',
      async (others) => {
        const [on, url] = [bench(), server().database()];
        const dying = await machine(on, 'dead', hourMs, url);
        const alive = await Promise.all(
          Array.from({ length: others }, (_, n) =>
            machine(on, `alive ${n}`, (n - 1) * hourMs, url),
          ),
        );
        let step = 0;
        for (let isOver = false; !isOver;) {
          const [ref, death] = [`step ${(step += 1)}`, new Death(step)];
          const mortals = {
            journal: mortal(dying.journal, death),
            service: mortal(dying.service, death),
          };
          isOver = await Promise.race([
            send(ref, { ...dying, ...mortals }).then(() => true),
            death.came.then(() => false),
          ]);
          const reported = await Promise.all(alive.map((deps) => send(ref, deps)));
          expect([step, new Set(reported.map(({ txnId }) => txnId)).size, paid(on, ref)]).toEqual([
            step,
            1,
            1,
          ]);
        }
        // The payment takes at least one step in each of the states quoted, submitting, in-flight
        // and paid.
        expect(step).toBeGreaterThan(12);
        // Every payment has a trail that leads to it, whichever processes wrote its steps.
        expect(await verify(dying.journal, 0, () => undefined)).toMatchObject({ differing: 0 });
      },
    );

    test('pays once if the answer to any database commit is lost', async () => {
      const [on, url] = [bench(), server().database()];
      const proxy = await startDatabaseProxy(server().port);
      onTestFinished(() => proxy.stop());
      const cut = await machine(on, 'cut', 0, proxy.through(url));
      let commit = 0;
      for (let cuts = -1; cuts !== proxy.cuts();) {
        cuts = proxy.cuts();
        const ref = `cut ${commit}`;
        proxy.cutCommits(1, commit++);
        expect(await send(ref, cut)).toMatchObject({ extRefId: ref, txnState: 'completed' });
        expect([ref, paid(on, ref)]).toEqual([ref, 1]);
      }
      expect(commit).toBeGreaterThan(6);
      const { journal } = await machine(on, 'verifier', 0, url);
      expect(await verify(journal, 0, () => undefined)).toMatchObject({ differing: 0 });
    });
  },
);
