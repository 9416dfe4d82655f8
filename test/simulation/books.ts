// What is known of a schedule when it is over: what people wanted and agreed to, and how each
// command ended.
import type Big from 'big.js';
import type { Payment } from '../../src/store/journal/payment.js';
import type { Limits } from '../../src/store/profile/profiles.js';
import type { PaymentOptions } from '../../src/wallet/payment/contract.js';
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
  /** Run when nothing was lost any more. */
  readonly isCalm: boolean;
}

/** What is known of a schedule when it is over. */
export interface Books {
  readonly model: Model;
  readonly keepers: readonly Keeper[];
  readonly ended: Ended[];
  readonly keeperOf: Map<string, Keeper>;
  readonly wishes: readonly Wish[];
  readonly limits: Limits;
  /** Orders with a standing yes. */
  readonly standing: Set<string>;
  /** By order, the totals that a person agreed to. */
  readonly agreed: Map<string, readonly Big[]>;
  /** By the process in which an agent asked, whether its machine's clock is right. */
  readonly agents: Map<string, boolean>;
  /** Payments for which a person said `--retry`. */
  readonly retried: Set<string>;
}

/** All that a journal holds, oldest first. */
export async function paymentsOf({ ids, read }: Keeper): Promise<Payment[]> {
  const found = await Promise.all([...ids].map(read));
  return found
    .filter((payment) => payment !== undefined)
    .toSorted((a, b) => a.openedAt - b.openedAt);
}
