// Calculates the seal of a batch: a digest that covers the rows, totals and terms. With the seal,
// one person can check a file and another person can pay exactly that file. Pure.
import { createHash } from 'node:crypto';
import Big from 'big.js';
import * as v from 'valibot';
import { fixed } from '../../formats/amount.js';
import type { Row } from './row.js';

/**
 * The content that the seal covers. svcpay stores this content so that it can later name the rows
 * that differ from the sealed rows.
 */
export const sealedSchema = v.object({
  /** The paying account, and the highest fee and loss per row, as text. */
  terms: v.optional(v.record(v.string(), v.string()), {}),
  totals: v.optional(v.record(v.string(), v.string()), {}),
  rows: v.optional(
    v.array(v.object({ line: v.number(), ref: v.string(), content: v.string() })),
    [],
  ),
});

export type Sealed = v.InferOutput<typeof sealedSchema>;

export const sealedOf = (rows: readonly Row[], terms: Sealed['terms']): Sealed => ({
  terms,
  totals: totalsOf(rows),
  rows: rows.map(({ line, ref, content }) => ({ line, ref, content })),
});

function totalsOf(rows: readonly Row[]): Record<string, string> {
  const sums = new Map<string, Big>();
  for (const { ccy, amount } of rows) sums.set(ccy, (sums.get(ccy) ?? new Big(0)).plus(amount));
  return Object.fromEntries([...sums].map(([ccy, sum]) => [ccy, fixed(sum)]));
}

/**
 * Calculates the seal, which does not depend on the order of the rows or on the format of the file.
 */
export function sealOf({ rows, terms, totals }: Sealed): string {
  const canonical = [
    'seal 1',
    Object.entries(terms).toSorted(byText),
    rows.length,
    Object.entries(totals).toSorted(byText),
    rows.map(({ ref, content }) => [ref, content]).toSorted(byText),
  ];
  return createHash('sha256').update(JSON.stringify(canonical)).digest('hex');
}

const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

/**
 * Describes each difference between this batch and the sealed batch, with the line of each row that
 * differs. Returns an empty list if this home does not have the sealed content.
 */
export function unsealed(now: Sealed, sealed: Sealed | undefined): string[] {
  if (sealed === undefined) return [];
  const before = new Map(sealed.rows.map((row) => [row.ref, row]));
  const present = new Set(now.rows.map(({ ref }) => ref));
  return [
    ...now.rows.flatMap(({ line, ref, content }) => {
      const sealedRow = before.get(ref);
      if (sealedRow === undefined) return [`line ${line} (${ref}) was not sealed`];
      return sealedRow.content === content
        ? []
        : [`line ${line} (${ref}) differs from the sealed row`];
    }),
    ...sealed.rows
      .filter(({ ref }) => !present.has(ref))
      .map(({ line, ref }) => `line ${line} of the sealed file (${ref}) is missing`),
    ...Object.keys({ ...sealed.terms, ...now.terms })
      .filter((name) => sealed.terms[name] !== now.terms[name])
      .map(
        (name) =>
          `${name}: ${sealed.terms[name] ?? 'none'} was sealed, not ${now.terms[name] ?? 'none'}`,
      ),
  ];
}
