// Draws the card of a payment request or of a permanent deposit address: the title, the QR code if
// it fits, and the whole invoice or address to copy.
import { type CardDetail, detailLines, heading, linked } from './card.js';
import { qrLines } from '../qr/qr.js';
import { sanitize } from '../sanitize.js';
import type { Canvas } from '../terminal.js';
import { widthOf, wrap } from '../layout.js';
import { usdtAddressFields } from '../../api/reading/objects.js';
import type { RecordView } from '../rows/view.js';

export interface InvoiceCard {
  /** The title of the card, such as `Receive 0.00050000 BTC (50 000 sat) over Lightning`. */
  readonly title: string;
  /** The content of the QR code: an invoice, an address or a BIP21 URI. */
  readonly code: string;
  /** The invoice or address to copy. */
  readonly text: string;
  /** Further lines of the card: the payment page, the expiry, the URI. */
  readonly details: readonly CardDetail[];
  /** The path of the file that contains the QR code. */
  readonly qrFile?: string | undefined;
  /** Whether Enter shows the QR code on the full screen. */
  readonly opens?: boolean;
}

const margin = '  ';

/** The number of rows left free below the card, so that the QR code stays on the screen. */
const rowsBelow = 2;

/** Returns the number of rows that the lines fill after the terminal has wrapped them. */
const rowsOf = (lines: readonly string[], columns: number): number =>
  lines.reduce((rows, line) => rows + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);

/**
 * Draws the title, the QR code, the text to copy, and the details. In a low window, the details are
 * above the QR code, so that the QR code and the text to copy stay visible. A hint replaces a QR
 * code that does not fit or that the terminal cannot draw. The text to copy starts in the first
 * column and is not wrapped, so that people can copy the whole text. An empty line follows the card
 * unless the window is too low for it.
 */
export function invoiceCard(card: InvoiceCard, canvas: Canvas): string[] {
  const { columns, rows, style } = canvas;
  const details = detailLines([...card.details, ...fileDetail(card)], canvas);
  const text = [linked(sanitize(card.text), canvas)];
  const title = heading(card.title, canvas);
  const below = details.length === 0 ? [] : ['', ...details];
  const draw = (others: number): string[] | undefined =>
    canvas.blocks
      ? qrLines(card.code, columns - margin.length, rows - others)?.map((line) => margin + line)
      : undefined;

  const roomy = draw(rowsOf([...text, ...below], columns) + 1 + rowsBelow);
  if (roomy !== undefined) return [...title, '', ...roomy, '', ...text, ...below, ''];
  const low = draw(rowsOf(text, columns) + rowsBelow);
  if (low !== undefined) return [...title, ...below, '', ...low, ...text, ''];
  // Sextants make the QR code and the text fit above a live line of one row.
  const tight =
    canvas.blocks === 'sextants'
      ? qrLines(card.code, columns - margin.length, rows - rowsOf(text, columns) - 1, canvas.blocks)
      : undefined;
  if (tight !== undefined)
    return [...title, ...below, '', ...tight.map((line) => margin + line), ...text];
  const why = canvas.blocks
    ? 'The window is too small for the QR code'
    : 'This terminal cannot draw the QR code';
  const instead =
    card.qrFile !== undefined
      ? 'scan the QR code in the file'
      : card.opens === true && canvas.blocks
        ? 'Enter shows the QR code full-screen'
        : '--qr-file code.svg saves the QR code';
  return [
    ...title,
    '',
    ...text,
    ...below,
    '',
    ...wrap(`${why}: ${instead}.`, columns - margin.length).map((line) => margin + style.dim(line)),
    '',
  ];
}

/** Draws a full-screen page of the QR code, in the largest blocks that fit into the window. */
export function qrPage(code: string, { columns, rows, style, blocks }: Canvas): string[] {
  const drawn =
    qrLines(code, columns, rows - 1) ??
    (blocks === 'sextants' ? qrLines(code, columns, rows - 1, blocks) : undefined);
  const lines =
    drawn ??
    wrap(
      '  The window is too small for the QR code. Enlarge the window or make the text smaller.',
      columns,
    );
  const left = ' '.repeat(Math.max(Math.floor((columns - widthOf(lines[0] ?? '')) / 2), 0));
  return [
    ...lines.map((line) => (drawn === undefined ? line : left + line)),
    style.dim('  any key back'),
  ];
}

const fileDetail = ({ qrFile }: InvoiceCard): CardDetail[] =>
  qrFile === undefined ? [] : [{ label: 'QR code', value: `written to ${qrFile}`, whole: true }];

export interface Deposit {
  readonly ccy: string;
  /** The common name of the blockchain, such as `TRON`. */
  readonly chain: string;
  readonly address: string;
  readonly code: string;
  readonly qrFile?: string | undefined;
}

/** The fields of the account's deposit addresses. */
export const depositFields: readonly string[] = [
  'ccy',
  'chain',
  'address',
  ...Object.keys(usdtAddressFields),
  'lightningAddress',
];

/**
 * The time until a deposit arrives, by blockchain (specification: endpoints 4 and 5, and Confirm
 * transaction).
 */
const arrivals: Readonly<Record<string, string>> = {
  Lightning: 'in seconds',
  Bitcoin: 'after confirmations, 10 to 60 minutes',
  TRON: 'in seconds',
  Ethereum: 'in about 15 minutes',
};

export function depositView({ ccy, chain, address, code, qrFile }: Deposit): RecordView<object> {
  const details = [
    {
      label: 'Only',
      value:
        chain === 'Lightning'
          ? 'bitcoin over Lightning'
          : `${ccy === 'BTC' ? 'bitcoin' : `${ccy} on ${chain}`}: anything else sent here is lost`,
    },
    { label: 'Arrives', value: arrivals[chain] ?? 'after confirmations' },
    { label: 'Valid', value: 'permanent, for any amount' },
  ];
  return {
    columns: [
      { name: 'ccy', title: 'Currency', value: () => ccy },
      { name: 'chain', title: 'Chain', value: () => chain },
      { name: 'address', title: 'Address', value: () => address },
    ],
    quiet: () => address,
    screen: (canvas) => {
      const title =
        ccy === 'BTC'
          ? `Your ${chain === 'Lightning' ? 'Lightning Address' : 'Bitcoin address'}`
          : `Your ${ccy} address on ${chain}`;
      return ['', ...invoiceCard({ title, code, text: address, details, qrFile }, canvas)];
    },
  };
}
