// A text cut into the pieces of a QR code: bech32 goes in upper case and alphanumeric mode, a third
// smaller.
import type { Segment } from 'qrcode-terminal/vendor/QRCode/index.js';

const alphanumeric = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:';

/**
 * Bech32 with the scheme before it: as the whole text, at the head of a BIP21 URI, or as its
 * Lightning invoice. Only there does the case of letters mean nothing; base58, EIP-55, names and
 * labels keep theirs.
 */
const place = '(?:^(?:lightning:|bitcoin:)?|(?<=[?&]lightning=))';
const prefix = '(?:ln(?:bc|tbs?|bcrt|url)(?:\\d+[munp]?)?|bc|tb|bcrt)';
const bech32 = new RegExp(`${place}${prefix}1[02-9ac-hj-np-z]{6,}(?=$|[?&])`, 'gi');

export function segmentsOf(text: string): Segment[] {
  const segments: Segment[] = [];
  let from = 0;
  for (const { 0: found, index } of text.matchAll(bech32)) {
    if (index > from) segments.push(byteSegment(text.slice(from, index)));
    segments.push(isOneCase(found) ? alphanumericSegment(found.toUpperCase()) : byteSegment(found));
    from = index + found.length;
  }
  return from < text.length ? [...segments, byteSegment(text.slice(from))] : segments;
}

/** Mixed case is not valid bech32 and stays unchanged. */
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
