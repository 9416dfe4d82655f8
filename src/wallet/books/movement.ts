// Determines the effects of a transaction or an adjustment on each wallet, and the possible effects
// of a transaction that is not in the statement. Sorts the effects in a temporary database, and
// adds them up by wallet and by a name, such as the payment method.
import Big from 'big.js';
import * as v from 'valibot';
import type { ListedTransaction } from '../../api/types.js';
import { fromWire } from '../../formats/amount.js';
import { isFinal, isQuoted, movedNothing } from '../../formats/states.js';
import { type MovedAmounts, movedAmounts, settledAt } from '../history/moved-amounts.js';
import { spanOf, always, type Span } from '../../formats/calendar.js';
import { changeOf, type BookedRow } from '../../formats/statement-row.js';
import type { BookEntry } from '../../store/journal/records.js';
import { openScratch, type Scratch } from '../../store/files/sqlite-file.js';

const zero = new Big(0);

const exact = v.pipe(
  v.string(),
  v.transform((text) => new Big(text)),
);

/** A movement as text, for sorting on disk. */
const movementText = v.object({
  at: v.number(),
  time: v.nullable(v.string()),
  created: v.nullable(v.string()),
  wallet: v.string(),
  kind: v.picklist(['receive', 'send', 'swap', 'adjustment', 'correction']),
  counterparty: v.nullable(v.string()),
  method: v.nullable(v.string()),
  txnId: v.nullable(v.string()),
  reference: v.nullable(v.string()),
  note: v.nullable(v.string()),
  in: exact,
  out: exact,
  fee: exact,
  serviceFee: exact,
  networkFee: exact,
  exchanged: v.nullable(exact),
  exchangedCcy: v.nullable(v.string()),
});

/**
 * The change of a wallet by a transaction or an adjustment. `at` is the settlement time in epoch
 * ms, or the creation time if the settlement time is unknown. The `counterparty` is the method of
 * the transaction's other side, or the other wallet of a swap. The amount `out` excludes fees, and
 * `fee` is the part of the fees that the wallet paid. `serviceFee` and `networkFee` are in the
 * currency of the transaction's source. The `reference` of an adjustment is the id of the entry.
 */
export type Movement = Readonly<v.InferOutput<typeof movementText>> & BookedRow;

const candidateText = v.object({
  ccy: v.string(),
  at: v.number(),
  txnId: v.string(),
  /**
   * The reason why the transaction could explain a difference between the movements and the balance
   * of a wallet.
   */
  reason: v.picklist([
    'reserved',
    'in flight',
    'ended as error',
    'amount not reported',
    'settled another amount than requested',
    'not in the list',
    'no longer in the list',
  ]),
  txnState: v.string(),
  /**
   * The change of the wallet's balance if the service has counted the transaction, or null if this
   * change is unknown.
   */
  effect: v.nullable(exact),
});

/**
 * A transaction that may explain a difference between a wallet's movements and its balance: the
 * transaction is not in the statement, or it settled for an amount other than the requested amount.
 */
export type Candidate = Readonly<v.InferOutput<typeof candidateText>>;

export interface BookedMovements {
  readonly movements: readonly Movement[];
  readonly candidates: readonly Candidate[];
}

/**
 * The longest validity of a quote, in ms. Until a quote expires, the service may reserve money for
 * the quote.
 */
export const quoteMs = 3_600_000;

/**
 * Returns the movements of a completed transaction, or the possible effects of a transaction that
 * may still hold money.
 * @param now the service's clock, epoch ms
 */
export function booked(txn: ListedTransaction, now: number): BookedMovements {
  const { txnState, txnId, createdAt, sourceReq, destReq } = txn;
  const movements: Movement[] = [];
  const candidates: Candidate[] = [];
  if (movedNothing(txnState) || (isQuoted(txnState) && (createdAt ?? now) < now - quoteMs))
    return { movements, candidates };
  const amounts = movedAmounts(txn);
  const isCompleted = txnState === 'completed';
  const reason = isCompleted
    ? 'amount not reported'
    : isQuoted(txnState)
      ? 'reserved'
      : isFinal(txnState)
        ? 'ended as error'
        : 'in flight';
  for (const isDebit of [true, false]) {
    const side = isDebit ? sourceReq : destReq;
    const ccy = side.ccy?.toUpperCase();
    if (side.method !== 'servicepay' || ccy === undefined) continue;
    const movement = amounts && movementOf(txn, amounts, isDebit);
    const candidate = { ccy, at: createdAt ?? 0, txnId, reason, txnState, effect: null } as const;
    if (!isCompleted || movement === undefined || createdAt == null) {
      candidates.push({ ...candidate, effect: movement ? changeOf(movement) : null });
      continue;
    }
    movements.push(movement);
    const { amtRequested, amtSettled } = side;
    if (amtRequested == null || amtSettled == null) continue;
    const less = fromWire(amtRequested).minus(fromWire(amtSettled));
    const effect = isDebit ? less.neg() : less;
    if (!less.eq(0))
      candidates.push({ ...candidate, reason: 'settled another amount than requested', effect });
  }
  return { movements, candidates };
}

