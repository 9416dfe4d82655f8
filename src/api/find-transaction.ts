// Finds a transaction by what people have: an invoice, a payment hash or a reference. The service
// offers no such lookup, so the client reads the list of transactions.
import { btcFromMsat, moneyFromWire } from '../formats/amount.js';
import { decodeInvoice, type Invoice } from '../formats/bolt11/decode.js';
import { spanFilter } from './pages.js';
import type {
  ListedTransaction,
  RequestOptions,
  RequestSide,
  SoughtTransaction,
  Transaction,
  TransactionFilter,
} from './types.js';

const hourMs = 3_600_000;

/** The number of Lightning transactions that a search reads by id. The list has no invoices. */
const mostRead = 200;

/** The calls of the client that a search makes. */
interface Reads {
  transaction(txnId: string, options?: RequestOptions): Promise<Transaction>;
  eachTransaction(
    filter: TransactionFilter,
    options?: RequestOptions,
  ): AsyncIterable<ListedTransaction>;
}

/** Finds a transaction, as the method of the client with this name describes. */
export async function findTransaction(
  { ref, ...sought }: SoughtTransaction,
  service: Reads,
  options: RequestOptions = {},
): Promise<Transaction | undefined> {
  const invoice = sought.invoice === undefined ? undefined : decodeInvoice(sought.invoice);
  const paymentHash = sought.paymentHash?.toLowerCase() ?? invoice?.paymentHash;
  const since = invoice === undefined ? 0 : invoice.timestamp * 1000 - hourMs;
  let read = 0;
  for await (const row of service.eachTransaction(spanFilter(since), options)) {
    if (ref !== undefined) {
      if (row.extRefId === ref) return service.transaction(row.txnId, options);
      continue;
    }
    if (![row.sourceReq, row.destReq].some((side) => mayHave(invoice, side))) continue;
    const txn = await service.transaction(row.txnId, options);
    if ([txn.sourceReq, txn.destReq].some((side) => hashOf(side) === paymentHash)) return txn;
    read += 1;
    if (read >= mostRead) break;
  }
  return undefined;
}

function mayHave(
  invoice: Invoice | undefined,
  { method, ccy, amtRequested }: RequestSide,
): boolean {
  const amount = moneyFromWire(ccy, amtRequested)?.value;
  const msat = invoice?.amountMsat ?? null;
  const isAmount = msat === null || amount === undefined || amount.eq(btcFromMsat(msat));
  return method === 'lightning' && isAmount;
}

function hashOf({ reqDetails }: RequestSide): string | undefined {
  const text = reqDetails?.paymentRequest;
  try {
    return typeof text === 'string' ? decodeInvoice(text).paymentHash : undefined;
  } catch {
    return undefined;
  }
}
