// QR codes as bitmaps, as small as the text allows, and as SVG.
import QRCode, { type Segment } from 'qrcode-terminal/vendor/QRCode/index.js';

/** The modules of a code with a light border around them. True is dark. */
export interface Bitmap {
  readonly size: number;
  readonly isDark: (row: number, column: number) => boolean;
}

/** The lowest level (L) keeps the code small. Screens and files do not need more. */
const lowestErrorCorrection = 1;

/** The code of a text, or undefined if the text is too long for any QR code. */
export function encodeQr(text: string, border: number): Bitmap | undefined {
  const code = new QRCode(0, lowestErrorCorrection);
  code.dataList.push(...segmentsOf(text));
  try {
    code.make();
  } catch {
    // The encoder throws only if the text is longer than the largest code.
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

/** An SVG, black on white in every theme, with one unit for each module. */
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
 * Matches bech32 with the scheme before it: as the whole text, at the head of a BIP21 URI, or as
 * its Lightning invoice. Only in these places the letter case has no meaning. Base58, EIP-55, names
 * and labels need theirs.
 */
const place = '(?:^(?:lightning:|bitcoin:)?|(?<=[?&]lightning=))';
const prefix = '(?:ln(?:bc|tbs?|bcrt|url)(?:\\d+[munp]?)?|bc|tb|bcrt)';
const bech32 = new RegExp(`${place}${prefix}1[02-9ac-hj-np-z]{6,}(?=$|[?&])`, 'gi');

/**
 * The pieces of a QR code. Bech32 becomes upper case in alphanumeric mode, which is a third
 * smaller.
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

/** Whether a text is in one letter case. Mixed case is not valid bech32 and stays unchanged. */
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
