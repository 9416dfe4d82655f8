// Encodes QR codes as bitmaps and as SVG, each as small as the text allows.
import QRCode, { type Segment } from 'qrcode-terminal/vendor/QRCode/index.js';

/**
 * The modules of a QR code, surrounded by a light border. `isDark` returns true for a dark module.
 */
export interface Bitmap {
  readonly size: number;
  readonly isDark: (row: number, column: number) => boolean;
}

/**
 * The lowest error correction level (L), which keeps the QR code small and is enough for screens
 * and files.
 */
const lowestErrorCorrection = 1;

/** Encodes a text as a QR code. Returns undefined if the text is too long for any QR code. */
export function encodeQr(text: string, border: number): Bitmap | undefined {
  const code = new QRCode(0, lowestErrorCorrection);
  code.dataList.push(...segmentsOf(text));
  try {
    code.make();
  } catch {
    // The encoder throws only if the text does not fit into the largest QR code.
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

/** Draws a QR code as SVG, black on white in every theme, with modules that are one unit wide. */
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

const alphanumeric = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:';

/**
 * Matches the places at which bech32, whose letter case has no meaning, can begin: the start of the
 * text, the start of a BIP21 URI, and the URI's `lightning` parameter. Base58, EIP-55, names and
 * labels must keep their letter case.
 */
const place = '(?:^(?:lightning:|bitcoin:)?|(?<=[?&]lightning=))';
const prefix = '(?:ln(?:bc|tbs?|bcrt|url)(?:\\d+[munp]?)?|bc|tb|bcrt)';
const bech32 = new RegExp(`${place}${prefix}1[02-9ac-hj-np-z]{6,}(?=$|[?&])`, 'gi');

/**
 * Splits a text into the segments of a QR code. Writes bech32 as an alphanumeric segment in upper
 * case, which is a third smaller than a byte segment.
 */
function segmentsOf(text: string): Segment[] {
  const segments: Segment[] = [];
  let from = 0;
  for (const { 0: found, index } of text.matchAll(bech32)) {
    if (index > from) segments.push(byteSegment(text.slice(from, index)));
    segments.push(isOneCase(found) ? alphanumericSegment(found.toUpperCase()) : byteSegment(found));
    from = index + found.length;
  }
  return from < text.length ? [...segments, byteSegment(text.slice(from))] : segments;
}

/**
 * Whether a text has a single letter case. A text in mixed letter case is not valid bech32, so
 * svcpay does not change the text.
 */
function isOneCase(found: string): boolean {
  const data = found.slice(found.indexOf(':') + 1);
  return data === data.toLowerCase() || data === data.toUpperCase();
}

function alphanumericSegment(text: string): Segment {
  const values = [...text].map((character) => alphanumeric.indexOf(character));
  return {
    mode: 2,
    getLength: () => values.length,
    write: (buffer) => {
      for (let i = 0; i < values.length; i += 2) {
        const [first = 0, second] = values.slice(i, i + 2);
        if (second === undefined) buffer.put(first, 6);
        else buffer.put(first * 45 + second, 11);
      }
    },
  };
}

function byteSegment(text: string): Segment {
  const bytes = new TextEncoder().encode(text);
  return {
    mode: 4,
    getLength: () => bytes.length,
    write: (buffer) => bytes.forEach((byte) => buffer.put(byte, 8)),
  };
}
