// Text from outside (the service, an invoice, a webhook) made harmless for a screen and for one line of tsv.

// Variation selectors belong to ordinary emoji and move nothing; all else that is invisible or steers a terminal goes. What is
// plain is passed over before the classes are looked up.
const harmful = /(?![ -~])(?![\uFE0E\uFE0F])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Printable ASCII, which is nearly everything: told in a fraction of the time that the classes above take. */
const isPlain = (text: string): boolean => !/[^ -~]/.test(text);

/**
 * Shows every control, escape, bidirectional and zero-width character, and every line break, as a visible escape
 * (`\n`, `\x1b`, `\u202e`), so that the text stays on its line, steers nothing and looks like what it is.
 */
export const sanitize = (text: string): string => isPlain(text) ? text : text.replace(harmful, visible);

function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code > 0xffff) return `\\u{${hex}}`;
  return short[character] ?? (code > 0xff ? `\\u${hex.padStart(4, '0')}` : `\\x${hex.padStart(2, '0')}`);
}

/** The same characters as JSON escapes: the document stays the same data, and a terminal may print it. */
export function sanitizeJson(json: string): string {
  // JSON has escaped all other controls of ASCII.
  if (Buffer.byteLength(json) === json.length && !json.includes('\x7f')) return json;
  return json.replace(harmful, (character) => {
    // A line feed stands between the lines of an indented document; within a string JSON has escaped it already.
    if (character === '\n') return character;
    return character.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  });
}
