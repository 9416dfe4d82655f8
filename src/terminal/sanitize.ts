// Makes text safe and readable for a screen: text from outside (the service, an invoice, a
// webhook), and the symbols of svcpay on terminals without Unicode.

// Matches invisible characters and control characters except variation selectors of emoji, which
// are harmless.
const harmful =
  /(?![ -~])(?![\uFE0E\uFE0F])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Whether a text is printable ASCII, as most texts are. A test for ASCII is much faster than the
 * character classes of `harmful`.
 */
const isPlain = (text: string): boolean => !/[^ -~]/.test(text);

/**
 * Shows every control, escape, bidirectional and zero-width character, and every line break, as a
 * visible escape (`\n`, `\x1b`, `\u202e`). The sanitized text stays on its line and has no effect
 * on the terminal.
 */
export const sanitize = (text: string): string =>
  isPlain(text) ? text : text.replace(harmful, visible);

function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code > 0xffff) return `\\u{${hex}}`;
  return (
    short[character] ?? (code > 0xff ? `\\u${hex.padStart(4, '0')}` : `\\x${hex.padStart(2, '0')}`)
  );
}

/**
 * Escapes the harmful characters in JSON. The resulting JSON is equivalent to the given JSON, and
 * safe on a terminal.
 */
export function sanitizeJson(json: string): string {
  // JSON has already escaped all ASCII control characters except DEL.
  if (Buffer.byteLength(json) === json.length && !json.includes('\x7f')) return json;
  return json.replace(harmful, (character) => {
    // A line feed separates the lines of indented JSON. Within a string, JSON has already escaped
    // the line feed.
    if (character === '\n') return character;
    return character.replace(
      /[^]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  });
}

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
