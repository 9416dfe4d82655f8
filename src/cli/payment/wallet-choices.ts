// The account's own wallets as a list to choose from.
import { formatAmount, moneyFromWire } from '../../formats/amount.js';
import type { Choice } from '../../terminal/ask/ask.js';
import type { Context } from '../context.js';

export interface WalletChoice extends Choice<string> {
  readonly isEmpty: boolean;
}

export async function walletChoices({ account }: Context): Promise<WalletChoice[]> {
  const wallets = await (await account()).client.wallets();
  return wallets.map(({ ccy, availableBalance }) => {
    const held = moneyFromWire(ccy, availableBalance);
    return { value: ccy, name: held === undefined ? ccy : formatAmount(held), isEmpty: held?.value.lte(0) === true };
  });
}
