// Puts money from nowhere into a wallet of the sandbox.
import { walletSchema } from '../../api/sandbox-answers.js';
import { fixed, formatAmount, fromWire, money } from '../../formats/amount.js';
import { fieldColumns } from '../../terminal/rows/cell.js';
import { defineCommand } from '../define.js';
import { accountOf, controlSandbox } from './control.js';
import { amount } from '../values.js';

export const sandboxFund = defineCommand({
  fields: ['ccy', 'amount', 'availableBalance'],
  arguments: { amount: amount().describe('what to add, as in 0.5btc or 1000usdt') },
  examples: [['svcpay sandbox fund 0.5btc', 'half a bitcoin more']],
  async run({ amount: added }, context) {
    const body = { ccy: added.ccy, amount: fixed(added.value), accountId: accountOf(context) };
    const wallet = await controlSandbox(context, 'POST', 'fund', walletSchema, body);
    const holds = formatAmount(money(wallet.ccy, fromWire(wallet.amount)));
    await context.out.record(wallet, {
      screen: () => [`  Added ${formatAmount(added)}; the wallet now holds ${holds}.`],
      columns: fieldColumns(['ccy', 'amount']),
      quiet: (each) => fixed(fromWire(each.amount)),
    });
  },
});
