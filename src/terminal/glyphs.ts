// Defines ASCII replacements for svcpay's symbols, for terminals without Unicode.

const ascii: Readonly<Record<string, string>> = {
  '─': '-',
  '·': '-',
  '–': '-',
  '→': '>',
  '←': '<',
  '≈': '~',
  '…': '~',
  '✓': '+',
  '✗': 'x',
  '●': '>',
  '○': '-',
  '❯': '>',
  '↑': '^',
  '↓': 'v',
  '⇄': '=',
  '\u2212': '-',
};

const ours = new RegExp(`[${Object.keys(ascii).join('')}]`, 'g');

/** Replaces svcpay's symbols with ASCII text of equal width, so that columns stay aligned. */
export const asciiGlyphs = (line: string): string =>
  line.replace(ours, (glyph) => ascii[glyph] ?? glyph);
