// The data of a reconciliation: a payment as a source of this home records it, a transaction as the
// service reports it, and their differences.
import type { Big } from 'big.js';
import type { ListedTransaction } from '../../api/types.js';
import { fixed, fromWire } from '../../formats/amount.js';
import { isQuoted, movedNothing } from '../../formats/states.js';
import { movedAmounts, type MovedAmounts } from '../history/moved-amounts.js';

export const differenceKinds = [
  'unknown here',
  'unknown there',
  'unresolved',
  'state differs',
  'amount differs',
  'arrived differs',
  'currency differs',
  'reference differs',
  'destination differs',
  'contradicts itself',
  'not comparable',
  'event never came',
  'events contradict',
  'total differs',
] as const;

export interface FoundDifference {
  readonly difference: (typeof differenceKinds)[number];
  /**
   * The source of the payment, which is `journal`, `inbox`, `service`, `request` or `wallet`.
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

/** What differs, as JSON, without the source. */
export const factsOf = ({ difference, ccy, here, there, detail }: FoundDifference): string =>
  JSON.stringify([difference, ccy, here, there, detail]);

/**
 * The outcome of a payment according to the journal, the inbox or the service. The
 * outcome is `unknown` if the service reports a submitted payment as expired or cancelled, because
 * the money may have moved all the same.
 */
export type Outcome = 'nothing moved' | 'in flight' | 'paid' | 'error' | 'unknown';

/** A payment as the journal records it. */
export interface LocalPayment {
  /** The transaction id, or null if only the reference is known. */
  readonly txnId: string | null;
  readonly reference: string | null;
  readonly outcome: Outcome;
  /** The state of the payment in the words of the journal. */
  readonly state: string;
  readonly ccy: string | null;
  /** The debit, including fees. */
  readonly total: Big | null;
  readonly receivesCcy: string | null;
  /** The amount that arrives, according to the approved quote. */
  readonly receives: Big | null;
  /** The invoice, address or account that is paid. */
  readonly destination: string | null;
}

/** An amount as text, so that equal amounts have equal texts. */
export const amountText = (value: Big | null | undefined): string | null =>
  value == null ? null : fixed(value);

/** The values of the transaction in the columns of the table `service`. */
export function serviceValues(txn: ListedTransaction): (string | number | null)[] {
  const { txnId, extRefId, txnState, createdAt, sourceReq, destReq } = txn;
  const moved = movedAmounts(txn);
  const isOut = sourceReq.method === 'servicepay';
  return [
    txnId,
    extRefId ?? null,
    txnState,
    outcomeAtService(txnState),
    isOut ? 1 : 0,
    createdAt ?? 0,
    moved?.left.ccy ?? null,
    amountText(moved?.left.value),
    moved?.arrived.ccy ?? null,
    amountText(moved?.arrived.value),
    amountText(moved === undefined || isOut ? null : requestedOtherwise(txn, moved)),
    moved === undefined ? null : contradictionIn(txn, moved),
    destinationIn(destReq.reqDetails),
  ];
}

/** The invoice, address or account in the details of a payment, or null. */
export function destinationIn(details: ListedTransaction['destReq']['reqDetails']): string | null {
  const { paymentRequest, address, acctNum, bankAcctNum } = details ?? {};
  const found = [paymentRequest, address, acctNum, bankAcctNum].find(
    (each) => typeof each === 'string',
  );
  return typeof found === 'string' ? found : null;
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

function outcomeAtService(txnState: string): Outcome {
  if (txnState === 'completed') return 'paid';
  if (txnState === 'error') return 'error';
  return movedNothing(txnState) || isQuoted(txnState) ? 'nothing moved' : 'in flight';
}