/** Converts an adjustment to a movement at the beginning of its day, in the time zone. */
export const adjustmentOf = (
  { id, ccy, amount, dated, note }: Omit<BookEntry, 'recordedAt'>,
  zone: string,
): Movement => ({
  ...withoutTransaction,
  wallet: ccy,
  counterparty: unexplained,
  at: spanOf(dated, zone).first,
  kind: 'adjustment',
  reference: id,
  note,
  ...signed(new Big(amount)),
});

export const unexplained = 'not explained by a transaction';

/** The amount of a change as a credit or a debit. */
export const signed = (change: Big): Pick<Movement, 'in' | 'out'> =>
  change.gt(0) ? { in: change, out: zero } : { in: zero, out: change.abs() };

/** The fields of a movement that no transaction explains. */
export const withoutTransaction = {
  time: null,
  created: null,
  counterparty: null,
  method: null,
  txnId: null,
  reference: null,
  note: null,
  fee: zero,
  serviceFee: zero,
  networkFee: zero,
  exchanged: null,
  exchangedCcy: null,
} as const;

const isoTime = (at: number): string => new Date(at).toISOString();

/**
 * Returns the movement of the wallet on one side of a transaction, by its settled amounts, or by
 * its requested amounts if it has not settled.
 */
function movementOf(
  txn: ListedTransaction,
  { exchanged, arrived, serviceFee, networkFee, fees }: MovedAmounts,
  isDebit: boolean,
): Movement {
  const { sourceReq, destReq, txnId, extRefId, note, createdAt } = txn;
  const [own, theirs, { method, ccy }] = isDebit
    ? [exchanged, arrived, destReq]
    : [arrived, exchanged, sourceReq];
  const isSwap = sourceReq.method === destReq.method;
  const isExchange = exchanged.ccy !== arrived.ccy;
  const at = settledAt(txn) ?? createdAt ?? 0;
  const counterparty = isSwap ? `${ccy ?? ''} wallet` : (method ?? 'unknown');
  return {
    at,
    time: isoTime(at),
    created: createdAt == null ? null : isoTime(createdAt),
    wallet: own.ccy,
    kind: isSwap ? 'swap' : isDebit ? 'send' : 'receive',
    counterparty,
    method: isSwap ? null : counterparty,
    txnId,
    reference: extRefId ?? null,
    note: note ?? null,
    in: isDebit ? zero : own.value,
    out: isDebit ? own.value : zero,
    fee: isDebit ? fees : zero,
    serviceFee,
    networkFee,
    exchanged: isExchange ? theirs.value : null,
    exchangedCcy: isExchange ? theirs.ccy : null,
  };
}

/** The number and the sums of movements. The fees that the wallet paid are not part of `out`. */
export interface MovementSum {
  readonly count: number;
  readonly in: Big;
  readonly out: Big;
  readonly fee: Big;
  readonly serviceFee: Big;
  readonly networkFee: Big;
}

/** @param keyOf returns the fields by which a movement counts, or undefined to leave it out */
export function sumsOf<Key extends object>(
  movements: Iterable<Movement>,
  keyOf: (movement: Movement) => Key | undefined,
): (Key & MovementSum)[] {
  const sums = new Map<string, Key & MovementSum>();
  for (const movement of movements) {
    const key = keyOf(movement);
    if (key === undefined) continue;
    const name = JSON.stringify(key);
    // The other side paid the fees of a movement without a fee, in its own currency.
    const { serviceFee, networkFee } = movement.fee.eq(0) ? withoutTransaction : movement;
    const { count, ...sum } = sums.get(name) ?? {
      count: 0,
      ...withoutTransaction,
      in: zero,
      out: zero,
    };
    sums.set(name, {
      ...key,
      count: count + 1,
      in: movement.in.plus(sum.in),
      out: movement.out.plus(sum.out),
      fee: movement.fee.plus(sum.fee),
      serviceFee: serviceFee.plus(sum.serviceFee),
      networkFee: networkFee.plus(sum.networkFee),
    });
  }
  return [...sums.values()];
}

