// QR codes: in half blocks for a terminal of any theme, as SVG and PNG for a file. As small as the text allows.
import { Failure } from '../../formats/failure.js';
import { encodeQr, svgOf, type Bitmap } from '../../formats/qr/qr-code.js';
import { encodePng } from './png.js';

/** Light modules around the code: two are enough for what scans a screen; the standard asks four. */
const screenBorder = 2;
const fileBorder = 4;
const pixelsPerModule = 8;

// The fixed part of the palette, which themes leave alone, so that no theme inverts or tints the code.
const darkGround = '\u001B[38;5;231;48;5;16m';
const lightGround = '\u001B[38;5;16;48;5;231m';
const reset = '\u001B[0m';

/** Lines of half blocks in their own colours. Undefined where the space, or any QR code, is too small for the text. */
export function qrLines(text: string, maxColumns: number, maxRows: number): string[] | undefined {
  const bitmap = encodeQr(text, screenBorder);
  if (bitmap === undefined) return undefined;
  const { size } = bitmap;
  const rows = Math.ceil(size / 2);
  if (size > maxColumns || rows > maxRows) return undefined;
  return Array.from({ length: rows }, (_, row) => halfBlocks(bitmap, 2 * row));
}

/**
 * Two rows of modules as one line. The ground of a cell is the lower module, and ink is drawn only where the upper one
 * differs: many terminals leave room between lines and fill it with the ground, never with ink, and a scanner stumbles
 * over light stripes through dark modules.
 */
function halfBlocks({ size, isDark }: Bitmap, row: number): string {
  let line = '';
  let ground = '';
  for (let column = 0; column < size; column++) {
    const lower = isDark(row + 1, column);
    const wanted = lower ? darkGround : lightGround;
    line += `${wanted === ground ? '' : wanted}${isDark(row, column) === lower ? ' ' : '▀'}`;
    ground = wanted;
  }
  return line + reset;
}

/** Throws Failure usage for a text that no QR code holds. */
export const qrSvg = (text: string): string => `${svgOf(encodeForFile(text))}\n`;

/** Throws Failure usage for a text that no QR code holds. */
export function qrPng(text: string): Uint8Array {
  const { size, isDark } = encodeForFile(text);
  const module = (pixel: number): number => Math.floor(pixel / pixelsPerModule);
  return encodePng(size * pixelsPerModule, (row, column) => isDark(module(row), module(column)));
}

function encodeForFile(text: string): Bitmap {
  const bitmap = encodeQr(text, fileBorder);
  if (bitmap === undefined) throw new Failure('usage', `${text.length} characters are too many for a QR code.`);
  return bitmap;
}
