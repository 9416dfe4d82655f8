// Detects whether an identical payment, of the same amount to the same destination, was made a
// moment ago. The command line, the tools for agents and the library use this check. Pure.
import { Big } from 'big.js';
import { fixed } from '../../formats/amount.js';
import { lnurlTarget } from '../../formats/lnurl.js';
import { mayHavePaid, status, type Payment } from '../../store/journal/payment.js';
import { decodeOrder, type Order } from '../order/orders.js';

/** The destination of a payment, under all its known names, and the amount. */
export interface Target {
  readonly destinations: readonly string[];
  readonly amount: string;
}

/** An earlier payment of the same amount to the same destination. */
export interface EarlierPayment {
  readonly payment: Payment;
  /**
   * The status of the earlier payment. An `unfinished` payment was submitted, and its outcome is
   * unknown.
   */
  readonly is: 'unfinished' | 'paid';
  /** The time of the earlier payment's last change, in epoch ms. */
  readonly at: number;
}

/** The time in ms after a payment in which svcpay asks before it makes an identical payment. */
export const paidWithinMs = 600_000;

/**
 * Returns the destinations and the amount of an order, which svcpay compares with earlier payments.
 * An invoice does not count as a destination, because it can be paid only once. For an invoice from
 * a `bitcoin:` URI, the destination is the address in the URI. A swap has no destination, because
 * its money stays in the account.
 */
export function targetOf({ body, destination, alsoPays, receives }: Order): Target {
  const { sourceReq, destReq } = body;
  const amount =
    destReq.amtRequested === undefined
      ? amountText(sourceReq.ccy, sourceReq.amtRequested)
      : amountText(destReq.ccy, destReq.amtRequested);
  switch (destReq.method) {
    case 'servicepay':
      return { destinations: [], amount };
    case 'lightning':
      return {
        destinations: alsoPays === undefined ? [] : [alsoPays],
        amount: receives === undefined ? amount : amountText(receives.ccy, receives.value),
      };
    case 'lnurl':
      return { destinations: [lnurlTarget(destination)], amount };
    default:
      return { destinations: [destination], amount };
  }
}

export const amountText = (ccy: string, amount: Big | number | undefined): string =>
  `${amount === undefined ? '' : fixed(new Big(amount))} ${ccy}`;

/**
 * Finds the latest payment to the same target that is unfinished, or was paid within
 * `paidWithinMs`.
 * @param payments payments of the journal, in any order
 * @param ref the reference of the new payment; an existing payment with this reference does not
 * count as an earlier payment
 */
export function sameAgain(
  target: Target,
  payments: readonly Payment[],
  { ref, now, paidWithinMs }: { ref: string | undefined; now: number; paidWithinMs: number },
): EarlierPayment | undefined {
  if (target.destinations.length === 0) return undefined;
  const all = payments.flatMap((payment): EarlierPayment[] => {
    const is = stageOf(payment, now - paidWithinMs);
    const isSame = is !== undefined && payment.ref !== ref && isAlike(payment, target);
    return isSame ? [{ payment, is, at: payment.updatedAt }] : [];
  });
  return all.toSorted((a, b) => b.at - a.at)[0];
}

function stageOf(payment: Payment, since: number): EarlierPayment['is'] | undefined {
  if (status(payment) === 'paid') return payment.updatedAt > since ? 'paid' : undefined;
  return mayHavePaid(payment) ? 'unfinished' : undefined;
}

function isAlike(payment: Payment, { destinations, amount }: Target): boolean {
  const other = targetOf(decodeOrder(payment.request));
  return other.amount === amount && other.destinations.some((each) => destinations.includes(each));
}
