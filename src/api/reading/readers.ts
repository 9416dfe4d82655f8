// Reads values such as numbers, instants and lists in every form that live services have sent so
// far. The readers convert values in place to the form from the specification, and report
// unrecognized values.
import type { Big } from 'big.js';
import { readDecimal, type WireNumber } from '../../formats/amount.js';
import type { MisreadField } from '../types.js';
import { clip, isFields, type Fields } from '../../formats/text.js';

/** Called with a description of an unrecognized optional field. */
export type OnUnrecognized = (words: string) => void;

/** Reads a whole response. Throws {@link Misread} if a required value is missing. */
export type AnswerReader<T> = (answer: unknown, unrecognized: OnUnrecognized) => T;

/** The error for a response in which a required value is missing or invalid. */
export class Misread extends Error {
  override readonly name = 'Misread';
}

/**
 * Reads one value. A reader returns undefined for an unrecognized value, and returns a value in the
 * specified form unchanged.
 */
export interface Reader<T> {
  readonly expected: string;
  readonly read: (value: unknown) => T | undefined;
  /** The readers of the fields, if the value is an object. */
  readonly fields?: Readers;
}

/**
 * The fields of a response, each with the reader of its value. The option `--fields` accepts the
 * field names of a response.
 */
export type FieldsOf<T> = { readonly [Name in keyof T & string]-?: Reader<ReadAs<T[Name]>> };

type ReadAs<T> = unknown extends T ? unknown : Known<NonNullable<T>>;

type Known<T> = T extends Big
  ? WireNumber
  : T extends string
    ? string
    : T extends object
      ? object
      : T;

export type Readers = Readonly<Record<string, Reader<unknown>>>;

/** Reads a text, and converts an exact number to text. */
export const text: Reader<string> = {
  expected: 'a text',
  read: (value) =>
    typeof value === 'string'
      ? value
      : typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER
        ? String(value)
        : undefined,
};

/** Reads a text that is not empty. */
export const name: Reader<string> = {
  expected: 'a text',
  read: (value) => text.read(value) || undefined,
};

/** Reads a word such as a state, and returns it in lower case. */
export const word: Reader<string> = {
  expected: 'a text',
  read: (value) => name.read(value)?.trim().toLowerCase() || undefined,
};

/** Reads a currency code, and returns it in upper case. */
export const currency: Reader<string> = {
  expected: 'a text',
  read: (value) => name.read(value)?.trim().toUpperCase() || undefined,
};

const flags: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  [true, true],
  [false, false],
  ['true', true],
  ['false', false],
]);

export const flag: Reader<boolean> = {
  expected: 'true or false',
  read: (value) => flags.get(typeof value === 'string' ? value.toLowerCase() : value),
};

export const decimal: Reader<WireNumber> = {
  expected: 'a number',
  read: (value) =>
    typeof value === 'number'
      ? Number.isFinite(value)
        ? value
        : undefined
      : typeof value === 'string'
        ? readDecimal(value.trim())
        : undefined,
};

export const count: Reader<number> = {
  expected: 'a whole number',
  read(value) {
    const number = decimal.read(value);
    return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0
      ? number
      : undefined;
  },
};

/** Reads a status, which services send as a number or a text. */
export const textOrNumber: Reader<string | number> = {
  expected: 'a text',
  read: (value) =>
    typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value))
      ? value
      : undefined,
};

export const fields: Reader<Fields> = {
  expected: 'an object',
  read: (value) => (isFields(value) ? value : undefined),
};

/** Reads an object whose fields are known. */
export const object = (within: Readers): Reader<Fields> => ({ ...fields, fields: within });

/**
 * The names of the fields and of the fields within them, such as `sourceReq` and `sourceReq.ccy`.
 */
export const namesWithin = (readers: Readers, parent = ''): string[] =>
  Object.entries(readers).flatMap(([field, { fields: inner = {} }]) => [
    parent + field,
    ...namesWithin(inner, `${parent}${field}.`),
  ]);

/**
 * A number from `earliestSeconds` up to `earliestMs` is an instant in seconds, and every other
 * number is an instant in milliseconds.
 */
const earliestSeconds = 1e8;
const earliestMs = 1e11;
/** The end of the year 9999, in epoch ms. */
const latestMs = 253_402_300_799_999;

/**
 * Reads an instant as epoch ms, from epoch ms or epoch seconds as number or text, or from ISO 8601.
 * A time in ISO 8601 without a zone is in UTC.
 */
