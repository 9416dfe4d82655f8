// `--fields a,b.c`: some fields of a row, under the names that were asked for. A name is a path into the service's own
// object, or that of a column that was worked out; it means the same in every format.
import { Failure } from '../../formats/failure.js';
import type { Column } from './view.js';

/** What stands at a path such as `sourceReq.ccy`; undefined where the path leads nowhere. */
export function fieldAt(object: object, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, key)?.value : undefined,
      object,
    );
}

/** What a name stands for in this row: its own field, else what a column of that name works out. */
export function valueOf<T extends object>(row: T, name: string, columns: readonly Column<T>[]): unknown {
  const own = fieldAt(row, name);
  return own === undefined ? columns.find((column) => column.name === name)?.value(row) : own;
}

/** The names as keys, in the order asked for; a field that is not there is null, so that every row has all of them. */
export function pickFields<T extends object>(
  row: T,
  names: readonly string[],
  columns: readonly Column<T>[] = [],
): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, valueOf(row, name, columns) ?? null]));
}

/** Deeper than any object of the specification; an answer may be deeper than functions can call each other. */
const deepest = 10;

/** Every path into an object, parents before their children; lists are values. */
export function pathsOf(object: object, parent = '', level = 1): string[] {
  return Object.entries(object).flatMap(([key, value]) => {
    const path = `${parent}${key}`;
    const isParent = typeof value === 'object' && value !== null && !Array.isArray(value) && !('toFixed' in value);
    return isParent && level < deepest ? [path, ...pathsOf(value, `${path}.`, level + 1)] : [path];
  });
}

/** Throws Failure `usage` for the first name that is none of those known, with those that are. */
export function checkNames(asked: readonly string[], known: readonly string[]): void {
  const wrong = asked.find((name) => !known.includes(name));
  if (wrong === undefined) return;
  if (known.length === 0) throw new Failure('usage', `"${wrong}" is not a field of this command: it has no fields.`);
  const shown = known.length <= mostNamed ? known.join(', ') : `${known.slice(0, mostNamed).join(', ')}, …`;
  throw new Failure('usage', `"${wrong}" is not a field of this command. It has: ${shown}.`, {
    hint: 'List all: --fields help',
  });
}

const mostNamed = 24;
