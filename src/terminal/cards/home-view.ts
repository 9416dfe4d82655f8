// The overview above its menu: account, balances, latest movements and unfinished payments.
import type { ListedTransaction, Wallet } from '../../api/types.js';
import {
  formatAmount,
  formatNumber,
  money,
  moneyFromWire,
  type Money,
} from '../../formats/amount.js';
import type { Failure } from '../../formats/failure.js';
import { routeOfKind } from '../../formats/rails.js';
import { worthText } from './card.js';
import type { RecordView } from '../rows/view.js';
import { pointsAligned } from '../rows/table.js';
import { sanitize } from '../sanitize.js';
import type { Canvas } from '../terminal.js';
import { oneLine, padRight, widthOf, wrap } from '../text.js';
import { clockTime, shortTime } from '../time.js';
import {
  isSubmitted,
  isUnchecked,
  progressOf,
  type PendingPayment,
} from '../views/pending-view.js';
import { confirmationsText, kindOf, stateWord } from '../views/state-words.js';
import {
  sideAmount,
  shortAmount,
  shortened,
  stateStyle,
  transactionKind,
  type Known,
} from '../views/transaction-view.js';
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

/** Data only for the screen. */
export interface HomeMore {
  /** Open payments of the journal that are not in the service's list of those in flight. */
  readonly open: readonly PendingPayment[];
  /** The number of further payments in flight besides `Home.pending`. */
  readonly morePending: number;
  /** When the open payments were last checked, if the service did not answer for all of them. */
  readonly notAsked: string | undefined;
  /** Why the service did not answer: only local data is shown. */
  readonly notReached: Failure | undefined;
  /** The approximate value of a wallet; undefined without a rate. */
  readonly worth: (amount: Money) => Money | undefined;
  readonly known: Known;
}

/** More would hide the menu. */
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
  const lines =
    more.notReached === undefined
      ? walletLines(home, more, canvas)
      : knownLines(home, more, more.notReached, canvas);
  return ['', ...headLines(home, more, canvas), '', ...lines, ...openLines(home, more, canvas), ''];
}

/** The account, and the time of the data at the right end. */
function headLines(home: Home, { notReached }: HomeMore, { columns, style }: Canvas): string[] {
  const place = sanitize(placeLine(home));
  const when = notReached === undefined ? `as of ${clockTime(home.asOf)}` : 'service not reached';
  const room = columns - margin.length - 2;
  const gap = room - widthOf(place) - widthOf(when);
  if (gap >= 3)
    return [`${margin}${style.bold(place)}${' '.repeat(Math.min(gap, 24))}${style.dim(when)}`];
  return [
    ...wrap(place, room).map((line) => margin + style.bold(line)),
    ...wrap(when, room).map((line) => margin + style.dim(line)),
  ];
}

/** The spendable balances, without empty wallets and those without data. */
export const balances = ({ wallets }: Pick<Home, 'wallets'>): Money[] =>
  wallets
    .map(({ ccy, availableBalance }) => moneyFromWire(ccy, availableBalance))
    .filter((held): held is Money => held?.value.gt(0) === true);

/** Balances, their values, and the latest movements beside them: a narrow window omits the movements, then the values. */
function walletLines(home: Home, { worth, known }: HomeMore, { columns, style }: Canvas): string[] {
  const all = balances(home);
  if (all.length === 0) return [`${margin}all wallets are empty`];
  const label = Math.max(...all.map(({ ccy }) => widthOf(sanitize(ccy)))) + 1;
  const numbers = pointsAligned(all.map(formatNumber));
  const worths = pointsAligned(all.map((each) => worthText(worth(each))));
  const bare = all.map(
    ({ ccy }, i) => `${margin}${padRight(sanitize(ccy), label)}  ${style.bold(numbers[i] ?? '')}`,
  );
  const valued = bare.map((line, i) =>
    (worths[i] ?? '').trim() === '' ? line.trimEnd() : `${line}   ${style.dim(worths[i] ?? '')}`,
  );
  const left = Math.max(...valued.map((line) => widthOf(line.trimEnd())));
  if (Math.max(...bare.map((line) => widthOf(line.trimEnd()))) > columns)
    return all.flatMap((held) => stackedLines(held, columns, style));
  if (left > columns) return bare.map((line) => line.trimEnd());
  const recent = recentLines(home, known, columns - left - between.length);
  if (recent.length === 0) return valued.map((line) => line.trimEnd());
  return Array.from({ length: Math.max(valued.length, recent.length) }, (_, i) =>
    `${padRight(valued[i] ?? '', left)}${between}${style.dim(i === 0 ? 'Last' : '    ')}   ${recent[i] ?? ''}`.trimEnd(),
  );
}

