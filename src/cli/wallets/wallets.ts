// Lists the account's wallets: available, reserved and total per currency. Specification: endpoint
// 2.
import { Failure } from '../../formats/failure.js';
import { seenWallets } from '../../store/files/seen.js';
import {
  availableText,
  noWalletText,
  whereaboutsLine,
  walletList,
} from '../../terminal/views/wallet-view.js';
import { defineCommand, type Deps, list } from '../define.js';
import { whereaboutsOf } from '../service.js';
import { currency } from '../values.js';

export const wallets = defineCommand({
  arguments: { ccy: currency().optional().describe('only this currency') },
  examples: [
    ['svcpay wallets', 'shows all wallets'],
    [
      'svcpay wallets BTC -q',
      'prints the available balance, for a script; without a currency, prints one line per wallet',
    ],
  ],
  async run({ ccy }, { client, home }: Deps<'client' | 'home'>) {
    const all = await (await client()).wallets();
    await seenWallets(home, 'wallets').update(() => all.map((wallet) => wallet.ccy));
    const chosen = ccy === undefined ? all : all.filter((wallet) => wallet.ccy === ccy);
    if (ccy !== undefined && chosen.length === 0) {
      throw new Failure('not-found', `This ${noWalletText(ccy, all)}`, {
        next: { do: 'see-wallets' },
      });
    }
    return chosen;
  },
  view: list(walletList),
  adapt: async (_wallets, { ccy }, context) => ({
    ...(ccy !== undefined && { quiet: availableText }),
    footer: whereaboutsLine(await whereaboutsOf(context)),
  }),
});
