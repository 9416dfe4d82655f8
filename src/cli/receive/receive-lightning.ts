// Asks for a Lightning payment: the invoice, checked, with its QR code, and the wait until it is paid.
import type { Transaction } from '../../api/types.js';
import { parseAmount, type Money } from '../../formats/amount.js';
import { receiveBody } from '../../wallet/payment/orders.js';
import { checkedInvoice, invoiceText, requestMoney } from '../../wallet/receive/lightning.js';
import { isFinal } from '../../formats/states.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { pageFact, receiveOptions, runReceive, type PaymentRequest } from './receive-flow.js';
import { text } from '../values.js';

export const receiveLightning = defineCommand({
  arguments: { amount: text('AMOUNT').describe('what to ask for, as in 50000sat') },
  options: receiveOptions,
  examples: [
    ['svcpay receive lightning 50000sat', 'shows a QR code and waits for the payment'],
    ['svcpay receive lightning 50000sat -q', 'prints the invoice alone'],
    ['svcpay receive lightning 50000sat --wait --json', 'ends when it is paid'],
  ],
  async run({ amount, ...flags }, context) {
    const asked = parseAmount(amount, 'BTC');
    const service = await context.ownClient();
    const body = { ...receiveBody('lightning', asked), note: flags.note };
    const txn = await requestMoney(body, flags.ref, { ...context, service });
    await runReceive(txn, requestOf(txn, asked, service.serviceNow(), context), flags, context);
  },
});

/** Only a checked invoice is shown; one of an earlier run that is paid is not shown again. */
function requestOf(txn: Transaction, amount: Money, now: number, { settings }: Context): PaymentRequest {
  const invoice = isFinal(txn.txnState) ? undefined : checkedInvoice(txn, amount, settings.network, now);
  const code = invoice?.invoice ?? invoiceText(txn);
  return { how: 'over Lightning', amount, code, text: code, facts: pageFact(txn, settings), expiresAt: invoice?.expiresAt };
}
