// The shape of a command: what it takes, examples, the function that runs it; and its place in the tree.
import type { Context } from './context.js';
import { readAll, type RawValues, type Values, type ValuesOf } from './values.js';

export interface CommandDefinition<A extends Values = Values, O extends Values = Values> {
  /** Positional arguments, in order; only the last may be repeated. */
  readonly arguments?: A;
  readonly options?: O;
  /** Command lines as a person would type them, each with what it is for. */
  readonly examples: readonly (readonly [command: string, purpose: string])[];
  /** It sets up the profile that is named; all others refuse one that is not set up. */
  readonly createsProfile?: true;
  /** From its first argument on every word is the command's own, options too. */
  readonly ownsRest?: true;
  /** Formats of its own that `-o` takes here: they come to `run` as its `format`. */
  readonly formats?: readonly string[];
  /** The names that `--fields` takes, where a wrong one must be refused before anything is done. */
  readonly fields?: readonly string[];
  readonly run: (values: ValuesOf<A> & ValuesOf<O>, context: Context) => Promise<void>;
}

type Nothing = Readonly<Record<never, never>>;

/** A command whose own types are hidden: reads its raw values itself, so that none is cast. */
export interface Command extends Omit<CommandDefinition, 'arguments' | 'options' | 'formats' | 'run'> {
  readonly arguments: Values;
  readonly options: Values;
  readonly formats: readonly string[];
  readonly execute: (raw: RawValues, context: Context) => Promise<void>;
}

export function defineCommand<A extends Values = Nothing, O extends Values = Nothing>(definition: CommandDefinition<A, O>): Command {
  const { run, ...rest } = definition;
  return {
    arguments: {},
    options: {},
    formats: [],
    ...rest,
    execute: async (raw, context) => {
      const values = { ...readAll(rest.arguments, raw), ...readAll(rest.options, raw) };
      if (rest.fields === undefined || context.out.offers(rest.fields)) await run(values, context);
    },
  };
}

/** A name in the command tree: what it is for and where its code is, loaded only when chosen. */
export interface Branch {
  readonly name: string;
  readonly summary: string;
  /** Other names that hands try. */
  readonly aliases?: readonly string[];
  /** The heading under which help shows it. */
  readonly section?: string;
  readonly hidden?: boolean;
  /** It pays: a failure of it says first what became of the money. */
  readonly money?: boolean;
  /** How many requests it sends the service at once, first of all: connections for them are opened while it loads. */
  readonly connections?: number;
  readonly load?: (() => Promise<Command>) | undefined;
  readonly branches?: readonly Branch[];
}

export const isNamed = ({ name, aliases = [] }: Branch, word: string): boolean => name === word || aliases.includes(word);
