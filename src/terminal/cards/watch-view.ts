// The live screen of `svcpay watch`: balances with their last 30 days, open payments, and latest events.
import type { Big } from 'big.js';
import type { ListedTransaction } from '../../api/types.js';
import { formatNumber, money } from '../../formats/amount.js';
import { formatDuration } from '../../formats/duration.js';
import { isFinal } from '../../formats/states.js';
import { oneLine, padRight, truncate, widthOf } from '../text.js';
import { pointsAligned } from '../rows/table.js';
import { sanitize } from '../sanitize.js';
import type { Canvas } from '../terminal.js';
import { clockTime, shortTime } from '../time.js';
import { progressOf } from '../views/pending-view.js';
import { confirmationsText, stateWord } from '../views/state-words.js';
import {
  lineAmount,
  lineKind,
  partyOf,
  shortAmount,
  stateStyle,
} from '../views/transaction-view.js';
import { placeLine } from '../views/wallet-view.js';
import { worthText } from './card.js';
import { balances, type Home, type HomeMore } from './home-view.js';

/** A state that a webhook event reported. */
export interface SeenEvent {
  readonly txnId: string;
  readonly txnState: string;
  /** Epoch ms. */
  readonly at: number;
}

export interface WatchModel {
  readonly home: Home;
  readonly more: HomeMore;
  /** Balances of the last 30 days by currency, a value for each day, the current one last. */
  readonly past: ReadonlyMap<string, readonly Big[]>;
  /** Newest first. */
  readonly events: readonly SeenEvent[];
  /** Of the rows that can be opened. */
  readonly chosen: number;
  /** Why the last update failed. */
  readonly problem: string | undefined;
  readonly now: number;
}

interface Row {
  readonly txnId: string | null;
  readonly cells: readonly string[];
  readonly state: string;
}

/** A narrow window omits cells of open payments in this order: the detail, the party, the age. Never an amount. */
const openGiveWay = [5, 2, 4];
const latestGiveWay = [3, 0];

/** Transactions in the order of the screen, so that a row can be opened; null for a payment without one. */
export const openable = (model: WatchModel): (string | null)[] =>
  [...openRows(model), ...latestRows(model)].map(({ txnId }) => txnId);

export function watchLines(model: WatchModel, canvas: Canvas, unicode: boolean): string[] {
  const { columns, rows, style } = canvas;
  const [open, latest] = [openRows(model), latestRows(model)];
  const head = [headLine(model, canvas), ...balanceLines(model, canvas, unicode)];
  const foot = style.dim('  ↑↓ move · ⏎ open · q leave');
  const room = rows - head.length - 7;
  const shownOpen = open.slice(0, Math.max(room - Math.min(latest.length, 5), 3));
  const shownLatest = latest.slice(0, Math.max(room - shownOpen.length, 1));
  const chosenRow = (index: number): boolean => index === model.chosen;
  const more = open.length - shownOpen.length + model.more.morePending;
  const body = [
    ...head,
    '',
    style.bold(`  Open${more > 0 ? style.dim(` · ${more} more: svcpay tx pending`) : ''}`),
    ...(open.length === 0
      ? [style.dim('    nothing is on its way')]
      : fitted(shownOpen, openGiveWay, columns, style).map((line, i) =>
          mark(line, chosenRow(i), style),
        )),
    '',
    style.bold('  Latest'),
    ...(latest.length === 0
      ? [style.dim('    nothing has moved yet')]
      : fitted(shownLatest, latestGiveWay, columns, style).map((line, i) =>
          mark(line, chosenRow(open.length + i), style),
        )),
  ];
  const free = Math.max(rows - body.length - 1, 0);
  return [...body.slice(0, rows - 1), ...Array<string>(free).fill(''), foot].map((line) =>
    truncate(line, columns - 1),
  );
}

const mark = (line: string, isChosen: boolean, style: Canvas['style']): string =>
  isChosen ? `  ${style.cyan('❯')} ${line}` : `    ${line}`;

function headLine({ home, problem, now }: WatchModel, { columns, style }: Canvas): string {
  const state =
    problem === undefined ? `${clockTime(now)} · live` : `last checked ${clockTime(home.asOf)}`;
  const place = oneLine(sanitize(placeLine(home)), columns - widthOf(state) - 6);
  const gap = Math.max(columns - 4 - widthOf(place) - widthOf(state), 2);
  return `  ${style.bold(place)}${' '.repeat(gap)}${problem === undefined ? style.dim(state) : style.yellow(state)}`;
}

/** A narrow window omits the value before the sparkline, but never the amount. */
function balanceLines(
  { home, more, past }: WatchModel,
  { columns, style }: Canvas,
  unicode: boolean,
): string[] {
  const held = balances(home);
  const label = Math.max(0, ...held.map(({ ccy }) => widthOf(sanitize(ccy))));
  const numbers = pointsAligned(held.map(formatNumber));
  const worths = held.map((each) => worthText(more.worth(each)));
  const worth = Math.max(...worths.map(widthOf), 0);
  return held.map(({ ccy }, i) => {
    const bare = `  ${padRight(sanitize(ccy), label)}   ${style.bold(numbers[i] ?? '')}`;
    const line = unicode ? sparkline(past.get(ccy) ?? []) : '';
    const days = i === 0 && line !== '' ? `  ${style.dim('30 days')}` : '';
    const withPast = line === '' ? '' : `   ${style.cyan(line)}${days}`;
    const withWorth = `${bare}   ${style.dim(padRight(worths[i] ?? '', worth))}`;
    return (
      [withWorth + withPast, bare + withPast, bare].find(
        (text) => widthOf(text.trimEnd()) < columns,
      ) ?? bare
    );
  });
}

