// Defines the values of arguments and options for parsing, help and completion: how a person writes
// each value, and how svcpay reads and describes the value. Also defines the global options.
import { parseArgs } from 'node:util';
import { Failure, invalid } from '../formats/failure.js';
import { didYouMean, entryOf } from '../formats/text.js';
import { parseAmount, type Money } from '../formats/amount.js';
import { parseDuration } from '../formats/calendar.js';
import { formats } from '../terminal/rows/view.js';

/** The raw value of an argument or option: undefined, a switch, one word or several words. */
export type RawValue = string | readonly string[] | boolean | undefined;

type Kind = 'word' | 'words' | 'switch' | 'on-off' | 'off';

/** The kinds of local data that completion can offer for a word. */
export type Suggested =
  | 'file'
  | 'command'
  | 'profile'
  | 'contact'
  | 'wallet'
  | 'reference'
  | 'transaction'
  | 'institution'
  | 'snapshot';

export interface Shape {
  readonly kind: Kind;
  readonly placeholder: string;
  readonly summary: string;
  readonly required: boolean;
  readonly choices: readonly string[];
  /** The words that completion offers, if they differ from the choices. */
  readonly offers?: readonly string[];
  readonly short: string | undefined;
  readonly suggests?: Suggested;
  /** Whether svcpay joins several words into one text. */
  readonly joins?: true;
  /** The smallest and the largest whole number that the value accepts. */
  readonly range?: readonly [min: number, max: number];
}

export class Value<T> {
  readonly shape: Shape;
  readonly read: (raw: RawValue) => T;

  constructor(shape: Shape, read: (raw: RawValue) => T) {
    this.shape = shape;
    this.read = read;
  }

  #with(changes: Partial<Shape>): Value<T> {
    return new Value({ ...this.shape, ...changes }, this.read);
  }

  within(min: number, max: number): Value<T> {
    return this.#with({ range: [min, max] });
  }

  describe(summary: string): Value<T> {
    return this.#with({ summary });
  }

  short(short: string): Value<T> {
    return this.#with({ short });
  }

  offering(offers: readonly string[]): Value<T> {
    return this.#with({ offers });
  }

  suggesting(suggests: Suggested): Value<T> {
    return this.#with({ suggests });
  }

  optional(): Value<T | undefined> {
    return this.otherwise(undefined);
  }

  otherwise<F extends T | undefined>(fallback: F): Value<T | F> {
    return new Value<T | F>({ ...this.shape, required: false }, (raw) =>
      raw === undefined ? fallback : this.read(raw),
    );
  }

  repeated(): Value<T[]> {
    return new Value<T[]>({ ...this.shape, kind: 'words' }, (raw) => {
      if (raw === undefined) return [];
      return Array.isArray(raw) ? raw.map((word: string) => this.read(word)) : [this.read(raw)];
    });
  }
}

const blank = {
  placeholder: '',
  summary: '',
  required: false,
  choices: [],
  short: undefined,
} as const;

/** A value of one word, which svcpay does not change. */
export function literal<T>(
  placeholder: string,
  parse: (text: string) => T,
  choices: readonly string[] = [],
): Value<T> {
  return new Value<T>({ ...blank, kind: 'word', placeholder, required: true, choices }, (raw) => {
    if (typeof raw !== 'string') throw invalid(`${placeholder} is missing.`);
    return parse(raw);
  });
}

/** A value of one word. svcpay removes white space around the word, which copying may add. */
export const word = <T>(
  placeholder: string,
  parse: (text: string) => T,
  choices: readonly string[] = [],
): Value<T> => literal(placeholder, (given) => parse(given.trim()), choices);

export const text = (placeholder = 'TEXT'): Value<string> => word(placeholder, (given) => given);

/** A value of several words, such as `50 000 sat`, which svcpay joins into one string. */
export function phrase(placeholder: string): Value<string | undefined> {
  return new Value({ ...blank, kind: 'words', placeholder, joins: true }, (raw) => {
    const words = typeof raw === 'string' ? [raw] : Array.isArray(raw) ? raw : [];
    return words.length === 0 ? undefined : words.join(' ').trim();
  });
}

