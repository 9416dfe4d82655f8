// Lists the account's wallets: available, reserved and total per currency. Specification: endpoint 2.
import { Failure } from '../../formats/failure.js';
import { keepSeenWallets } from '../../store/files/seen.js';
import { namesOf } from '../../terminal/rows/list.js';
import { placeLine, walletList } from '../../terminal/views/wallet-view.js';
import { defineCommand } from '../define.js';
import { placeOf } from '../settings/whereabouts.js';
import { currency } from '../values.js';

export const wallets = defineCommand({
  prints: namesOf(undefined, walletList()),
  arguments: { ccy: currency().optional().describe('only this currency') },
  examples: [
    ['svcpay wallets', 'all wallets'],
    ['svcpay wallets BTC -q', 'what can be spent, for a script'],
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
      throw new Failure('not-found', `This account has no ${ccy} wallet.`, {
        next: { do: 'see-wallets' },
      });
    }
    await context.out.list(chosen, walletList(placeLine(await placeOf(context))));
  },
});
