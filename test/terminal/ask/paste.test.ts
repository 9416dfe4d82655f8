// Pasted text is one answer even with line breaks, and typed text stays unchanged.
import { expect, test } from 'vitest';
import { pasteReader } from '../../../src/terminal/ask/prompted.js';

const invoice = 'lnbc500u1p4sq8m3pp5992x';

test.each(
  [
    {
      what: 'joins a wrapped text into one line',
      pieces: [`${invoice}\r    ${invoice}`],
      read: `${invoice} ${invoice}`,
    },
    {
      what: 'joins a wrapped text and keeps the final Enter',
      pieces: [`${invoice}\n${invoice}\r`],
      read: `${invoice} ${invoice}\r`,
    },
    {
      what: 'drops the final line break of a bracketed paste',
      pieces: [`\u001B[200~a\nb\n\u001B[201~`],
      read: 'a b',
    },
    {
      what: 'joins a bracketed paste that arrives in pieces',
      pieces: ['\u001B[200~lnbc\r', '  500u', '\n\u001B[201~', '\r'],
      read: 'lnbc   500u\r',
    },
    { what: 'leaves single keys unchanged', pieces: ['y', '\r'], read: 'y\r' },
    { what: 'leaves a word and Enter unchanged', pieces: ['50000sat\r'], read: '50000sat\r' },
    {
      what: 'leaves Enter, deletions and a word at once unchanged',
      pieces: ['\r\u007F\u007F\u007Ftech'],
      read: '\r\u007F\u007F\u007Ftech',
    },
    {
      what: 'leaves the keys of a menu unchanged',
      pieces: ['\u001B[B\u001B[B\r\u001B[B\r'],
      read: '\u001B[B\u001B[B\r\u001B[B\r',
    },
  ].map((each) => [each.what, each] as const),
)('pasteReader separates pasted text from typed keys: it %s', (_what, { pieces, read }) => {
  expect(pieces.map(pasteReader()).join('')).toBe(read);
});
