// Draws the overview above the menu of the home screen: account, balances, latest movements and
// unfinished payments.
import type { ListedTransaction, Wallet } from '../../api/types.js';
import { formatAmount, formatNumber, moneyFromWire, type Money } from '../../formats/amount.js';
import type { Failure } from '../../formats/failure.js';
import { counted } from '../../formats/text.js';
import { type Column, columnsThrough, dim, type RecordView } from '../rows/view.js';
import { createTable } from '../rows/table.js';
import { paragraph, sanitize } from '../text.js';
import { clockTime, shortTime } from '../time.js';
import type { Canvas } from '../terminal.js';
import {
  isUnchecked,
  openColumns,
  openLines,
  type PendingPayment,
  movementColumns,
  type RecipientOf,
} from '../views/transaction-view.js';
import { screenHead, type Whereabouts } from '../views/wallet-view.js';
import { unreachedText } from '../next-step.js';
import { worthText } from './card.js';

export interface Home extends Whereabouts {
  readonly wallets: readonly Wallet[];
  /** The transactions that the service lists as confirmed but not final. */
  readonly pending: readonly ListedTransaction[];
  /** The references of payments that stopped before the confirmation. */
  readonly unfinished: readonly string[];
  /** The latest movements, newest first. */
  readonly recent: readonly ListedTransaction[];
  /** The time of the data by the service's clock, in epoch ms. */
  readonly asOf: number;
}

/** The data that the screen shows but `--json` omits. */
export interface HomeMore {
  /** The open payments of the journal that the service does not list as in flight. */
  readonly open: readonly PendingPayment[];
  /** The number of payments in flight that `Home.pending` does not contain. */
  readonly morePending: number;
  /** The number of proposals that wait for an approval. */
  readonly proposals?: number;
  /**
   * The time of the shown data, such as `last checked 2026-11-21 14:02:11`, or undefined if svcpay
   * could read the current state of all open payments.
   */
  readonly notAsked: string | undefined;
  /** The failure to reach the service, after which the screen shows only local data. */
  readonly notReached: Failure | undefined;
  /**
   * Returns the approximate value of an amount in fiat, or undefined if no exchange rate is known.
   */
  readonly worth: (amount: Money) => Money | undefined;
  readonly known: RecipientOf;
}

/** The maximum number of open payments above the menu, so that the menu stays on the screen. */
const mostOpen = 4;
export const mostRecent = 5;
const margin = '  ';

export const homeView = (home: Home, more: HomeMore): RecordView<Home> => ({
  screen: (canvas) => homeLines(home, more, canvas),
  columns: [
    { name: 'profile', title: 'Profile' },
    { name: 'service', title: 'Service' },
    { name: 'accountId', title: 'Account' },
    {
      name: 'available',
      title: 'Available',
      value: (row) => balances(row).map(formatAmount).join(', '),
    },
    { name: 'pendingCount', title: 'Pending', value: ({ pending }) => pending.length },
    { name: 'unfinishedCount', title: 'Unfinished', value: ({ unfinished }) => unfinished.length },
  ],
  quiet: ({ accountId }) => accountId,
});

export function homeLines(home: Home, more: HomeMore, canvas: Canvas): string[] {
  const { notReached } = more;
  const { style } = canvas;
  const age =
    notReached === undefined ? `as of ${clockTime(home.asOf)}` : unreachedText(notReached);
  return [
    '',
    ...screenHead(home, style.dim(age), canvas),
    '',
    ...(notReached === undefined ? [] : unknownLines(home, notReached, canvas)),
    ...holdingsLines(home, more, canvas),
    ...openPaymentLines(home, more, canvas),
    ...proposalLines(more),
    '',
  ];
}

const proposalLines = ({ proposals = 0 }: HomeMore): string[] =>
  proposals === 0
    ? []
    : ['', `${margin}${counted(proposals, 'proposal')} to pay or refuse: svcpay proposals`];

