// Turns an earlier quote, from this home or from a different program, into a payment. Confirms the
// quote through the payment core, so that the limits and the journal apply.
import type { Transaction } from '../../api/types.js';
import type { Claim } from '../../store/journal/journal.js';
import {
  attemptNamed,
  latest,
  mayHavePaid,
  requested,
  type Payment,
  type PaymentDraft,
  type PaymentTerms,
} from '../../store/journal/payment.js';
import { echoes } from '../order/echo.js';
import { instructionOfOrder, orderOfQuote } from '../instruction/from-transaction.js';
import { askedColumns } from '../instruction/instruction.js';
import { decodeOrder, encodeOrder } from '../order/orders.js';
import type { PaymentDeps, PaymentOptions, PaymentRequest } from './contract.js';
import { alreadyPaid, differentPayment } from './outcomes.js';
import { payThisQuote } from './payment.js';

/**
 * Confirms only this quote, and follows the payment to its end. Throws the failures of `pay`, and
 * Failure `payment-failed` for an expired quote.
 */
export async function confirmQuote(
  txn: Transaction,
  given: Pick<PaymentRequest, 'terms' | 'consent'>,
  options: PaymentOptions,
  deps: PaymentDeps,
): Promise<Transaction> {
  const stored = await deps.journal.find(deps.scope, txn.txnId);
  const isLatest = stored !== undefined && latest(stored).txnId === txn.txnId;
  const payment = isLatest ? stored : await adopt(txn, given.terms, deps);
  return payThisQuote(txn.txnId, payment, given, options, deps);
}

/**
 * Enters a quote of unknown origin into the journal. If the journal has a payment with the quote's
 * reference, the quote becomes an attempt of that payment. The journal does not store the approval
 * of this quote, because the approval is not valid for a later quote.
 */
async function adopt(txn: Transaction, terms: PaymentTerms, deps: PaymentDeps): Promise<Payment> {
  const { journal, scope, owner } = deps;
  const [ref, number] = attemptNamed(txn.extRefId ?? deps.newId());
  const asked = (await storedDraft(ref, txn, deps)) ?? draftOf(txn);
  const draft = { id: deps.newId(), scope, account: deps.account, ref, ...asked, terms };
  const { payment, found } = await journal.begin(draft);
  if (found === 'once') throw alreadyPaid(payment);
  const claim = await journal.claim(payment.id, owner);
  if (claim === undefined) return payment;
  try {
    return await asAttempt(claim, number, asked.request, txn, deps);
  } finally {
    await journal.release(claim);
  }
}

type Asked = Pick<PaymentDraft, 'kind' | 'instruction' | 'digest' | 'idempotencyKey' | 'request'>;

function draftOf(txn: Transaction): Asked {
  const order = orderOfQuote(txn);
  const instruction = instructionOfOrder(order, false);
  return { ...askedColumns(instruction, order.kind), request: encodeOrder(order) };
}

/**
 * Returns what the journal's payment with the quote's reference asks for, because the service
 * reports only a part of it. Returns undefined if the quote differs from the journal's order.
 * Throws Failure `usage` if the journal's payment may have moved money and has no attempt with this
 * quote.
 */
async function storedDraft(
  ref: string,
  txn: Transaction,
  { journal, scope, account }: PaymentDeps,
): Promise<Asked | undefined> {
  const payment = await journal.find(scope, ref);
  if (payment?.ref !== ref) return undefined;
  if (mayHavePaid(payment) && !payment.attempts.some(({ txnId }) => txnId === txn.txnId))
    throw differentPayment(payment);
  const { request } = latest(payment);
  const { kind, instruction, digest, idempotencyKey } = payment;
  const asked = { kind, instruction, digest, idempotencyKey, request };
  return echoes(decodeOrder(request), txn, account) ? asked : undefined;
}

/**
 * Records the quote as an attempt of the journal's payment. Throws Failure `usage` if the quote
 * differs from the payment's order, or if the payment has a newer attempt or a different
 * transaction for this attempt.
 */
async function asAttempt(
  claim: Claim,
  number: number,
  request: string,
  txn: Transaction,
  { journal, account }: PaymentDeps,
): Promise<Payment> {
  const { payment } = claim;
  const last = latest(payment);
  const isFree = (last.state === 'requested' && number >= last.number) || number > last.number;
  if (!isFree || !echoes(decodeOrder(request), txn, account)) throw differentPayment(payment);
  const { txnId, txnState } = txn;
  return (
    await journal.write(claim, {
      abandoned: false,
      attempt: { ...requested(number, request), state: 'quoted', txnId, txnState },
    })
  ).payment;
}
