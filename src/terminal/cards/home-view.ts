// The home screen above its menu: where one is, what there is to spend, what moved last, and what is not over yet.
import type { ListedTransaction, Wallet } from '../../api/types.js';
import { formatAmount, formatNumber, money, moneyFromWire, type Money } from '../../formats/amount.js';
import { worthText } from './card.js';
import type { RecordView } from '../output.js';
import { pointsAligned } from '../rows/table.js';
import { sanitize } from '../sanitize.js';
import type { Canvas } from '../terminal.js';
import { oneLine, padRight, truncate, widthOf, wrap } from '../text.js';
import { clockTime, shortTime } from '../time.js';
import { progressOf, type PendingPayment } from '../views/intent-view.js';
import { confirmationsText, kindOf, stateWord } from '../views/state-words.js';
import { amountOf, shortAmount, shortened, stateStyle, transactionKind, type Known } from '../views/transaction-view.js';
import { placeLine, type Place } from '../views/wallet-view.js';

export interface Home extends Place {
  readonly wallets: readonly Wallet[];
  /** Confirmed and not final, as the service lists them. */
  readonly pending: readonly ListedTransaction[];
  /** References of payments that stopped before they were confirmed. */
  readonly unfinished: readonly string[];
  /** The latest movements, newest first. */
  readonly recent: readonly ListedTransaction[];
  /** Epoch ms, by the service's clock. */
  readonly asOf: number;
}

/** What only the screen shows. */
export interface HomeMore {
  /** Open payments of the journal that the service's list does not tell of. */
  readonly open: readonly PendingPayment[];
  /** Since when the open payments are as they are shown, where the service could not be asked. */
  readonly notAsked: string | undefined;
  /** What a wallet is worth, roughly; undefined where the service names no rate. */
  readonly worth: (amount: Money) => Money | undefined;
  readonly known: Known;
}

/** More would push the menu out of sight. */
const mostOpen = 4;
export const mostRecent = 5;
const margin = '  ';
const between = '     ';

export const homeView = (home: Home, more: HomeMore): RecordView<Home> => ({
  screen: (canvas) => homeLines(home, more, canvas),
  columns: [
    { name: 'profile', title: 'Profile', value: ({ profile }) => profile },
    { name: 'service', title: 'Service', value: ({ service }) => service },
    { name: 'accountId', title: 'Account', value: ({ accountId }) => accountId },
    { name: 'available', title: 'Available', value: (row) => balances(row).map(formatAmount).join(', ') },
    { name: 'pendingCount', title: 'Pending', value: ({ pending }) => pending.length },
    { name: 'unfinishedCount', title: 'Unfinished', value: ({ unfinished }) => unfinished.length },
  ],
  quiet: ({ accountId }) => accountId,
});

export function homeLines(home: Home, more: HomeMore, canvas: Canvas): string[] {
  return ['', ...headLines(home, canvas), '', ...walletLines(home, more, canvas), ...openLines(home, more, canvas), ''];
}

/** Where one is, and when this was so, at the right end. */
function headLines(home: Home, { columns, style }: Canvas): string[] {
  const place = sanitize(placeLine(home));
  const when = `as of ${clockTime(home.asOf)}`;
  const room = columns - margin.length - 2;
  const gap = room - widthOf(place) - widthOf(when);
  if (gap >= 3) return [`${margin}${style.bold(place)}${' '.repeat(Math.min(gap, 24))}${style.dim(when)}`];
  return [...wrap(place, room).map((line) => margin + style.bold(line)), margin + style.dim(when)];
}

/** What can be spent, the empty wallets left out, and those of which the service does not tell it. */
const balances = ({ wallets }: Pick<Home, 'wallets'>): Money[] =>
  wallets
    .map(({ ccy, availableBalance }) => moneyFromWire(ccy, availableBalance))
    .filter((held): held is Money => held?.value.gt(0) === true);

/** Balances, what they are worth, and beside them what moved last: in a narrow window without that, then without worth. */
function walletLines(home: Home, { worth, known }: HomeMore, { columns, style }: Canvas): string[] {
  const all = balances(home);
  if (all.length === 0) return [`${margin}nothing in any wallet yet`];
  const label = Math.max(...all.map(({ ccy }) => widthOf(sanitize(ccy)))) + 1;
  const numbers = pointsAligned(all.map(formatNumber));
  const worths = pointsAligned(all.map((each) => worthText(worth(each))));
  const bare = all.map(({ ccy }, i) => `${margin}${padRight(sanitize(ccy), label)}  ${style.bold(numbers[i] ?? '')}`);
  const valued = bare.map((line, i) => `${line}   ${style.dim(worths[i] ?? '')}`);
  const left = Math.max(...valued.map((line) => widthOf(line.trimEnd())));
  if (left > columns) return bare.map((line) => line.trimEnd());
  const recent = recentLines(home, known, columns - left - between.length);
  if (recent.length === 0) return valued.map((line) => line.trimEnd());
  return Array.from({ length: Math.max(valued.length, recent.length) }, (_, i) =>
    `${padRight(valued[i] ?? '', left)}${between}${style.dim(i === 0 ? 'Last' : '    ')}   ${recent[i] ?? ''}`.trimEnd(),
  );
}

const leastRecent = 22;
const lastLabel = 7;
/** A name shorter than this says nothing. */
const leastParty = 8;

