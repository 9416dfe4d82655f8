// Every regular expression of the program stays fast: a text ten times as long takes less than
// twenty times as long.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { transformSync } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { parseAst } from 'vitest/node';
import { detectDestination } from '../../src/formats/destination.js';
import { isFields } from '../../src/formats/text.js';

const source = resolve(import.meta.dirname, '../../src');

/**
 * For each regular expression that may be slow on long texts: the length of the longest text to
 * which svcpay applies the regular expression.
 */
const bounded: ReadonlyMap<string, number> = new Map([
  // svcpay applies this pattern only to the first 4,000 characters of an HTML page.
  [String.raw`<(style|script)\b.*?<\/\1>|<[^>]*>`, 4_000],
  // svcpay applies this pattern only to the first 4,000 characters of a refused sign-in.
  [
    String.raw`signature[^"]*(?:used|repeat|replay|seen|again)|(?:reused|repeated|replayed)[^"]*signature`,
    4_000,
  ],
  // svcpay applies these patterns to the base URL.
  [String.raw`\/*$`, 2_000],
  [String.raw`(?:\/+api\/v2)?$`, 2_000],
  // svcpay applies these patterns to decimal numbers from the service and to the digits of these
  // numbers.
  [String.raw`^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,2})?$`, 64],
  [String.raw`\B(?=(\d{3})+$)`, 400],
]);

interface Pattern {
  readonly file: string;
  readonly pattern: string;
  readonly flags: string;
}

function patternsIn(file: string): Pattern[] {
  const { code } = transformSync(readFileSync(join(source, file), 'utf8'), {
    loader: 'ts',
    target: 'es2024',
  });
  const found: Pattern[] = [];
  const walk = (node: unknown): void => {
    if (Array.isArray(node)) node.forEach(walk);
    if (!isFields(node)) return;
    const { regex } = node;
    if (isFields(regex))
      found.push({ file, pattern: String(regex['pattern']), flags: String(regex['flags']) });
    Object.values(node).forEach(walk);
  };
  walk(parseAst(code));
  return found;
}

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.d.ts'),
);
const patterns = files.flatMap(patternsIn);

const usual = [
  ' ',
  'a',
  'A',
  '0',
  ':',
  '/',
  '-',
  '.',
  '<',
  '(',
  '\\',
  '\n',
  '\t',
  "'",
  '"',
  '~',
  '@',
  'a ',
  'a.',
  '1.',
  '1 ',
  '<a',
  '?',
  '&',
  '=',
  '%',
  'é',
  '\u0000',
  '{',
  ',',
  '+',
];

/** Yields functions that create texts of a given length on which the pattern may be slow. */
function* textsFor({ pattern }: Pattern): Generator<(length: number) => string> {
  const words = pattern.match(/[A-Za-z0-9 ='":/<@-]{2,}/g) ?? [];
  for (const piece of new Set([...usual, ...words])) {
    for (const start of ['', ...words.slice(0, 1)]) {
      for (const end of ['', '\u0001'])
        yield (length) => start + piece.repeat(Math.ceil(length / piece.length)) + end;
    }
  }
}

function timeOf({ pattern, flags }: Pattern, text: string, times = 1): number {
  const expression = new RegExp(pattern, flags);
  return Math.min(
    ...Array.from({ length: times }, () => {
      const begin = performance.now();
      if (flags.includes('g')) text.replace(expression, '');
      else expression.exec(text);
      return performance.now() - begin;
    }),
  );
}

/**
 * Returns a text on which the pattern takes more than linear time. The function repeats each slow
 * measurement, because the machine may have been busy.
 */
function slowText(pattern: Pattern): string | undefined {
  for (const text of textsFor(pattern)) {
    if (timeOf(pattern, text(5_000)) < 1) continue;
    if (timeOf(pattern, text(5_000), 5) > 20 * Math.max(timeOf(pattern, text(500), 5), 0.02))
      return text(10);
  }
  return undefined;
}

describe('the check of regular expressions in src', () => {
  test('finds more than 200 regular expressions', () =>
    expect(patterns.length).toBeGreaterThan(200));

  test('finds no regular expression that takes more than linear time', { timeout: 300_000 }, () => {
    const slow = patterns
      .filter(({ pattern }) => !bounded.has(pattern))
      .flatMap((each) => (slowText(each) === undefined ? [] : [{ ...each, text: slowText(each) }]));
    expect(slow).toEqual([]);
  });

  test.for([...bounded])(
    'confirms that the regular expression %s is quick on its longest possible text',
    ([source, longest]) => {
      const pattern = patterns.find((each) => each.pattern === source);
      if (pattern === undefined)
        throw new Error('No such pattern is left: take it out of the list.');
      for (const text of textsFor(pattern))
        expect(timeOf(pattern, text(longest), 3)).toBeLessThan(150);
    },
  );
});

test.for([
  ' ',
  '\n',
  '\u200B ',
  'a',
  '1',
  'lightning:',
  'bitcoin:?a=',
  'bc1',
  'lnbc',
  'lnurl1',
  '@',
  'a@',
  '0x',
  'T',
  '.',
])('detectDestination refuses 120 kB of %j within a second', (piece) => {
  const begin = performance.now();
  expect(() => detectDestination(piece.repeat(120_000 / piece.length))).toThrow();
  expect(performance.now() - begin).toBeLessThan(1_000);
});
