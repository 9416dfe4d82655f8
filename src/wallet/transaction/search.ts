// Finds a transaction by what people have: an invoice, a payment hash or a reference. The service
// offers no such lookup, so svcpay reads the service's list of transactions.
import type { ListedTransaction, RequestSide, Transaction } from '../../api/types.js';
import { btcFromMsat, moneyFromWire } from '../../formats/amount.js';
import { decodeInvoice, type Invoice } from '../../formats/bolt11/decode.js';
import { listedUnder, spanFilter } from '../payment/find.js';
import type { PaymentService } from '../payment/contract.js';

/** An invoice, or only its payment hash. */
export interface SoughtInvoice {
  readonly paymentHash: string;
  readonly invoice?: Invoice;
}

/** Reads an invoice or a payment hash. Returns undefined for any other text. */
export function soughtInvoice(text: string): SoughtInvoice | undefined {
  const word = text.trim().toLowerCase();
  if (/^[0-9a-f]{64}$/.test(word)) return { paymentHash: word };
  if (!/^(?:lightning:)?ln[a-z0-9]{100,}$/.test(word)) return undefined;
  const invoice = decodeInvoice(word.replace('lightning:', ''));
  return { paymentHash: invoice.paymentHash, invoice };
}

type Lister = Pick<PaymentService, 'transaction' | 'transactions' | 'eachTransaction'>;

/** Returns the transaction under a reference, or its latest attempt. */
export async function findByReference(
  ref: string,
  service: Lister,
  onRead: (count: number) => void,
): Promise<ListedTransaction | undefined> {
  const named = await listedUnder(ref, { since: 0, depth: 'every page', onRead }, service);
  return named.toSorted((a, b) => b.number - a.number)[0]?.row;
}

const hourMs = 3_600_000;
/**
 * The number of transactions that a search for an invoice reads by their ids. The list contains no
 * invoices.
 */
const mostRead = 200;

/** Searches the latest transactions for the one that requests or pays an invoice. */
export async function findByInvoice(
  { paymentHash, invoice }: SoughtInvoice,
  service: Lister,
  onRead: (count: number) => void,
): Promise<Transaction | undefined> {
  const since = invoice === undefined ? 0 : invoice.timestamp * 1000 - hourMs;
  const msat = invoice?.amountMsat ?? null;
  const amount = msat === null ? undefined : btcFromMsat(msat);
  const isCandidate = ({ method, ccy, amtRequested }: RequestSide): boolean => {
    const asked = moneyFromWire(ccy, amtRequested);
    return (
      method === 'lightning' &&
      (amount === undefined || asked === undefined || asked.value.eq(amount))
    );
  };
  let count = 0;
  for await (const row of service.eachTransaction(spanFilter(since))) {
    if (![row.sourceReq, row.destReq].some(isCandidate)) continue;
    const txn = await service.transaction(row.txnId);
    if ([txn.sourceReq, txn.destReq].some((side) => hashOf(side) === paymentHash)) return txn;
    count += 1;
    onRead(count);
    if (count >= mostRead) break;
  }
  return undefined;
}

function hashOf({ reqDetails }: RequestSide): string | undefined {
  const text = reqDetails?.['paymentRequest'];
  try {
    return typeof text === 'string' ? decodeInvoice(text).paymentHash : undefined;
  } catch {
    return undefined;
  }
}
