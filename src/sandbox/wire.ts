// The sandbox's side of the wire: JSON with exact numbers, names with the service name, the states
// of a transaction, refusals, and the schemas of single values.
import Big from 'big.js';
import { Failure } from '../formats/failure.js';
import {
  duplicateExtRefId,
  finalStateParams,
  insufficientBalance,
  maxAmountUnits,
  unitsPerDollar,
} from './unspecified.js';
import * as v from 'valibot';
import { isIPv4 } from 'node:net';
import { decimalsOf, money, parseAmount } from '../formats/amount.js';
import { parseDuration } from '../formats/calendar.js';

export interface WireNames {
  /** The value of `method` for the internal wallet, such as `servicepay`. */
  readonly method: string;
  /** The name of the fee field, such as `servicepayFees`. */
  readonly feeField: string;
  /**
   * The name of the flag that deducts the service fee from the sent amount, such as
   * `deductServicepayFees`. The name of the flag for the service fee is an assumption, because the
   * specification does not show the name.
   */
  readonly feeDeduction: string;
  /** The name of the webhook signature header, such as `X-Servicepay-Signature`. */
  readonly signatureHeader: string;
}

/** Derives the names on the wire from a service name in lower-case letters and digits. */
export function wireNamesOf(name: string): WireNames {
  if (!/^[a-z][a-z0-9]{0,31}$/.test(name)) throw new RangeError(`"${name}" is not a service name.`);
  const capital = name.charAt(0).toUpperCase() + name.slice(1);
  return {
    method: `${name}pay`,
    feeField: `${name}payFees`,
    feeDeduction: `deduct${capital}payFees`,
    signatureHeader: `X-${capital}pay-Signature`,
  };
}

const finalStates = [
  'completed',
  'failed',
  'expired',
  'rejected',
  'error',
  'usercanceled',
] as const;
export const states = ['quoted', 'srcintent', 'srccreated', 'destsent', ...finalStates] as const;
/** The state of a transaction at the service. */
export type State =
  | 'quoted'
  | 'srcintent'
  | 'srccreated'
  | 'destsent'
  | 'completed'
  | 'expired'
  | 'failed'
  | 'usercanceled'
  | 'rejected'
  | 'error';

export const isFinal = (state: State): boolean => finalStates.some((each) => each === state);

/** A group of transaction kinds that have the same states. */
type Flow = 'lightning-receive' | 'onchain-receive' | 'send' | 'swap';

export type Trigger =
  /** The client confirmed the transaction (PUT confirm). */
  | 'confirm'
  /** The client cancelled the transaction (PUT cancel). */
  | 'cancel'
  /** The quote, invoice or address expired. */
  | 'lapse'
  /** The service detected an on-chain payment, which awaits confirmations. */
  | 'detect'
  /** The transfer was sent or broadcast. */
  | 'start'
  /** The payment arrived, and has all its confirmations if it is an on-chain payment. */
  | 'settle'
  /** The payment failed. Only faults cause `rejected` and `error`, never the service itself. */
  | 'failed'
  | 'rejected'
  | 'error';

const unconfirmed = { lapse: 'expired', cancel: 'usercanceled' } as const;
// The specification does not show which states can change to `failed`, `rejected` and `error`. A
// quoted send or swap fails if the balance no longer covers the amount at the confirmation.
const failing = { failed: 'failed', rejected: 'rejected', error: 'error' } as const;

/** The next state of each state, by flow and trigger. */
const transitions: Readonly<
  Record<Flow, Partial<Record<State, Partial<Readonly<Record<Trigger, State>>>>>>
> = {
  'lightning-receive': {
    quoted: { ...unconfirmed, confirm: 'srccreated' },
    srccreated: { settle: 'completed', lapse: 'expired' },
  },
  'onchain-receive': {
    quoted: { ...unconfirmed, confirm: 'srcintent' },
    srcintent: { detect: 'srccreated', lapse: 'expired' },
    srccreated: { settle: 'completed' },
  },
  send: {
    quoted: { ...unconfirmed, confirm: 'srccreated', failed: 'failed' },
    srccreated: { start: 'destsent', failed: 'failed' },
    destsent: { settle: 'completed', ...failing },
    // A final state normally never changes. Only an injected fault makes the recipient return the
    // money of a completed send.
    completed: { failed: 'failed', rejected: 'rejected' },
  },
  swap: { quoted: { ...unconfirmed, confirm: 'completed', ...failing } },
};

const isFlow = (kind: string): kind is Flow => kind in transitions;

