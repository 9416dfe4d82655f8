// Shows one transaction as a receipt. Specification: endpoint 9.
import type { Transaction } from '../../api/types.js';
import { decodeInvoice } from '../../formats/bolt11/decode.js';
import { receiptView } from '../../terminal/cards/receipt.js';
import { defineCommand } from '../define.js';
import { lookUp } from './look.js';
import { transaction } from '../values.js';

export const txGet = defineCommand({
  arguments: { id: transaction().describe('a transaction id, its first eight characters, or a reference') },
  options: {},
  examples: [
    ['svcpay tx get ad79a67a-5e07-4094-92cd-1aeb3fbe8297', 'a readable receipt'],
    ['svcpay tx get ID --json --fields txnState', 'one field for a script'],
  ],
  async run({ id }, context) {
    const client = await context.client();
    const txn = await lookUp(id, context);
    await context.out.record(txn, receiptView(txn, { now: client.serviceNow(), paymentHash: paymentHashOf(txn) }));
  },
});

/** What proves a Lightning payment; undefined for any other, and for an invoice that cannot be read. */
function paymentHashOf({ sourceReq, destReq }: Transaction): string | undefined {
  const invoice = sourceReq.reqDetails?.['paymentRequest'] ?? destReq.reqDetails?.['paymentRequest'];
  try {
    return typeof invoice === 'string' ? decodeInvoice(invoice).paymentHash : undefined;
  } catch {
    return undefined;
  }
}
