// The rule for everything in columns (tables, cards, screens, live lines): which columns fit into a
// window, and how wide they are. The least important column leaves first.
import { widthOf } from './text.js';

/** How a column yields in a window that is too narrow. */
export interface GivesWay {
  /**
   * Columns with the highest number leave first. Columns with 0 (the default) stay: amounts, fees,
   * units and the recipient.
   */
  readonly priority?: number;
  /** Whether the column moves to a line below its row instead of leaving. */
  readonly below?: boolean;
}

export interface ColumnWidths extends GivesWay {
  /** The width of its widest cell. */
  readonly width: number;
  /** Its width before another column leaves in its favour. */
  readonly usual?: number;
  /** Its width before the column itself leaves. */
  readonly least?: number;
}

const priorityOf = ({ priority = 0 }: GivesWay): number => priority;

/**
 * The width of each column, or undefined for a column that leaves or moves below. Undefined as a
 * whole if the columns that stay do not fit.
 */
export function fit(
  columns: readonly ColumnWidths[],
  room: number,
  gap: number,
): (number | undefined)[] | undefined {
  const turns = [...new Set(columns.map(priorityOf))].toSorted((a, b) => b - a);
  for (const turn of turns) {
    const staying = columns.filter((column) => priorityOf(column) <= turn && column.width > 0);
    const gaps = gap * Math.max(staying.length - 1, 0);
    let excess = staying.reduce((sum, { width }) => sum + width, gaps) - room;
    const widths = new Map(staying.map((column) => [column, column.width]));
    for (const column of staying.toSorted((a, b) => priorityOf(b) - priorityOf(a))) {
      const { width, usual = width, least = usual } = column;
      const given = Math.min(width - (priorityOf(column) === turn ? least : usual), excess);
      if (given <= 0) continue;
      widths.set(column, width - given);
      excess -= given;
    }
    if (excess <= 0) return columns.map((column) => widths.get(column));
  }
  return undefined;
}

/** A sanitized text next to other texts. It may be coloured. */
export interface Part extends GivesWay {
  readonly text: string;
}

/**
 * Texts on one line, as far as they fit. Texts that move below follow, each on its own line. If the
 * texts that stay do not fit, each text has its own line.
 */
export function sideBySide(parts: readonly Part[], room: number, gap: string): string[] {
  const shown = parts.filter(({ text }) => text !== '');
  if (shown.length === 0) return [];
  const widths = fit(
    shown.map((part) => ({ ...part, width: widthOf(part.text) })),
    room,
    widthOf(gap),
  );
  const texts = (parts: readonly Part[]): string[] => parts.map(({ text }) => text);
  if (widths === undefined) return texts(shown);
  const beside = shown.filter((_, i) => widths[i] !== undefined);
  const below = shown.filter((part, i) => widths[i] === undefined && part.below === true);
  return [texts(beside).join(gap), ...texts(below)];
}
