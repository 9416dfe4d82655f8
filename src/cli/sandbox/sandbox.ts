// Simulates the outside world: payments, invoices, blocks, and funding.
import { fixed, formatAmount, parseAmount } from '../../formats/amount.js';
import {
  invoiceAnswer,
  listOf,
  paidAnswer,
  transferAnswer,
  walletAnswer,
  type Paid,
} from '../../formats/sandbox/answers.js';
import {
  fundedView,
  invoiceView,
  minedList,
  paidView,
  walletText,
} from '../../terminal/views/sandbox-view.js';
import { defineCommand } from '../define.js';
import { resolveId } from '../tx/resolve-id.js';
import { list, record } from '../show.js';
import { amount, duration, text, whole } from '../values.js';
import { accountOf, controlSandbox, type SandboxDeps } from './control.js';

export const sandboxFund = defineCommand({
  arguments: { amount: amount().describe('amount to add, e.g. 0.5btc or 1000usdt') },
  examples: [['svcpay sandbox fund 0.5btc', 'adds half a bitcoin, received on-chain']],
  changes: true,
  run({ amount: added }, deps: SandboxDeps) {
    const body = { ccy: added.ccy, amount: fixed(added.value), accountId: accountOf(deps) };
    return controlSandbox(deps, 'POST', 'fund', walletAnswer, body);
  },
  view: record(fundedView),
  adapt: (wallet, { amount: added }) => ({
    screen: () => [`  Added ${formatAmount(added)}; the wallet now holds ${walletText(wallet)}.`],
  }),
});

export const sandboxInvoice = defineCommand({
  arguments: { amount: text('AMOUNT').describe('amount of the invoice, e.g. 1000sat') },
  options: {
    description: text().optional().describe('description of the invoice'),
    expiry: duration().optional().describe('time until the invoice expires (default 1h)'),
  },
  examples: [
    ['svcpay sandbox invoice 1000sat -q', 'prints only the invoice, to pipe into svcpay send'],
  ],
  changes: true,
  async run({ amount, ...details }, deps: SandboxDeps) {
    const body = { amount: fixed(parseAmount(amount, 'BTC').value), ...details };
    return controlSandbox(deps, 'POST', 'invoice', invoiceAnswer, body);
  },
  view: record(invoiceView),
});

/** Confirms pending transfers on every blockchain. */
export const sandboxMine = defineCommand({
  arguments: { blocks: whole(1, 1000).otherwise(1).describe('number of blocks (default 1)') },
  examples: [['svcpay sandbox mine 6', 'mines enough blocks to confirm any on-chain payment']],
  changes: true,
  run: async ({ blocks }, deps: SandboxDeps) =>
    (await controlSandbox(deps, 'POST', 'mine', listOf(transferAnswer), { n: blocks })).data,
  view: list(minedList),
});

export const sandboxPay = defineCommand({
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
  changes: true,
  async run({ target, amount: sent }, context) {
    const amount = sent && `${fixed(sent.value)}${sent.ccy.toLowerCase()}`;
    const pay = (what: string): Promise<Paid> =>
      controlSandbox(context, 'POST', 'pay', paidAnswer, { target: what, amount });
    return pay(target).catch(async (error: unknown) => {
      const txnId = await resolveId(target, context).catch(() => undefined);
      if (txnId === undefined || txnId === target) throw error;
      return pay(txnId);
    });
  },
  view: record(paidView),
});
