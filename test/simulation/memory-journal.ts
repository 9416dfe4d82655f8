// An implementation of the payment journal in memory, with the same guarantees as the journals in
// SQLite and PostgreSQL.
import * as v from 'valibot';
import {
  leaseMs,
  LostClaim,
  type Claim,
  type Journal,
  type ServiceTime,
  type Spend,
} from '../../src/store/journal/journal.js';
import { advanced, kept, type LimitClock } from '../../src/store/journal/spending.js';
import {
  alikeRef,
  attemptRef,
  changed,
  checkPayment,
  isReferenceFree,
  isUnfinished,
  mayHaveMoved,
  mayHavePaid,
  opened,
  replaced,
  requested,
  type Attempt,
  type Payment,
  type PaymentChange,
} from '../../src/store/journal/payment.js';

interface Row {
  payment: Payment;
  owner: string | null;
  leaseUntil: number;
  fence: number;
}

/** The stored data, which outlives the processes that write it. */
export interface JournalStore {
  readonly rows: Map<string, Row>;
  /** The clock of the daily limit, for each account. */
  readonly clocks: Map<string, LimitClock>;
  /**
   * The submission time of each attempt according to the clock of the daily limit, keyed by payment
   * id and attempt number.
   */
  readonly limitTimes: Map<string, number>;
  /**
   * Resolves when the journal has stored the latest submission, or has failed to store it. The next
   * submission waits for this promise, as it would wait for a database lock.
   */
  turn: Promise<unknown>;
}

export const emptyStore = (): JournalStore => ({
  rows: new Map(),
  clocks: new Map(),
  limitTimes: new Map(),
  turn: Promise.resolve(),
});

/** Copies the stored data, as a backup does. */
export const copyOf = ({ rows, clocks, limitTimes }: JournalStore): JournalStore => ({
  rows: new Map([...rows].map(([id, row]) => [id, { ...row }])),
  clocks: new Map(clocks),
  limitTimes: new Map(limitTimes),
  turn: Promise.resolve(),
});

/** Replaces the stored data with a backup. */
export function restore(store: JournalStore, backup: JournalStore): void {
  const { rows, clocks, limitTimes } = copyOf(backup);
  replace(store.rows, rows);
  replace(store.clocks, clocks);
  replace(store.limitTimes, limitTimes);
}

function replace<K, V>(target: Map<K, V>, source: ReadonlyMap<K, V>): void {
  target.clear();
  for (const [key, value] of source) target.set(key, value);
}

const dayMs = 86_400_000;
const periodMs = 60_000;

const claimOf = ({ payment, fence }: Row): Claim => ({ payment, fence, lastChange: null });

