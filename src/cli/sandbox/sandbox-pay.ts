// Pays a request or an address of the sandbox, as somebody outside would.
import * as v from 'valibot';
import { fixed, formatAmount, fromWire, money } from '../../formats/amount.js';
import { defineCommand } from '../define.js';
import { transactionId } from '../history/seen.js';
import { controlSandbox } from './control.js';
import { amount, text } from '../values.js';

const transactionSchema = v.object({ txnId: v.string(), txnState: v.string() });
const depositSchema = v.object({ depositId: v.string(), ccy: v.string(), amount: v.number(), needed: v.number() });
const paidSchema = v.union([transactionSchema, depositSchema]);

type Paid = v.InferOutput<typeof paidSchema>;

export const sandboxPay = defineCommand({
  fields: ['id', 'state', 'txnId', 'txnState', 'depositId', 'ccy', 'amount', 'needed'],
  arguments: {
    target: text('INVOICE|ADDRESS|TXN').describe('what to pay'),
    amount: amount().optional().describe('for an address: a permanent one takes any amount'),
  },
  examples: [
    ['svcpay sandbox pay lntb500u1…', 'the payment that svcpay receive waits for'],
    ['svcpay sandbox pay tb1q… 0.01btc', 'a deposit at a permanent address'],
  ],
  async run({ target, amount: sent }, context) {
    const amount = sent && `${fixed(sent.value)}${sent.ccy.toLowerCase()}`;
    const pay = (what: string): Promise<Paid> => controlSandbox(context, 'POST', 'pay', paidSchema, { target: what, amount });
    const paid = await pay(target).catch(async (error: unknown) => {
      const txnId = await transactionId(target, context).catch(() => undefined);
      if (txnId === undefined || txnId === target) throw error;
      return pay(txnId);
    });
    await context.out.record(paid, {
      screen: () => [`  ${describe(paid)}`],
      columns: [
        { name: 'id', title: 'Id', value: idOf },
        { name: 'state', title: 'State', value: (each) => ('txnState' in each ? each.txnState : 'unconfirmed') },
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
  return `Deposited ${deposited}; the wallet has it after ${confirmations}.`;
}