/** An amount is never wrapped, however narrow the window. */
function stackedLines(held: Money, columns: number, style: Canvas['style']): string[] {
  const ccy = margin + sanitize(held.ccy);
  const number = style.bold(formatNumber(held));
  return widthOf(ccy) + 1 + widthOf(number) <= columns
    ? [`${ccy} ${number}`]
    : [ccy, `${margin}${number}`];
}

/** Only the payments of this home are available. */
function knownLines(
  home: Home,
  { known }: HomeMore,
  { message }: Failure,
  { columns, style }: Canvas,
): string[] {
  const why = wrap(
    `${sanitize(message)} Balances are not known now. Payments from this home:`,
    columns - margin.length,
  );
  const recent = recentLines(home, known, columns - margin.length);
  return [
    ...why.map((line) => margin + style.yellow(line)),
    ...recent.map((line, i) => `${margin}${style.dim(i === 0 ? 'Last' : '    ')}   ${line}`),
  ];
}

const lastLabel = 7;
/** A shorter name is useless. */
const leastParty = 8;

/** `2 min  sent  2 500 sat  Coffee House`; the name is shortened first, then the word, then the age, never an amount. */
function recentLines({ recent, asOf, wallets }: Home, known: Known, columns: number): string[] {
  const room = columns - lastLabel;
  const shown = recent.slice(0, Math.min(mostRecent, Math.max(3, wallets.length)));
  const times = shown.map(({ createdAt }) =>
    typeof createdAt === 'number' ? shortTime(createdAt, asOf) : '–',
  );
  const [words, signs] = [
    shown.map((txn) => movement(txn).word),
    shown.map((txn) => movement(txn).sign),
  ];
  const [both, arrived] = [
    shown.map((txn) => movedShort(txn)),
    shown.map((txn) => movedShort(txn, 'arrived')),
  ];
  const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(widthOf));
  const widthBefore = (cells: readonly (readonly string[])[]): number =>
    cells.reduce((sum, texts) => sum + widest(texts) + 2, 0);
  const fitting = [
    [times, words, both],
    [times, signs, both],
    [times, signs, arrived],
    [signs, arrived],
  ].find((cells) => widthBefore(cells) - 2 <= room);
  if (fitting === undefined) return [];
  // Nothing follows the two amounts of a swap, so they do not widen the column.
  const widths = fitting.map((texts) =>
    widest(texts === both ? texts.filter((text) => !text.includes('→')) : texts),
  );
  const forParty = room - widths.reduce((sum, width) => sum + width + 2, 0);
  return shown.map((txn, i) => {
    const line = fitting
      .map((texts, column) => padRight(texts[i] ?? '', widths[column] ?? 0))
      .join('  ');
    const party = forParty < leastParty ? '' : oneLine(partyText(txn, known), forParty);
    return (party === '' ? line : `${line}  ${party}`).trimEnd();
  });
}

const partyText = (txn: ListedTransaction, known: Known): string =>
  kindOf(txn) === 'swap' ? '' : shortened(known(txn.txnId) ?? txn.note ?? '');

/** As a word and, for a narrow window, as the symbol of lists. */
function movement(txn: ListedTransaction): { readonly word: string; readonly sign: string } {
  if (kindOf(txn) === 'swap') return { word: 'swap', sign: '⇄' };
  return txn.sourceReq.method === 'servicepay'
    ? { word: 'sent', sign: '↑' }
    : { word: 'received', sign: '↓' };
}

/** Of a swap both amounts, or the received one in a narrow window. */
function movedShort(txn: ListedTransaction, only?: 'arrived'): string {
  const [from, to] = [sideAmount(txn.sourceReq), sideAmount(txn.destReq)];
  if (kindOf(txn) === 'swap' && from !== undefined && to !== undefined) {
    return only === 'arrived'
      ? `→ ${shortAmount(to)}`
      : `${shortAmount(from)} → ${shortAmount(to)}`;
  }
  const known = to ?? from;
  return known === undefined ? '–' : shortAmount(known);
}

