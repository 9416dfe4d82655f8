// Defines the inputs of the tools: names, schemas, and errors for invalid values.
import { parseAmount } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { clip } from '../../formats/text.js';
import type { Command } from '../define.js';
import { nearest } from '../../formats/nearest.js';
import { valueSchema, type RawValues, type Value } from '../values.js';

export type GivenInputs = Readonly<Record<string, unknown>>;

/** An input as JSON Schema. */
export interface Input {
  readonly type: 'string' | 'integer' | 'boolean' | 'array';
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: { readonly type: 'string' };
}

export type Inputs = Readonly<Record<string, Input>>;

/** The inputs that a tool takes from its command, each with its description for an agent. */
export type TakenInputs = Readonly<Record<string, string>>;

/**
 * Describes the inputs of a tool with the types that the command declares. An input that the
 * command has under another name is a text.
 */
export const inputsOf = (
  takes: TakenInputs,
  { arguments: words, options }: Pick<Command, 'arguments' | 'options'>,
): Inputs =>
  Object.fromEntries(
    Object.entries(takes).map(([name, description]) => [
      name,
      inputOf({ ...words, ...options }[name], description),
    ]),
  );

function inputOf(value: Value<unknown> | undefined, description: string): Input {
  const described = description === '' ? {} : { description };
  // An agent passes a phrase such as an amount as one text.
  if (value === undefined || value.shape.joins === true) return { type: 'string', ...described };
  const { type, items, minimum, maximum } = valueSchema(value);
  const { offers } = value.shape;
  return {
    type,
    ...(offers !== undefined && items === undefined && { enum: offers }),
    ...(items && { items: { type: items.type } }),
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
    ...described,
  };
}

/** Aliases that agents use for an input, keyed by the input's name. */
const alsoCalled: Readonly<Record<string, readonly string[]>> = {
  ref: ['reference', 'extRefId'],
  id: ['txnId', 'ref', 'reference', 'extRefId', 'ids'],
  since: ['from'],
  until: ['to'],
  txnId: ['id', 'quoteId'],
};

/** The inputs of a tool, and the names of its required inputs. */
interface ToolInputs {
  readonly name: string;
  readonly inputs: Inputs;
  readonly needs?: readonly string[] | undefined;
}

/**
 * Reads the inputs of a tool call, and replaces each alias with the input's own name. Throws one
 * Failure `usage` that lists all invalid inputs with the given and the allowed values.
 */
export function readGiven(
  { name, inputs, needs = [] }: ToolInputs,
  given: GivenInputs,
): GivenInputs {
  const problems: string[] = [];
  const read = new Map<string, unknown>();
  for (const [word, value] of Object.entries(given)) {
    const own = Object.hasOwn(inputs, word) ? word : ownName(inputs, word);
    const input = own === undefined ? undefined : inputs[own];
    if (own === undefined || input === undefined) problems.push(unknownInput(name, inputs, word));
    else if (value !== null && value !== undefined) {
      const problem = problemOf(own, input, value);
      if (problem !== undefined) problems.push(problem);
      else if (read.has(own) && read.get(own) !== value)
        problems.push(`${own} has two different values`);
      read.set(own, inForm(input, value));
    }
  }
  const missing = needs
    .filter((each) => !read.has(each))
    .map((each) => described(each, inputs[each]?.description));
  if (missing.length > 0) problems.push(`missing: ${missing.join(', ')}`);
  refuseIfAny(problems);
  return Object.fromEntries(read);
}

/**
 * Converts a value to the form that the input's schema requires. Agents may write a choice in any
 * letter case, and may pass a single item instead of a list.
 */
function inForm({ type, enum: choices }: Input, value: unknown): unknown {
  if (type === 'array') return [value].flat();
  return choices?.find((each) => isChoice(each, value)) ?? value;
}

const isChoice = (choice: string, value: unknown): boolean =>
  typeof value === 'string' && value.toLowerCase() === choice.toLowerCase();

const ownName = (takes: Inputs, word: string): string | undefined =>
  Object.keys(takes).find((own) => alsoCalled[own]?.includes(word));

const described = (name: string, description: string | undefined): string =>
  description === undefined ? name : `${name} (${description})`;

function unknownInput(tool: string, takes: Inputs, word: string): string {
  const names = Object.keys(takes);
  const meant = nearest(word, names);
  if (meant !== undefined)
    return `${clip(word)} is not an input of ${tool} (did you mean ${meant}?)`;
  const accepted =
    names.length === 0
      ? 'the tool has no inputs'
      : `the inputs of the tool are ${names.join(', ')}`;
  return `${clip(word)} is not an input of ${tool} (${accepted})`;
}

function problemOf(name: string, input: Input, value: unknown): string | undefined {
  const given = `${name} is ${clip(JSON.stringify(value))}`;
  const { type, enum: choices, minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = input;
  if (type === 'boolean')
    return typeof value === 'boolean' ? undefined : `${given} but must be true or false`;
  if (type === 'integer') {
    const isWhole = Number.isSafeInteger(value) || /^\d{1,15}$/.test(String(value));
    return isWhole && Number(value) >= minimum && Number(value) <= maximum
      ? undefined
      : `${given} but must be a whole number from ${minimum} to ${maximum}`;
  }
  if (amounts.has(name) && (typeof value === 'string' || typeof value === 'number'))
    return whyUnreadable(name, () => parseAmount(String(value)));
  const isText = (each: unknown): boolean => typeof each === 'string' && each !== '';
  if (type === 'array' && ![value].flat().every(isText))
    return `${given} but must be a list of non-empty strings`;
  if (type === 'string' && !isText(value)) return `${given} but must be a non-empty string`;
  if (choices !== undefined && !choices.some((each) => isChoice(each, value)))
    return `${given} but must be one of ${choices.join(', ')}`;
  return undefined;
}

const amounts: ReadonlySet<string> = new Set(['amount', 'spend']);

/** Returns the error for an invalid value, preceded by the name of the input. */
function whyUnreadable(name: string, read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return `${name}: ${error.message.replace(/\.$/, '')}`;
    throw error;
  }
}

/**
 * Parses each value of a tool call with the command's own parser, before any request. Throws one
 * Failure `usage` that names all invalid inputs.
 * @param given the values, keyed by the command's names
 * @param inputs the same values, keyed by the tool's names, which the failure shows to the agent
 */
export function readValues(
  { arguments: words, options }: Pick<Command, 'arguments' | 'options'>,
  given: GivenInputs,
  inputs: GivenInputs,
): void {
  const inputNamed = (name: string): string =>
    Object.hasOwn(inputs, name)
      ? name
      : (Object.keys(inputs).find((input) => inputs[input] === given[name]) ?? name);
  const values: Readonly<Record<string, Value<unknown>>> = { ...words, ...options };
  const raw = rawOf(given);
  refuseIfAny(
    Object.keys(given).flatMap(
      (name) => whyUnreadable(inputNamed(name), () => values[name]?.read(raw[name])) ?? [],
    ),
  );
}

/** Converts the inputs to command-line values: numbers become strings, booleans do not change. */
export const rawOf = (given: GivenInputs): RawValues =>
  Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      typeof value === 'boolean' ? value : Array.isArray(value) ? value.map(String) : String(value),
    ]),
  );

function refuseIfAny(problems: readonly string[]): void {
  if (problems.length > 0) throw new Failure('usage', `Not called: ${problems.join('; ')}.`);
}
