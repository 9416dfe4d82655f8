// What a service of one schedule is like: what the specification leaves open, and what services do
// that it does not forbid.
import type { Twist } from './service-quotes.js';
import type { Chance } from './world.js';

/** Behaviours that can be left out, to see which of them a failure needs. */
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

export interface Traits {
  readonly tokenLifeMs: number;
  readonly quoteLifeMs: number;
  readonly pageSize: number;
  readonly oldestFirst: boolean;
  /** Payments of other times that the list shows as well. */
  readonly olderPayments: number;
  /** One of those is dated an hour ahead. */
  readonly datesAhead: boolean;
  /** What a page calls the number of all rows is the number of its own. */
  readonly miscounts: boolean;
  /** A quote becomes `expired` by itself; otherwise only when it is confirmed too late. */
  readonly lapsesByItself: boolean;
  /** A late confirmation is answered with the transaction, or with code 2005. */
  readonly answersLate: boolean;
  /** Probability that a payment ends as `failed` or `rejected`. */
  readonly failing: number;
  /** The side that nobody asked an amount for is computed in the answer. */
  readonly computesAmounts: boolean;
  readonly showsRates: boolean;
  readonly cancels: boolean;
  /** A read shows what was up to so long ago: states go back, and what is new is not there yet. */
  readonly readLagMs: number;
  /**
   * A read tells `expired` from the quote's time alone, also of one that was confirmed a moment
   * ago.
   */
  readonly saysExpiredTooEarly: boolean;
  readonly listLagMs: number;
  /** It lags by as much as that every time; otherwise by up to that, each time differently. */
  readonly lagsSteadily: boolean;
  readonly refusesUsedReferences: boolean;
  /** A confirmation takes effect up to so long after it was taken, whatever was answered. */
  readonly confirmationWaitsMs: number;
  /** One that was taken in time takes effect although the quote has lapsed meanwhile. */
  readonly waitingOutlivesExpiry: boolean;
  /** While one waits to take effect, each further confirmation is refused. */
  readonly waitingRefusesMore: boolean;
  /** Probability that the service itself refuses a confirmation. */
  readonly refusing: number;
  /** Probability that a creation makes something else than was asked. */
  readonly making: number;
  /** What else, where it is always the same. */
  readonly mistake: Twist | undefined;
  /** Probability that what was created is under way without a confirmation. */
  readonly beginning: number;
}

export interface Circumstances {
  /**
   * Several journals share references. Then only the service stands between them: it refuses a used
   * reference, and what it reports as over is over.
   */
  readonly severalJournals: boolean;
  readonly without: ReadonlySet<Behaviour>;
  /** The one mistake that the service makes, and often. */
  readonly mistake: Twist | undefined;
}

/**
 * @param aside what was thought of later is drawn from this one, so that the schedule of a seed
 * stays as it was
 */
export function drawTraits(
  chance: Chance,
  aside: Chance,
  { severalJournals, without, mistake }: Circumstances,
): Traits {
  const isBusy = chance.hits(0.1);
  const drawn = {
    tokenLifeMs: chance.pick([3_000, 60_000, 3_600_000]),
    quoteLifeMs: chance.pick([2_000, 10_000, 30_000, 60_000]),
    // Who gives pages of a few rows counts them: a list of a few rows is not read again to see
    // whether it is all.
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
    // Then the list is read whole before each confirmation, for longer than the shortest quote is
    // valid.
    datesAhead: aside.hits(0.1) && drawn.quoteLifeMs > 2_000 && !off('dated ahead'),
    // Between homes without a database only reads that are stale for less than 8 s are allowed for.
    readLagMs: off('reads lag')
      ? 0
      : severalJournals
        ? Math.min(drawn.readLagMs, 6_000)
        : drawn.readLagMs,
    saysExpiredTooEarly:
      drawn.saysExpiredTooEarly && !severalJournals && !off('expired is said too early'),
    // A list that shows a quote only when its time is over lets nobody pay who looks before he
    // pays.
    listLagMs: off('lists lag') ? 0 : Math.min(drawn.listLagMs, drawn.quoteLifeMs / 4),
    refusesUsedReferences: used,
    confirmationWaitsMs: off('confirmations wait') ? 0 : drawn.confirmationWaitsMs,
    waitingOutlivesExpiry:
      drawn.waitingOutlivesExpiry && !severalJournals && !off('waiting outlives expiry'),
    waitingRefusesMore: drawn.waitingRefusesMore && !off('waiting refuses more'),
    refusing: off('own refusals') ? 0 : drawn.refusing,
    making: off('other transactions') ? 0 : mistake === undefined ? drawn.making : 0.5,
    mistake,
    // Where each copy of a creation begins a payment of its own, nothing that a wallet does
    // matters.
    beginning: off('begun by themselves') || !used ? 0 : drawn.beginning,
  };
}
