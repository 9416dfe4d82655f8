// Builds the view of a command from the way in which its result appears: a list, a record, a text,
// or only the confirmation for programs. A list or a record prints a result that is a string, such
// as a page in a further format, unchanged.
import type { Output } from '../terminal/output.js';
import { namesOf } from '../terminal/rows/list.js';
import type { ListView, RecordView, Rows, RowView } from '../terminal/rows/view.js';
import type { Context } from './context.js';

/** The view of a command with the result `R`, drawn by the view `V` of the terminal. */
export interface View<R, V = unknown> {
  /** The names that `--fields` accepts. */
  readonly fields: readonly string[];
  /** For a result with rows: the names of the own fields of a row. */
  readonly rowFields?: readonly string[] | undefined;
  /**
   * Returns the data that programs and agents get.
   * @param fields the fields of each row, by default all fields
   */
  readonly dataOf: (result: R, fields?: readonly string[]) => unknown;
  /** @param parts the parts of the view that differ between runs */
  readonly print: (result: R, parts: Partial<V>, context: Context) => Promise<void>;
}

/** A view of the terminal, or a function that returns the view for the current time. */
type AtTime<V> = V | ((now: number) => V);

/**
 * Prints the rows of a result as a table, or row by row for machines.
 * @param rowsOf returns the rows of a result that contains more than the rows
 */
export function list<T extends object>(
  view: AtTime<ListView<T>>,
): View<Rows<T> | string, ListView<T>>;
export function list<T extends object, R>(
  view: AtTime<ListView<T>>,
  rowsOf: (result: R) => Rows<T> | string,
): View<R, ListView<T>>;
export function list<T extends object>(
  view: AtTime<ListView<T>>,
  rowsOf: (result: Rows<T> | string) => Rows<T> | string = (rows) => rows,
): View<Rows<T> | string, ListView<T>> {
  return printed<T, ListView<T>, Rows<T>, Rows<T> | string>(view, rowsOf, (out, rows, whole) =>
    out.list(rows, whole),
  );
}

/**
 * Prints a result that is a single object.
 * @param dataOf returns the object of a result that contains more than the object
 */
export function record<T extends object>(
  view: AtTime<RecordView<T>>,
): View<T | string, RecordView<T>>;
export function record<T extends object, R>(
  view: AtTime<RecordView<T>>,
  dataOf: (result: R) => T | string,
): View<R, RecordView<T>>;
export function record<T extends object>(
  view: AtTime<RecordView<T>>,
  dataOf: (result: T | string) => T | string = (data) => data,
): View<T | string, RecordView<T>> {
  return printed<T, RecordView<T>, T, T | string>(view, dataOf, (out, data, whole) =>
    out.record(data, whole),
  );
}

/** Prints a result that is a text. */
export const text: View<string> = {
  fields: [],
  dataOf: (result) => result,
  print: async (result, _parts, { out }) => out.text(result),
};

/** Prints a result that is a long text in pieces, at the pace of the reader. */
export const pieces: View<AsyncIterable<string>> = {
  fields: [],
  dataOf: (result) => result,
  print: (result, _parts, { out }) => out.pour(result),
};

/** Prints a result only for programs, because a remark has already informed people. */
export const done: View<object> = {
  fields: [],
  dataOf: (result) => result,
  print: async (result, _parts, { out }) => out.did(result),
};

function printed<T extends object, V extends RowView<T>, D, R>(
  view: AtTime<V>,
  dataOf: (result: R) => D | string,
  print: (out: Output, data: D, view: V) => Promise<void>,
): View<R, V> {
  const at = (now: number): V => ('columns' in view ? view : view(now));
  return {
    fields: namesOf(undefined, at(0)),
    ...('empty' in at(0) && { rowFields: at(0).fields ?? namesOf(undefined, at(0)) }),
    dataOf,
    async print(result, parts, { out, present }) {
      const data = dataOf(result);
      if (typeof data === 'string') return out.text(data);
      await print(out, data, { ...at(present()), ...parts });
    },
  };
}