/**
 * Returns the next state of a transaction. Throws if the table `transitions` lacks the transition,
 * because only a bug in the engine can request a missing transition.
 */
export function nextState(kind: string, from: State, trigger: Trigger): State {
  const to = transitions[isFlow(kind) ? kind : 'send'][from]?.[trigger];
  if (to === undefined) throw new Error(`A ${kind} in ${from} cannot ${trigger}.`);
  return to;
}

const maxDepth = 32;
const maxNumberLength = 64;
const maxExponent = 40;

/** Matches the texts, the numbers and the brackets of well-formed JSON. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[[\]{}]/g;

/** The key of an object that stands for a number, with half a character, which no text contains. */
const numberKey = '\ud800';

/**
 * Reads JSON with every number as an exact `Big`. Throws `SyntaxError` for text that is not JSON,
 * for too many nested levels, for half a surrogate pair, which UTF-8 cannot represent, and for a
 * number that is too long or has an extreme exponent.
 */
export function readJson(text: string): unknown {
  // `JSON.parse` validates the text, so the rest may assume well-formed JSON.
  JSON.parse(text);
  let depth = 0;
  const marked = text.replace(tokens, (token) => {
    if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    else if (token.startsWith('"')) assertWhole(token);
    else return `{"${numberKey}":"${inRange(token)}"}`;
    if (depth > maxDepth) throw new SyntaxError('nested too deeply');
    return token;
  });
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && numberKey in value
      ? new Big(String(value[numberKey]))
      : value,
  );
}

function assertWhole(literal: string): void {
  if (/\p{Cs}/u.test(JSON.parse(literal))) throw new SyntaxError('half a character');
}

function inRange(literal: string): string {
  const exponent = Number(/[eE](.*)/.exec(literal)?.[1] ?? 0);
  if (literal.length > maxNumberLength || Math.abs(exponent) > maxExponent)
    throw new SyntaxError('number out of range');
  return literal;
}

/** The schema of a database column that contains JSON. */
export const json = <T>(
  shape: v.GenericSchema<unknown, T>,
  read: (text: string) => unknown = JSON.parse,
) => v.pipe(v.string(), v.transform(read), shape);

/** Writes JSON, with decimals as numbers without an exponent. Omits undefined fields. */
export function writeJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof Big) return value.eq(0) ? '0' : value.toFixed();
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  const fields = Object.entries(value).flatMap(([key, field]) =>
    field === undefined ? [] : `${JSON.stringify(key)}:${writeJson(field)}`,
  );
  return `{${fields.join(',')}}`;
}

/** The body of a refusal. In the body of a refusal, `params` is a string that contains JSON. */
type ErrorBody =
  | { readonly error: string; readonly message?: string }
  | {
      readonly resultStatus: 'error';
      readonly code: string;
      readonly error: string;
      readonly errorMetadata: { readonly params: string };
    };

/**
 * A refusal, which any function may throw while it processes a request. The service rolls the
 * request back and sends the refusal as the response.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  /** @param note a note for the request log */
  constructor(
    readonly status: number,
    readonly body: ErrorBody,
    readonly note?: string,
  ) {
    super(`${status} ${body.error}`);
  }
}

export function badRequest(message?: string): Refusal {
  return new Refusal(
    400,
    message === undefined ? { error: 'bad request' } : { error: 'bad request', message },
  );
}

export const notFound = (): Refusal => new Refusal(404, { error: 'not found' });

export const unauthorized = (error = 'unauthorized'): Refusal => new Refusal(401, { error });

export const permissionDenied = (): Refusal => new Refusal(403, { error: 'Permission denied' });

/** The refusal with code 2005: the transaction can no longer be confirmed. */
export const alreadyFinal = (txnId: string, state: string): Refusal =>
  new Refusal(400, {
    resultStatus: 'error',
    code: '2005',
    error: `transaction ${txnId} already in final state ${state}`,
    errorMetadata: { params: JSON.stringify(finalStateParams(txnId, state)) },
  });

export function extRefIdUsed(): Refusal {
  const { status, error, message } = duplicateExtRefId;
  return new Refusal(status, { error, message });
}

export function notEnoughFunds(message: string): Refusal {
  return new Refusal(insufficientBalance.status, { error: insufficientBalance.error, message });
}

/** Runs a parser, and turns its Failure into a `bad request` refusal. */
export function orRefuse<T>(step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (error instanceof Failure) throw badRequest(error.message);
    throw error;
  }
}

/**
 * Describes an invalid value, for example `destReq.amtRequested must be a number`. The argument
 * `root` is the path of the checked object.
 */
