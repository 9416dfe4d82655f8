// Agents pay twice by asking again under another reference: the journal shows that the same was paid, or is being paid, a short time ago.
import Big from 'big.js';
import { fixed } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { lnurlTarget } from '../../formats/lnurl.js';
import { latest, mayHavePaid, status, type Payment } from '../../store/journal/payment.js';
import { decodeOrder } from '../../wallet/order/order-record.js';
import type { Order } from '../../wallet/order/orders.js';
import type { PaymentDeps } from '../../wallet/payment/contract.js';
import type { Context } from '../context.js';

/** Where a payment goes, and how much. */
export interface Target {
  readonly destination: string;
  readonly amount: string;
}

const withinMs = 24 * 60 * 60 * 1000;
/** So many payments are looked at. */
const mostLooked = 1_000;

/**
 * Throws Failure `usage` with the earlier transaction's id if the same amount went to the same destination under another reference
 * within 24 hours, and the call does not name the last such transaction as a different payment.
 *
 * @param ref the reference of the call: the payment that has it is no other
 */
export async function refuseRepeat(
  target: Target | undefined,
  ref: string,
  differentFrom: string,
  context: Context,
): Promise<void> {
  if (target === undefined) return;
  const account = await context.account();
  const journal = await account.journal();
  const known = [
    ...(await journal.open(account.scope)),
    ...(await journal.latest(account.id, mostLooked)),
  ];
  refuseAmong(known, target, ref, differentFrom, context.now());
}

/** The same at the moment of submission: another server of this home may have submitted an equal payment since. */
export const refuseRepeatAtSubmission =
  (differentFrom: string, now: () => number): NonNullable<PaymentDeps['refuse']> =>
  async (payment, latest) => {
    const target = targetOf(decodeOrder(payment.request));
    if (target !== undefined)
      refuseAmong(await latest(mostLooked), target, payment.ref, differentFrom, now());
  };

function refuseAmong(
  known: readonly Payment[],
  target: Target,
  ref: string,
  differentFrom: string,
  now: number,
): void {
  const [earlier] = known
    .filter(
      (payment) =>
        payment.ref !== ref &&
        lastMoved(payment) > now - withinMs &&
        mayPay(payment) &&
        isSame(payment, target),
    )
    .toSorted((a, b) => lastMoved(b) - lastMoved(a));
  if (
    earlier === undefined ||
    [earlier.ref, ...earlier.attempts.map(({ txnId }) => txnId)].includes(differentFrom)
  )
    return;
  const { txnId } = latest(earlier);
  const name = txnId ?? earlier.ref;
  throw new Failure(
    'usage',
    `Not sent: the same amount to the same destination is paid already, or being paid, as ${earlier.ref} (${name}).`,
    {
      txnId: txnId ?? undefined,
      hint: `For the same purpose use the reference ${earlier.ref}; for a different payment give differentFrom ${name}. The earlier payment`,
      next: { do: 'show', id: name },
    },
  );
}

const lastMoved = ({ openedAt, attempts }: Payment): number =>
  Math.max(openedAt, ...attempts.map(({ submittedAt }) => submittedAt ?? 0));

/** It has paid or may have, or somebody has agreed to it and it is not over. */
const mayPay = (payment: Payment): boolean =>
  mayHavePaid(payment) || (status(payment) === 'open' && payment.consent !== 'none');

function isSame(payment: Payment, target: Target): boolean {
  const other = targetOf(decodeOrder(payment.request));
  return other?.destination === target.destination && other.amount === target.amount;
}

/** Undefined for what the wallet itself pays once only (an invoice), and for what stays in the wallet (a swap). */
export function targetOf({
  body: { sourceReq, destReq },
  destination,
  idempotencyKey,
}: Order): Target | undefined {
  if (idempotencyKey !== null || destReq.method === 'servicepay') return undefined;
  const [ccy, amount] =
    destReq.amtRequested === undefined
      ? [sourceReq.ccy, sourceReq.amtRequested]
      : [destReq.ccy, destReq.amtRequested];
  return {
    destination: destReq.method === 'lnurl' ? lnurlTarget(destination) : destination,
    amount: amountText(ccy, amount),
  };
}

export const amountText = (ccy: string, amount: Big | number | undefined): string =>
  `${amount === undefined ? '' : fixed(new Big(amount))} ${ccy}`;
