// What to show to be paid: the title, the QR code where it fits, and the invoice or address whole, easy to copy.
import { factLines, heading, type Fact } from './card.js';
import { qrLines } from '../qr/qr.js';
import { sanitize } from '../sanitize.js';
import type { Canvas } from '../terminal.js';
import { chop, wrap } from '../text.js';

export interface InvoiceCard {
  /** `Receive 0.00050000 BTC (50 000 sat) over Lightning`. */
  readonly title: string;
  /** What the QR code carries: an invoice, an address or a BIP21 URI. */
  readonly code: string;
  /** What a person copies, whole. */
  readonly text: string;
  /** The page, the expiry, the URI. */
  readonly facts: readonly Fact[];
  /** Lines the caller draws below, kept free so that the QR code stays on the screen with them. */
  readonly rowsBelow?: number | undefined;
}

const margin = '  ';

/**
 * The title, the code, then the text and facts. In a low window the code goes to the end, so that all of it stays in
 * sight above the lines that follow; where even that has no room, or nothing can be drawn, a hint stands for it.
 */
export function invoiceCard(card: InvoiceCard, canvas: Canvas): string[] {
  const { columns, rows, style } = canvas;
  const facts = factLines(card.facts, canvas);
  const text = [
    ...chop(sanitize(card.text), columns - margin.length).map((line) => margin + line),
    ...(facts.length === 0 ? [] : ['', ...facts]),
  ];
  const title = heading(card.title, canvas);
  const rowsBelow = card.rowsBelow ?? 2;
  const draw = (others: number): string[] | undefined =>
    canvas.blocks
      ? qrLines(card.code, { maxColumns: columns - margin.length, maxRows: rows - others })?.map(
          (line) => margin + line,
        )
      : undefined;

  const above = draw(text.length + 1 + rowsBelow);
  if (above !== undefined) return [...title, '', ...above, '', ...text];
  const last = draw(rowsBelow);
  if (last !== undefined) return [...title, '', ...text, '', ...last];
  const hint = wrap(
    `${canvas.blocks ? 'This window is too small for' : 'This terminal cannot draw'} ${fileHint}`,
    columns - 2,
  );
  return [...title, '', ...text, '', ...hint.map((line) => margin + style.dim(line))];
}

const fileHint = 'the QR code: add --qr-file code.svg to have it in a file.';
