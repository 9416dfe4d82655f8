// Shows the wallets of an account as a table: available, reserved and total per currency.
import { didYouMean } from '../../formats/text.js';
import { formatNumber, money, moneyFromWire, type Money } from '../../formats/amount.js';
import { walletFields } from '../../api/reading/objects.js';
import type { Wallet } from '../../api/types.js';
import { sideBySide, widthOf, wrap } from '../layout.js';
import type { Column, ListView } from '../rows/view.js';
import { sanitize } from '../sanitize.js';
import type { Canvas } from '../terminal.js';

/** Returns a part of a wallet's balance, or undefined if the service does not report the part. */
type Part = (wallet: Wallet) => Money['value'] | undefined;

const available: Part = ({ ccy, availableBalance }) => moneyFromWire(ccy, availableBalance)?.value;
const total: Part = ({ ccy, amount }) => moneyFromWire(ccy, amount)?.value;
const reserved: Part = (wallet) => {
  const free = available(wallet);
  return free === undefined ? undefined : total(wallet)?.minus(free);
};

const amountColumn = (name: string, title: string, part: Part): Column<Wallet> => ({
  name,
  title,
  value: part,
  text: (wallet) => shown(wallet.ccy, part(wallet)),
  align: 'right',
});

const shown = (ccy: string, value: Money['value'] | undefined): string =>
  value === undefined ? '?' : formatNumber(money(ccy, value));

const dimZero =
  (part: Part): NonNullable<Column<Wallet>['style']> =>
  (cell, style, wallet) =>
    part(wallet)?.eq(0) === true ? style.dim(cell) : cell;

/** The available balance of a single wallet, which `-q` prints without its currency. */
export const availableText = (wallet: Wallet): string => available(wallet)?.toFixed() ?? '';

export const walletList: ListView<Wallet> = {
  columns: [
    { name: 'ccy', title: 'Currency' },
    amountColumn('availableBalance', 'Available', available),
    { ...amountColumn('reserved', 'Reserved', reserved), priority: 2, style: dimZero(reserved) },
    { ...amountColumn('amount', 'Total', total), priority: 1 },
  ],
  fields: Object.keys(walletFields),
  quiet: (wallet) => `${wallet.ccy} ${availableText(wallet)}`,
  empty: 'This account has no wallets yet.',
};

/** Returns a message that names the missing wallet and the account's wallets. */
export const noWalletText = (ccy: string, wallets: readonly Wallet[]): string =>
  `account has no ${ccy} wallet. ` +
  `It has ${namesOf(wallets).join(', ') || 'none'}.${didYouMean(ccy, namesOf(wallets))}`;

const namesOf = (wallets: readonly Wallet[]): string[] => wallets.flatMap(({ ccy }) => ccy ?? []);

export interface Whereabouts {
  readonly profile: string;
  readonly service: string;
  readonly accountId: string;
}

/**
 * Describes the account in the footer of a table and the head of a screen, such as `acme ·
 * production · ne01-7f3a`.
 */
export const whereaboutsLine = ({ profile, service, accountId }: Whereabouts): string =>
  [profile, service, accountId].join(' · ');

/** Draws the head of a screen, with the account, and the age of the data at the right end. */
export function screenHead(
  whereabouts: Whereabouts,
  age: string,
  { columns, style }: Canvas,
): string[] {
  const available = columns - 4;
  const line = sanitize(whereaboutsLine(whereabouts));
  const gap = Math.max(available - widthOf(line) - widthOf(age), 3);
  const parts = [{ text: style.bold(line) }, { text: age, priority: 1, below: true }];
  const lines = sideBySide(parts, available, ' '.repeat(gap)).flatMap((each) =>
    wrap(each, available),
  );
  return lines.map((each) => `  ${each}`);
}
