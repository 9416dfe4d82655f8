// The wallets of an account as a table: available, reserved and total per currency.
import { fixed, formatNumber, fromWire, money } from '../../formats/amount.js';
import type { Wallet } from '../../api/types.js';
import type { Column, ListView } from '../rows/view.js';

type Part = (wallet: Wallet) => ReturnType<typeof fromWire>;

const available: Part = (wallet) => fromWire(wallet.availableBalance);
const total: Part = (wallet) => fromWire(wallet.amount);
const reserved: Part = (wallet) => total(wallet).minus(available(wallet));

const amountColumn = (title: string, part: Part): Column<Wallet> => ({
  title,
  value: part,
  text: (wallet) => formatNumber(money(wallet.ccy, part(wallet))),
  align: 'right',
});

/** `footer` says whose wallets these are, see `placeLine`. */
export function walletList(footer?: string): ListView<Wallet> {
  return {
    columns: [
      { title: 'Currency', value: (wallet) => wallet.ccy },
      amountColumn('Available', available),
      { ...amountColumn('Reserved', reserved), priority: 2, style: dimZero(reserved) },
      { ...amountColumn('Total', total), priority: 1 },
    ],
    quiet: (wallet) => fixed(available(wallet)),
    empty: 'This account has no wallets yet.',
    footer,
  };
}

function dimZero(part: Part): NonNullable<Column<Wallet>['style']> {
  return (cell, style, wallet) => (part(wallet).eq(0) ? style.dim(cell) : cell);
}

/** Who and where. */
export interface Place {
  readonly profile: string;
  readonly service: string;
  readonly accountId: string;
}

/** `acme · production · ne01-7f3a`, for the foot of a table and the head of the home screen. */
export const placeLine = ({ profile, service, accountId }: Place): string => [profile, service, accountId].join(' · ');
