// The building blocks of cards: facts with a label, and lines of money whose numbers stand under each other.
import { formatAmount, formatNumber, formatSats, type Money } from '../formats/amount.js';
import type { Canvas } from './terminal.js';
import { chop, padLeft, padRight, widthOf, wrap } from './text.js';

const margin = '  ';
const gap = '   ';

/** A line of what is so: `Expires   in 48 minutes`. Text from outside is sanitised by whoever makes the fact. */
export interface Fact {
  readonly label: string;
  readonly value: string;
  /** Secondary, dim, after the value. */
  readonly note?: string | undefined;
  /** An address, invoice or id: broken anywhere, never cut, so that it can be copied. */
  readonly whole?: boolean;
}

export interface MoneyLine {
  readonly label: string;
  readonly amount: Money;
  /** After the amount: a percentage, an arrival time. */
  readonly note?: string | undefined;
  /** Stands under a rule and in bold: what the lines above add up to. */
  readonly total?: boolean;
}

/** `0.00050000 BTC (50 000 sat)`; other currencies alone. */
export function amountWithSats(amount: Money): string {
  return amount.ccy === 'BTC' ? `${formatAmount(amount)} (${formatSats(amount.value)})` : formatAmount(amount);
}

export const heading = (text: string, { style, columns }: Canvas): string[] =>
  wrap(text, columns - margin.length).map((line) => margin + style.bold(line));

/** Facts with their values under each other; a long value goes on in its own column. */
export function factLines(facts: readonly Fact[], { style, columns }: Canvas, labelWidth = 8): string[] {
  const width = Math.max(labelWidth, ...facts.map(({ label }) => widthOf(label)));
  const room = columns - margin.length - width - margin.length;
  return facts.flatMap(({ label, value, note, whole }) => {
    const text = note === undefined ? value : `${value}  ${style.dim(note)}`;
    const lines = whole === true ? chop(text, room) : wrap(text, room);
    return lines.map((line, i) => `${margin}${style.dim(padRight(i === 0 ? label : '', width))}${margin}${line}`.trimEnd());
  });
}

/**
 * Lines of money. Numbers of one currency line up on the right, amounts of several currencies on the left. Where the
 * window is too narrow the satoshis leave first, then the notes move to lines of their own.
 */
export function moneyLines(lines: readonly MoneyLine[], { style, columns }: Canvas): string[] {
  const sameCurrency = lines.every(({ amount }) => amount.ccy === lines[0]?.amount.ccy);
  const numbers = lines.map(({ amount }) => formatNumber(amount));
  const numberWidth = Math.max(0, ...numbers.map(widthOf));
  const amounts = lines.map(({ amount }, i) => `${sameCurrency ? padLeft(numbers[i] ?? '', numberWidth) : numbers[i]} ${amount.ccy}`);
  const sats = lines.map(({ amount }) => (amount.ccy === 'BTC' ? formatSats(amount.value) : ''));
  const layout = fit(lines, amounts, sats, columns);

  return lines.flatMap(({ label, note, total }, i) => {
    const strong = total === true ? style.bold : (text: string) => text;
    const shown = [
      strong(padRight(label, layout.label)),
      strong(padRight(amounts[i] ?? '', layout.amount)),
      ...(layout.sats > 0 ? [style.dim(padLeft(sats[i] ?? '', layout.sats))] : []),
      ...(layout.inlineNotes && note !== undefined ? [style.dim(note)] : []),
    ];
    const below = layout.inlineNotes || note === undefined ? [] : [`${margin}${' '.repeat(layout.label)}${gap}${style.dim(note)}`];
    const rule = total === true ? [margin + style.dim('─'.repeat(layout.rule))] : [];
    return [...rule, margin + shown.join(gap).trimEnd(), ...below];
  });
}

interface Layout {
  readonly label: number;
  readonly amount: number;
  /** 0 when satoshis have no room, or nothing is in bitcoin. */
  readonly sats: number;
  readonly inlineNotes: boolean;
  readonly rule: number;
}

function fit(lines: readonly MoneyLine[], amounts: readonly string[], sats: readonly string[], columns: number): Layout {
  const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(widthOf));
  const label = widest(lines.map((line) => line.label));
  const amount = widest(amounts);
  const note = widest(lines.map((line) => line.note ?? ''));
  const room = columns - margin.length;
  const widthWith = (satsWidth: number, noteWidth: number): number =>
    [label, amount, satsWidth, noteWidth].filter((width, i) => i < 2 || width > 0).reduce((sum, width) => sum + width + gap.length, 0) - gap.length;
  const satsWidth = widthWith(widest(sats), note) <= room ? widest(sats) : 0;
  const rule = Math.min(room, widthWith(satsWidth, 0));
  return { label, amount, sats: satsWidth, inlineNotes: widthWith(satsWidth, note) <= room, rule };
}
