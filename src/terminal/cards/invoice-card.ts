// Draws the card of a payment request or of a permanent deposit address: the title, the QR code if
// it fits, and the whole invoice or address to copy. Draws QR codes in blocks for a terminal with
// any theme, and as SVG and PNG for a file.
import { type CardLine, cardLines, heading, linked } from './card.js';
import { sanitize, paragraph, widthOf, wrap } from '../text.js';
import type { Canvas } from '../terminal.js';
import { usdtAddressNames } from '../../api/names.js';
import type { RecordView } from '../rows/view.js';
import { invalid } from '../../formats/failure.js';
import { type Bitmap, encodeQr, svgOf } from '../../formats/qr/qr-code.js';
import { crc32, deflateSync } from 'node:zlib';

export interface InvoiceCard {
  /** The title of the card, such as `Receive 0.00050000 BTC (50 000 sat) over Lightning`. */
  readonly title: string;
  /** The content of the QR code: an invoice, an address or a BIP21 URI. */
  readonly code: string;
  /** The invoice or address to copy. */
  readonly text: string;
  /** Further lines of the card: the payment page, the expiry, the URI. */
  readonly details: readonly CardLine[];
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
  const file = card.qrFile && `written to ${card.qrFile}`;
  const details = cardLines(
    [...card.details, { label: 'QR code', value: file, whole: true }],
    canvas,
  );
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
    ...paragraph(`${why}: ${instead}.`, canvas, style.dim),
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
  ...usdtAddressNames,
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

/**
 * The width of the light border around the code, in modules. On a screen, a border of two modules
 * is enough, although the standard requires four modules.
 */
const screenBorder = 2;
const fileBorder = 4;
const pixelsPerModule = 8;

// Both colours of the QR code belong to the terminal's fixed palette, so that a theme cannot invert
// or tint the code.
const darkGround = '\u001B[38;5;231;48;5;16m';
const lightGround = '\u001B[38;5;16;48;5;231m';
const reset = '\u001B[0m';

/**
 * The number of columns and rows of modules in one terminal cell, and the character that draws a
 * bit mask of modules.
 */
interface Blocks {
  readonly across: number;
  readonly down: number;
  readonly sign: (mask: number) => string;
}

const shapes = {
  half: { across: 1, down: 2, sign: (mask) => (mask === 0 ? ' ' : '▀') },
  // Sextants draw a smaller QR code than half blocks, but some fonts contain no sextants. In
  // sextants, each module is a third taller than it is wide, which scanners accept.
  sextants: { across: 2, down: 3, sign: sextant },
} as const satisfies Readonly<Record<string, Blocks>>;

/**
 * Returns the sextant character for a bit mask. Unicode has no sextants for the blank, the left
 * half and the right half, because these characters already existed.
 */
function sextant(mask: number): string {
  if (mask === 0) return ' ';
  if (mask === 21 || mask === 42) return mask === 21 ? '▌' : '▐';
  return String.fromCodePoint(0x1_fb_00 + mask - 1 - (mask > 21 ? 1 : 0) - (mask > 42 ? 1 : 0));
}

/**
 * Draws a QR code as coloured lines of blocks. Returns undefined if the code needs more columns or
 * rows than allowed, or if a QR code cannot hold the whole text.
 */
export function qrLines(
  text: string,
  maxColumns: number,
  maxRows: number,
  shape: keyof typeof shapes = 'half',
): string[] | undefined {
  const bitmap = encodeQr(text, screenBorder);
  if (bitmap === undefined) return undefined;
  const blocks: Blocks = shapes[shape];
  const [columns, rows] = [
    Math.ceil(bitmap.size / blocks.across),
    Math.ceil(bitmap.size / blocks.down),
  ];
  if (columns > maxColumns || rows > maxRows) return undefined;
  return Array.from({ length: rows }, (_, row) => lineOf(bitmap, row, columns, blocks));
}

/**
 * Draws rows of modules as one line. The background of a cell has the colour of the cell's last
 * module, and the foreground draws the modules of the other colour. Many terminals fill the space
 * between two lines with the background, and light stripes through dark modules would disturb
 * scanners.
 */
function lineOf(
  { isDark }: Bitmap,
  row: number,
  columns: number,
  { across, down, sign }: Blocks,
): string {
  let line = '';
  let ground = '';
  for (let column = 0; column < columns; column++) {
    const modules = Array.from({ length: across * down }, (_, i) =>
      isDark(row * down + Math.floor(i / across), column * across + (i % across)),
    );
    const last = modules.at(-1) === true;
    const mask = modules.reduce((sum, module, i) => sum + (module === last ? 0 : 2 ** i), 0);
    const wanted = last ? darkGround : lightGround;
    line += `${wanted === ground ? '' : wanted}${sign(mask)}`;
    ground = wanted;
  }
  return line + reset;
}

/**
 * Returns a QR code of a text as an SVG image. Throws Failure `usage` if a QR code cannot hold the
 * whole text.
 */
export const qrSvg = (text: string): string => `${svgOf(encodeForFile(text))}\n`;

/**
 * Returns a QR code of a text as a PNG image with one bit per pixel. A module is eight pixels wide,
 * which is one byte, and eight lines high. Throws Failure `usage` if a QR code cannot hold the
 * whole text.
 */
export function qrPng(text: string): Uint8Array {
  const { size, isDark } = encodeForFile(text);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size * pixelsPerModule, 0);
  header.writeUInt32BE(size * pixelsPerModule, 4);
  // One bit per pixel in greyscale. The compression, filter and interlacing methods have the
  // simplest value, 0.
  header.writeUInt8(1, 8);
  const lines = Array.from({ length: size * pixelsPerModule }, (_, line) => {
    const row = Math.floor(line / pixelsPerModule);
    // The first byte of a line names its filter, which is none.
    return [0, ...Array.from({ length: size }, (_, column) => (isDark(row, column) ? 0 : 0xff))];
  });
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.from(lines.flat()))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function encodeForFile(text: string): Bitmap {
  const bitmap = encodeQr(text, fileBorder);
  if (bitmap === undefined) throw invalid(`${text.length} characters are too many for a QR code.`);
  return bitmap;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}
