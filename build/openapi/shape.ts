// Helpers for JSON Schema 2020-12 in OpenAPI 3.1. The schemas of objects are closed, so an object
// with a field that its schema does not contain is invalid.

export type Schema = Readonly<Record<string, unknown>>;

export const text: Schema = { type: 'string' };
export const flag: Schema = { type: 'boolean' };
export const amount: Schema = { type: 'number', minimum: 0 };
export const isoTime: Schema = { type: 'string', format: 'date-time' };

export const epochMs = (description: string): Schema => ({
  type: 'integer',
  minimum: 0,
  description: `${description} Epoch milliseconds.`,
});

export const described = (schema: Schema, description: string): Schema => ({
  ...schema,
  description,
});

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

export const list = (items: Schema): Schema => ({ type: 'array', items });

export const oneOf = (...values: readonly string[]): Schema => ({ type: 'string', enum: values });

/** The schema of a value that is null until the transaction is confirmed. */
export const nullable = (schema: Schema): Schema => ({ ...schema, type: [schema['type'], 'null'] });

/**
 * The schema of an object with exactly these fields. A question mark at the end of a field's name
 * makes the field optional.
 */
export function record(fields: Readonly<Record<string, Schema>>, more: Schema = {}): Schema {
  const names = Object.keys(fields);
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [bare(name), fields[name]])),
    required: names.filter((name) => !name.endsWith('?')),
    additionalProperties: false,
    ...more,
  };
}

/** The schema of an object in a request, in which the service ignores unknown fields. */
export const sent = (fields: Readonly<Record<string, Schema>>, more: Schema = {}): Schema =>
  record(fields, { additionalProperties: true, ...more });

export const implies = (condition: Schema, consequence: Schema, otherwise?: Schema): Schema =>
  // The property `then` is a keyword of JSON Schema, and is safe because the program never awaits a
  // schema.
  // oxlint-disable-next-line unicorn/no-thenable
  ({ if: condition, then: consequence, ...(otherwise && { else: otherwise }) });

/** Returns a schema that requires the given values in the fields of an object. */
export const holds = (values: Readonly<Record<string, unknown>>): Schema => ({
  properties: Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, { const: value }]),
  ),
  required: Object.keys(values),
});

const bare = (name: string): string => name.replace(/\?$/, '');
