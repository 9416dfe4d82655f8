// The wallets of an account as a table: available, reserved and total per currency.
import { formatNumber, money, moneyFromWire, type Money } from '../../formats/amount.js';
import type { Wallet } from '../../api/types.js';
import type { Column, ListView } from '../rows/view.js';

/** Undefined if the service does not report it. */
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

/** `footer` names the account, see `placeLine`. */
export function walletList(footer?: string): ListView<Wallet> {
  return {
    columns: [
      { name: 'ccy', title: 'Currency', value: (wallet) => wallet.ccy },
      amountColumn('availableBalance', 'Available', available),
      { ...amountColumn('reserved', 'Reserved', reserved), priority: 2, style: dimZero(reserved) },
      { ...amountColumn('amount', 'Total', total), priority: 1 },
    ],
    fields: ['id', 'accountId', 'createdAt', 'updatedAt'],
    quiet: (wallet) => available(wallet)?.toFixed() ?? '',
    empty: 'This account has no wallets yet.',
    footer,
  };
}

const dimZero =
  (part: Part): NonNullable<Column<Wallet>['style']> =>
  (cell, style, wallet) =>
    part(wallet)?.eq(0) === true ? style.dim(cell) : cell;

export interface Place {
  readonly profile: string;
  readonly service: string;
  readonly accountId: string;
}

/** `acme · production · ne01-7f3a`, for the foot of a table and the head of the home screen. */
export const placeLine = ({ profile, service, accountId }: Place): string =>
  [profile, service, accountId].join(' · ');
