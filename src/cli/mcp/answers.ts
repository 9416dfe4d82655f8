// Builds tool results that add figures to the output of a command: the total of a quote, the sums
// of a statement.
import Big from 'big.js';
import * as v from 'valibot';
import type { Failure } from '../../formats/failure.js';
import type { GivenInputs } from './inputs.js';

const quoteSchema = v.object({
  txnState: v.literal('quoted'),
  sourceReq: v.object({
    method: v.literal('servicepay'),
    amtRequested: v.number(),
    servicepayFees: v.nullish(v.number()),
    networkFees: v.nullish(v.number()),
  }),
});

/** Adds the total debit to a quote, because language models add decimals badly. */
export function withTotal(content: GivenInputs, { deductFees }: GivenInputs): GivenInputs {
  const read = v.safeParse(quoteSchema, content);
  if (!read.success) return content;
  const { amtRequested, servicepayFees, networkFees } = read.output.sourceReq;
  if (deductFees === true) return { ...content, total: amtRequested };
  const total = new Big(amtRequested).plus(servicepayFees ?? 0).plus(networkFees ?? 0);
  return { ...content, total: total.toNumber() };
}

const amount = v.union([v.number(), v.string()]);
const statementRows = v.array(
  v.object({ wallet: v.string(), kind: v.string(), in: amount, out: amount, fee: amount }),
);

/** The sum of all movements of one kind in one currency. */
export interface MovementSum {
  readonly ccy: string;
  readonly kind: string;
  readonly count: number;
  readonly in: Big;
  readonly out: Big;
  readonly fee: Big;
}

const moves: ReadonlySet<string> = new Set(['receive', 'send', 'swap']);

/**
 * Sums the movements of a statement by currency and kind.
 * @param failure the failure of a statement whose entries do not add up to the balances
 */
export function spendingOf(statement: GivenInputs, failure: Failure | undefined): GivenInputs {
  const sums = new Map<string, MovementSum>();
  for (const row of v.parse(statementRows, statement['spending'])) {
    if (!moves.has(row.kind)) continue;
    const { wallet: ccy, kind } = row;
    const before = sums.get(`${ccy} ${kind}`);
    const added = (name: 'in' | 'out' | 'fee'): Big => new Big(before?.[name] ?? 0).plus(row[name]);
    const count = (before?.count ?? 0) + 1;
    const sum = { ccy, kind, count, in: added('in'), out: added('out'), fee: added('fee') };
    sums.set(`${ccy} ${kind}`, sum);
  }
  return {
    spending: [...sums.values()].map((sum) => ({
      ...sum,
      in: sum.in.toNumber(),
      out: sum.out.toNumber(),
      fee: sum.fee.toNumber(),
    })),
    ties: failure === undefined,
    ...(failure !== undefined && { message: failure.message }),
  };
}