export const instant: Reader<number> = {
  expected: 'a time',
  read(value) {
    if (typeof value === 'string' && !/^\s*-?[\d.]+\s*$/.test(value)) return isoInstant(value);
    const number = decimal.read(value);
    if (typeof number !== 'number' || number < 0 || number > latestMs) return undefined;
    return Math.round(number >= earliestSeconds && number < earliestMs ? number * 1000 : number);
  },
};

const iso =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?) ?(Z|UTC|[+-]\d\d(?::?\d\d)?)?)?$/i;

function isoInstant(value: string): number | undefined {
  const [, day, time = '00:00', zone = 'Z'] = iso.exec(value.trim()) ?? [];
  if (day === undefined) return undefined;
  const offset = /^[+-]/.test(zone)
    ? `${zone.slice(0, 3)}:${zone.replace(':', '').slice(3) || '00'}`
    : 'Z';
  const at = Date.parse(`${day}T${time.replace(',', '.')}${offset}`);
  return at >= 0 && at <= latestMs ? at : undefined;
}

/**
 * Converts the fields of an object in place, with the objects in it. An unrecognized value becomes
 * null, and is in the result.
 */
export function readInPlace(of: Fields, readers: Readers, where = ''): MisreadField[] {
  const misread: MisreadField[] = [];
  for (const [field, reader] of Object.entries(readers)) {
    const value = of[field];
    if (value === undefined || value === null) continue;
    const path = where + field;
    const read = reader.read(value);
    if (reader.fields !== undefined && isFields(read))
      misread.push(...readInPlace(read, reader.fields, `${path}.`));
    if (read === value) continue;
    of[field] = read ?? null;
    if (read === undefined) misread.push({ path, value, expected: reader.expected });
  }
  return misread;
}

/** Describes a field that {@link readInPlace} could not read. */
export const misreadText = ({ path, value, expected }: MisreadField): string =>
  misreading(path, value, expected);

export function required<T>(of: Fields, field: string, reader: Reader<T>): T {
  const value = of[field];
  const read = value === undefined || value === null ? undefined : reader.read(value);
  if (read === undefined) throw new Misread(misreading(field, value, reader.expected));
  return read;
}

/**
 * Describes an unreadable field with a text such as `amount is missing` or
 * `amount is "abc", a number was expected`.
 */
export function misreading(field: string, value: unknown, expected: string): string {
  if (value === undefined || value === null || value === '') return `${field} is missing`;
  return `${field} is ${shown(value)}, ${expected} was expected`;
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return clip(typeof value === 'string' ? JSON.stringify(value) : String(value));
}

/**
 * Unwraps a response from nested `data` objects: returns the outermost object that has one of the
 * fields in `anyOf`, or the innermost value if no object has any of these fields.
 */
export function within(answer: unknown, ...anyOf: readonly string[]): unknown {
  let inner = answer;
  while (isFields(inner) && 'data' in inner && !hasAny(inner, anyOf)) inner = inner['data'];
  return inner;
}

const hasAny = (of: Fields, anyOf: readonly string[]): boolean =>
  anyOf.some((field) => of[field] !== undefined && of[field] !== null);

/**
 * Returns the object that {@link within} finds in a response, or throws {@link Misread} if the
 * object has none of the fields in `anyOf`.
 */
export function unwrapped(answer: unknown, ...anyOf: readonly string[]): Fields {
  const found = within(answer, ...anyOf);
  if (isFields(found) && hasAny(found, anyOf)) return found;
  throw new Misread(
    isFields(answer) ? `${anyOf[0]} is missing` : misreading('the answer', answer, 'an object'),
  );
}

/**
 * Returns the rows of a list, whether the list is bare or wrapped in `data`. A list that is null
 * counts as empty.
 */
export function rowsOf(answer: unknown): unknown[] {
  const list = within(answer);
  if (list === null) return [];
  if (Array.isArray(list)) return list;
  throw new Misread(
    list === answer && isFields(answer)
      ? 'data is missing'
      : misreading('the list', list, 'a list'),
  );
}

/**
 * Returns the readable rows of a list, and reports the unreadable rows. Throws {@link Misread} if
 * every row is unreadable.
 */
export function readRows<T>(
  rows: readonly unknown[],
  what: string,
  read: (row: Fields) => T,
  unrecognized: OnUnrecognized,
): T[] {
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
