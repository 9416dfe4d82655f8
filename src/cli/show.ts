// Builds the view of a command from the way in which its result appears: a list, a record, a text,
// or only the confirmation for programs. Each view prints a result that is a string, such as
// a page in a further format, unchanged.
import type { Output } from '../terminal/output.js';
import { namesOf } from '../terminal/rows/list.js';
import type { ListView, RecordView, Rows, RowView } from '../terminal/rows/view.js';
import type { Context } from './context.js';

/** The view of a command with the result `R`, drawn by the view `V` of the terminal. */
export interface View<R, V = unknown> {
  /** The names that `--fields` accepts. */
  readonly fields: readonly string[];
  /** @param parts the parts of the view that differ between runs */
  readonly print: (result: R, parts: Partial<V>, context: Context) => Promise<void>;
}

/** A view of the terminal, or a function that returns the view for the current time. */
type AtTime<V> = V | ((now: number) => V);

/** Prints the rows of a result as a table, or row by row for machines. */
export const list = <T extends object>(
  view: AtTime<ListView<T>>,
): View<Rows<T> | string, ListView<T>> =>
  printed<T, ListView<T>, Rows<T>>(view, (out, rows, whole) => out.list(rows, whole));

/** Prints a result that is a single object. */
export const record = <T extends object>(
  view: AtTime<RecordView<T>>,
): View<T | string, RecordView<T>> =>
  printed<T, RecordView<T>, T>(view, (out, result, whole) => out.record(result, whole));

/** Prints a result that is a text. */
export const text: View<string> = {
  fields: [],
  print: async (result, _parts, { out }) => out.text(result),
};

/** Prints a result only for programs, because a remark has already informed people. */
export const done: View<object> = {
  fields: [],
  print: async (result, _parts, { out }) => out.did(result),
};

function printed<T extends object, V extends RowView<T>, R>(
  view: AtTime<V>,
  print: (out: Output, result: R, view: V) => Promise<void>,
): View<R | string, V> {
  const at = (now: number): V => ('columns' in view ? view : view(now));
  return {
    fields: namesOf(undefined, at(0)),
    print: async (result, parts, { out, now }) =>
      typeof result === 'string'
        ? out.text(result)
        : print(out, result, { ...at(now()), ...parts }),
  };
}
