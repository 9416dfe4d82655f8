// Small helpers for text (counts in words, clipped quotes, column names, misspelt words) and for
// values of unknown type.
import { closestMatch } from 'leven';

/** Writes a count with its noun, such as `1 row` or `2 rows`. */
export const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Clips a text to the longest length that a message should quote. */
export const clip = (text: string, longest = 40): string =>
  text.length <= longest ? text : `${text.slice(0, longest)}…`;

/**
 * Returns true for a reference that svcpay generated or derived from an invoice. A generated
 * reference means nothing to a person.
 */
export const isGenerated = (ref: string): boolean =>
  /^(?:bolt11-[\da-f]{64}|batch-[\da-f]{32}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/.test(ref);

/** The beginning of a transaction id, for lists. */
export const shortId = ({ txnId }: { readonly txnId: string | null }): string =>
  (txnId ?? '').slice(0, 8);

/** The reference that a person gave, or an empty string without a reference of a person. */
export const ownReference = (ref: string | null | undefined): string =>
  ref == null || isGenerated(ref) ? '' : ref;

/**
 * The name of a payment in commands and messages: the reference that a person gave, otherwise the
 * id of the transaction, or the generated reference before a transaction exists.
 */
export const paymentName = (ref: string, txnId: string | null | undefined): string =>
  ownReference(ref) || (txnId ?? ref);

/**
 * Normalizes a name for comparison with other names. Names that differ only in letter case, blanks
 * or Unicode forms become identical.
 */
export const folded = (name: string): string =>
  name.normalize('NFKC').toLowerCase().replaceAll(/\s+/gu, ' ').trim();

/**
 * Converts a text to lower case without accents, so that a search for "ngan hang" finds "Ngân
 * Hàng".
 */
export const plainLetters = (text: string): string =>
  text.normalize('NFD').replace(/\p{M}/gu, '').replace(/đ/gi, 'd').toLowerCase();

/** The column name of a field in a database or a file, such as `txn_id` for `txnId`. */
export const columnOf = (field: string): string =>
  field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const fieldOf = (column: string): string =>
  column.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());

// A spreadsheet reads a negative number as a number.
const opensFormula = /^(?!-\d+(?:\.\d+)?$)'*[=+\-@\t\r\uFF0B\uFF0D\uFF1D\uFF20]/;

/**
 * Writes a text as a spreadsheet cell. Puts an apostrophe before a text that a spreadsheet would
 * run as a formula, even if apostrophes already precede the formula.
 */
export const asPlainCell = (text: string): string => (opensFormula.test(text) ? `'${text}` : text);

/** Reads the text of a cell that {@link asPlainCell} wrote. */
export const fromPlainCell = (cell: string): string =>
  cell.startsWith("'") && opensFormula.test(cell) ? cell.slice(1) : cell;

const markup: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes a text for HTML, also within the quotes of an attribute. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (mark) => markup[mark] ?? '');

/**
 * Whether a text can be one segment of a URL path. Excludes an empty string and unpaired
 * surrogates. Also excludes `.` and `..`, which would lead the request to a different endpoint.
 */
export const isPathSegment = (text: string): boolean => !/^\.{0,2}$|\p{Surrogate}/u.test(text);

/**
 * Returns the authorization header for the user name and password in a URL, as Node's own HTTP
 * client sends the header, or no header if the URL contains neither a user name nor a password.
 */
export function basicAuth({ username, password }: URL): { authorization?: string } {
  if (username === '' && password === '') return {};
  const both = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(both).toString('base64')}` };
}

const longestWhole = 24;

/** Shortens a long text to a text such as `bc1q…f3t4`, which people can recognize but not copy. */
export const shortened = (text: string): string =>
  text.length <= longestWhole || text.includes(' ') || text.includes('@')
    ? text
    : `${text.slice(0, 4)}…${text.slice(-4)}`;

/**
 * Returns the most similar name: with the same letters in another order, within two edits of the
 * word, or within one edit of a word of up to three letters. Letter case does not count as an edit.
 */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  const match =
    names.find((name) => letters(name) === letters(lower)) ??
    closestMatch(
      lower,
      names.map((name) => name.toLowerCase()),
      { maxDistance: word.length <= 3 ? 1 : 2 },
    );
  return names.find((name) => name.toLowerCase() === match?.toLowerCase());
}

const letters = (word: string): string => [...word.toLowerCase()].toSorted().join('');

/** Returns the question that a message appends to a misspelt word, or an empty string. */
export function didYouMean(word: string, names: readonly string[]): string {
  const meant = nearest(word, names);
  return meant === undefined ? '' : ` Did you mean ${meant}?`;
}

/** The message of any thrown value, including a value that is not an Error. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

export const errorOf = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown));

/**
 * Returns the code of a system or library error, such as `ENOENT`, or an empty string for an error
 * without a code.
 */
export const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';

export type Fields = Record<string, unknown>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Removes the byte order mark that some editors write at the start of a text. */
export const withoutMark = (text: string): string => text.replace(/^\uFEFF/, '');

/** Parses a text as JSON. Returns undefined if the text is not JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(withoutMark(text));
  } catch {
    return undefined;
  }
}

/**
 * Looks up an untrusted key among the table's own properties, and returns undefined for an unknown
 * key.
 */
export const entryOf = <T>(table: Readonly<Record<string, T>>, word: string): T | undefined =>
  Object.hasOwn(table, word) ? table[word] : undefined;

/** Groups items by a key, in the order of their first items. Omits items without a key. */
export function grouped<T>(
  items: Iterable<T>,
  keyOf: (item: T) => string | undefined,
): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
