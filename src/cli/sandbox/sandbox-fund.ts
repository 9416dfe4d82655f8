// Puts money from nowhere into a wallet of the sandbox.
import * as v from 'valibot';
import { fixed, formatAmount, fromWire, money } from '../../formats/amount.js';
import { defineCommand } from '../define.js';
import { accountOf, controlSandbox } from './control.js';
import { amount } from '../values.js';

const walletSchema = v.object({ ccy: v.string(), amount: v.number(), availableBalance: v.number() });

export const sandboxFund = defineCommand({
  fields: ['ccy', 'amount', 'availableBalance'],
  arguments: { amount: amount().describe('what to add, as in 0.5btc or 1000usdt') },
  options: {},
  examples: [['svcpay sandbox fund 0.5btc', 'half a bitcoin more']],
  async run({ amount: added }, context) {
    const body = { ccy: added.ccy, amount: fixed(added.value), accountId: accountOf(context) };
    const wallet = await controlSandbox(context, 'POST', 'fund', walletSchema, body);
    const holds = formatAmount(money(wallet.ccy, fromWire(wallet.amount)));
    await context.out.record(wallet, {
      screen: () => [`  Added ${formatAmount(added)}; the wallet now holds ${holds}.`],
      columns: [
        { name: 'ccy', title: 'Currency', value: ({ ccy }) => ccy },
        { name: 'amount', title: 'Total', value: (each) => fromWire(each.amount) },
      ],
      quiet: (each) => fixed(fromWire(each.amount)),
    });
  },
});