/** `2 min  sent  2 500 sat  Coffee House`; none where there is no room to say anything. */
function recentLines({ recent, asOf, wallets }: Home, known: Known, columns: number): string[] {
  const room = columns - lastLabel;
  if (room < leastRecent) return [];
  const shown = recent.slice(0, Math.min(mostRecent, Math.max(3, wallets.length)));
  const amounts = shown.map(movedShort);
  const times = shown.map(({ createdAt }) => (typeof createdAt === 'number' ? shortTime(createdAt, asOf) : '–'));
  // Nothing stands behind the two amounts of a swap.
  const beforeParty = amounts.filter((text) => !text.includes('→'));
  const widthsWith = (words: readonly string[]): number[] => [times, words, beforeParty].map((texts) => Math.max(0, ...texts.map(widthOf)));
  const takenBy = (widths: readonly number[]): number => widths.reduce((sum, width) => sum + width + 2, 0);
  const inWords = shown.map(movementWord);
  const words = takenBy(widthsWith(inWords)) - 2 > room ? shown.map(movementSign) : inWords;
  const widths = widthsWith(words);
  const forParty = room - takenBy(widths);
  return shown.map((txn, i) => {
    const cells = [times, words, amounts].map((texts, column) => padRight(texts[i] ?? '', widths[column] ?? 0));
    const party = forParty < leastParty ? '' : oneLine(partyText(txn, known), forParty);
    return truncate(`${cells.join('  ')}  ${party}`.trimEnd(), room);
  });
}

const partyText = (txn: ListedTransaction, known: Known): string =>
  kindOf(txn) === 'swap' ? '' : shortened(known(txn.txnId) ?? txn.note ?? '');

function movementWord(txn: ListedTransaction): string {
  if (kindOf(txn) === 'swap') return 'swap';
  return txn.sourceReq.method === 'servicepay' ? 'sent' : 'received';
}

/** The same in a narrow window, as lists show it. */
function movementSign(txn: ListedTransaction): string {
  if (kindOf(txn) === 'swap') return '⇄';
  return txn.sourceReq.method === 'servicepay' ? '↑' : '↓';
}

function movedShort(txn: ListedTransaction): string {
  const [from, to] = [amountOf(txn.sourceReq), amountOf(txn.destReq)];
  if (kindOf(txn) === 'swap' && from !== undefined && to !== undefined) return `${shortAmount(from)} → ${shortAmount(to)}`;
  const known = to ?? from;
  return known === undefined ? '–' : shortAmount(known);
}

/** What is on its way, what is waited for, and what was begun and never came so far. */
function openLines({ pending }: Home, { open, notAsked, known }: HomeMore, { columns, style }: Canvas): string[] {
  const lines = [...open.map(openText), ...pending.map((txn) => pendingText(txn, known))];
  const shown = lines.slice(0, mostOpen);
  const more = lines.length - shown.length;
  return [
    ...shown.map(([text, state]) => `${margin}${paint(text, state, columns - margin.length, style)}`),
    ...(more > 0 ? [`${margin}${style.dim(`and ${more} more: svcpay tx pending, svcpay tx list`)}`] : []),
    ...(notAsked === undefined ? [] : [`${margin}${style.yellow(oneLine(notAsked, columns - margin.length))}`]),
  ];
}

/** Where there is no room for all of it, how far it is stays to be read. */
function paint(text: string, state: string, room: number, style: Canvas['style']): string {
  return `${oneLine(text, room - widthOf(state) - 2)}, ${stateStyle('', style)(state)}`;
}

/** Money that leaves is on its way; money that is asked for is waited for. */
function pendingText(txn: ListedTransaction, known: Known): [text: string, state: string] {
  const amount = amountOf(txn.destReq) ?? amountOf(txn.sourceReq);
  const what = whatText(amount, viaText(txn));
  const counted = confirmationsText(txn);
  const state = counted === undefined ? stateWord(txn) : `${counted} confirmations`;
  if (txn.sourceReq.method !== 'servicepay') return [`Waiting for ${what}`, state];
  const party = known(txn.txnId);
  return [`On its way: ${what}${party === undefined ? '' : ` to ${shortened(party)}`}`, state];
}

/** `2 500 sat over Lightning`; a way that is named after its currency is not said twice. */
function whatText(amount: Money | undefined, way: string): string {
  if (amount === undefined) return way;
  return amount.ccy === way ? shortAmount(amount) : `${shortAmount(amount)} ${way}`;
}

/** `on-chain`, `over Lightning`, `USDT`, `payout`. */
function viaText(txn: ListedTransaction): string {
  const [word = ''] = transactionKind(txn).split(' ');
  if (word === 'Lightning') return 'over Lightning';
  return word === 'USDT' ? word : word.toLowerCase();
}

function openText(payment: PendingPayment): [text: string, state: string] {
  const { ccy, amount, step, kind, with: party, ref } = payment;
  const what = whatText(amount === null || ccy === null ? undefined : money(ccy, amount), kind);
  const isLetGo = step === 'confirming' || step === 'confirmed';
  if (isLetGo) return [`On its way: ${what} to ${shortened(party)}`, progressOf(payment)];
  return [`Unfinished: ${what} to ${shortened(party)} (${ref})`, 'nothing moved yet'];
}

