// `--fields a,b.c`: fields of a row by name. In every format, a name is a path into the service's
// object, or the name of a computed column.
import { Failure } from '../../formats/failure.js';
import type { Column } from './view.js';

/** The value at a path such as `sourceReq.ccy`, or undefined. */
export function fieldAt(object: object, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null
          ? Object.getOwnPropertyDescriptor(value, key)?.value
          : undefined,
      object,
    );
}

/** The value of a name in this row: its field, or else the value of a computed column. */
export function valueOf<T extends object>(
  row: T,
  name: string,
  columns: readonly Column<T>[],
): unknown {
  const own = fieldAt(row, name);
  return own === undefined ? columns.find((column) => column.name === name)?.value(row) : own;
}

/**
 * An object with the names as keys, in the requested order. Missing fields are null, so every row
 * has all of them.
 */
export function pickFields<T extends object>(
  row: T,
  names: readonly string[],
  columns: readonly Column<T>[] = [],
): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, valueOf(row, name, columns) ?? null]));
}

/**
 * The deepest level of paths. No object of the specification is as deep. A response may be deeper
 * than the call stack.
 */
const deepest = 10;

/** Every path into an object, parents before their children. A list is a value. */
export function pathsOf(object: object, parent = '', level = 1): string[] {
  return Object.entries(object).flatMap(([key, value]) => {
    const path = `${parent}${key}`;
    const isParent =
      typeof value === 'object' && value !== null && !Array.isArray(value) && !('toFixed' in value);
    return isParent && level < deepest ? [path, ...pathsOf(value, `${path}.`, level + 1)] : [path];
  });
}

/** Throws Failure `usage` for the first unknown name, with the known names. */
export function checkNames(asked: readonly string[], known: readonly string[]): void {
  const wrong = asked.find((name) => !known.includes(name));
  if (wrong === undefined) return;
  if (known.length === 0)
    throw new Failure('usage', `"${wrong}" is not a field of this command: it has no fields.`);
  const shown =
    known.length <= mostNamed ? known.join(', ') : `${known.slice(0, mostNamed).join(', ')}, …`;
  throw new Failure('usage', `"${wrong}" is not a field of this command. It has: ${shown}.`, {
    hint: 'List all: --fields help',
  });
}

const mostNamed = 24;
