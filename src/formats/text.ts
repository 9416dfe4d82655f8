// Small text helpers: counts in words, clipped quotes, column names, cells.

/** The count with its noun: `1 row`, `2 rows`. */
export const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;

/** The text, clipped to the length that a message quotes. */
export const clip = (text: string, longest = 40): string =>
  text.length <= longest ? text : `${text.slice(0, longest)}…`;

/** A reference that svcpay generated, or made of an invoice: it names nothing to a person. */
export const isGenerated = (ref: string): boolean =>
  /^(?:bolt11-[\da-f]{64}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/.test(ref);

/** Equal for names that differ in letter case, blanks or Unicode forms alone. */
export const folded = (name: string): string =>
  name.normalize('NFKC').toLowerCase().replaceAll(/\s+/gu, ' ').trim();

/** The text in lower case without accents: "ngan hang" finds "Ngân Hàng". */
export const plainLetters = (text: string): string =>
  text.normalize('NFD').replace(/\p{M}/gu, '').replace(/đ/gi, 'd').toLowerCase();

/** The column name of a field in a database or a file: `txn_id` for `txnId`. */
export const columnOf = (field: string): string =>
  field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const fieldOf = (column: string): string =>
  column.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());

const opensFormula = /^'*[=+\-@\t\r\uFF0B\uFF0D\uFF1D\uFF20]/;

/**
 * The text as a cell. If a spreadsheet would run the text as a formula, or if the text looks like
 * an escaped cell, an apostrophe precedes it.
 */
export const asPlainCell = (text: string): string => (opensFormula.test(text) ? `'${text}` : text);

/** The text of a cell that {@link asPlainCell} wrote. */
export const fromPlainCell = (cell: string): string =>
  cell.startsWith("'") && opensFormula.test(cell) ? cell.slice(1) : cell;

const markup: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Text escaped for HTML, XML or OFX. */
export const escapeMarkup = (text: string): string =>
  text.replaceAll(/[&<>]/g, (mark) => markup[mark] ?? '');

/**
 * Whether a text is one segment of a path: not empty, not `.` or `..`, which name other endpoints,
 * and without half surrogate pairs.
 */
export const isPathSegment = (text: string): boolean => !/^\.{0,2}$|\p{Surrogate}/u.test(text);

/**
 * The header with the user name and password of a URL, as Node's own HTTP client sends it. Empty
 * without them.
 */
export function basicAuth({ username, password }: URL): { authorization?: string } {
  if (username === '' && password === '') return {};
  const both = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(both).toString('base64')}` };
}
