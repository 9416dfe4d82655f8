// Defines commands: their arguments, options and examples, the function that runs each command, and
// the place of each command in the tree.
import type { Context } from './context.js';
import { readAll, type RawValues, type Values, type ValuesOf } from './values.js';

export interface CommandDefinition<A extends Values = Values, O extends Values = Values> {
  /** The positional arguments in order. Only the last positional argument may be repeated. */
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
   * The names that `--fields` accepts, for a command that must refuse a wrong name before the
   * command runs.
   */
  readonly fields?: readonly string[];
  /**
   * The usual names for `--fields`, for a command that only reads. svcpay refuses a wrong name only
   * after the response, because the response may contain further names.
   */
  readonly prints?: readonly string[];
  readonly run: (values: ValuesOf<A> & ValuesOf<O>, context: Context) => Promise<void>;
}

type Nothing = Readonly<Record<never, never>>;

/**
 * A command whose argument and option types are erased, so that one table can contain all commands.
 * `execute` parses the raw values itself, so a caller needs no cast.
 */
export interface Command extends Omit<
  CommandDefinition,
  'arguments' | 'options' | 'formats' | 'run'
> {
  readonly arguments: Values;
  readonly options: Values;
  readonly formats: readonly string[];
  readonly execute: (raw: RawValues, context: Context) => Promise<void>;
}

export function defineCommand<A extends Values = Nothing, O extends Values = Nothing>(
  definition: CommandDefinition<A, O>,
): Command {
  const { run, ...rest } = definition;
  return {
    arguments: {},
    options: {},
    formats: [],
    ...rest,
    execute: async (raw, context) => {
      const values = { ...readAll(rest.arguments, raw), ...readAll(rest.options, raw) };
      const { fields, prints = [] } = rest;
      if (fields === undefined) context.out.knows(prints);
      else if (!context.out.offers(fields)) return;
      await run(values, context);
    },
  };
}

/** A command name in the command tree, and the function that loads the command's code. */
export interface Branch {
  readonly name: string;
  readonly summary: string;
  readonly aliases?: readonly string[];
  /** The heading in help under which the command is listed. */
  readonly section?: string;
  readonly hidden?: boolean;
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
  /** The number of connections to open while the command's code loads. */
  readonly connections?: number;
  readonly load?: (() => Promise<Command>) | undefined;
  readonly branches?: readonly Branch[];
}

export const isNamed = ({ name, aliases = [] }: Branch, word: string): boolean =>
  name === word || aliases.includes(word);
