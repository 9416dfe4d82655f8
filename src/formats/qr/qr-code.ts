// QR codes as bitmaps, as small as the text allows, and as SVG.
import QRCode from 'qrcode-terminal/vendor/QRCode/index.js';
import { segmentsOf } from './segments.js';

/** Modules with a light border around them; true is dark. */
export interface Bitmap {
  readonly size: number;
  readonly isDark: (row: number, column: number) => boolean;
}

/** The lowest level (L): a screen and a file are not scratched, and the code stays small. */
const lowestErrorCorrection = 1;

/** Undefined if the text is too long for any QR code. */
export function encodeQr(text: string, border: number): Bitmap | undefined {
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
    isDark: (row, column) =>
      isInside(row) && isInside(column) && code.isDark(row - border, column - border),
  };
}

/** Black on white in every theme, one unit a module. */
export function svgOf({ size, isDark }: Bitmap): string {
  const cells = Array.from(
    { length: size * size },
    (_, i) => [Math.floor(i / size), i % size] as const,
  );
  const path = cells
    .filter(([row, column]) => isDark(row, column))
    .map(([row, column]) => `M${column} ${row}h1v1h-1z`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" ` +
      'shape-rendering="crispEdges">',
    `<path fill="#fff" d="M0 0h${size}v${size}H0z"/>`,
    `<path fill="#000" d="${path.join('')}"/>`,
    '</svg>',
  ].join('\n');
}
