// Lists the account's wallets: available, reserved and total per currency. Specification: endpoint
// 2.
import { Failure } from '../../formats/failure.js';
import { keepSeenWallets } from '../../store/files/seen.js';
import { namesOf } from '../../terminal/rows/list.js';
import { noWalletText, whereaboutsLine, walletList } from '../../terminal/views/wallet-view.js';
import { defineCommand } from '../define.js';
import { whereaboutsOf } from '../settings/whereabouts.js';
import { currency } from '../values.js';

export const wallets = defineCommand({
  prints: namesOf(undefined, walletList()),
  arguments: { ccy: currency().optional().describe('only this currency') },
  examples: [
    ['svcpay wallets', 'shows all wallets'],
    [
      'svcpay wallets BTC -q',
      'prints the available balance, for a script; without a currency, prints one line per wallet',
    ],
  ],
  async run({ ccy }, context) {
    const client = await context.client();
    const all = await client.wallets();
    await keepSeenWallets(
      context.home,
      all.map((wallet) => wallet.ccy),
    );
    const chosen = ccy === undefined ? all : all.filter((wallet) => wallet.ccy === ccy);
    if (ccy !== undefined && chosen.length === 0) {
      throw new Failure('not-found', noWalletText(ccy, all), {
        next: { do: 'see-wallets' },
      });
    }
    const footer = whereaboutsLine(await whereaboutsOf(context));
    await context.out.list(chosen, walletList(footer, ccy !== undefined));
  },
});
