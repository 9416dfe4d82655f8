// A quote that was made earlier, here or elsewhere, becomes a payment: by the same machine, with limits and journal.
import type { Transaction } from '../../api/types.js';
import { fromWire, money } from '../../formats/amount.js';
import { entryOf } from '../../formats/unknown.js';
import { decodeInvoice, type Invoice } from '../../formats/bolt11/decode.js';
import type { Claim, Consent, Intent, Journal, PaymentTerms } from '../../store/journal/journal.js';
import { wasLetGo } from '../../store/journal/rules.js';
import type { PaymentDeps, PaymentOptions } from './contract.js';
import { attemptNamed } from './history.js';
import { decodeOrder, recordOf } from './order-record.js';
import type { Order } from './orders.js';
import { payThisQuote } from './payment.js';
import { payoutDestination } from '../payout/order.js';
import { echoes, notObeyed } from '../quote/echo.js';
import { alreadyPaid, differentPayment } from './references.js';

export interface QuoteConsent {
  readonly terms: PaymentTerms;
  /** `standing` for `--yes`. */
  readonly consent: Exclude<Consent, 'quote'>;
}

/**
 * Confirms this quote and no other, and follows it to its end.
 * Throws Failure as `pay` does; `payment-failed` also when the quote has lapsed.
 */
export async function confirmQuote(
  txn: Transaction,
  given: QuoteConsent,
  options: PaymentOptions,
  deps: PaymentDeps,
): Promise<Transaction> {
  const known = await deps.journal.find(deps.scope, txn.txnId);
  const intent = known?.txnId === txn.txnId ? known : await adopt(txn, given.terms, deps);
  return payThisQuote(txn.txnId, intent, given, options, deps);
}

/**
 * Enters a quote of unknown origin into the journal as if it had been asked for here: as an attempt of the payment that its
 * reference stands for, which may be there. The yes is to this quote alone, so that it is not kept with the payment.
 */
async function adopt(txn: Transaction, terms: PaymentTerms, deps: PaymentDeps): Promise<Intent> {
  const { journal, scope, owner } = deps;
  const [ref, attempt] = attemptNamed(txn.extRefId ?? deps.newId());
  const order = (await orderAsked(ref, txn, deps)) ?? orderOf(txn);
  const { intent, found } = await journal.begin({
    id: deps.newId(),
    scope,
    account: deps.account,
    ref,
    ...recordOf(order),
    terms,
    consent: 'none',
  });
  if (found === 'once') throw alreadyPaid(intent);
  const claim = await journal.claim(intent.id, owner);
  if (claim === undefined) return intent;
  try {
    return await asAttempt(claim, attempt, txn, journal);
  } finally {
    await journal.release(claim);
  }
}

/** The service tells less of a payment than was asked for: where the journal has it, that stands. Throws as `asAttempt`. */
async function orderAsked(ref: string, txn: Transaction, { journal, scope }: PaymentDeps): Promise<Order | undefined> {
  const known = await journal.find(scope, ref);
  if (known?.ref !== ref) return undefined;
  if (wasLetGo(known) && known.txnId !== txn.txnId) throw differentPayment(ref, known.txnId);
  const order = decodeOrder(known.request);
  return echoes(order, txn) ? order : undefined;
}

/** Throws Failure `usage` where the payment is another one, or has an attempt that is not this quote. */
async function asAttempt(claim: Claim, attempt: number, txn: Transaction, journal: Journal): Promise<Intent> {
  const { intent } = claim;
  const isFree = intent.step === 'intent' && attempt >= intent.attempt;
  if (!isFree || !echoes(decodeOrder(intent.request), txn)) throw differentPayment(intent.ref, intent.txnId);
  const { txnId, txnState } = txn;
  return (await journal.write(claim, { step: 'created', attempt, txnId, txnState, closed: false })).intent;
}

/** The order that a quote answers. Answers name both amounts: only the one that its method asks for is taken over. */
export function orderOf(txn: Transaction): Order {
  const { note, deductNetworkFeesFromDest } = txn;
  const [sourceReq, destReq] = [named(txn.sourceReq, txn), named(txn.destReq, txn)];
  const invoice = invoiceOf(destReq.reqDetails);
  const [source, dest] = entryOf(amountSides, destReq.method) ?? [false, true];
  const side = ({ ccy, method, reqDetails, amtRequested }: typeof sourceReq, withAmount: boolean) => ({
    ccy,
    method,
    reqDetails: reqDetails ?? {},
    ...(withAmount && amtRequested != null && { amtRequested: fromWire(amtRequested) }),
  });
  const amount = destReq.amtRequested;
  return {
    kind: destReq.method === 'servicepay' ? 'swap' : `send ${destReq.method}`,
    body: {
      sourceReq: side(sourceReq, source),
      destReq: side(destReq, dest),
      ...(typeof note === 'string' && { note }),
      ...(deductNetworkFeesFromDest === true && { deductNetworkFeesFromDest }),
    },
    onceKey: invoice === undefined ? null : `bolt11:${invoice.paymentHash}`,
    destination: invoice?.payee ?? destinationOf(destReq),
    receives: dest && amount != null ? money(destReq.ccy, fromWire(amount)) : undefined,
  };
}

/** A side that says its currency and method. Throws Failure `refused`: what is not known whole is not confirmed. */
function named({ ccy, method, ...side }: Transaction['sourceReq'], { txnId }: Transaction) {
  if (typeof ccy === 'string' && typeof method === 'string') return { ...side, ccy, method };
  throw notObeyed('a side of it has no currency or no method', txnId);
}

/** By destination method, whether the source and the destination carry the amount (endpoint 6, rules 2 to 8). */
const amountSides: Readonly<Record<string, readonly [source: boolean, dest: boolean]>> = {
  lightning: [false, false],
  lnurl: [true, false],
  servicepay: [true, false],
};

function invoiceOf(details: Transaction['destReq']['reqDetails']): Invoice | undefined {
  const text = details?.['paymentRequest'];
  return typeof text === 'string' ? decodeInvoice(text) : undefined;
}

function destinationOf(destReq: ReturnType<typeof named>): string {
  const { address, institutionCode } = destReq.reqDetails ?? {};
  if (typeof address === 'string') return address;
  return typeof institutionCode === 'string' ? payoutDestination(destReq) : destReq.ccy;
}
