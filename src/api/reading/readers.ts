// Reads what services really send: numbers, instants, texts, wrappers and lists, each in every form that was seen. What is
// read becomes the form of the specification, in place; what is not understood is said in words.
import { readDecimal, type WireNumber } from '../../formats/amount.js';
import { clip } from '../../formats/text.js';
import { isFields, type Fields } from '../../formats/unknown.js';

/** Takes the words for a field that was not understood and that nothing rests on. */
export type OnUnrecognized = (words: string) => void;

/** Reads a whole answer. Throws {@link Misread} where something is missing that has to be there. */
export type AnswerReader<T> = (answer: unknown, unrecognized: OnUnrecognized) => T;

/** What had to be there was missing, or not what it has to be. */
export class Misread extends Error {
  override readonly name = 'Misread';
}

/** Reads one value. Undefined where it is not understood; a value that is as specified comes back as it is. */
export interface Reader<T> {
  readonly expected: string;
  readonly read: (value: unknown) => T | undefined;
}

/** A number stands for its digits, as far as it has kept all of them. */
export const text: Reader<string> = {
  expected: 'a text',
  read: (value) =>
    typeof value === 'string' ? value
    : typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? String(value)
    : undefined,
};

/** A text that names something. */
export const name: Reader<string> = {
  expected: 'a text',
  read: (value) => text.read(value) || undefined,
};

/** A word of the service, such as a state: in lower case. */
export const word: Reader<string> = {
  expected: 'a text',
  read: (value) => name.read(value)?.trim().toLowerCase() || undefined,
};

/** The code of a currency: a word in upper case. */
export const currency: Reader<string> = {
  expected: 'a text',
  read: (value) => name.read(value)?.trim().toUpperCase() || undefined,
};

const flags: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([[true, true], [false, false], ['true', true], ['false', false]]);

export const flag: Reader<boolean> = {
  expected: 'true or false',
  read: (value) => flags.get(typeof value === 'string' ? value.toLowerCase() : value),
};

export const decimal: Reader<WireNumber> = {
  expected: 'a number',
  read: (value) =>
    typeof value === 'number' ? (Number.isFinite(value) ? value : undefined)
    : typeof value === 'string' ? readDecimal(value.trim())
    : undefined,
};

export const count: Reader<number> = {
  expected: 'a whole number',
  read(value) {
    const number = decimal.read(value);
    return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
  },
};

/** A status that is a number to some and a text to others. */
export const textOrNumber: Reader<string | number> = {
  expected: 'a text',
  read: (value) => (typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value)) ? value : undefined),
};

export const fields: Reader<Fields> = {
  expected: 'an object',
  read: (value) => (isFields(value) ? value : undefined),
};

/** Seconds from here on are an instant of this century; milliseconds up to here were before 1973. */
const earliestSeconds = 1e8;
const earliestMs = 1e11;
/** The end of the year 9999: later ones are written in another form. */
const latestMs = 253_402_300_799_999;

/** Epoch ms, from epoch ms or seconds as number or text, or from ISO 8601, where UTC is meant if no zone is named. */
export const instant: Reader<number> = {
  expected: 'a time',
  read(value) {
    if (typeof value === 'string' && !/^\s*-?[\d.]+\s*$/.test(value)) return isoInstant(value);
    const number = decimal.read(value);
    if (typeof number !== 'number' || number < 0 || number > latestMs) return undefined;
    return Math.round(number >= earliestSeconds && number < earliestMs ? number * 1000 : number);
  },
};

const iso = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?) ?(Z|UTC|[+-]\d\d(?::?\d\d)?)?)?$/i;

function isoInstant(value: string): number | undefined {
  const [, day, time = '00:00', zone = 'Z'] = iso.exec(value.trim()) ?? [];
  if (day === undefined) return undefined;
  const offset = /^[+-]/.test(zone) ? `${zone.slice(0, 3)}:${zone.replace(':', '').slice(3) || '00'}` : 'Z';
  const at = Date.parse(`${day}T${time.replace(',', '.')}${offset}`);
  return at >= 0 && at <= latestMs ? at : undefined;
}

/** Reads fields in place. One that is not understood becomes null, and a doubt. */
export function readInPlace(of: Fields, readers: readonly (readonly [string, Reader<unknown>])[], unrecognized: OnUnrecognized, where = ''): void {
  for (const [field, reader] of readers) {
    const value = of[field];
    if (value === undefined || value === null) continue;
    const read = reader.read(value);
    if (read === value) continue;
    of[field] = read ?? null;
    if (read === undefined) unrecognized(misreading(where + field, value, reader.expected));
  }
}

export function required<T>(of: Fields, field: string, reader: Reader<T>): T {
  const value = of[field];
  const read = value === undefined || value === null ? undefined : reader.read(value);
  if (read === undefined) throw new Misread(misreading(field, value, reader.expected));
  return read;
}

/** `amount is missing`, or `amount is "abc", a number was expected`. */
export function misreading(field: string, value: unknown, expected: string): string {
  if (value === undefined || value === null || value === '') return `${field} is missing`;
  return `${field} is ${shown(value)}, ${expected} was expected`;
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return clip(typeof value === 'string' ? JSON.stringify(value) : String(value));
}

/** What an answer holds inside `data`, however often that is around it: the outermost object with one of the fields, else the innermost value. */
export function within(answer: unknown, ...anyOf: readonly string[]): unknown {
  let inner = answer;
  while (isFields(inner) && 'data' in inner && !hasAny(inner, anyOf)) inner = inner['data'];
  return inner;
}

const hasAny = (of: Fields, anyOf: readonly string[]): boolean =>
  anyOf.some((field) => of[field] !== undefined && of[field] !== null);

/** The object {@link within} an answer that has any of the fields. */
export function unwrapped(answer: unknown, ...anyOf: readonly string[]): Fields {
  const found = within(answer, ...anyOf);
  if (isFields(found) && hasAny(found, anyOf)) return found;
  throw new Misread(isFields(answer) ? `${anyOf[0]} is missing` : misreading('the answer', answer, 'an object'));
}

/** The rows of a list, which may be bare or wrapped in `data`; null is an empty one. */
export function rowsOf(answer: unknown): unknown[] {
  const list = within(answer);
  if (list === null) return [];
  if (Array.isArray(list)) return list;
  throw new Misread(list === answer && isFields(answer) ? 'data is missing' : misreading('the list', list, 'a list'));
}

/** The rows that could be read. One that could not is a doubt, unless none could: then the list was not understood. */
export function readRows<T>(rows: readonly unknown[], what: string, read: (row: Fields) => T, unrecognized: OnUnrecognized): T[] {
  const understood: T[] = [];
  const others: string[] = [];
  rows.forEach((row, index) => {
    try {
      if (!isFields(row)) throw new Misread(misreading('it', row, 'an object'));
      understood.push(read(row));
    } catch (error) {
      if (!(error instanceof Misread)) throw error;
      others.push(`${what} ${index + 1} of the list: ${error.message}`);
    }
  });
  const [first] = others;
  if (understood.length === 0 && first !== undefined) throw new Misread(first);
  others.forEach(unrecognized);
  return understood;
}
