// The parameters of the service in one schedule: behaviours that the specification leaves open or
// does not forbid.
import type { Deviation } from './service-quotes.js';
import type { Chance } from './world.js';

/** The behaviours that `--without` can disable, to find out which behaviours a failure needs. */
export const behaviours = [
  'reads lag',
  'expired is said too early',
  'lists lag',
  'used references are taken',
  'confirmations wait',
  'waiting outlives expiry',
  'waiting refuses more',
  'own refusals',
  'other transactions',
  'begun by themselves',
  'gateways',
  'clocks',
  'dated ahead',
] as const;

export type Behaviour = (typeof behaviours)[number];

export interface ServiceParameters {
  readonly tokenLifeMs: number;
  readonly quoteLifeMs: number;
  readonly pageSize: number;
  readonly oldestFirst: boolean;
  /** The number of payments in the list that are older than the schedule. */
  readonly olderPayments: number;
  /** Whether one of the older payments in the list is dated an hour ahead. */
  readonly datesAhead: boolean;
  /** Whether a page of the list reports its own number of rows as the total of the list. */
  readonly miscounts: boolean;
  /**
   * Whether a quote becomes `expired` at its expiry, instead of only when a late confirmation
   * arrives.
   */
  readonly lapsesByItself: boolean;
  /** Whether the response to a late confirmation is the transaction instead of code 2005. */
  readonly answersLate: boolean;
  /** Probability that a payment ends as `failed` or `rejected`. */
  readonly failing: number;
  /**
   * Whether responses contain the amounts of both sides, even if the create request has only one
   * amount or none.
   */
  readonly computesAmounts: boolean;
  readonly showsRates: boolean;
  readonly cancels: boolean;
  /**
   * The maximum age of a stale read in ms. A stale read shows an earlier state, and omits new
   * transactions.
   */
  readonly readLagMs: number;
  /** Whether a response may report `expired` for a quote that was confirmed in time. */
  readonly saysExpiredTooEarly: boolean;
  readonly listLagMs: number;
  /** Whether each list lags by exactly `listLagMs` instead of a random time up to `listLagMs`. */
  readonly lagsSteadily: boolean;
  readonly refusesUsedReferences: boolean;
  /** The longest time in ms until a received confirmation takes effect, whatever the response. */
  readonly confirmationWaitsMs: number;
  /**
   * Whether a confirmation that arrived in time takes effect even after the expiry of the quote.
   */
  readonly waitingOutlivesExpiry: boolean;
  /**
   * Whether the service refuses further confirmations while a confirmation waits to take effect.
   */
  readonly waitingRefusesMore: boolean;
  /** Probability that a payment ends as `error`, after its money moved or did not move. */
  readonly erring: number;
  /** Probability that the service itself refuses a confirmation. */
  readonly refusing: number;
  /** Probability that a created transaction differs from the order. */
  readonly making: number;
  /**
   * The only way in which a transaction may differ from its order, or undefined if every deviation
   * is possible.
   */
  readonly deviation: Deviation | undefined;
  /** Probability that a created transaction is under way without a confirmation. */
  readonly beginning: number;
}

export interface Circumstances {
  /**
   * Whether several journals use the same references, so that only the service can prevent a second
   * payment: the service must then refuse used references and report true final states.
   */
  readonly severalJournals: boolean;
  /**
   * Whether people type command lines. They record what happened to payments that end as `error`,
   * and their batches request quotes that nobody wants to pay.
   */
  readonly typed: boolean;
  readonly without: ReadonlySet<Behaviour>;
  /** If set, many transactions differ from their orders, each by the given deviation. */
  readonly deviation: Deviation | undefined;
}

/**
 * @param aside a second random generator for parameters that were added later, so that `chance`
 * still draws the same values from a seed
 */
export function drawParameters(
  chance: Chance,
  aside: Chance,
  { severalJournals, typed, without, deviation }: Circumstances,
): ServiceParameters {
  const isBusy = chance.hits(0.1);
  const drawn = {
    tokenLifeMs: chance.pick([3_000, 60_000, 3_600_000]),
    quoteLifeMs: chance.pick([2_000, 10_000, 30_000, 60_000]),
    // The model reports wrong totals only with pages of 20 rows. If a page of one or two rows
    // reported its own length as the total, svcpay might take the page for the whole list.
    pageSize: isBusy ? 20 : chance.pick([1, 2, 100]),
    oldestFirst: chance.hits(0.3),
    olderPayments: isBusy ? 21 : 0,
    miscounts: isBusy,
    lapsesByItself: chance.hits(0.5),
    answersLate: chance.hits(0.5),
    failing: chance.pick([0, 0.2]),
    computesAmounts: chance.hits(0.5),
    showsRates: chance.hits(0.5),
    cancels: chance.hits(0.5),
    readLagMs: chance.hits(0.3) ? chance.pick([1_000, 6_000, 20_000]) : 0,
    saysExpiredTooEarly: chance.hits(0.3),
    listLagMs: chance.hits(0.3) ? chance.pick([1_000, 6_000, 60_000]) : 0,
    lagsSteadily: chance.hits(0.5),
    refusesUsedReferences: !chance.hits(0.25),
    confirmationWaitsMs: chance.hits(0.25) ? chance.pick([500, 5_000, 30_000]) : 0,
    waitingOutlivesExpiry: chance.hits(0.5),
    waitingRefusesMore: chance.hits(0.5),
    refusing: chance.hits(0.15) ? 0.3 : 0,
    making: chance.hits(0.15) ? 0.5 : 0,
    beginning: chance.hits(0.05) ? 0.3 : 0,
  };
  const off = (behaviour: Behaviour): boolean => without.has(behaviour);
  const used = drawn.refusesUsedReferences || severalJournals || off('used references are taken');
  return {
    ...drawn,
    // If the list contains a future date, svcpay reads the whole list before each confirmation, and
    // the shortest quotes would expire before they are confirmed.
    datesAhead: aside.hits(0.1) && drawn.quoteLifeMs > 2_000 && !off('dated ahead'),
    erring: typed && aside.hits(0.3) ? 0.5 : 0,
    // Homes with separate journals tolerate a stale read only if its data is less than 8 s old.
    readLagMs: off('reads lag')
      ? 0
      : severalJournals
        ? Math.min(drawn.readLagMs, 6_000)
        : drawn.readLagMs,
    saysExpiredTooEarly:
      drawn.saysExpiredTooEarly && !severalJournals && !off('expired is said too early'),
    // If lists showed a quote only after its expiry, a person who checks the list before a
    // confirmation could never pay.
    listLagMs: off('lists lag') ? 0 : Math.min(drawn.listLagMs, drawn.quoteLifeMs / 4),
    refusesUsedReferences: used,
    confirmationWaitsMs: off('confirmations wait') ? 0 : drawn.confirmationWaitsMs,
    waitingOutlivesExpiry:
      drawn.waitingOutlivesExpiry && !severalJournals && !off('waiting outlives expiry'),
    waitingRefusesMore: drawn.waitingRefusesMore && !off('waiting refuses more'),
    refusing: off('own refusals') ? 0 : drawn.refusing,
    making: off('other transactions') ? 0 : deviation === undefined ? drawn.making : 0.5,
    deviation,
    // If each copy of a create request or each quote started a payment, no wallet could prevent a
    // second payment.
    beginning: off('begun by themselves') || !used || typed ? 0 : drawn.beginning,
  };
}
