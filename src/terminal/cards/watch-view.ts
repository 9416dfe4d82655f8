// Draws the live screen of `svcpay watch`: balances with their last 30 days, open payments, and the
// latest events.
import type { Big } from 'big.js';
import type { ListedTransaction } from '../../api/types.js';
import type { Money } from '../../formats/amount.js';
import { isFinal } from '../../formats/states.js';
import { createTable } from '../rows/table.js';
import { dim, type Column } from '../rows/view.js';
import type { Canvas } from '../terminal.js';
import { oneLine, truncate } from '../text.js';
import { clockTime, dayTime, relativeTime } from '../time.js';
import {
  openColumns,
  openLines,
  type OpenLine,
  movementColumns,
} from '../views/transaction-view.js';
import { stateWord } from './steps.js';
import { screenHead } from '../views/wallet-view.js';
import { balanceColumns, balances, blockGap, type Home, type HomeMore } from './home-view.js';

/** A state that a webhook event reported. */
export interface SeenEvent {
  readonly txnId: string;
  readonly txnState: string;
  /** The time of the event in epoch ms. */
  readonly at: number;
}

export interface WatchModel {
  readonly home: Home;
  readonly more: HomeMore;
  /** The balances of the last 30 days by currency: one value per day, the current balance last. */
  readonly past: ReadonlyMap<string, readonly Big[]>;
  /** The latest events, newest first. */
  readonly events: readonly SeenEvent[];
  /** The index of the chosen row among the rows that a person can open. */
  readonly chosen: number;
  /** The reason why the last update failed. */
  readonly problem: string | undefined;
  readonly now: number;
}

/**
 * Returns the transaction ids in the order of the rows on the screen, with null for a payment
 * without a transaction.
 */
export const openable = (model: WatchModel): (string | null)[] =>
  [...openRows(model), ...latestRows(model)].map(({ txnId }) => txnId);

export function watchLines(model: WatchModel, canvas: Canvas, unicode: boolean): string[] {
  const { columns, rows, style } = canvas;
  const { now, more, chosen } = model;
  const list = { style, columns: columns - margin.length - 1, gap: blockGap };
  const [open, latest] = [openRows(model), latestRows(model)];
  const head = [...headLines(model, canvas), ...balanceLines(model, canvas, unicode)];
  const openDrawn = createTable(openColumns(now), list)(open).rows;
  const latestDrawn = createTable(
    movementColumns((at) => dayTime(at, now), more.known),
    list,
  )(latest).rows;
  const available = rows - head.length - besideLists;
  const forLatest = Math.min(latestDrawn.flat().length, leastLatest);
  const openShown = visible(openDrawn, chosen, Math.max(available - forLatest, leastOpen), style);
  const left = available - Math.max(openShown.flat().length, 1);
  const latestShown = visible(latestDrawn, chosen - open.length, left, style);
  const hidden = open.length - openShown.length + more.morePending;
  const body = [
    ...head,
    '',
    style.bold(`  Open${hidden > 0 ? style.dim(` · ${hidden} more: svcpay tx pending`) : ''}`),
    ...(open.length === 0 ? [style.dim('    no open payments')] : openShown.flat()),
    '',
    style.bold('  Latest'),
    ...(latest.length === 0 ? [style.dim('    no transactions yet')] : latestShown.flat()),
  ];
  const free = Math.max(rows - body.length - 1, 0);
  const foot = style.dim('  ↑↓ move · ⏎ open · q leave');
  return [...body.slice(0, rows - 1), ...Array<string>(free).fill(''), foot].map((line) =>
    truncate(line, columns - 1),
  );
}

const margin = '  ';
/** The number of rows for titles, blank lines and the footer. */
const besideLists = 5;
const leastOpen = 3;
const leastLatest = 5;

type Rows = readonly (readonly string[])[];

/**
 * Returns as many rows as fit into `most` lines, but at least one row. The returned rows include
 * the chosen row, which has a mark.
 */
function visible(rows: Rows, chosen: number, most: number, style: Canvas['style']): Rows {
  const marked = rows.map((lines, i) =>
    lines.map((line, n) =>
      i === chosen && n === 0 ? `${margin}${style.cyan('❯')} ${line.slice(2)}` : margin + line,
    ),
  );
  const fittingFrom = (start: number): Rows => {
    let used = 0;
    return marked.slice(start).filter((lines, i) => (used += lines.length) <= most || i === 0);
  };
  let start = 0;
  let shown = fittingFrom(start);
  while (chosen >= start + shown.length && chosen < rows.length) shown = fittingFrom((start += 1));
  return shown;
}

/** The age in ms from which data counts as stale, longer than the ten seconds between updates. */
const staleMs = 15_000;

function headLines({ home, problem, now }: WatchModel, canvas: Canvas): string[] {
  const { style, columns } = canvas;
  const age = `as of ${clockTime(home.asOf)} · ${relativeTime(home.asOf, now)}`;
  const isStale = problem !== undefined || now - home.asOf > staleMs;
  return [
    ...screenHead(home, isStale ? style.yellow(age) : style.dim(age), canvas),
    ...(problem === undefined ? [] : [`  ${style.yellow(oneLine(problem, columns - 4))}`]),
  ];
}

/**
 * Draws the lines of the balances. A narrow window first omits the past balances, then the values,
 * but never the amounts.
 */
function balanceLines(
  { home, more, past }: WatchModel,
  canvas: Canvas,
  unicode: boolean,
): string[] {
  const held = balances(home);
  const columns: Column<Money>[] = [
    ...balanceColumns(more.worth),
    {
      name: 'past',
      value: ({ ccy }) => (unicode ? sparkline(past.get(ccy) ?? []) : ''),
      style: (cell, style) => style.cyan(cell),
      priority: 2,
    },
    {
      name: 'days',
      value: ({ ccy }) => (unicode && past.has(ccy) && ccy === held[0]?.ccy ? '30 days' : ''),
      style: dim,
      priority: 3,
    },
  ];
  const pane = { style: canvas.style, columns: canvas.columns - 1, gap: blockGap };
  return createTable(columns, pane)(held).rows.flat();
}

const bars = '▁▂▃▄▅▆▇█';

/** Draws a bar for every second value, scaled from the lowest value to the highest value. */
export function sparkline(values: readonly Big[]): string {
  const [lowest, ...others] = values.toSorted((a, b) => a.cmp(b));
  const span = others.at(-1)?.minus(lowest ?? 0);
  const barOf = (value: Big): string => {
    const part = !lowest || !span || span.eq(0) ? '0.5' : value.minus(lowest).div(span).toFixed(2);
    return bars.charAt(Math.round(Number(part) * (bars.length - 1)));
  };
  return values
    .filter((_, i) => (values.length - i) % 2 === 1)
    .map(barOf)
    .join('');
}

const openRows = ({ home, more, now }: WatchModel): OpenLine[] =>
  openLines(home.pending, more.open, more.known, now);

/**
 * Returns the latest movements, and the events of transactions that are not among the movements.
 */
function latestRows({ home, events }: WatchModel): ListedTransaction[] {
  const settled = new Set(home.recent.map(({ txnId }) => txnId));
  const reported = events
    .filter(({ txnId, txnState }) => !settled.has(txnId) || !isFinal(txnState))
    .map(({ txnId, txnState, at }) => ({
      txnId,
      txnState,
      createdAt: at,
      note: `event ${txnId.slice(0, 8)}: ${stateWord({ txnState })}`,
      sourceReq: {},
      destReq: {},
    }));
  return [...reported, ...home.recent].toSorted((a, b) => (b.createdAt ?? 0) - (a.createdAt ?? 0));
}
