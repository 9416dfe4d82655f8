// The data of a reconciliation: a payment as a source of this home records it, a transaction as the
// service reports it, and their differences.
import Big from 'big.js';
import * as v from 'valibot';
import type { ListedTransaction } from '../../api/types.js';
import { fromWire } from '../../formats/amount.js';
import { isQuoted, movedNothing } from '../../formats/states.js';
import { movedAmounts, type MovedAmounts } from '../history/moved-amounts.js';

const differenceKinds = [
  'unknown here',
  'unknown there',
  'unresolved',
  'state differs',
  'amount differs',
  'arrived differs',
  'currency differs',
  'reference differs',
  'contradicts itself',
  'not comparable',
  'doubled row',
  'not in the file',
  'event never came',
  'events contradict',
  'total differs',
] as const;

export interface FoundDifference {
  readonly difference: (typeof differenceKinds)[number];
  /**
   * The source of the payment, which is `journal`, `inbox`, `service`, `request`, `wallet`, or the
   * name of a file.
   */
  readonly source: string;
  readonly txnId: string | null;
  readonly reference: string | null;
  readonly ccy: string | null;
  /**
   * The amount that `source` records. The field `there` contains the amount that the service
   * reports.
   */
  readonly here: Big | null;
  readonly there: Big | null;
  readonly detail: string;
}

/** What differs, as JSON, without the source, which may be the path of a file. */
export const factsOf = ({ difference, ccy, here, there, detail }: FoundDifference): string =>
  JSON.stringify([difference, ccy, here, there, detail]);

const decimal = v.pipe(
  v.string(),
  v.transform((text) => new Big(text)),
);

/**
 * The outcome of a payment according to the journal, the inbox, a batch result or the service. The
 * outcome is `unknown` if the service reports a submitted payment as expired or cancelled, because
 * the money may have moved all the same.
 */
const outcome = v.picklist(['nothing moved', 'in flight', 'paid', 'error', 'unknown']);

const localPaymentText = v.object({
  /** The transaction id, or null if only the reference is known. */
  txnId: v.nullable(v.string()),
  reference: v.nullable(v.string()),
  outcome,
  /** The state of the payment in the words of the journal, the inbox or the batch result. */
  state: v.string(),
  ccy: v.nullable(v.string()),
  /** The debit, including fees. */
  total: v.nullable(decimal),
  receivesCcy: v.nullable(v.string()),
  /** The amount that arrives, according to the approved quote. */
  receives: v.nullable(decimal),
  /** The batch run that made the payment. */
  run: v.nullable(v.string()),
});

/** A payment as the journal, the webhook inbox or a batch result of this home records it. */
export type LocalPayment = Readonly<v.InferOutput<typeof localPaymentText>>;

export const readLocalPayment = (text: string): LocalPayment =>
  v.parse(localPaymentText, JSON.parse(text));

const serviceRow = v.object({
  txnId: v.string(),
  reference: v.nullable(v.string()),
  txnState: v.string(),
  isOut: v.boolean(),
  createdAt: v.number(),
  ccy: v.nullable(v.string()),
  total: v.nullable(decimal),
  arrivedCcy: v.nullable(v.string()),
  arrived: v.nullable(decimal),
  /** The amount requested from an external payer, if a different amount arrived. */
  requested: v.nullable(decimal),
  contradiction: v.nullable(v.string()),
});

export type ServiceRow = Readonly<v.InferOutput<typeof serviceRow>>;

export const readServiceRow = (text: string): ServiceRow => v.parse(serviceRow, JSON.parse(text));

/** Writes the transaction as text, for sorting on disk. */
export function serviceText(txn: ListedTransaction): string {
  const { txnId, extRefId, txnState, createdAt, sourceReq } = txn;
  const moved = movedAmounts(txn);
  const isOut = sourceReq.method === 'servicepay';
  const row: ServiceRow = {
    txnId,
    reference: extRefId ?? null,
    txnState,
    isOut,
    createdAt: createdAt ?? 0,
    ccy: moved?.left.ccy ?? null,
    total: moved?.left.value ?? null,
    arrivedCcy: moved?.arrived.ccy ?? null,
    arrived: moved?.arrived.value ?? null,
    requested: moved === undefined || isOut ? null : requestedOtherwise(txn, moved),
    contradiction: moved === undefined ? null : contradictionIn(txn, moved),
  };
  return JSON.stringify(row);
}

const feesOf = ({ serviceFee, networkFee }: MovedAmounts): Big =>
  serviceFee.value.plus(networkFee.value);

/**
 * The requested amount, if a different amount arrived and the fees do not explain the difference.
 */
function requestedOtherwise({ destReq }: ListedTransaction, moved: MovedAmounts): Big | null {
  if (destReq.amtRequested == null) return null;
  const requested = fromWire(destReq.amtRequested);
  const { value } = moved.arrived;
  return value.eq(requested) || value.eq(requested.minus(feesOf(moved))) ? null : requested;
}

/**
 * Describes a contradiction between the settled amounts of the two sides, if both sides have the
 * same currency. The settled source amount must equal the amount that arrives, with or without the
 * fees.
 */
function contradictionIn(
  { sourceReq, destReq }: ListedTransaction,
  moved: MovedAmounts,
): string | null {
  if (sourceReq.amtSettled == null || destReq.amtSettled == null) return null;
  const { ccy, value } = moved.arrived;
  if (moved.left.ccy !== ccy) return null;
  const settled = fromWire(sourceReq.amtSettled);
  if (settled.eq(value) || settled.eq(value.plus(feesOf(moved)))) return null;
  return (
    `${settled.toFixed()} ${ccy} left the source, but ${value.toFixed()} ${ccy} arrived, and the ` +
    `fees are ${feesOf(moved).toFixed()} ${ccy}`
  );
}

export function outcomeAtService(txnState: string): LocalPayment['outcome'] {
  if (txnState === 'completed') return 'paid';
  if (txnState === 'error') return 'error';
  return movedNothing(txnState) || isQuoted(txnState) ? 'nothing moved' : 'in flight';
}

export const isSameOutcome = (
  here: LocalPayment['outcome'],
  there: LocalPayment['outcome'],
): boolean => here === there || (here === 'unknown' && there !== 'paid');

/** Whether the service has paid a payment that was in flight when this home last read it. */
export const isProgress = (
  here: LocalPayment['outcome'],
  there: LocalPayment['outcome'],
): boolean => here === 'in flight' && there === 'paid';

/** Whether the payment may have moved money, so that the service must have its transaction. */
export const mayHaveMoved = ({ outcome: of }: LocalPayment): boolean => of !== 'nothing moved';

/** A difference that concerns a payment or a transaction as a whole. */
export const ofWhole = (
  side: 'here' | 'there',
  difference: FoundDifference['difference'],
  source: string,
  {
    txnId,
    reference,
    ccy,
    total,
  }: Pick<LocalPayment | ServiceRow, 'txnId' | 'reference' | 'ccy' | 'total'>,
  detail: string,
): FoundDifference => ({
  difference,
  source,
  txnId,
  reference,
  ccy,
  here: null,
  there: null,
  [side]: total,
  detail,
});