/** An open payment in three parts, of which the amount is never truncated. */
interface OpenLine {
  readonly amount: string;
  /** Method and recipient. */
  readonly about: string;
  readonly state: string;
}

/** Payments in flight, unpaid requests, and payments that stopped before money moved; last the unchecked ones. */
function openLines(
  { pending }: Home,
  { open, morePending, notAsked, known }: HomeMore,
  { columns, style }: Canvas,
): string[] {
  const [checked, unchecked] = [
    open.filter((each) => !isUnchecked(each)),
    open.filter(isUnchecked),
  ];
  const lines = [
    ...checked.map(openLine),
    ...pending.map((txn) => pendingLine(txn, known)),
    ...unchecked.map(openLine),
  ];
  const shown = lines.slice(0, mostOpen);
  const more = lines.length - shown.length + morePending;
  const notChecked = Math.min(more, unchecked.length);
  const left =
    notChecked === 0
      ? ''
      : notChecked === more
        ? ', not checked'
        : `, ${notChecked} of them not checked`;
  return [
    ...shown.flatMap((line) =>
      paint(line, columns - margin.length, style).map((each) => margin + each),
    ),
    ...(more > 0
      ? wrap(`and ${more} more${left}: svcpay tx pending`, columns - margin.length).map(
          (line) => margin + style.dim(line),
        )
      : []),
    ...(notAsked === undefined
      ? []
      : [`${margin}${style.yellow(oneLine(notAsked, columns - margin.length))}`]),
  ];
}

/** The minimum useful width. */
const leastAbout = 12;

/** The recipient is shortened first; if that is not enough, the state moves to a separate line. */
function paint({ amount, about, state }: OpenLine, room: number, style: Canvas['style']): string[] {
  const painted = stateStyle('', style);
  const beside = room - widthOf(amount) - widthOf(state) - 3;
  if (beside >= Math.min(leastAbout, widthOf(about)))
    return [`${amount} ${oneLine(about, beside)}, ${painted(state)}`];
  return [
    ...wrap(sanitize(`${amount} ${about}`), room),
    ...wrap(state, room - 2).map((line) => `  ${painted(line)}`),
  ];
}

/** Outgoing money is in flight, requested money is awaited. */
function pendingLine(txn: ListedTransaction, known: Known): OpenLine {
  const { amount, way } = whatOf(
    sideAmount(txn.destReq) ?? sideAmount(txn.sourceReq),
    viaText(txn),
  );
  const counted = confirmationsText(txn);
  const state = counted === undefined ? stateWord(txn) : `${counted} confirmations`;
  if (txn.sourceReq.method !== 'servicepay')
    return { amount: `Waiting for ${amount}`, about: way, state };
  const party = known(txn.txnId);
  return {
    amount: `On its way: ${amount}`,
    about: party === undefined ? way : toWhom(way, party),
    state,
  };
}

/** `2 500 sat`, `over Lightning`; a method named after its currency is not repeated. */
function whatOf(
  amount: Money | undefined,
  way: string,
): { readonly amount: string; readonly way: string } {
  if (amount === undefined) return { amount: '', way };
  return { amount: shortAmount(amount), way: amount.ccy === way ? '' : way };
}

const toWhom = (way: string, party: string): string => `${way} to ${shortened(party)}`.trim();

/** `on-chain`, `over Lightning`, `USDT`, `payout`. */
function viaText(txn: ListedTransaction): string {
  const [word = ''] = transactionKind(txn).split(' ');
  if (word === 'Lightning') return 'over Lightning';
  return word === 'USDT' ? word : word.toLowerCase();
}

function openLine(payment: PendingPayment): OpenLine {
  const { ccy, kind, with: party, ref } = payment;
  const { amount, way } = whatOf(
    payment.amount === null || ccy === null ? undefined : money(ccy, payment.amount),
    routeOfKind(kind),
  );
  const to = toWhom(way, party);
  if (isUnchecked(payment))
    return { amount: `Not checked: ${amount}`, about: to, state: progressOf(payment) };
  if (isSubmitted(payment))
    return { amount: `On its way: ${amount}`, about: to, state: progressOf(payment) };
  return { amount: `Unfinished: ${amount}`, about: `${to} (${ref})`, state: 'nothing moved yet' };
}
