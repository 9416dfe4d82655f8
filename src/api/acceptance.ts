// Whether an answer is what its schema asks for, told sooner than by the schema: nearly all are, and lists are long.
import type * as v from 'valibot';

type Check = (value: unknown) => boolean;

/** The parts of valibot's schemas that are looked at here; each kind has some of them. */
interface Parts {
  readonly type: string;
  readonly pipe?: readonly Parts[];
  readonly wrapped?: Parts;
  readonly item?: Parts;
  readonly value?: Parts;
  readonly options?: readonly Parts[];
  readonly entries?: Readonly<Record<string, Parts>>;
  readonly default?: unknown;
  readonly fallback?: unknown;
}

/**
 * Makes a check that says yes only to a value that the schema would hand on unchanged. No decides nothing: the schema
 * itself then says what is wrong. It knows the kinds of schema that long answers are made of.
 */
export function acceptance<T>(schema: v.GenericSchema<unknown, T>): (value: unknown) => value is T {
  const check = checkOf(schema);
  return (value): value is T => check(value);
}

const never: Check = () => false;

function checkOf(parts: Parts): Check {
  if (parts.fallback !== undefined || parts.default !== undefined) return never;
  const { pipe } = parts;
  if (pipe === undefined) return checkOfKind(parts);
  const checks = pipe.map(checkOfKind);
  return (value) => checks.every((check) => check(value));
}

function checkOfKind({ type, wrapped, item, value: member, options, entries }: Parts): Check {
  if (type === 'string') return (value) => typeof value === 'string';
  if (type === 'number') return (value) => typeof value === 'number' && !Number.isNaN(value);
  if (type === 'finite') return Number.isFinite;
  if (type === 'non_empty') return (value) => value !== '';
  // What is missing is not unknown.
  if (type === 'unknown') return (value) => value !== undefined;
  if (type === 'nullish' && wrapped !== undefined) return nullishCheck(checkOf(wrapped));
  if (type === 'array' && item !== undefined) return arrayCheck(checkOf(item));
  if (type === 'union' && options !== undefined) return unionCheck(options.map(checkOf));
  if (type === 'record' && member?.type === 'unknown') return isPlain;
  return type === 'loose_object' && entries !== undefined ? objectCheck(entries) : never;
}

const nullishCheck = (check: Check): Check => (value) => value === undefined || value === null || check(value);

function arrayCheck(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return false;
    // Not every(), which passes over holes.
    for (const each of value) if (!check(each)) return false;
    return true;
  };
}

const unionCheck = (checks: readonly Check[]): Check => (value) => checks.some((check) => check(value));

function objectCheck(entries: Readonly<Record<string, Parts>>): Check {
  const checks = Object.entries(entries).map(([name, parts]): [string, Check] => [name, checkOf(parts)]);
  return (value) => {
    if (!isPlain(value)) return false;
    for (const [name, check] of checks) if (!check(value[name])) return false;
    return true;
  };
}

/** Without the names that valibot leaves out of what it hands on. */
function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return !['__proto__', 'prototype', 'constructor'].some((name) => Object.hasOwn(value, name));
}
