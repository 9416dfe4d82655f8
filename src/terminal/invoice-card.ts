// What to show to be paid: the title, the QR code where it fits, and the invoice or address whole, easy to copy.
import { factLines, heading, type Fact } from './card.js';
import { qrLines } from './qr.js';
import type { Canvas } from './terminal.js';
import { chop } from './text.js';

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

export function invoiceCard(card: InvoiceCard, canvas: Canvas): string[] {
  const title = heading(card.title, canvas);
  const text = chop(card.text, canvas.columns - margin.length).map((line) => margin + line);
  const facts = factLines(card.facts, canvas);
  const others = title.length + text.length + facts.length + 3 + (card.rowsBelow ?? 2);
  const qr = canvas.blocks
    ? qrLines(card.code, { maxColumns: canvas.columns - margin.length, maxRows: canvas.rows - others })
    : undefined;
  return [
    ...title,
    '',
    ...(qr === undefined ? [] : [...qr.map((line) => margin + line), '']),
    ...text,
    ...(facts.length === 0 ? [] : ['', ...facts]),
    ...(qr === undefined ? [margin + canvas.style.dim(tooSmall(canvas))] : []),
  ];
}

const tooSmall = ({ blocks }: Canvas): string =>
  `${blocks ? 'This window is too small for the QR code' : 'This terminal cannot draw the QR code'}: add --qr-file code.svg`;
