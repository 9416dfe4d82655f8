// Defines commands. A command is a typed function with its declared inputs and the view of its
// result. Parsing, help, completion, the manual, the schema and the agent's tools derive from the
// declaration.
import type { Failure } from '../formats/failure.js';
import type { Context } from './context.js';
import { readAll, type RawValues, type Values, type ValuesOf } from './values.js';
import type { Output } from '../terminal/output.js';
import { namesOf } from '../terminal/rows/list.js';
import type { ListView, RecordView, Rows, RowView } from '../terminal/rows/view.js';

/** The parts of the context that a command asks for, such as `Deps<'client' | 'home'>`. */
export type Deps<K extends keyof Context> = Pick<Context, K>;

interface CommandDefinition<
  A extends Values,
  O extends Values,
  R,
  V = unknown,
  K extends keyof Context = keyof Context,
> {
  /** The positional inputs in order. Only the last positional input may be repeated. */
  readonly arguments?: A;
  readonly options?: O;
  /** Example command lines, each with its purpose. */
  readonly examples: readonly (readonly [command: string, purpose: string])[];
  /**
   * Whether the command may create the profile that the command line names. A command without
   * `createsProfile` refuses an unknown profile.
   */
  readonly createsProfile?: true;
  /**
   * Whether the first argument and all words after it belong to the command, even words that look
   * like options.
   */
  readonly ownsRest?: true;
  /**
   * Whether the command changes data, so that svcpay refuses a wrong name in `--fields` before the
   * command runs. svcpay refuses a wrong name of any other command only after the response, because
   * the response may contain further names.
   */
  readonly changes?: true;
  /** Returns the result, as data or as rows that arrive while svcpay prints them. */
  readonly run: (inputs: ValuesOf<A> & ValuesOf<O>, deps: Deps<K>) => Promise<R>;
  /** Prints the result. A command without a view prints its result itself. */
  readonly view?: View<R, V>;
  /** Returns the parts of the view that differ between runs, such as the line below a table. */
  readonly adapt?: (
    result: NoInfer<R>,
    inputs: ValuesOf<A> & ValuesOf<O>,
    context: Context,
  ) => Partial<NoInfer<V>> | Promise<Partial<NoInfer<V>>>;
  /**
   * Returns the failure that a result implies, such as books that differ. svcpay prints the result
   * and exits with the exit code of the failure.
   */
  readonly failure?: (result: NoInfer<R>) => Failure | undefined;
  /** Returns the remarks that svcpay prints on stderr after the result. */
  readonly remarks?: (result: NoInfer<R>, context: Context) => readonly string[];
}

type Nothing = Readonly<Record<never, never>>;

/** The data that a command returns, with the failure that its result implies. */
export interface Called {
  readonly data: unknown;
  readonly failure: Failure | undefined;
}

/** A command whose types are erased, so that one table can contain all commands. */
export interface Command extends Pick<
  CommandDefinition<Values, Values, unknown>,
  'examples' | 'createsProfile' | 'ownsRest'
> {
  readonly arguments: Values;
  readonly options: Values;
  /**
   * The formats that `-o` accepts in addition to the usual formats: the choices of the option
   * `format`.
   */
  readonly formats: readonly string[];
  readonly changes: boolean;
  /** The names that `--fields` accepts. */
  readonly fields: readonly string[];
  /** For a command whose result has rows: the names of the own fields of a row. */
  readonly rowFields: readonly string[] | undefined;
  /** Reads the inputs, runs the command and prints its result. */
  readonly execute: (raw: RawValues, context: Context) => Promise<void>;
  /**
   * Reads the inputs, runs the command and returns its data. Undefined for a command that prints
   * its result itself.
   */
  readonly call:
    | ((raw: RawValues, context: Context, fields?: readonly string[]) => Promise<Called>)
    | undefined;
}

/** A command with the typed function that a program or a test calls. */
interface TypedCommand<I, R, D> extends Command {
  readonly run: (inputs: I, deps: D) => Promise<R>;
}

export function defineCommand<
  R,
  V,
  A extends Values = Nothing,
  O extends Values = Nothing,
  K extends keyof Context = keyof Context,
>(
  definition: CommandDefinition<A, O, R, V, K>,
): TypedCommand<ValuesOf<A> & ValuesOf<O>, R, Deps<K>> {
  const { run, view, adapt, remarks, failure, changes = false, ...rest } = definition;
  const { format }: Values = rest.options ?? {};
  // The types of the two records are lost when the records become one.
  const inputsOf = (raw: RawValues) =>
    readAll({ ...rest.arguments, ...rest.options }, raw) as ValuesOf<A> & ValuesOf<O>;
  const remark = (result: R, context: Context): void =>
    remarks?.(result, context).forEach((line) => context.out.say(line));
  const command = {
    arguments: {},
    options: {},
    formats: format?.shape.choices ?? [],
    ...rest,
    changes,
    fields: view?.fields ?? [],
    rowFields: view?.rowFields,
  };
  return {
    ...command,
    run,
    execute: async (raw, context) => {
      const inputs = inputsOf(raw);
      if (!changes) context.out.knows(command.fields);
      else if (!context.out.offers(command.fields)) return;
      const result = await run(inputs, context);
      await view?.print(result, (await adapt?.(result, inputs, context)) ?? {}, context);
      remark(result, context);
      const implied = failure?.(result);
      if (implied !== undefined) throw implied;
    },
    call:
      view &&
      (async (raw, context, only) => {
        const result = await run(inputsOf(raw), context);
        remark(result, context);
        return { data: await view.dataOf(result, only), failure: failure?.(result) };
      }),
  };
}

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
