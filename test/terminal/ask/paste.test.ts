// Pasted text is one answer, whatever line breaks it has; typed text is unchanged.
import { expect, test } from 'vitest';
import { pasteReader } from '../../../src/terminal/ask/prompt.js';

const invoice = 'lnbc500u1p4sq8m3pp5992x';

test.each([
  { what: 'a wrapped text', pieces: [`${invoice}\r    ${invoice}`], read: `${invoice} ${invoice}` },
  {
    what: 'a wrapped text and Enter',
    pieces: [`${invoice}\n${invoice}\r`],
    read: `${invoice} ${invoice}\r`,
  },
  {
    what: 'a marked paste that ends with a break',
    pieces: [`\u001B[200~a\nb\n\u001B[201~`],
    read: 'a b',
  },
  {
    what: 'a marked paste in pieces',
    pieces: ['\u001B[200~lnbc\r', '  500u', '\n\u001B[201~', '\r'],
    read: 'lnbc   500u\r',
  },
  { what: 'keys one by one', pieces: ['y', '\r'], read: 'y\r' },
  { what: 'a word and Enter', pieces: ['50000sat\r'], read: '50000sat\r' },
  {
    what: 'Enter, deletions and a word at once',
    pieces: ['\r\u007F\u007F\u007Ftech'],
    read: '\r\u007F\u007F\u007Ftech',
  },
  {
    what: 'the keys of a menu',
    pieces: ['\u001B[B\u001B[B\r\u001B[B\r'],
    read: '\u001B[B\u001B[B\r\u001B[B\r',
  },
])('$what', ({ pieces, read }) => {
  expect(pieces.map(pasteReader()).join('')).toBe(read);
});
