// The home screen above its menu: where one is, what there is to spend, and what is not over yet.
import type { ListedTransaction, Wallet } from '../../api/types.js';
import { formatAmount, moneyFromWire } from '../../formats/amount.js';
import { factLines, type Fact } from './card.js';
import type { RecordView } from '../output.js';
import { sanitize } from '../sanitize.js';
import type { Canvas } from '../terminal.js';
import { widthOf, wrap } from '../text.js';
import { relativeTime } from '../time.js';
import { stateWord } from '../views/state-words.js';
import { movedText, transactionKind } from '../views/transaction-view.js';
import { placeLine, type Place } from '../views/wallet-view.js';

export interface Home extends Place {
  readonly wallets: readonly Wallet[];
  /** Confirmed and not final. */
  readonly pending: readonly ListedTransaction[];
  /** References of payments that stopped before they were confirmed. */
  readonly unfinished: readonly string[];
}

/** More would push the menu out of sight. */
const mostShown = 4;

/** @param now the service's clock, epoch ms */
export function homeLines(home: Home, now: number, canvas: Canvas): string[] {
  const facts = pendingFacts(home, now);
  return ['', ...headLines(home, canvas), ...factLines(facts, canvas), ''];
}

/** @param now the service's clock, epoch ms */
export const homeView = (home: Home, now: number): RecordView<Home> => ({
  screen: (canvas) => homeLines(home, now, canvas),
  columns: [
    { title: 'Profile', value: ({ profile }) => profile },
    { title: 'Service', value: ({ service }) => service },
    { title: 'Account', value: ({ accountId }) => accountId },
    { title: 'Available', value: (row) => balances(row).join(', ') },
    { title: 'Pending', value: ({ pending }) => pending.length },
    { title: 'Unfinished', value: ({ unfinished }) => unfinished.length },
  ],
  quiet: ({ accountId }) => accountId,
});

/** Place and balances on one line where they fit, else below each other. */
function headLines(home: Home, { columns, style }: Canvas): string[] {
  const place = sanitize(placeLine(home));
  const money = balances(home).map(sanitize).join(' · ') || 'nothing in any wallet yet';
  const gap = columns - margin.length - widthOf(place) - widthOf(money);
  if (gap >= 3) return [`${margin}${style.dim(place)}${' '.repeat(Math.min(gap, widestGap))}${style.bold(money)}`];
  const room = columns - margin.length;
  return [
    ...wrap(place, room).map((line) => margin + style.dim(line)),
    ...wrap(money, room).map((line) => margin + style.bold(line)),
  ];
}

const margin = '  ';
const widestGap = 8;

/** What can be spent, the empty wallets left out. */
const balances = ({ wallets }: Home): string[] =>
  wallets
    .map(({ ccy, availableBalance }) => moneyFromWire(ccy, availableBalance))
    .filter((held) => held?.value.gt(0) === true)
    .map((held) => (held === undefined ? '' : formatAmount(held)));

function pendingFacts({ pending, unfinished }: Home, now: number): Fact[] {
  const shown = pending.slice(0, mostShown).map((txn) => pendingFact(txn, now));
  const more = pending.length - shown.length;
  return [
    ...shown,
    ...(more > 0 ? [{ label: '', value: `and ${more} more`, note: 'svcpay tx list' }] : []),
    ...unfinished.slice(0, mostShown).map((ref) => ({ label: 'Unfinished', value: ref, note: 'nothing moved yet' })),
  ];
}

/** Money that leaves is on its way; money that is asked for is waited for. */
function pendingFact(txn: ListedTransaction, now: number): Fact {
  const leaves = txn.sourceReq.method === 'servicepay';
  const since = typeof txn.createdAt === 'number' ? `, ${relativeTime(txn.createdAt, now)}` : '';
  return {
    label: leaves ? 'On its way' : 'Waiting',
    value: `${movedText(txn)}   ${transactionKind(txn)}`,
    note: `${stateWord(txn)}${since}`,
  };
}