/** Returns the spendable balances, without empty wallets and without wallets of unknown balance. */
export const balances = ({ wallets }: Pick<Home, 'wallets'>): Money[] =>
  wallets
    .map(({ ccy, availableBalance }) => moneyFromWire(ccy, availableBalance))
    .filter((held): held is Money => held?.value.gt(0) === true);

function unknownLines({ recent }: Home, { message }: Failure, canvas: Canvas): string[] {
  const only = recent.length === 0 ? '' : ' Payments from this home:';
  const text = `${sanitize(message)} The balances are unavailable.${only}`;
  return paragraph(text, canvas, canvas.style.yellow);
}

/** A row of the home screen: a wallet, and a movement next to the wallet. */
interface Row {
  readonly held: Money | undefined;
  readonly txn: ListedTransaction | undefined;
  readonly isFirst: boolean;
}

/**
 * Draws the balances, their values, and the latest movements. A narrow window first omits the
 * movements, then the values of the balances.
 */
function holdingsLines(
  home: Home,
  { worth, known, notReached }: HomeMore,
  canvas: Canvas,
): string[] {
  const held = balances(home);
  if (held.length === 0 && notReached === undefined) return [`${margin}all wallets are empty`];
  const count = Math.min(mostRecent, Math.max(3, home.wallets.length));
  const recent = home.recent.slice(0, count);
  const rows = Array.from({ length: Math.max(held.length, recent.length) }, (_, i) => ({
    held: held[i],
    txn: recent[i],
    isFirst: i === 0,
  }));
  const hasBalances = held.length > 0;
  const columns: Column<Row>[] = [
    ...columnsThrough(balanceColumns(worth), (row: Row) => row.held),
    {
      name: 'last',
      value: ({ isFirst, txn }) =>
        isFirst && txn !== undefined ? `${hasBalances ? margin : ''}Last` : '',
      style: dim,
      priority: besideBalances + 1,
    },
    ...columnsThrough(
      movementColumns((at) => shortTime(at, home.asOf), known),
      (row: Row) => row.txn,
    ).map((column) => ({
      ...column,
      priority: besideBalances,
      below: false,
    })),
  ];
  return createTable(columns, { ...canvas, gap: blockGap })(rows).rows.flat();
}

/** The gap between the columns on the home screen and in `watch`. */
export const blockGap = 3;

/**
 * The priority of the movement columns, which a narrow window omits before the values of the
 * balances.
 */
const besideBalances = 2;

/** Returns the columns of a wallet on the home screen and in `watch`. */
export const balanceColumns = (worth: HomeMore['worth']): Column<Money>[] => [
  { name: 'ccy' },
  {
    name: 'balance',
    value: formatNumber,
    align: 'decimal',
    style: (cell, style) => style.bold(cell),
  },
  {
    name: 'worth',
    value: (held) => worthText(worth(held)),
    align: 'decimal',
    style: dim,
    priority: 1,
  },
];

function openPaymentLines(
  { pending, asOf }: Home,
  { open, morePending, notAsked, known }: HomeMore,
  canvas: Canvas,
): string[] {
  const { style } = canvas;
  const lines = openLines(pending, open, known, asOf);
  if (lines.length === 0) return [];
  const shown = lines.slice(0, mostOpen);
  const more = lines.length - shown.length + morePending;
  const notChecked = Math.min(more, open.filter(isUnchecked).length);
  const left =
    notChecked === 0
      ? ''
      : notChecked === more
        ? ', not checked'
        : `, including ${counted(notChecked, 'unchecked payment')}`;
  return [
    '',
    ...createTable(openColumns(asOf), { ...canvas, gap: blockGap })(shown).rows.flat(),
    ...(more > 0 ? paragraph(`and ${more} more${left}: svcpay tx pending`, canvas, style.dim) : []),
    ...(notAsked === undefined ? [] : paragraph(notAsked, canvas, style.yellow)),
  ];
}
