// Determines the effects of a transaction on each wallet, and the possible effects of a transaction
// that is not in the statement. Converts adjustments to effects on a wallet, and adds up effects by
// wallet and by a name, such as the payment method.
import Big from 'big.js';
import * as v from 'valibot';
import type { ListedTransaction } from '../../api/types.js';
import { fromWire, type Money } from '../../formats/amount.js';
import { isFinal, isQuoted, movedNothing } from '../../formats/states.js';
import { movedAmounts, settledAt } from '../history/moved-amounts.js';
import { parseDate, spanOf } from '../../formats/calendar.js';
import type { BookEntry } from '../../store/journal/records.js';

const exact = v.pipe(
  v.string(),
  v.transform((text) => new Big(text)),
);

/** A movement as text, for sorting on disk. */
const movementText = v.object({
  ccy: v.string(),
  at: v.number(),
  created: v.nullable(v.number()),
  kind: v.picklist(['receive', 'send', 'swap', 'adjustment', 'correction']),
  txnId: v.nullable(v.string()),
  reference: v.nullable(v.string()),
  note: v.nullable(v.string()),
  other: v.string(),
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
 * ms, or the creation time if the settlement time is unknown. `other` is the method of the
 * transaction's other side, or the other wallet of a swap. The amount `out` excludes fees, and
 * `fee` is the part of the fees that the wallet paid. `serviceFee` and `networkFee` are in the
 * currency of the transaction's source. `exchanged` is the amount of the transaction's other side,
 * if that side has another currency. The `reference` of an adjustment is the id of the entry.
 */
export type Movement = Readonly<v.InferOutput<typeof movementText>>;

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

export const readMovement = (text: string): Movement => v.parse(movementText, JSON.parse(text));
export const readCandidate = (text: string): Candidate => v.parse(candidateText, JSON.parse(text));

export interface BookedMovements {
  readonly movements: readonly Movement[];
  readonly candidates: readonly Candidate[];
}

/**
 * The longest validity of a quote, in ms. Until a quote expires, the service may reserve money for
 * the quote.
 */
const quoteMs = 3_600_000;

/**
 * Returns the movements of a completed transaction, or the possible effects of a transaction that
 * may still hold money.
 * @param now the service's clock, epoch ms
 */
export function booked(txn: ListedTransaction, now: number): BookedMovements {
  const { txnState, txnId, createdAt } = txn;
  if (movedNothing(txnState) || (isQuoted(txnState) && (createdAt ?? now) < now - quoteMs))
    return nothing;
  const effects = effectsOf(txn);
  const candidate = (reason: Candidate['reason'], ccy: string, effect: Big | null): Candidate => ({
    ccy,
    at: createdAt ?? 0,
    txnId,
    reason,
    txnState,
    effect,
  });
  if (txnState !== 'completed') {
    const reason = isQuoted(txnState)
      ? 'reserved'
      : isFinal(txnState)
        ? 'ended as error'
        : 'in flight';
    return {
      movements: [],
      candidates: walletsOf(txn).map((ccy) => candidate(reason, ccy, effectIn(ccy, effects))),
    };
  }
  if (effects === undefined || createdAt == null) {
    return {
      movements: [],
      candidates: walletsOf(txn).map((ccy) =>
        candidate('amount not reported', ccy, effectIn(ccy, effects)),
      ),
    };
  }
  const asked = otherThanRequested(txn).map(({ ccy, effect }) =>
    candidate('settled another amount than requested', ccy, effect),
  );
  return {
    movements: effects.map((effect) => ({
      ...effect,
      at: settledAt(txn) ?? createdAt,
      created: createdAt,
    })),
    candidates: asked,
  };
}

const nothing: BookedMovements = { movements: [], candidates: [] };

/** Converts an adjustment to a movement at the beginning of its day, in the time zone. */
export const adjustmentOf = (
  { id, ccy, amount, dated, note }: Omit<BookEntry, 'recordedAt'>,
  zone: string,
): Movement => ({
  ...withoutTransaction,
  ccy,
  other: unexplained,
  at: spanOf(parseDate(dated), zone).first,
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
  created: null,
  txnId: null,
  reference: null,
  note: null,
  fee: new Big(0),
  serviceFee: new Big(0),
  networkFee: new Big(0),
  exchanged: null,
  exchangedCcy: null,
} as const;

/** Returns the change of the wallet's balance by a movement, which is negative for a debit. */
export const changeOf = (movement: Pick<Movement, 'in' | 'out' | 'fee'>): Big =>
  movement.in.minus(movement.out).minus(movement.fee);

function effectIn(ccy: string, effects: readonly Effect[] | undefined): Big | null {
  const effect = effects?.find((each) => each.ccy === ccy);
  return effect === undefined ? null : changeOf(effect);
}

/** Returns the currencies of the account's wallets that a transaction affects. */
const walletsOf = ({ sourceReq, destReq }: ListedTransaction): string[] =>
  [sourceReq, destReq].flatMap(({ method, ccy }) =>
    method === 'servicepay' && ccy != null ? ccy.toUpperCase() : [],
  );

type Effect = Omit<Movement, 'at' | 'created'>;

/**
 * Returns the effects of a transaction by its settled amounts, or by its requested amounts if it
 * has not settled.
 */
function effectsOf(txn: ListedTransaction): Effect[] | undefined {
  const { sourceReq, destReq, txnId, extRefId, note } = txn;
  const amounts = movedAmounts(txn);
  if (amounts === undefined) return undefined;
  const { exchanged, arrived, serviceFee, networkFee } = amounts;
  const [isOut, isIn] = [sourceReq.method === 'servicepay', destReq.method === 'servicepay'];
  const kind = isOut && isIn ? 'swap' : isOut ? 'send' : 'receive';
  const fees = { serviceFee: serviceFee.value, networkFee: networkFee.value };
  const common = { kind, txnId, reference: extRefId ?? null, note: note ?? null, ...fees } as const;
  const fee = serviceFee.value.plus(networkFee.value);
  const isExchange = exchanged.ccy !== arrived.ccy;
  const otherAmount = ({ ccy, value }: Money) =>
    isExchange ? { exchanged: value, exchangedCcy: ccy } : { exchanged: null, exchangedCcy: null };
  return [
    ...(isOut
      ? [
          {
            ...common,
            ccy: exchanged.ccy,
            other: otherSide(destReq),
            in: zero,
            out: exchanged.value,
            fee,
            ...otherAmount(arrived),
          },
        ]
      : []),
    ...(isIn
      ? [
          {
            ...common,
            ccy: arrived.ccy,
            other: otherSide(sourceReq),
            in: arrived.value,
            out: zero,
            fee: zero,
            ...otherAmount(exchanged),
          },
        ]
      : []),
  ];
}

const zero = new Big(0);

const otherSide = ({ method, ccy }: ListedTransaction['sourceReq']): string =>
  method === 'servicepay' ? `${ccy ?? ''} wallet` : (method ?? 'unknown');

/**
 * Returns the sides of the transaction for which the settled amount differs from the requested
 * amount, each with the difference. Ignores sides that are not wallets of the account.
 */
function otherThanRequested({
  sourceReq,
  destReq,
}: ListedTransaction): { ccy: string; effect: Big }[] {
  return [sourceReq, destReq].flatMap(({ method, ccy, amtRequested, amtSettled }, index) => {
    if (method !== 'servicepay' || ccy == null || amtRequested == null || amtSettled == null)
      return [];
    const less = fromWire(amtRequested).minus(fromWire(amtSettled));
    return less.eq(0) ? [] : [{ ccy: ccy.toUpperCase(), effect: index === 0 ? less.neg() : less }];
  });
}

export interface MovementSum<Name extends string> {
  readonly ccy: string;
  readonly name: Name;
  readonly count: number;
  readonly in: Big;
  /** The money that left the wallet, without fees. */
  readonly out: Big;
  readonly serviceFee: Big;
  readonly networkFee: Big;
  readonly fee: Big;
}

type Amount = 'in' | 'out' | 'serviceFee' | 'networkFee' | 'fee';

/** @param nameOf returns the name under which a movement counts, or undefined to leave it out */
export function sumsOf<Name extends string>(
  movements: Iterable<Movement>,
  nameOf: (movement: Movement) => Name | undefined,
): MovementSum<Name>[] {
  const sums = new Map<string, MovementSum<Name>>();
  for (const movement of movements) {
    const { ccy } = movement;
    const name = nameOf(movement);
    if (name === undefined) continue;
    const before = sums.get(`${ccy} ${name}`);
    const plus = (of: Amount): Big => movement[of].plus(before?.[of] ?? zero);
    sums.set(`${ccy} ${name}`, {
      ccy,
      name,
      count: (before?.count ?? 0) + 1,
      in: plus('in'),
      out: plus('out'),
      serviceFee: plus('serviceFee'),
      networkFee: plus('networkFee'),
      fee: plus('fee'),
    });
  }
  return [...sums.values()];
}