const left = [0x00, 0x40, 0x44, 0x46, 0x47];
const right = [0x00, 0x80, 0xa0, 0xb0, 0xb8];

/** Two values per character, four dots high, scaled from the lowest to the highest. */
export function sparkline(values: readonly Big[]): string {
  const [first, ...others] = values;
  if (first === undefined) return '';
  const lowest = others.reduce((least, value) => (value.lt(least) ? value : least), first);
  const highest = others.reduce((most, value) => (value.gt(most) ? value : most), first);
  const span = highest.minus(lowest);
  const heights = values.map((value) =>
    span.eq(0) ? 2 : 1 + Math.round(Number(value.minus(lowest).times(3).div(span).toFixed(2))),
  );
  const pairs = Array.from({ length: Math.ceil(heights.length / 2) }, (_, i) => [
    heights[2 * i] ?? 0,
    heights[2 * i + 1] ?? 0,
  ]);
  return pairs
    .map(([one = 0, two = 0]) =>
      String.fromCodePoint(0x28_00 + (left[one] ?? 0) + (right[two] ?? 0)),
    )
    .join('');
}

function openRows({ home, more, now }: WatchModel): Row[] {
  const listed = home.pending.map((txn): Row => ({
    txnId: txn.txnId,
    state: txn.txnState,
    cells: [
      lineKind(txn),
      lineAmount(txn),
      partyOf(txn, more.known),
      `● ${wordOf(txn)}`,
      ageText(txn.createdAt, now),
      detailText(txn, now),
    ],
  }));
  const begun = more.open.map((payment): Row => {
    const amount =
      payment.amount === null || payment.ccy === null
        ? '–'
        : shortAmount(money(payment.ccy, payment.amount));
    return {
      txnId: payment.txnId,
      state: '',
      cells: [
        payment.kind,
        amount,
        payment.with,
        `● ${progressOf(payment)}`,
        ageText(payment.openedAt, now),
        '',
      ],
    };
  });
  return [...listed, ...begun];
}

const ageText = (at: number | null | undefined, now: number): string =>
  typeof at === 'number' ? formatDuration(Math.max(now - at, 0)) : '–';

/** The number of confirmations has its own column. */
const wordOf = (txn: ListedTransaction): string =>
  stateWord(confirmationsText(txn) === undefined ? txn : { txnState: txn.txnState });

function detailText(txn: ListedTransaction, now: number): string {
  const counted = confirmationsText(txn);
  if (counted !== undefined) return counted;
  const { expiresAt, method } = txn.sourceReq;
  return method !== 'servicepay' && typeof expiresAt === 'number' && expiresAt > now
    ? `expires in ${formatDuration(expiresAt - now)}`
    : '';
}

/** Movements, and the events of transactions that are not among them yet. */
function latestRows({ home, more, events, now }: WatchModel): Row[] {
  const settled = new Set(home.recent.map(({ txnId }) => txnId));
  const reported = events
    .filter(({ txnId, txnState }) => !settled.has(txnId) || !isFinal(txnState))
    .map(({ txnId, txnState, at }) => ({
      at,
      txnId,
      state: txnState,
      cells: [clockTime(at).slice(0, 5), 'event', txnState, txnId.slice(0, 8)],
    }));
  const moved = home.recent.map((txn) => ({
    at: typeof txn.createdAt === 'number' ? txn.createdAt : 0,
    txnId: txn.txnId,
    state: txn.txnState,
    cells: [
      typeof txn.createdAt === 'number' ? shortTime(txn.createdAt, now) : '–',
      lineKind(txn),
      lineAmount(txn),
      partyOf(txn, more.known),
    ],
  }));
  return [...reported, ...moved].toSorted((a, b) => b.at - a.at);
}

/** Aligned cells; a narrow window omits whole columns in the given order. */
function fitted(
  rows: readonly Row[],
  giveWay: readonly number[],
  columns: number,
  style: Canvas['style'],
): string[] {
  const room = columns - 6;
  let shown = rows[0]?.cells.map((_, i) => i) ?? [];
  const texts = shown.map((column) =>
    alignedCells(rows.map(({ cells }) => sanitize(cells[column] ?? ''))),
  );
  const widths = texts.map((cells) => Math.max(0, ...cells.map(widthOf)));
  for (const column of giveWay) {
    if (shown.reduce((sum, each) => sum + (widths[each] ?? 0) + 2, 0) > room)
      shown = shown.filter((each) => each !== column);
  }
  return rows.map(({ state }, i) => {
    const cells = shown.map((column) => {
      const padded = padRight(texts[column]?.[i] ?? '', widths[column] ?? 0);
      return padded.startsWith('●') ? stateStyle(state, style)(padded) : padded;
    });
    return cells.join('  ').trimEnd();
  });
}

/** Amounts are aligned at the point. */
const alignedCells = (texts: readonly string[]): readonly string[] =>
  texts.some((text) => /^\D?\d[\d .]* (?:sat|[A-Z]{3,5})$/.test(text))
    ? pointsAligned(texts)
    : texts;
