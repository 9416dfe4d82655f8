// What every kind of transaction offers to the service, and what it is given of a creation request.
import type Big from 'big.js';
import * as v from 'valibot';
import type { Context } from '../world/context.js';
import type { Deductions } from '../service/pricing.js';
import type { DueAction } from '../world/schedule.js';
import type { Quote, Transaction } from '../service/transactions.js';
import { badRequest } from '../wire/refusal.js';
import type { Flow } from '../wire/states.js';
import { currency, fields, isMovable, number } from '../wire/values.js';

export const requestedSide = v.pipe(
  v.object({
    ccy: currency,
    method: v.string(),
    amtRequested: v.optional(number),
    reqDetails: v.optional(fields, {}),
    kyc: v.optional(fields),
  }),
  v.check(({ ccy, amtRequested }) => amtRequested === undefined || isMovable(ccy, amtRequested),
    'amtRequested is not an amount of this currency'),
);

export type RequestedSide = v.InferOutput<typeof requestedSide>;

/** A creation request of the right shape: known currencies, exact amounts, at most one of them. */
export interface CreationRequest {
  readonly source: RequestedSide;
  readonly dest: RequestedSide;
  /** Which fees the recipient bears. */
  readonly deduct: Deductions;
  readonly sourceOfFunds?: Readonly<Record<string, unknown>> | undefined;
}

export interface Kind {
  /** Kept with the transaction. */
  readonly name: string;
  readonly flow: Flow;
  /** Whether a creation with these methods is of this kind; `wallet` is the maker's name for the internal wallet. */
  readonly serves: (sourceMethod: string, destMethod: string, wallet: string) => boolean;
  /** Works out the quote. Throws a `Refusal` for what this kind cannot do. */
  readonly quote: (ctx: Context, request: CreationRequest) => Quote;
  /** What PUT confirm does with a quoted transaction. */
  readonly confirm: (ctx: Context, txn: Transaction) => Transaction;
  /** Somebody outside pays what a transaction of this kind asks for. Refuses when it waits for no payment. */
  readonly payFromOutside?: (ctx: Context, txn: Transaction) => Transaction;
  /** A transfer of this kind has the confirmations that it needs. */
  readonly onConfirmed?: (ctx: Context, txn: Transaction) => void;
  /** What this kind does later, by the name it schedules it under. */
  readonly due: Readonly<Record<string, DueAction>>;
}

/** The amount on whichever side it was set. */
export function requestedAmount({ source, dest }: CreationRequest): { side: 'source' | 'dest'; amount: Big } {
  if (source.amtRequested !== undefined) return { side: 'source', amount: source.amtRequested };
  if (dest.amtRequested !== undefined) return { side: 'dest', amount: dest.amtRequested };
  throw badRequest('amtRequested is required');
}

/** The amount where this kind wants it. */
export function amountOn(side: 'source' | 'dest', request: CreationRequest) {
  const amount = request[side].amtRequested;
  if (amount === undefined) throw badRequest(`${side}Req.amtRequested is required`);
  return { side, amount };
}

/** A text that the destination needs. */
export function requiredDetail({ dest }: CreationRequest, name: string): string {
  const value = dest.reqDetails[name];
  if (typeof value !== 'string' || value === '') throw badRequest(`destReq.reqDetails.${name} is required`);
  return value;
}
