// The records of a schedule: the payments that people wanted and approved, and the result of each
// command.
import type Big from 'big.js';
import type { Payment } from '../../src/store/journal/payment.js';
import type { Limits } from '../../src/store/profile/profiles.js';
import type { PaymentOptions } from '../../src/wallet/payment/model.js';
import type { Keeper, Tracks } from './homes.js';
import type { Verdict } from './process.js';
import type { Model } from './service-model.js';
import type { Wish } from './wishes.js';

export type CommandKind = 'pay' | 'resume' | 'confirm' | 'cancel' | 'batch' | 'agent' | 'import';

export interface Ended {
  readonly command: CommandKind;
  readonly process: string;
  readonly keeper: Keeper;
  readonly tracks: Tracks;
  readonly wishes: readonly Wish[];
  readonly options: PaymentOptions;
  readonly startedAt: number;
  readonly verdict: Verdict;
  /** Whether the command started after all faults had stopped. */
  readonly isCalm: boolean;
}

/** The records of a schedule, which the audit reads after the schedule ends. */
export interface Books {
  readonly model: Model;
  readonly keepers: readonly Keeper[];
  readonly ended: Ended[];
  readonly keeperOf: Map<string, Keeper>;
  readonly wishes: readonly Wish[];
  readonly limits: Limits;
  /** The keys of the orders that a person approved with `--yes`. */
  readonly standing: Set<string>;
  /** The totals that a person approved, by the key of the order. */
  readonly agreed: Map<string, readonly Big[]>;
  /** Maps the name of each agent's process to whether the clock of its machine is right. */
  readonly agents: Map<string, boolean>;
  /** The ids of the payments that a person ran with `--retry`. */
  readonly retried: Set<string>;
}

/** Reads all payments of a journal, oldest first. */
export async function paymentsOf({ ids, read }: Keeper): Promise<Payment[]> {
  const found = await Promise.all([...ids].map(read));
  return found
    .filter((payment) => payment !== undefined)
    .toSorted((a, b) => a.openedAt - b.openedAt);
}