export function complaint(issue: v.BaseIssue<unknown>, root = ''): string {
  const path = [root, v.getDotPath(issue)].filter(Boolean).join('.');
  const words = needed(issue);
  if (/^(?:must|is) /.test(words)) return `${path || 'the body'} ${words}`;
  return path === '' ? words : `${path}: ${words}`;
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'must be a string',
  boolean: 'must be true or false',
  Object: 'must be an object',
  Array: 'must be a list',
};

function needed({ message, type, expected, received, requirement }: v.BaseIssue<unknown>): string {
  if (!message.startsWith('Invalid ')) return message;
  if (received === 'undefined') return 'is required';
  if (type === 'non_empty') return 'must not be empty';
  if (type === 'max_length') return `must have at most ${String(requirement)} characters`;
  return typeWords[expected ?? ''] ?? `must be ${expected ?? 'something else'}`;
}

/** The schema of a JSON number, which the parser has read as an exact decimal. */
export const number = v.instance(Big, 'must be a number');

/** A number for the control endpoints, which may be a text from the command line. */
export const numberOrText = v.pipe(
  v.custom<Big | number | string>(
    (given) =>
      given instanceof Big ||
      typeof given === 'number' ||
      (typeof given === 'string' && /^\d{1,15}(\.\d{1,8})?$/.test(given)),
    'must be a number',
  ),
  v.transform(Number),
);

export const whole = (min: number, max: number) =>
  v.pipe(numberOrText, v.integer(), v.minValue(min), v.maxValue(max));

/** A number in a unit of `unitMs`, or a text with its own unit, such as `2s`. */
export const durationIn = (unitMs: number, max: number) =>
  v.pipe(
    v.custom<Big | number | string>(
      (given) => given instanceof Big || typeof given === 'number' || typeof given === 'string',
      'must be a duration',
    ),
    v.transform((given) =>
      typeof given === 'string'
        ? Math.ceil(orRefuse(() => parseDuration(given)) / unitMs)
        : Number(given),
    ),
    v.integer(),
    v.minValue(0),
    v.maxValue(max),
  );

export const duration = durationIn(1, 3.2e12);

export const currency = v.picklist(
  Object.keys(unitsPerDollar),
  'must be a currency of the service',
);

/**
 * The schema of a text without a NUL character, because the database would cut the text off at this
 * character.
 */
export const text = (maxLength: number) =>
  v.pipe(
    v.string(),
    v.maxLength(maxLength),
    v.excludes('\0', 'must not contain the character U+0000'),
  );

/**
 * Whether the amount is above zero and within the maximum, and has at most as many decimals as its
 * currency.
 */
export function isMovable(ccy: string, amount: Big): boolean {
  const units = amount.times(`1e${decimalsOf(ccy)}`);
  return units.gt(0) && units.lte(maxAmountUnits) && units.eq(units.round(0));
}

export const unmovable = (): Refusal =>
  badRequest('the amount is too small or too large, or has too many decimals');

/**
 * Converts an amount to the currency's smallest unit. Throws if the amount has more decimals than
 * the currency.
 */
export function toUnits(ccy: string, amount: Big): number {
  const units = amount.times(`1e${decimalsOf(ccy)}`);
  const whole = Number(units.toFixed());
  if (!Number.isSafeInteger(whole))
    throw new RangeError(`${amount.toFixed()} ${ccy} is not a whole number of units.`);
  return whole;
}

export const fromUnits = (ccy: string, units: number): Big =>
  new Big(`${units}e-${decimalsOf(ccy)}`);

export const fields = v.pipe(
  v.unknown(),
  v.check(isObject, 'must be an object'),
  v.record(v.string(), v.unknown()),
);

/**
 * Whether the value is a plain object. A `Big`, which stands for a JSON number, does not count as a
 * plain object.
 */
function isObject(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}

/**
 * Reads an amount with a unit (`1000sat`), or an amount of bare digits in whole units of the
 * currency (`0.5`).
 */
export function readAmount(ccy: string, text: string): Big {
  const { value } = orRefuse(() =>
    /^\d{1,20}(\.\d{1,8})?$/.test(text) ? money(ccy, text) : parseAmount(text, ccy),
  );
  if (!isMovable(ccy, value)) throw unmovable();
  return value;
}

export function isLoopback(hostname: string): boolean {
  return (
    /^(.+\.)?localhost$|^\[::1\]$/.test(hostname) ||
    (isIPv4(hostname) && hostname.startsWith('127.'))
  );
}
