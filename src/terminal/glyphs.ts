// The signs of our own screens in ASCII, one for one, for terminals that show nothing else.

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

/** Same width, so that what lined up still does. */
export const asciiGlyphs = (line: string): string => line.replace(ours, (glyph) => ascii[glyph] ?? glyph);
