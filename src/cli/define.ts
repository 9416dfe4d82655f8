// Defines commands. A command is a typed function with its declared inputs and the view of its
// result. Parsing, help, completion, the manual, the schema and the agent's tools derive from the
// declaration. Also defines the place of a command in the tree.
import { Failure } from '../formats/failure.js';
import type { Context } from './context.js';
import type { View } from './show.js';
import { readAll, type RawValues, type Values, type ValuesOf } from './values.js';

/** The parts of the context that a command asks for, such as `Deps<'client' | 'home'>`. */
export type Deps<K extends keyof Context> = Pick<Context, K>;

export interface CommandDefinition<
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
   * The formats that `-o` accepts in addition to the usual formats. `run` receives the chosen
   * output format as `format`.
   */
  readonly formats?: readonly string[];
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
  /** For a command without a view that changes data: the names that `--fields` accepts. */
  readonly fields?: readonly string[];
  /** For a command without a view that only reads: the usual names for `--fields`. */
  readonly prints?: readonly string[];
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
export interface TypedCommand<I, R, D> extends Command {
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
  const { run, view, adapt, remarks, failure, fields, prints, changes, ...rest } = definition;
  // The types of the two records are lost when the records become one.
  const inputsOf = (raw: RawValues) =>
    readAll({ ...rest.arguments, ...rest.options }, raw) as ValuesOf<A> & ValuesOf<O>;
  const remark = (result: R, context: Context): void =>
    remarks?.(result, context).forEach((line) => context.out.say(line));
  const command = {
    arguments: {},
    options: {},
    formats: [],
    ...rest,
    changes: changes ?? fields !== undefined,
    fields: view?.fields ?? fields ?? prints ?? [],
    rowFields: view?.rowFields,
  };
  return {
    ...command,
    run,
    execute: async (raw, context) => {
      const inputs = inputsOf(raw);
      if (!command.changes) context.out.knows(command.fields);
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

/** A command name in the command tree, and the function that loads the command's code. */
export interface Branch {
  readonly name: string;
  readonly summary: string;
  readonly aliases?: readonly string[];
  /** The heading in help under which the command is listed. */
  readonly section?: string;
  /**
   * Whether the command moves money, so that its failures begin with the state of the money.
   * `depends` means that the arguments and options decide whether money moves.
   */
  readonly money?: true | 'depends';
  /**
   * Whether the command refuses a subaccount in `--account`, because the service runs the command's
   * requests only for the account of the API key.
   */
  readonly ownAccount?: boolean;
  /** Whether only the owner may run the command, so that a run that charges a budget may not. */
  readonly ownerOnly?: boolean;
  /** The number of connections to open while the command's code loads. */
  readonly connections?: number;
  readonly load?: (() => Promise<Command>) | undefined;
  readonly branches?: readonly Branch[];
}

export const isNamed = ({ name, aliases = [] }: Branch, word: string): boolean =>
  name === word || aliases.includes(word);

/** Refuses a run that charges a budget what only the owner of the wallet may do. */
export function demandOwner({ settings: { budget } }: Deps<'settings'>): void {
  if (budget === undefined) return;
  throw new Failure(
    'usage',
    `Only the owner may do this, and this run belongs to the budget ${budget}.`,
    { hint: 'The owner runs svcpay without --budget and without SVCPAY_BUDGET.' },
  );
}
