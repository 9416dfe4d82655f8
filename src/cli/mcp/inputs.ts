// Derives the inputs of a tool from the inputs of its command, and reads the inputs of a call with
// the command's own readers.
import { parseAmount } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { clip, nearest, isFields } from '../../formats/text.js';
import type { Command } from '../define.js';
import {
  valueSchema,
  whole,
  type RawValue,
  type RawValues,
  type Value,
  type Values,
  type ValueSchema,
} from '../values.js';
import type { ToolRow } from './tools.js';

export type GivenInputs = Readonly<Record<string, unknown>>;

/** Returns the values of a command's inputs, with the limits that the tool sets. */
const valuesOf = ({ most = {} }: ToolRow, { arguments: words, options }: Command): Values => ({
  ...words,
  ...options,
  ...Object.fromEntries(Object.entries(most).map(([name, highest]) => [name, whole(1, highest)])),
});

/** Returns the inputs of a tool as JSON Schema. An input that its command lacks is a text. */
export function inputSchema(row: ToolRow, command: Command) {
  const { takes, needs = [] } = row;
  const values = valuesOf(row, command);
  const properties = Object.entries(takes).map(([name, description]) => {
    const { description: _ofCommand, enum: _read, ...schema } = schemaOf(values[name]);
    const offers = values[name]?.shape.offers;
    return [
      name,
      {
        ...schema,
        ...(offers !== undefined && schema.items === undefined && { enum: offers }),
        ...(schema.items && { items: { type: schema.items.type } }),
        ...(description !== '' && { description }),
      },
    ] as const;
  });
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(properties),
      ...(row.rows && { rows: rowsSchema(row.rows) }),
    },
    ...(needs.length > 0 && { required: row.rows ? ['rows', ...needs] : needs }),
  } as const;
}

const rowsSchema = (columns: Readonly<Record<string, string>>) => ({
  type: 'array',
  items: {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(columns).map(([name, description]) => [
        name,
        { type: 'string', ...(description !== '' && { description }) },
      ]),
    ),
  },
});

/** Writes the input `rows` as a CSV file. Throws Failure `usage` for an unsuitable row. */
export function rowsAsCsv(
  tool: string,
  columns: Readonly<Record<string, string>>,
  rows: unknown,
): string {
  if (!Array.isArray(rows) || rows.length === 0)
    throw new Failure('usage', 'Not called: rows must be a list of objects.');
  const names = Object.keys(columns);
  const used = names.filter((name) => rows.some((row) => isFields(row) && row[name] != null));
  const lines = rows.map((row: unknown, i) => {
    const fields = isFields(row) ? row : {};
    const wrong = Object.keys(fields).find((name) => !names.includes(name));
    if (!isFields(row) || wrong !== undefined)
      throw new Failure(
        'usage',
        `Not called: rows: row ${i + 1}: ${unknownInput(tool, names, wrong ?? '')}`,
      );
    return used.map((name) => cell(fields[name]));
  });
  return [used, ...lines].map((line) => `${line.join(',')}\n`).join('');
}

const cell = (value: unknown): string =>
  value == null ? '' : `"${String(value).replaceAll('"', '""')}"`;

/** An agent passes a phrase such as an amount as one text. */
const schemaOf = (value: Value<unknown> | undefined): ValueSchema =>
  value === undefined || value.shape.joins === true
    ? { type: 'string', description: '' }
    : valueSchema(value);

/** Aliases that agents use for an input, keyed by the input's name. */
const alsoCalled: Readonly<Record<string, readonly string[]>> = {
  ref: ['reference', 'extRefId'],
  id: ['txnId', 'ref', 'reference', 'extRefId', 'ids'],
  since: ['from'],
  until: ['to'],
  from: ['since'],
  to: ['until'],
  txnId: ['id', 'quoteId'],
};

/**
 * Reads the inputs of a tool call, and replaces each alias with the input's own name. Throws one
 * Failure `usage` that lists all invalid inputs.
 */
export function readInputs(row: ToolRow, command: Command, given: GivenInputs): RawValues {
  const { name: tool, takes, needs = [] } = row;
  const values = valuesOf(row, command);
  const problems: string[] = [];
  const read = new Map<string, RawValue>();
  for (const [word, value] of Object.entries(given)) {
    if (value === null || value === undefined) continue;
    const own = Object.hasOwn(takes, word)
      ? word
      : Object.keys(takes).find((name) => alsoCalled[name]?.includes(word));
    if (own === undefined) {
      problems.push(unknownInput(tool, Object.keys(takes), word));
      continue;
    }
    try {
      const isAmount = own === 'amount' || own === 'spend';
      const raw = rawOf(value, isAmount ? 'integer' : schemaOf(values[own]).type);
      values[own]?.read(raw);
      if (isAmount) parseAmount(String(raw));
      if (read.has(own) && read.get(own) !== raw) problems.push(`${own} has two different values.`);
      read.set(own, raw);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      problems.push(`${own}: ${error.why}`);
    }
  }
  const missing = needs.filter((name) => !read.has(name));
  const explained = missing.map((name) => (takes[name] ? `${name} (${takes[name]})` : name));
  if (missing.length > 0) problems.push(`missing: ${explained.join(', ')}.`);
  if (problems.length > 0) throw new Failure('usage', `Not called: ${problems.join(' ')}`);
  return Object.fromEntries(read);
}

function unknownInput(tool: string, names: readonly string[], word: string): string {
  const meant = nearest(word, names);
  const advice =
    meant === undefined ? `its inputs are ${names.join(', ') || 'none'}` : `did you mean ${meant}?`;
  return `${clip(word)} is not an input of ${tool} (${advice}).`;
}

/** Converts a JSON value to the form in which the command line passes it. */
function rawOf(value: unknown, type: ValueSchema['type']): RawValue {
  if (type === 'boolean' && typeof value === 'boolean') return value;
  const texts = [value]
    .flat()
    .map((each) => (typeof each === 'number' && type === 'integer' ? String(each) : each));
  const isText = (each: unknown): each is string => typeof each === 'string' && each !== '';
  if (type === 'array' && texts.every(isText)) return texts;
  const [text] = texts;
  if (type !== 'boolean' && type !== 'array' && texts.length === 1 && isText(text)) return text;
  throw new Failure('usage', `${clip(JSON.stringify(value))} is not ${expected[type]}.`);
}

const expected: Readonly<Record<ValueSchema['type'], string>> = {
  boolean: 'true or false',
  array: 'a list of non-empty strings',
  integer: 'a number',
  string: 'a non-empty string',
};
