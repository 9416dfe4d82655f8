// Reads values of unknown type, such as caught errors and texts that may be JSON.

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
