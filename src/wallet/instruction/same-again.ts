// Detects whether the same payment, of the same amount to the same payee, was made a moment ago.
// The command line, the tools for agents and the library use this one function, before the quote
// and again at the submission. Pure.
import { Big } from 'big.js';
import { fixed } from '../../formats/amount.js';
import { latest, mayHavePaid, status, type Payment } from '../../store/journal/payment.js';
import { decodeOrder, type Order } from '../order/orders.js';
import { instructionOf, type Instruction, isShared } from './instruction.js';

/** An earlier payment of the same amount to the same payee. */
export interface EarlierPayment {
  readonly payment: Payment;
  /**
   * The status of the earlier payment. An `unfinished` payment was submitted, and its outcome is
   * unknown.
   */
  readonly is: 'unfinished' | 'paid';
  /** The time when svcpay submitted the earlier payment, in epoch ms. */
  readonly at: number;
}

/** The number of earlier payments that svcpay compares with a new payment. */
export const mostCompared = 1_000;

/** What is compared with earlier payments. */
export interface Asked {
  readonly instruction: Instruction;
  /** The order, if it is already derived. Its converted amount is compared too. */
  readonly order: Order | undefined;
  /** A payment with this reference is the payment itself, and never counts as an earlier one. */
  readonly ref: string | undefined;
}

export interface Window {
  readonly now: number;
  /** How long a paid payment counts, in ms. An unfinished payment always counts. */
  readonly paidWithinMs: number;
}

/**
 * Finds the latest payment of the same amount, as asked or as converted, to the same payee. An
 * invoice is never the same again, because it can be paid only once, and a swap has no payee. The
 * address of a `bitcoin:` URI counts, whether the URI or the address was paid.
 * @param payments payments of the journal, in any order
 */
export function sameAgain(
  asked: Asked,
  payments: readonly Payment[],
  { now, paidWithinMs }: Window,
): EarlierPayment | undefined {
  const keys = payees(asked.instruction);
  const amounts = amountsOf(asked.instruction, asked.order);
  if (keys.length === 0) return undefined;
  const isSame = (payment: Payment): boolean => {
    const other = instructionOf(payment);
    return (
      payment.ref !== asked.ref &&
      payees(other).some((key) => keys.includes(key)) &&
      amountsOf(other, decodeOrder(latest(payment).request)).some((each) => amounts.includes(each))
    );
  };
  return payments
    .flatMap((payment): EarlierPayment[] => {
      const is = stageOf(payment, now - paidWithinMs);
      const at = latest(payment).submittedAt ?? payment.openedAt;
      return is !== undefined && isSame(payment) ? [{ payment, is, at }] : [];
    })
    .toSorted((a, b) => b.at - a.at)[0];
}

/** The keys by which a repetition is recognized. */
export const payees = ({ verb, keys }: Instruction): readonly string[] =>
  verb === 'swap' ? [] : keys.filter((key) => !isShared(key));

/** The amount as asked and the amount as converted, as texts. */
function amountsOf({ amount }: Instruction, order: Order | undefined): readonly string[] {
  const { sourceReq, destReq } = order?.body ?? {};
  const side = destReq?.amtRequested === undefined ? sourceReq : destReq;
  return [
    ...(typeof amount === 'string' ? [] : [text(amount.ccy, amount.value)]),
    ...(side?.amtRequested === undefined ? [] : [text(side.ccy, side.amtRequested)]),
    ...(order?.receives === undefined ? [] : [text(order.receives.ccy, order.receives.value)]),
  ];
}

const text = (ccy: string, value: Big | number): string => `${fixed(new Big(value))} ${ccy}`;

function stageOf(payment: Payment, since: number): EarlierPayment['is'] | undefined {
  if (status(payment) === 'paid') return payment.updatedAt > since ? 'paid' : undefined;
  return mayHavePaid(payment) ? 'unfinished' : undefined;
}
