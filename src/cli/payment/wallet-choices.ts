// The own wallets as a list to choose from.
import { formatAmount, fromWire, money } from '../../formats/amount.js';
import type { Choice } from '../../terminal/ask/ask.js';
import type { Context } from '../context.js';

export interface WalletChoice extends Choice<string> {
  readonly isEmpty: boolean;
}

export async function walletChoices({ ownClient }: Context): Promise<WalletChoice[]> {
  const wallets = await (await ownClient()).wallets();
  return wallets.map(({ ccy, availableBalance }) => ({
    value: ccy,
    name: formatAmount(money(ccy, fromWire(availableBalance))),
    isEmpty: availableBalance <= 0,
  }));
}
