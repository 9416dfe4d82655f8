// QR codes: in half blocks for a terminal of any theme, as SVG and PNG for a file. As small as the text allows.
import QRCode from 'qrcode-terminal/vendor/QRCode/index.js';
import { Failure } from '../formats/failure.js';
import { encodePng } from './png.js';
import { segmentsOf } from './qr-segments.js';

export interface QrSpace {
  readonly maxColumns: number;
  readonly maxRows: number;
}

/** Modules with a light border around them; true is dark. */
interface Bitmap {
  readonly size: number;
  readonly isDark: (row: number, column: number) => boolean;
}

/** The lowest level (L): a screen and a file are not scratched, and the code stays small. */
const lowestErrorCorrection = 1;
/** Light modules around the code: two are enough for what scans a screen; the standard asks four. */
const screenBorder = 2;
const fileBorder = 4;
const pixelsPerModule = 8;

// The fixed part of the palette, which themes leave alone, so that no theme inverts or tints the code.
const darkGround = '\u001B[38;5;231;48;5;16m';
const lightGround = '\u001B[38;5;16;48;5;231m';
const reset = '\u001B[0m';

/** Lines of half blocks in their own colours. Undefined where the space, or any QR code, is too small for the text. */
export function qrLines(text: string, { maxColumns, maxRows }: QrSpace): string[] | undefined {
  const bitmap = encode(text, screenBorder);
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
export function qrSvg(text: string): string {
  const { size, isDark } = encodeForFile(text);
  const cells = Array.from({ length: size * size }, (_, i) => [Math.floor(i / size), i % size] as const);
  const path = cells.filter(([row, column]) => isDark(row, column)).map(([row, column]) => `M${column} ${row}h1v1h-1z`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">`,
    `<path fill="#fff" d="M0 0h${size}v${size}H0z"/>`,
    `<path fill="#000" d="${path.join('')}"/>`,
    '</svg>',
    '',
  ].join('\n');
}

/** Throws Failure usage for a text that no QR code holds. */
export function qrPng(text: string): Uint8Array {
  const { size, isDark } = encodeForFile(text);
  const module = (pixel: number): number => Math.floor(pixel / pixelsPerModule);
  return encodePng(size * pixelsPerModule, (row, column) => isDark(module(row), module(column)));
}

function encodeForFile(text: string): Bitmap {
  const bitmap = encode(text, fileBorder);
  if (bitmap === undefined) throw new Failure('usage', `${text.length} characters are too many for a QR code.`);
  return bitmap;
}

function encode(text: string, border: number): Bitmap | undefined {
  const code = new QRCode(0, lowestErrorCorrection);
  code.dataList.push(...segmentsOf(text));
  try {
    code.make();
  } catch {
    // The encoder's only complaint: the text is longer than the largest code.
    return undefined;
  }
  const count = code.getModuleCount();
  const isInside = (index: number): boolean => index >= border && index < count + border;
  return {
    size: count + 2 * border,
    isDark: (row, column) => isInside(row) && isInside(column) && code.isDark(row - border, column - border),
  };
}