/** The cells of one row of a statement, by column name. */
export type Cells = Readonly<Record<string, string>>;

export interface SealedMonth {
  /** A month such as `2026-10`. */
  readonly month: string;
  readonly first: number;
  readonly end: number;
}

export interface BookRows {
  /** Replaces the rows of listed transactions by the given rows. */
  replace(
    txnIds: readonly string[],
    movements: readonly Movement[],
    candidates?: readonly Candidate[],
  ): void;
  /** Adds the candidates whose transactions the service's list lacks. Later candidates count. */
  addMissing(candidates: Iterable<Candidate>): void;
  /** The sorted currencies of all movements. */
  currencies(): readonly string[];
  /** The movements of a wallet, or of all wallets, oldest first. */
  movements(ccy: string | undefined, span?: Span): Iterable<Movement>;
  candidates(ccy: string): readonly Candidate[];
  /** Stores the movements of a closed month that transactions caused. */
  seal(month: string, rows: readonly Cells[]): void;
  /** The settlement times of the given transactions in closed months. */
  sealedTimes(txnIds: readonly string[]): ReadonlyMap<string, number>;
  /** The transactions of closed months, which the service's list may no longer contain. */
  sealed(): Iterable<Candidate>;
  /**
   * Replaces the movements of the closed months that differ from the sealed rows by the sealed rows
   * and their corrections. The sum of all movements of a wallet stays the same.
   */
  keepSealed(months: readonly SealedMonth[]): void;
  close(): void;
}

/** The `amount` of a movement is its change of the wallet. */
const tables = `
  CREATE TABLE listed (id PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE movements (ccy, at, id, amount, data, PRIMARY KEY (ccy, at, id)) WITHOUT ROWID;
  CREATE INDEX movements_id ON movements (id);
  CREATE TABLE candidates (id, ccy, data, PRIMARY KEY (id, ccy)) WITHOUT ROWID;
  CREATE TABLE sealed (month, ccy, at, id, amount, data);
  CREATE INDEX sealed_id ON sealed (id, ccy);`;

/**
 * The wallets whose movement by a transaction differs from the sealed rows: the transactions of the
 * closed months and those that were sealed in them, except the transactions with one sealed row, if
 * the same movement is still there.
 */
const unlikeSealed = `
  SELECT id, ccy FROM sealed WHERE month <= ?3
  UNION SELECT id, ccy FROM movements WHERE id IN (SELECT id FROM sealed WHERE month <= ?3)
    OR (at >= ?1 AND at < ?2 AND data ->> 'txnId' IS NOT NULL)
  EXCEPT SELECT id, ccy FROM sealed s JOIN movements USING (id, ccy, at, amount) WHERE month <= ?3
    AND (SELECT count(*) FROM sealed o WHERE o.id = s.id AND o.ccy = s.ccy AND month <= ?3) = 1`;

const ccyRow = v.object({ ccy: v.string() });
const keyRow = v.object({ id: v.string(), ccy: v.string() });
const timeRow = v.object({ id: v.string(), at: v.number() });
const isTransaction = "data ->> 'kind' <> 'correction'";

const jsonRow = <S extends v.GenericSchema>(data: S) =>
  v.pipe(
    v.object({ data: v.pipe(v.string(), v.parseJson(), data) }),
    v.transform((row) => row.data),
  );
const movementRow = jsonRow(movementText);
const candidateRow = jsonRow(candidateText);

function insert(db: Scratch, table: 'movements' | 'sealed', movement: Movement, more = {}): void {
  const { wallet: ccy, at, txnId, reference } = movement;
  const id = txnId ?? reference ?? '';
  const data = JSON.stringify(movement);
  db.insert(table, { ccy, at, id, amount: changeOf(movement), data, ...more });
}

