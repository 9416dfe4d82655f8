// Makes an invoice of somebody outside, to be paid from the sandbox's wallets.
import * as v from 'valibot';
import { fixed, parseAmount } from '../../formats/amount.js';
import { fieldColumns } from '../../terminal/rows/cell.js';
import { defineCommand } from '../define.js';
import { controlSandbox } from './control.js';
import { duration, text } from '../values.js';

const invoiceSchema = v.object({
  invoice: v.string(),
  paymentHash: v.string(),
  amount: v.number(),
  expiresAt: v.number(),
});

export const sandboxInvoice = defineCommand({
  fields: ['invoice', 'paymentHash', 'amount', 'expiresAt'],
  arguments: { amount: text('AMOUNT').describe('as in 1000sat') },
  options: {
    description: text().optional().describe('what the invoice says it is for'),
    expiry: duration().optional().describe('how long it can be paid (default 1h)'),
  },
  examples: [['svcpay sandbox invoice 1000sat -q', 'the invoice alone, to pipe into svcpay send']],
  async run({ amount, description, expiry }, context) {
    const asked = fixed(parseAmount(amount, 'BTC').value);
    const made = await controlSandbox(context, 'POST', 'invoice', invoiceSchema, { amount: asked, description, expiry });
    await context.out.record(made, {
      screen: () => [made.invoice],
      columns: fieldColumns(['invoice']),
      quiet: ({ invoice }) => invoice,
    });
  },
});
