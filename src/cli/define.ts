// Commands: arguments, options, examples and the function that runs them; and their place in the
// tree.
import type { Context } from './context.js';
import { readAll, type RawValues, type Values, type ValuesOf } from './values.js';

export interface CommandDefinition<A extends Values = Values, O extends Values = Values> {
  /** Positional arguments, in order; only the last may be repeated. */
  readonly arguments?: A;
  readonly options?: O;
  /** Command lines with their purpose. */
  readonly examples: readonly (readonly [command: string, purpose: string])[];
  /** May create the named profile; other commands refuse an unknown profile. */
  readonly createsProfile?: true;
  /** Every word from the first argument on belongs to the command, options too. */
  readonly ownsRest?: true;
  /** Extra formats of `-o`, passed to `run` as `format`. */
  readonly formats?: readonly string[];
  /** The names for `--fields`, if a wrong one must be refused before the command runs. */
  readonly fields?: readonly string[];
  /**
   * The names that `--fields` takes of a command that only reads. A response can have more, so
   * other names are refused only then.
   */
  readonly prints?: readonly string[];
  readonly run: (values: ValuesOf<A> & ValuesOf<O>, context: Context) => Promise<void>;
}

type Nothing = Readonly<Record<never, never>>;

/** A command with its types erased; it reads its raw values itself, so no cast is needed. */
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

/** A name in the command tree, with the loader of its code. */
export interface Branch {
  readonly name: string;
  readonly summary: string;
  readonly aliases?: readonly string[];
  /** Heading in help. */
  readonly section?: string;
  readonly hidden?: boolean;
  /**
   * Moves money, so its failures begin with what happened to the money. `depends`: on its words.
   */
  readonly money?: true | 'depends';
  /**
   * Refuses a subaccount that `--account` names, because the service acts for the account of the
   * API key.
   */
  readonly ownAccount?: boolean;
  /** Number of connections to open while it loads. */
  readonly connections?: number;
  readonly load?: (() => Promise<Command>) | undefined;
  readonly branches?: readonly Branch[];
}

export const isNamed = ({ name, aliases = [] }: Branch, word: string): boolean =>
  name === word || aliases.includes(word);