/** @param isAlive returns whether the process that owns a claim still runs. */
export function memoryJournal(
  store: JournalStore,
  isAlive: (owner: string) => boolean,
  now: () => number,
): Journal {
  const { rows, clocks, limitTimes } = store;
  const payments = (): Payment[] => [...rows.values()].map(({ payment }) => payment);
  const isHeld = ({ owner, leaseUntil }: Row): boolean =>
    owner !== null && leaseUntil > now() && leaseUntil <= now() + leaseMs && isAlive(owner);
  const rivalOf = (
    { idempotencyKey }: Pick<Payment, 'idempotencyKey'>,
    id: string | undefined,
  ): Payment | undefined =>
    payments().find(
      (each) =>
        idempotencyKey !== null &&
        each.idempotencyKey === idempotencyKey &&
        each.id !== id &&
        mayHavePaid(each),
    );
  const rowAt = (scope: string, ref: string): Row | undefined =>
    [...rows.values()].find(({ payment }) => payment.scope === scope && payment.ref === ref);
  const held = (claim: Claim): Row => {
    const row = rows.get(claim.payment.id);
    if (row?.fence !== claim.fence) throw new LostClaim('another process took over the payment');
    return row;
  };
  const update = (claim: Claim, change: PaymentChange): Claim => {
    const row = held(claim);
    row.payment = { ...changed(row.payment, change), updatedAt: now() };
    row.leaseUntil = now() + leaseMs;
    return claimOf(row);
  };
  const limitTime = (account: string, service: ServiceTime): number => {
    const before = clocks.get(account);
    const clock = advanced(before, now(), service ?? null);
    clocks.set(account, kept(before, clock));
    return clock.time;
  };
  const timeOf = ({ id }: Payment, { number }: Attempt): string => `${id} ${number}`;
  const spentBy = (account: string, at: number): Spend[] =>
    payments()
      .filter((each) => each.account === account)
      .flatMap((payment) =>
        payment.attempts
          .filter(
            (each) =>
              mayHaveMoved(each) &&
              periodOf(limitTimes.get(timeOf(payment, each)) ?? -Infinity) >= periodOf(at - dayMs),
          )
          .flatMap((attempt) => spendsOf(payment, attempt)),
      );
  const periodOf = (time: number): number => Math.floor(time / periodMs);
  const submittedAt = ({ attempts }: Payment): number =>
    Math.max(...attempts.map((each) => each.submittedAt ?? 0));

  const latestOf = (account: string, atMost: number): Payment[] =>
    payments()
      .filter((each) => each.account === account && submittedAt(each) > 0)
      .toSorted((a, b) => submittedAt(b) - submittedAt(a))
      .slice(0, atMost);

  const openIn = (scope: string): Payment[] =>
    payments()
      .filter((each) => each.scope === scope && isUnfinished(each))
      .toSorted((a, b) => a.openedAt - b.openedAt);
  const comparableOf = (
    scope: string,
    account: string,
    keys: readonly string[],
    withinMs: number,
    atMost: number,
  ): Payment[] =>
    [
      ...openIn(scope),
      ...latestOf(account, atMost).filter(
        (each) => each.updatedAt >= now() - withinMs && !isUnfinished(each),
      ),
    ].filter(({ instruction }) => keys.some((key) => instruction.includes(JSON.stringify(key))));

  return {
    async begin(draft, owner) {
      const same = rowAt(draft.scope, draft.ref);
      const rival = rivalOf(draft, same?.payment.id);
      if (rival !== undefined && (same === undefined || !mayHavePaid(same.payment)))
        return { payment: rival, found: 'once' };
      if (same === undefined) {
        const payment = opened(draft, now());
        const row =
          owner === undefined
            ? { payment, owner: null, leaseUntil: 0, fence: 0 }
            : { payment, owner, leaseUntil: now() + leaseMs, fence: 1 };
        rows.set(draft.id, row);
        return { payment, found: 'new', claim: owner === undefined ? undefined : claimOf(row) };
      }
      if (same.payment.digest !== draft.digest && isReferenceFree(same.payment) && !isHeld(same)) {
        const before = same.payment;
        same.payment = replaced(before, draft, now());
        same.fence += 1;
        return { payment: same.payment, found: 'new', replaced: before };
      }
      return { payment: same.payment, found: 'ref' };
    },
    async claim(id, owner) {
      const row = rows.get(id);
      if (row === undefined || (row.owner !== owner && isHeld(row))) return undefined;
      Object.assign(row, { owner, leaseUntil: now() + leaseMs, fence: row.fence + 1 });
      return claimOf(row);
    },
    async extendLease(claim) {
      held(claim).leaseUntil = now() + leaseMs;
    },
    write: async (claim, change) => update(claim, change),
    submit(claim, change, service, allow) {
      const { id, account } = claim.payment;
      const submitted = store.turn.then(async () => {
        const at = limitTime(account, service);
        await allow({
          spent: async () => spentBy(account, at),
          budget: async () => undefined,
          charged: async () => [],
          comparable: async (...wanted) => comparableOf(claim.payment.scope, account, ...wanted),
          rival: rivalOf(claim.payment, id),
          isRefused: async () => false,
        });
        held(claim);
        limitTimes.set(timeOf(claim.payment, change.attempt), at);
        return update(claim, {
          ...change,
          attempt: { ...change.attempt, submittedAt: now() },
        });
      });
      store.turn = submitted.catch(() => undefined);
      return submitted;
    },
    async release(claim) {
      const row = rows.get(claim.payment.id);
      if (row?.fence === claim.fence) Object.assign(row, { owner: null, leaseUntil: 0 });
    },
    async enter(draft, { ago, ...found }, service) {
      const row = rowAt(draft.scope, draft.ref);
      const known = row?.payment.attempts ?? [];
      if (known.some((each) => each.number === found.number && each.submittedAt !== null))
        return false;
      const others = known.filter(({ number }) => number !== found.number);
      const attempts = [
        ...others,
        { ...requested(found.number, draft.request), ...found, submittedAt: now() - ago },
      ].toSorted((a, b) => a.number - b.number);
      const payment = checkPayment({
        ...(row?.payment ?? opened(draft, now())),
        attempts,
        abandoned: false,
        updatedAt: now(),
      });
      rows.set(payment.id, { payment, owner: null, leaseUntil: 0, fence: (row?.fence ?? 0) + 1 });
      const [attempt] = attempts.filter(({ number }) => number === found.number);
      if (attempt !== undefined)
        limitTimes.set(timeOf(payment, attempt), limitTime(draft.account, service) - ago);
      return true;
    },
    spent: async (account, service) => spentBy(account, limitTime(account, service)),
    read: async (id) => rows.get(id)?.payment,
    find: async (scope, name) => {
      const own = payments().filter((each) => each.scope === scope);
      return (
        own.find(({ ref }) => ref === name) ??
        own.find(({ id }) => id === name) ??
        own.find(({ attempts }) => attempts.some(({ txnId }) => txnId === name)) ??
        own.find(({ ref, attempts }) =>
          attempts.some(({ number }) => attemptRef(ref, number) === name),
        )
      );
    },
    beginning: async (scope, start) =>
      payments()
        .filter(
          (each) =>
            each.scope === scope &&
            each.attempts.some(({ txnId }) => txnId?.startsWith(start) === true),
        )
        .slice(0, 2),
    latest: async (account, atMost) => latestOf(account, atMost),
    comparable: async (...wanted) => comparableOf(...wanted),
    page: async (scope, after, atMost) =>
      payments()
        .filter((each) => each.scope === scope && each.id > after)
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, atMost),
    alike: async (scope, refs) =>
      payments().filter(
        (each) => each.scope === scope && refs.some((ref) => alikeRef(each.ref) === alikeRef(ref)),
      ),
    runs: async (scope, atMost) => {
      const runs = payments().flatMap((each) => (each.scope === scope ? (each.batch ?? []) : []));
      return [...new Set(runs.map(({ run }) => run))]
        .map((run) => ({ run, payments: runs.filter((each) => each.run === run).length }))
        .toSorted((a, b) => (a.run < b.run ? 1 : -1))
        .slice(0, atMost);
    },
    inRun: async (scope, run) =>
      payments().filter((each) => each.scope === scope && each.batch?.run === run),
    paidInRun: async (scope, run) =>
      payments().flatMap((each) =>
        each.scope === scope && each.batch?.run === run && mayHavePaid(each) ? each.batch.row : [],
      ),
    checked: () => Promise.resolve([]),
    wrongTotals: () => Promise.resolve([]),
    trails: () => Promise.resolve([]),
    named: () => Promise.resolve([]),
    openSince: () => Promise.resolve([]),
    unfinished: () => Promise.resolve([]),
    mayPay: () => Promise.resolve(),
    open: async (scope) => openIn(scope),
    close: async () => undefined,
  };
}

const requestSchema = v.object({
  receives: v.optional(v.object({ ccy: v.string(), value: v.string() })),
  body: v.optional(v.object({ destReq: v.object({ ccy: v.string() }) })),
});

/**
 * Returns the amounts of an attempt that count against limits: the amount debited, and the amount
 * that another party receives in a different currency.
 */
function spendsOf(
  { kind }: Payment,
  { request, spendCcy, approvedTotal, approvedReceives }: Attempt,
): Spend[] {
  if (spendCcy === null || approvedTotal === null) return [];
  const { receives, body } = v.parse(requestSchema, JSON.parse(request));
  const [ccy, total] = [receives?.ccy ?? body?.destReq.ccy, receives?.value ?? approvedReceives];
  const isElsewhere = ccy !== undefined && total !== null && kind !== 'swap' && ccy !== spendCcy;
  return [{ ccy: spendCcy, total: approvedTotal }, ...(isElsewhere ? [{ ccy, total }] : [])];
}
