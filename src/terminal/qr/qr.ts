// Draws QR codes as small as the text allows: in blocks for a terminal with any theme, as SVG and
// PNG for a file.
import { Failure } from '../../formats/failure.js';
import { type Bitmap, encodeQr, svgOf } from '../../formats/qr/qr-code.js';
import { crc32, deflateSync } from 'node:zlib';

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
 * Returns a QR code of a text as a PNG image. Throws Failure `usage` if a QR code cannot hold the
 * whole text.
 */
export function qrPng(text: string): Uint8Array {
  const { size, isDark } = encodeForFile(text);
  const module = (pixel: number): number => Math.floor(pixel / pixelsPerModule);
  return encodePng(size * pixelsPerModule, (row, column) => isDark(module(row), module(column)));
}

function encodeForFile(text: string): Bitmap {
  const bitmap = encodeQr(text, fileBorder);
  if (bitmap === undefined)
    throw new Failure('usage', `${text.length} characters are too many for a QR code.`);
  return bitmap;
}

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** Encodes a square black-and-white picture as PNG with one bit per pixel and three chunks. */
function encodePng(size: number, isDark: (row: number, column: number) => boolean): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  // The PNG has one bit per pixel in greyscale. The compression, filter and interlacing methods
  // have the simplest value, 0.
  header.writeUInt8(1, 8);
  const pixels = Buffer.concat(
    Array.from({ length: size }, (_, row) => scanline(size, (column) => isDark(row, column))),
  );
  return Buffer.concat([
    Buffer.from(signature),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/**
 * Encodes a line of pixels: a filter byte (no filter), then eight pixels per byte, with the
 * leftmost pixel in the highest bit. A bit with the value 1 is a white pixel.
 */
function scanline(size: number, isDark: (column: number) => boolean): Buffer {
  const line = Buffer.alloc(1 + Math.ceil(size / 8));
  for (let column = 0; column < size; column++) {
    const index = 1 + (column >> 3);
    if (!isDark(column)) line.writeUInt8(line.readUInt8(index) | (0x80 >> (column & 7)), index);
  }
  return line;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}
