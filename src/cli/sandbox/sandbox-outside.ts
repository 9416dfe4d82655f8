// Simulates the outside world: payments, invoices, blocks, and funding.
import { fixed, formatAmount, fromWire, money, parseAmount } from '../../formats/amount.js';
import {
  fieldNames,
  invoiceAnswer,
  listOf,
  paidAnswer,
  transferAnswer,
  walletAnswer,
  type Paid,
} from '../../formats/sandbox/answers.js';
import { fieldColumns } from '../../terminal/rows/cell.js';
import { minedList } from '../../terminal/views/sandbox-view.js';
import { defineCommand } from '../define.js';
import { resolveId } from '../history/resolve-id.js';
import { amount, duration, text, whole } from '../values.js';
import { accountOf, controlSandbox } from './control.js';

export const sandboxFund = defineCommand({
  fields: fieldNames(walletAnswer),
  arguments: { amount: amount().describe('amount to add, e.g. 0.5btc or 1000usdt') },
  examples: [['svcpay sandbox fund 0.5btc', 'adds half a bitcoin, received on-chain']],
  async run({ amount: added }, context) {
    const body = { ccy: added.ccy, amount: fixed(added.value), accountId: accountOf(context) };
    const wallet = await controlSandbox(context, 'POST', 'fund', walletAnswer, body);
    const holds = formatAmount(money(wallet.ccy, fromWire(wallet.amount)));
    await context.out.record(wallet, {
      screen: () => [`  Added ${formatAmount(added)}; the wallet now holds ${holds}.`],
      columns: fieldColumns(['ccy', 'amount']),
      quiet: (each) => fixed(fromWire(each.amount)),
    });
  },
});

export const sandboxInvoice = defineCommand({
  fields: fieldNames(invoiceAnswer),
  arguments: { amount: text('AMOUNT').describe('amount of the invoice, e.g. 1000sat') },
  options: {
    description: text().optional().describe('description of the invoice'),
    expiry: duration().optional().describe('time until the invoice expires (default 1h)'),
  },
  examples: [
    ['svcpay sandbox invoice 1000sat -q', 'prints only the invoice, to pipe into svcpay send'],
  ],
  async run({ amount, description, expiry }, context) {
    const asked = fixed(parseAmount(amount, 'BTC').value);
    const made = await controlSandbox(context, 'POST', 'invoice', invoiceAnswer, {
      amount: asked,
      description,
      expiry,
    });
    await context.out.record(made, {
      screen: () => [made.invoice],
      columns: fieldColumns(['invoice']),
      quiet: ({ invoice }) => invoice,
    });
  },
});

/** Confirms pending transfers on every blockchain. */
export const sandboxMine = defineCommand({
  fields: fieldNames(transferAnswer),
  arguments: { blocks: whole(1, 1000).otherwise(1).describe('number of blocks (default 1)') },
  examples: [['svcpay sandbox mine 6', 'mines enough blocks to confirm any on-chain payment']],
  async run({ blocks }, context) {
    const { data } = await controlSandbox(context, 'POST', 'mine', listOf(transferAnswer), {
      n: blocks,
    });
    await context.out.list(data, minedList);
  },
});

export const sandboxPay = defineCommand({
  fields: ['id', 'state', ...paidAnswer.options.flatMap(fieldNames)],
  arguments: {
    target: text('INVOICE|ADDRESS|TXN').describe('invoice, address or transaction to pay'),
    amount: amount()
      .optional()
      .describe('amount to send to an address; a permanent address accepts any amount'),
  },
  examples: [
    ['svcpay sandbox pay lntb500u1…', 'makes the payment that svcpay receive waits for'],
    ['svcpay sandbox pay tb1q… 0.01btc', 'deposits to a permanent address'],
  ],
  async run({ target, amount: sent }, context) {
    const amount = sent && `${fixed(sent.value)}${sent.ccy.toLowerCase()}`;
    const pay = (what: string): Promise<Paid> =>
      controlSandbox(context, 'POST', 'pay', paidAnswer, { target: what, amount });
    const paid = await pay(target).catch(async (error: unknown) => {
      const txnId = await resolveId(target, context).catch(() => undefined);
      if (txnId === undefined || txnId === target) throw error;
      return pay(txnId);
    });
    await context.out.record(paid, {
      screen: () => [`  ${describe(paid)}`],
      columns: [
        { name: 'id', title: 'Id', value: idOf },
        {
          name: 'state',
          title: 'State',
          value: (each) => ('txnState' in each ? each.txnState : 'unconfirmed'),
        },
      ],
      quiet: idOf,
    });
  },
});

const idOf = (paid: Paid): string => ('txnId' in paid ? paid.txnId : paid.depositId);

function describe(paid: Paid): string {
  if ('txnId' in paid) return `Paid transaction ${paid.txnId}; it is now ${paid.txnState}.`;
  const deposited = formatAmount(money(paid.ccy, fromWire(paid.amount)));
  const confirmations = paid.needed === 1 ? 'one confirmation' : `${paid.needed} confirmations`;
  return `Deposited ${deposited}; the deposit reaches the wallet after ${confirmations}.`;
}