/** A value whose white space svcpay keeps, such as a body or a command. */
export const verbatim = (placeholder: string): Value<string> =>
  literal(placeholder, (given) => given);

export const file = (placeholder = 'FILE'): Value<string> =>
  verbatim(placeholder).suggesting('file');

/**
 * A value that names a transaction: a trimmed id, the beginning of an id that svcpay has shown, or
 * an exact reference.
 */
export const transaction = (): Value<string> =>
  literal('ID', (given) =>
    /^\s*[0-9a-f-]{36}\s*$/i.test(given) ? given.trim() : given,
  ).suggesting('transaction');

export const amount = (placeholder = 'AMOUNT'): Value<Money> =>
  word(placeholder, (given) => parseAmount(given));

/** A value for a currency code, which svcpay converts to upper case. */
export const currency = (placeholder = 'CCY'): Value<string> =>
  word(placeholder, (given) => {
    if (/^sats?$/i.test(given))
      throw invalid(`"${given}" is a unit of BTC. Write BTC for the currency.`);
    if (!/^[A-Za-z]{3,5}$/.test(given)) {
      throw invalid(`"${given}" is not a currency code. Write a code such as BTC, USDT or VND.`);
    }
    return given.toUpperCase();
  }).suggesting('wallet');

export const duration = (placeholder = 'DURATION'): Value<number> =>
  word(placeholder, (given) => parseDuration(given));

/**
 * A value that must be one of the choices.
 * @param aliases for some choices, the names that screens show instead of the choices
 */
export function choice<const C extends string>(
  choices: readonly C[],
  placeholder?: string,
  aliases: Readonly<Record<string, C>> = {},
): Value<C> {
  const names = choices.map(
    (each) => Object.keys(aliases).find((alias) => aliases[alias] === each) ?? each,
  );
  return word(
    placeholder ?? choices.join('|'),
    (given) => {
      const chosen =
        choices.find((each) => each === given.toLowerCase() || each === given) ??
        entryOf(aliases, given.toLowerCase());
      if (chosen === undefined)
        throw invalid(`"${given}" is not one of ${names.join(', ')}.${didYouMean(given, names)}`);
      return chosen;
    },
    choices,
  ).offering(names);
}

export const whole = (min: number, max: number, placeholder = 'N'): Value<number> =>
  word(placeholder, (given) => {
    const number = /^\d{1,15}$/.test(given) ? Number(given) : NaN;
    if (!(number >= min && number <= max)) {
      throw invalid(`"${given}" is not a whole number from ${min} to ${max}.`);
    }
    return number;
  }).within(min, max);

const wordless = <T>(kind: Kind, read: (raw: RawValue) => T): Value<T> =>
  new Value<T>({ ...blank, kind }, read);

/** A switch that is off by default. */
export const flag = (): Value<boolean> => wordless('switch', (raw) => raw === true);

/**
 * A pair of flags, `--name` and `--no-name`, whose value is undefined if the command line gives
 * neither flag.
 */
export const onOff = (): Value<boolean | undefined> =>
  wordless('on-off', (raw) => (typeof raw === 'boolean' ? raw : undefined));

/** A switch that is on unless the command line contains the negated flag, such as `--no-pager`. */
export const unless = (): Value<boolean> => wordless('off', (raw) => raw !== false);

export type Values = Readonly<Record<string, Value<unknown>>>;
export type ValuesOf<V extends Values> = {
  readonly [K in keyof V]: V[K] extends Value<infer T> ? T : never;
};

export type RawValues = Readonly<Record<string, RawValue>>;

/** Reads the values. If several values are missing or wrong, throws one Failure that names them. */
export function readAll<V extends Values>(values: V | undefined, raw: RawValues): ValuesOf<V> {
  const wrong: Failure[] = [];
  const read = Object.fromEntries(
    Object.entries(values ?? {}).map(([name, value]) => {
      try {
        return [name, value.read(raw[name])];
      } catch (error) {
        if (!(error instanceof Failure) || error.kind !== 'usage') throw error;
        wrong.push(error);
        return [name, undefined];
      }
    }),
  );
  const [first] = wrong;
  if (first !== undefined) throw together(wrong, first);
  // The return type of `Object.fromEntries` loses the type of each value.
  return read as ValuesOf<V>;
}