export function openBookRows(): BookRows {
  const db = openScratch(tables);
  return {
    replace: (txnIds, movements, candidates = []) =>
      db.together(() => {
        for (const txnId of txnIds) {
          db.insert('listed', { id: txnId });
          db.run('DELETE FROM movements WHERE id = ?', txnId);
          db.run('DELETE FROM candidates WHERE id = ?', txnId);
        }
        for (const each of movements) insert(db, 'movements', each);
        for (const each of candidates)
          db.insert('candidates', { id: each.txnId, ccy: each.ccy, data: JSON.stringify(each) });
      }),
    addMissing(candidates) {
      const unlessListed = `INSERT OR REPLACE INTO candidates
        SELECT ?1, ?2, ?3 WHERE NOT EXISTS (SELECT 1 FROM listed WHERE id = ?1)`;
      for (const each of candidates)
        db.run(unlessListed, each.txnId, each.ccy, JSON.stringify(each));
    },
    currencies: () =>
      [...db.each(ccyRow, 'SELECT DISTINCT ccy FROM movements ORDER BY ccy')].map(({ ccy }) => ccy),
    movements(ccy, { first, end } = always) {
      const [of, ...wallet] = ccy === undefined ? [''] : ['ccy = ? AND ', ccy];
      const text = `SELECT data FROM movements WHERE ${of}at >= ? AND at < ? ORDER BY at, id, ccy`;
      return db.each(movementRow, text, ...wallet, first, end);
    },
    candidates: (ccy) => [
      ...db.each(candidateRow, 'SELECT data FROM candidates WHERE ccy = ? ORDER BY id', ccy),
    ],
    ...sealedRows(db),
    close: db.close,
  };
}

function sealedRows(db: Scratch): Pick<BookRows, 'seal' | 'sealedTimes' | 'sealed' | 'keepSealed'> {
  return {
    seal: (month, rows) =>
      db.together(() => {
        for (const cells of rows)
          if (cells['txnId']) insert(db, 'sealed', sealedMovement(cells), { month });
      }),
    sealedTimes: (txnIds) =>
      new Map(
        [
          ...db.each(
            timeRow,
            `SELECT id, at FROM sealed
              WHERE id IN (SELECT value FROM json_each(?)) AND ${isTransaction}`,
            JSON.stringify(txnIds),
          ),
        ].map(({ id, at }) => [id, at]),
      ),
    *sealed() {
      for (const movement of db.each(movementRow, `SELECT data FROM sealed WHERE ${isTransaction}`))
        yield {
          ccy: movement.wallet,
          at: movement.at,
          txnId: movement.txnId ?? '',
          reason: 'no longer in the list',
          txnState: 'completed',
          effect: changeOf(movement),
        };
    },
    keepSealed(months) {
      const [first, last] = [months[0], months.at(-1)];
      if (first === undefined || last === undefined) return;
      const unlike = [...db.each(keyRow, unlikeSealed, first.first, last.end, last.month)];
      for (const { id, ccy } of unlike) {
        const of = 'WHERE id = ? AND ccy = ?';
        const sealed = `SELECT data FROM sealed ${of} AND month <= ? ORDER BY month`;
        const was = [...db.each(movementRow, sealed, id, ccy, last.month)];
        const [current] = db.each(movementRow, `SELECT data FROM movements ${of}`, id, ccy);
        db.run(`DELETE FROM movements ${of}`, id, ccy);
        for (const each of corrected(was, current, months)) insert(db, 'movements', each);
      }
    },
  };
}

const sealedMovement = (cells: Cells): Movement =>
  v.parse(movementText, {
    ...Object.fromEntries(Object.entries(cells).map(([name, cell]) => [name, cell || null])),
    at: Date.parse(cells['time'] ?? ''),
  });

/** Returns the sealed movements of a transaction in one wallet, followed by their correction. */
function corrected(
  was: readonly Movement[],
  current: Movement | undefined,
  months: readonly SealedMonth[],
): Movement[] {
  const movement = current ?? was[0];
  const last = months.at(-1);
  if (movement === undefined || last === undefined) return [];
  const sum = was.reduce((total, each) => total.plus(changeOf(each)), zero);
  const difference = (current === undefined ? zero : changeOf(current)).minus(sum);
  if (difference.eq(0)) return was.length > 0 ? [...was] : [movement];
  const [{ at }] = [was[0] ?? movement];
  const { month } = months.find(({ end }) => at < end) ?? last;
  const reason =
    current === undefined
      ? 'no longer in the list'
      : was.length === 0
        ? 'not in the list when the month was closed'
        : 'had another amount when the month was closed';
  const { wallet, txnId, created, reference, counterparty } = movement;
  const correction: Movement = {
    ...withoutTransaction,
    ...signed(difference),
    at: last.end,
    time: isoTime(last.end),
    wallet,
    txnId,
    created,
    reference,
    counterparty,
    kind: 'correction',
    note: `correction of ${month}, ${txnId}, ${reason}`,
  };
  return [...was, correction];
}
