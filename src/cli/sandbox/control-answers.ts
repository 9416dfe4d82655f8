// What the control endpoints of the sandbox answer, as far as the commands use it; the rest is passed on as it came.
import * as v from 'valibot';

export const clockSchema = v.object({ now: v.number(), frozen: v.boolean() });

export const snapshotSchema = v.looseObject({
  name: v.string(),
  savedAt: v.number(),
  clock: clockSchema,
  transactions: v.number(),
});

export const faultSchema = v.looseObject({
  id: v.number(),
  kind: v.string(),
  nth: v.number(),
  times: v.union([v.number(), v.literal('always')]),
  applied: v.number(),
  spent: v.boolean(),
  method: v.optional(v.string()),
  path: v.optional(v.string()),
  destination: v.optional(v.string()),
  state: v.optional(v.string()),
  status: v.optional(v.number()),
  outcome: v.optional(v.string()),
  delay: v.optional(v.number()),
  retryAfter: v.optional(v.number()),
  commitAfter: v.optional(v.number()),
  ago: v.optional(v.number()),
  steps: v.optional(v.number()),
});

/** A list in its envelope. */
export const listOf = <T>(item: v.GenericSchema<unknown, T>) => v.object({ data: v.array(item) });

/** The query of a control endpoint, led by `?`; what is undefined is left out. */
export function queryOf(fields: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? '' : `?${query}`;
}