const together = (wrong: readonly Failure[], first: Failure): Failure =>
  wrong.length === 1 ? first : invalid(wrong.map(({ message }) => message).join(' '), { ...first });

/** Converts the name of an option to its flag, for example `maxFee` to `--max-fee`. */
export const flagName = (name: string): string =>
  `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Returns the flags of an option, such as `--wait` and `--no-wait`. */
export function flagsOf(name: string, { shape: { kind } }: Value<unknown>): string[] {
  const flag = flagName(name);
  const negated = flag.replace('--', '--no-');
  return kind === 'off' ? [negated] : kind === 'on-off' ? [flag, negated] : [flag];
}

export const takesWord = ({ shape: { kind } }: Value<unknown>): boolean =>
  kind === 'word' || kind === 'words';

/**
 * Splits a command line into the words and options of `values`. Any other option counts as a
 * switch.
 */
export const parseWords = (argv: readonly string[], values: Values) =>
  parseArgs({
    args: [...argv],
    options: Object.fromEntries(
      Object.entries(values).flatMap(([name, value]) => {
        const { short } = value.shape;
        const type = takesWord(value) ? ('string' as const) : ('boolean' as const);
        const flags = flagsOf(name, value).map((flag) => flag.slice(2));
        return flags.map((flag) => [flag, { type, ...(short !== undefined && { short }) }]);
      }),
    ),
    strict: false,
    tokens: true,
  });

export interface ValueSchema {
  readonly type: 'string' | 'integer' | 'boolean' | 'array';
  readonly description: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: { readonly type: 'string'; readonly enum?: readonly string[] };
}

/**
 * The largest number of choices that help lists. Help omits a list with more than `mostChoices`
 * choices, such as the list of countries.
 */
const mostChoices = 40;

/** Describes the value as JSON Schema. */
export function valueSchema({ shape }: Value<unknown>): ValueSchema {
  const { kind, summary: description, range } = shape;
  const isListed = shape.choices.length > 0 && shape.choices.length <= mostChoices;
  const word = { type: 'string', ...(isListed && { enum: shape.choices }) } as const;
  if (kind === 'words') return { type: 'array', items: word, description };
  if (kind !== 'word') return { type: 'boolean', description };
  if (range === undefined) return { ...word, description };
  return { type: 'integer', minimum: range[0], maximum: range[1], description };
}

export const globalOptions = {
  profile: text('NAME').suggesting('profile').optional().describe('use this profile'),
  account: text('ID').optional().describe('act on this subaccount'),
  budget: text('NAME')
    .optional()
    .describe('charge payments to this budget, and pay only what it allows'),
  baseUrl: text('URL').optional().describe('address of the service'),
  sandbox: flag().describe('use the embedded sandbox: no account, no server'),
  json: flag().describe('print one JSON document'),
  output: choice(formats, 'FORMAT')
    .optional()
    .short('o')
    .describe(`print as ${formats.join(', ')}`),
  fields: word('LIST', (given) => given.split(',').map((field) => field.trim()))
    .optional()
    .describe('only these fields, e.g. txnState,sourceReq.ccy; --fields help lists the names'),
  rawCells: flag().describe('in CSV, do not escape cells that a spreadsheet would run as formulas'),
  quiet: flag().short('q').describe('print only one value, such as the id'),
  yes: flag().short('y').describe('answer yes to the confirmation'),
  input: unless().describe('never ask a question'),
  color: unless().describe('no colours'),
  debug: flag().describe('log every request to stderr, without secrets'),
  logFormat: choice(['text', 'json'], 'FORMAT')
    .optional()
    .describe('with json, write every line on stderr as a JSON object'),
  insecure: flag().describe(
    'allow a service without a verified certificate (NODE_TLS_REJECT_UNAUTHORIZED=0)',
  ),
  timeout: duration().optional().describe('longest time for one request (default 30s)'),
};

export type Globals = ValuesOf<typeof globalOptions>;
