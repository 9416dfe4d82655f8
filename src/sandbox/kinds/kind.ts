// What every kind of transaction offers to the service, and what it is given of a creation request.
import type Big from 'big.js';
import type { Context } from '../world/context.js';
import type { Deductions } from '../service/pricing.js';
import type { DueAction } from '../world/schedule.js';
import type { Quote, Transaction } from '../service/transactions.js';
import type { Flow } from '../wire/states.js';

export interface RequestedSide {
  readonly ccy: string;
  readonly method: string;
  readonly amtRequested?: Big | undefined;
  readonly reqDetails: Readonly<Record<string, unknown>>;
  readonly kyc?: Readonly<Record<string, unknown>> | undefined;
}

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
