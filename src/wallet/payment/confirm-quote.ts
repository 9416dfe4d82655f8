// A quote that was made earlier, here or elsewhere, becomes a payment: by the same machine, with limits and journal.
import type { Transaction } from '../../api/types.js';
import { fromWire, money } from '../../formats/amount.js';
import { entryOf } from '../../formats/unknown.js';
import { decodeInvoice, type Invoice } from '../../formats/bolt11/decode.js';
import type { Consent, Intent, PaymentTerms } from '../../store/journal/journal.js';
import type { PaymentDeps, PaymentOptions } from './contract.js';
import { encodeOrder, fingerprint } from './order-record.js';
import type { Order } from './orders.js';
import { payThisQuote } from './payment.js';
import { payoutDestination } from '../payout/order.js';
import { notObeyed } from '../quote/echo.js';
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
  const order = orderOf(txn);
  const known = await deps.journal.find(deps.scope, txn.txnId);
  const intent = known?.txnId === txn.txnId ? known : await adopt(txn, order, given, deps);
  return payThisQuote(intent, given, options, deps);
}

/** Enters a quote of unknown origin into the journal as if it had been asked for here. */
async function adopt(txn: Transaction, order: Order, given: QuoteConsent, deps: PaymentDeps): Promise<Intent> {
  const { journal, scope, owner } = deps;
  const { intent, found } = await journal.begin({
    id: deps.newId(),
    scope,
    account: deps.account,
    ref: txn.extRefId ?? deps.newId(),
    kind: order.kind,
    request: encodeOrder(order),
    fingerprint: fingerprint(order),
    onceKey: order.onceKey,
    ...given,
  });
  if (found === 'ref') throw differentPayment(intent.ref, intent.txnId);
  if (found === 'once') throw alreadyPaid(intent);
  const claim = await journal.claim(intent.id, owner);
  if (claim === undefined) return intent;
  const adopted = await journal.write(claim, { step: 'created', txnId: txn.txnId, txnState: txn.txnState });
  await journal.release(adopted);
  return adopted.intent;
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
