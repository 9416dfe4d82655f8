// The values that a command takes, as JSON Schema: for agents and for `svcpay schema`.
import type { Value } from './values.js';

export interface ValueSchema {
  readonly type: 'string' | 'integer' | 'boolean' | 'array';
  readonly description: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: { readonly type: 'string'; readonly enum?: readonly string[] };
}

/** Longer lists, such as every country of the world, cost a reader more than they explain. */
const mostChoices = 40;

/** @param joins several words are one text, as in `50 000 sat` */
export function valueSchema({ shape }: Value<unknown>, joins: boolean): ValueSchema {
  const { kind, summary: description, range } = shape;
  const choices = shape.choices.length > 0 && shape.choices.length <= mostChoices ? { enum: shape.choices } : {};
  if (kind === 'switch' || kind === 'on-off' || kind === 'off') return { type: 'boolean', description };
  if (kind === 'words' && !joins) return { type: 'array', items: { type: 'string', ...choices }, description };
  if (range !== undefined) return { type: 'integer', minimum: range[0], maximum: range[1], description };
  return { type: 'string', description, ...choices };
}
