// Tests that text from outside loses its control characters, and that text is measured in cells.
import fc from 'fast-check';
import { Chalk } from 'chalk';
import { describe, expect, test } from 'vitest';
import { sanitize, oneLine, padLeft, truncate, widthOf, wrap } from '../../src/terminal/text.js';

const red = new Chalk({ level: 1 }).red;
const steering = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

describe('sanitize', () => {
  test.each(
    [
      { what: 'a colour', text: '\u001B[31mred', shown: '\\x1b[31mred' },
      { what: 'a window title', text: '\u001B]0;owned\u0007', shown: '\\x1b]0;owned\\x07' },
      { what: 'a one-byte escape', text: '\u009B31m', shown: '\\x9b31m' },
      { what: 'line breaks and tabs', text: 'a\tb\r\nc', shown: 'a\\tb\\r\\nc' },
      { what: 'Unicode line breaks', text: 'a\u2028b\u0085c', shown: 'a\\u2028b\\x85c' },
      { what: 'a right-to-left override', text: 'pay \u202E0001', shown: 'pay \\u202e0001' },
      { what: 'a directional isolate', text: '\u2066x\u2069', shown: '\\u2066x\\u2069' },
      {
        what: 'characters without width',
        text: 'a\u200Bb\uFEFFc\u00ADd\u3164e',
        shown: 'a\\u200bb\\ufeffc\\xadd\\u3164e',
      },
      { what: 'an invisible tag', text: 'a\u{E0041}b', shown: 'a\\u{e0041}b' },
      { what: 'half of a surrogate pair', text: 'a\uD800b', shown: 'a\\ud800b' },
      { what: 'delete and backspace', text: 'a\u007F\bb', shown: 'a\\x7f\\x08b' },
    ].map((each) => [each.what, each] as const),
  )('escapes %s in text from outside', (_what, { text, shown }) => {
    expect(sanitize(text)).toBe(shown);
  });

  test.each([
    'Coffee House, order 118',
    'Ngân hàng Ngoại thương',
    '☕\uFE0F 50 000 ₫',
    '日本語',
    'a\\nb',
  ])('leaves the text %j unchanged', (text) => {
    expect(sanitize(text)).toBe(text);
  });

  test('escapes every control character', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !steering.test(sanitize(text))));
  });
});

describe('oneLine', () => {
  test('turns line breaks into spaces', () => {
    expect(oneLine('  one\r\n\ttwo  ', 20)).toBe('one two');
  });

  test.each(
    [
      { text: 'a description that is long', width: 12, shown: 'a…' },
      { text: 'a description that is long', width: 15, shown: 'a description…' },
      { text: 'order 118, Coffee House', width: 16, shown: 'order 118…' },
      { text: 'antidisestablishment', width: 7, shown: 'antidi…' },
      { text: '日本語日本語', width: 7, shown: '日本語…' },
      { text: 'short', width: 5, shown: 'short' },
      { text: 'short', width: 1, shown: '…' },
      { text: 'Vietcombank (970436) x', width: 18, shown: 'Vietcombank…' },
      { text: 'Vietcombank (970436) x', width: 21, shown: 'Vietcombank (970436)…' },
      { text: '(970436)', width: 5, shown: '(970…' },
      { text: '日本', width: 2, shown: '…' },
    ].map((each) => [each.text, each.width, each] as const),
  )(
    'shortens "%s" to %s cells, after a word or before parentheses',
    (_text, _width, { text, width, shown }) => {
      expect(oneLine(text, width)).toBe(shown);
    },
  );

  test('never exceeds the given width', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.integer({ min: 1, max: 12 }),
        (text, width) => widthOf(oneLine(text, width)) <= width,
      ),
    );
  });
});

test.for([
  ['tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', 9, 'tb1q…jzsx'],
  ['tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', 20, 'tb1qw508d6…w7kxpjzsx'],
  ['/api/v2/transaction/549e57ba…/confirm', 24, '/api/v2/transaction/…'],
  ['Donaudampfschiffahrtsgesellschaft', 10, 'Donaudamp…'],
] as const)('oneLine shortens the long word %s to %d cells', ([text, width, shown]) => {
  expect(oneLine(text, width)).toBe(shown);
});

test('truncate resets the colour if it cuts coloured text', () => {
  expect(truncate(red('abcdef'), 4)).toBe('\u001B[31mabc…\u001B[0m');
});

test('truncate returns no text for a width below one', () => {
  expect([truncate('abc', 0), truncate('abc', -3)]).toEqual(['', '']);
});

test('padLeft counts cells, not colours or bytes', () => {
  expect(padLeft(red('日本'), 6)).toBe(`  ${red('日本')}`);
});

test('wrap breaks a text between words', () => {
  expect(wrap('Ask for a new one.', 10)).toEqual(['Ask for a', 'new one.']);
});
