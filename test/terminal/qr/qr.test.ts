// A scanner reads the QR codes that a terminal, a browser and a picture would show.
import { inflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { qrLines, qrPng, qrSvg } from '../../../src/terminal/cards/invoice-card.js';
import { pixelsOf, scan, sextantPixelsOf } from '../../support/scanner.js';

const room = { maxColumns: 200, maxRows: 200 };
const bech32Alphabet = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const data = (length: number): string =>
  Array.from({ length }, (_, i) => bech32Alphabet[(i * 7 + 3) % 32]).join('');
const invoice = (length: number): string => `lnbc500u1${data(length - 9)}`;

function drawn(text: string): string[] {
  const lines = qrLines(text, room.maxColumns, room.maxRows);
  if (lines === undefined) throw new Error('No QR code was drawn.');
  return lines;
}

const themes = [
  { theme: 'dark', wall: 0 },
  { theme: 'grey', wall: 96 },
  { theme: 'light', wall: 255 },
];

const base58 = '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2';
const bech32 = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
const evm = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

const readBack = [
  { what: 'an invoice', text: invoice(300), read: invoice(300).toUpperCase() },
  { what: 'an invoice of odd length', text: invoice(301), read: invoice(301).toUpperCase() },
  {
    what: 'a lightning: URI',
    text: `lightning:${invoice(280)}`,
    read: `LIGHTNING:${invoice(280).toUpperCase()}`,
  },
  { what: 'a bech32 address', text: bech32, read: bech32.toUpperCase() },
  {
    what: 'a bech32 BIP21 URI',
    text: `bitcoin:${bech32}?amount=0.0005&label=Tea`,
    read: `BITCOIN:${bech32.toUpperCase()}?amount=0.0005&label=Tea`,
  },
  {
    what: 'a BIP21 URI with an invoice',
    text: `bitcoin:${base58}?amount=0.0005&lightning=${invoice(250)}`,
    read: `bitcoin:${base58}?amount=0.0005&lightning=${invoice(250).toUpperCase()}`,
  },
  { what: 'a base58 address unchanged', text: base58, read: base58 },
  {
    what: 'a base58 BIP21 URI unchanged',
    text: `bitcoin:${base58}?amount=1`,
    read: `bitcoin:${base58}?amount=1`,
  },
  { what: 'an EIP-55 address unchanged', text: evm, read: evm },
  {
    what: 'a label that looks like bech32 unchanged',
    text: `bitcoin:${base58}?label=${bech32}`,
    read: `bitcoin:${base58}?label=${bech32}`,
  },
  {
    what: 'a mixed-case text, which is not bech32, unchanged',
    text: `bc1Q${bech32.slice(4)}`,
    read: `bc1Q${bech32.slice(4)}`,
  },
  {
    what: 'a label with non-ASCII letters',
    text: `bitcoin:${base58}?label=Café`,
    read: `bitcoin:${base58}?label=Café`,
  },
];

describe.each(themes.map((each) => [each.theme, each] as const))(
  'qrLines on a %s theme',
  (_theme, { wall }) => {
    test.each(readBack.map((each) => [each.what, each] as const))(
      'draws a QR code from which a scanner reads %s',
      async (_what, { text, read }) => {
        expect(scan(await pixelsOf(drawn(text)), { wall })).toBe(read);
      },
    );

    test.each([1, 2, 4])(
      'draws a QR code that a scanner reads despite a gap of %i pixels between lines',
      async (gap) => {
        expect(scan(await pixelsOf(drawn(invoice(300))), { wall, scale: 8, gap })).toBe(
          invoice(300).toUpperCase(),
        );
      },
    );
  },
);

test('qrLines needs sextants to fit an invoice of 400 characters into a window of 24 rows', async () => {
  expect(qrLines(invoice(400), 80, 23)).toBeUndefined();
  const lines = qrLines(invoice(400), 80, 23, 'sextants') ?? [];
  expect(lines).toHaveLength(22);
  expect(scan(await sextantPixelsOf(lines))).toBe(invoice(400).toUpperCase());
});

test('qrLines draws an invoice of 300 characters in 29 rows of 57 columns', async () => {
  const lines = drawn(invoice(300));
  expect(lines).toHaveLength(29);
  expect((await pixelsOf(lines)).every((row) => row.length === 57)).toBe(true);
});

test('qrLines resets the colours at the end of every line', () => {
  expect(drawn(bech32).every((line) => line.endsWith('\u001B[0m'))).toBe(true);
});

test('qrLines draws an invoice in alphanumeric mode, which needs fewer rows than other text', () => {
  expect(drawn(invoice(300)).length).toBeLessThan(drawn(`x${invoice(300)}`).length);
});

test.each([
  { length: 25, size: 25 },
  { length: 26, size: 29 },
  { length: 47, size: 29 },
  { length: 48, size: 33 },
])(
  'qrLines draws $length alphanumeric characters in the smallest version, $size columns wide',
  async ({ length, size }) => {
    expect((await pixelsOf(drawn(`bc1${data(length - 3)}`)))[0]).toHaveLength(size);
  },
);

test('qrLines draws a border of two light modules', async () => {
  const bits = await pixelsOf(drawn(bech32));
  const light = (row: readonly boolean[] | undefined): boolean =>
    row?.every((dark) => !dark) ?? false;
  expect([bits[0], bits[1], bits.at(-1), bits.at(-2)].every(light)).toBe(true);
  expect(bits.every((row) => !row[0] && !row[1] && !row.at(-1) && !row.at(-2))).toBe(true);
});

test.each(
  [
    { what: 'no code', maxColumns: 56, maxRows: 29, fits: false },
    { what: 'no code', maxColumns: 57, maxRows: 28, fits: false },
    { what: 'a code', maxColumns: 57, maxRows: 29, fits: true },
  ].map((each) => [each.what, each.maxColumns, each.maxRows, each] as const),
)(
  'qrLines draws %s of 57 x 29 cells in a window of %s x %s cells',
  (_what, _maxColumns, _maxRows, { fits, ...space }) => {
    expect(qrLines(invoice(300), space.maxColumns, space.maxRows) !== undefined).toBe(fits);
  },
);

test('qrLines returns undefined, and qrSvg throws, if a text exceeds the capacity of a QR code', () => {
  expect(qrLines('x'.repeat(2954), room.maxColumns, room.maxRows)).toBeUndefined();
  expect(() => qrSvg('x'.repeat(2954))).toThrow('2954 characters are too many');
});

test('qrPng writes a picture that a scanner reads', () => {
  const png = Buffer.from(qrPng(invoice(300)));
  const size = png.readUInt32BE(16);
  const dataLength = png.readUInt32BE(33);
  const lines = inflateSync(png.subarray(41, 41 + dataLength));
  const stride = 1 + Math.ceil(size / 8);
  const bits = Array.from({ length: size }, (_, row) =>
    Array.from(
      { length: size },
      (__, column) =>
        ((lines[row * stride + 1 + (column >> 3)] ?? 0) & (0x80 >> (column & 7))) === 0,
    ),
  );
  expect(scan(bits, { scale: 1, wall: 255 })).toBe(invoice(300).toUpperCase());
});

test('qrSvg writes a picture that a scanner reads', () => {
  const svg = qrSvg(bech32);
  const size = Number(/viewBox="0 0 (\d+)/.exec(svg)?.[1]);
  const bits = Array.from({ length: size }, () => Array.from({ length: size }, () => false));
  for (const [, column, row] of svg.matchAll(/M(\d+) (\d+)h1v1h-1z/g))
    (bits[Number(row)] ?? [])[Number(column)] = true;
  expect(scan(bits, { wall: 255 })).toBe(bech32.toUpperCase());
});
