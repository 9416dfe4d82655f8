// Shows wallets, exchange rates and fees as tables.
import { didYouMean } from '../../formats/text.js';
import { formatNumber, money, moneyFromWire, type Money, fixed } from '../../formats/amount.js';
import { walletNames } from '../../api/names.js';
import type { Wallet } from '../../api/types.js';
import { atBothEnds, sanitize } from '../text.js';
import { type Column, type ListView, dim, fieldsOf } from '../rows/view.js';
import type { Canvas } from '../terminal.js';
import type Big from 'big.js';
import { methodProperties } from '../../formats/rails.js';
import { inverseText, rateText } from '../cards/quote-card.js';

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
  fields: walletNames,
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
export const screenHead = (
  whereabouts: Whereabouts,
  age: string,
  { columns, style }: Canvas,
): string[] =>
  atBothEnds(
    style.bold(sanitize(whereaboutsLine(whereabouts))),
    age,
    Math.min(columns, 80) - 4,
  ).map((line) => `  ${line}`);

export interface FeeSum {
  readonly wallet: string;
  /** The payment method, or `swap`. */
  readonly method: string;
  readonly payments: number;
  /** The sum of the amounts without fees. */
  readonly amount: Big;
  readonly serviceFee: Big;
  readonly networkFee: Big;
  readonly fee: Big;
  /** The fees in percent of the amount. */
  readonly percent: Big;
}

const feeColumn = (
  name: 'amount' | 'serviceFee' | 'networkFee' | 'fee',
  title: string,
  priority?: number,
): Column<FeeSum> => ({
  name,
  title,
  value: (row) => row[name],
  text: (row) => formatNumber(money(row.wallet, row[name])),
  align: 'right',
  ...(priority !== undefined && { priority }),
});

export const feeList: ListView<FeeSum> = {
  columns: [
    { name: 'wallet', title: 'Wallet' },
    {
      name: 'method',
      title: 'Method',
      text: ({ method }) => methodProperties(method)?.label ?? method,
      shrinks: true,
    },
    {
      name: 'payments',
      title: 'Payments',
      align: 'right',
      priority: 3,
    },
    feeColumn('amount', 'Amount', 2),
    feeColumn('serviceFee', 'Service fee', 4),
    feeColumn('networkFee', 'Network fee', 4),
    feeColumn('fee', 'Fees'),
    { name: 'percent', title: '%', align: 'right', priority: 1 },
  ],
  quiet: ({ wallet, fee }) => `${fixed(fee)} ${wallet}`,
  empty: 'No payments in this month.',
};

/**
 * A rate: one unit of `base` costs `rate` units of `quote`. `base` and `quote` are null if svcpay
 * cannot read the name of the pair.
 */
interface RateRow {
  readonly pair: string;
  readonly base: string | null;
  readonly quote: string | null;
  readonly rate: Big;
}

const rateFields = fieldsOf<RateRow>()(['pair', 'base', 'quote', 'rate']);

export const rateList: ListView<RateRow> = {
  columns: [
    { name: 'pair', title: 'Pair', priority: 1 },
    { name: 'rate', title: 'Rate', text: (row) => shownRate(row, rateText) },
    {
      name: 'inverse',
      title: 'Inverse',
      value: () => undefined,
      text: (row) => (row.base === null ? '' : shownRate(row, inverseText)),
      style: dim,
      only: 'screen',
      priority: 2,
    },
  ],
  fields: rateFields,
  quiet: ({ rate }) => fixed(rate),
  empty: 'The service lists no rates.',
};

const shownRate = ({ base, quote, rate }: RateRow, text: typeof rateText): string =>
  base === null || quote === null ? fixed(rate) : text({ base, quote, value: rate });
