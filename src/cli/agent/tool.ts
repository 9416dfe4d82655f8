// The shape of a tool: what it takes, as typed values like those of a command, and the function that runs it.
import type { Tool as Listing } from '@modelcontextprotocol/server';
import * as v from 'valibot';
import { Failure } from '../../formats/failure.js';
import { readAll, type Values, type ValuesOf } from '../values.js';

/** What a tool does to money: nothing, a quote that lapses, or it lets it go. */
type Effect = 'reads' | 'quotes' | 'pays';

export interface ToolDefinition<A extends Values> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: A;
  readonly effect: Effect;
  readonly run: (values: ValuesOf<A>, signal: AbortSignal) => Promise<object>;
}

export interface Tool {
  readonly name: string;
  readonly effect: Effect;
  /** As `tools/list` shows it. */
  readonly listing: Listing;
  /** Throws Failure `usage` for arguments that it does not take, and whatever running it throws. */
  readonly call: (given: unknown, signal: AbortSignal) => Promise<object>;
}

/** A JSON object, and no list. */
const objectSchema = v.custom<Readonly<Record<string, unknown>>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);
const longest = 10_000;
/** Numbers too, since models write some of them without quotes. */
const word = v.pipe(v.union([v.string(), v.pipe(v.number(), v.finite())]), v.transform(String), v.maxLength(longest));
const argumentsSchema = v.optional(objectSchema, {});

export function defineTool<A extends Values>(definition: ToolDefinition<A>): Tool {
  const { name, title, description, arguments: values, effect, run } = definition;
  return {
    name,
    effect,
    listing: { name, title, description, inputSchema: inputSchema(values), annotations: annotations(effect) },
    call: async (given, signal) => run(readArguments(values, given), signal),
  };
}

function inputSchema(values: Values): Listing['inputSchema'] {
  const shapes = Object.entries(values).map(([name, { shape }]) => ({ name, shape }));
  return {
    type: 'object',
    properties: Object.fromEntries(
      shapes.map(({ name, shape: { summary, choices } }) => [
        name,
        { type: 'string', description: summary, ...(choices.length > 0 && { enum: [...choices] }) },
      ]),
    ),
    required: shapes.filter(({ shape }) => shape.required).map(({ name }) => name),
    additionalProperties: false,
  };
}

/** Hints for the person who is asked to allow it. */
const annotations = (effect: Effect): Listing['annotations'] => ({
  readOnlyHint: effect === 'reads',
  destructiveHint: effect === 'pays',
  idempotentHint: effect !== 'quotes',
  openWorldHint: true,
});

function readArguments<A extends Values>(values: A, given: unknown): ValuesOf<A> {
  const read = v.safeParse(argumentsSchema, given);
  if (!read.success) throw usage('The arguments must be an object.');
  const unknown = Object.keys(read.output).filter((name) => !Object.hasOwn(values, name));
  if (unknown.length > 0) throw usage(`It does not take ${unknown.join(', ')}.`);
  const needed = Object.keys(values).filter((name) => values[name]?.shape.required === true);
  const missing = needed.filter((name) => !Object.hasOwn(read.output, name));
  if (missing.length > 0) throw usage(`Missing: ${missing.join(', ')}.`);
  const words = Object.entries(read.output).map(([name, value]) => [name, readWord(name, value)]);
  return readAll(values, Object.fromEntries(words));
}

function readWord(name: string, value: unknown): string {
  const read = v.safeParse(word, value);
  if (read.success) return read.output;
  throw usage(`${name} must be text of at most ${longest} characters.`);
}

const usage = (message: string): Failure => new Failure('usage', message);
