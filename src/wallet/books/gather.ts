// Reads all transactions of an account once, and sorts their movements on disk. If the movements of
// a wallet do not add up to its balance, re-reads recent transactions, because the service may
// update its balances before its list.
import { isDeepStrictEqual } from 'node:util';
import type Big from 'big.js';
import type { ListedTransaction, TransactionFilter, Wallet } from '../../api/types.js';
import { interrupted } from '../../api/timers.js';
import { givenFromWire } from '../../formats/amount.js';
import type { Span } from '../../formats/calendar.js';
import { policies, poll, type PollNext } from '../../formats/poll.js';
import {
  withFigures,
  mayHaveCrossed,
  settledAt,
  withStoredTimes,
  type StoredTimes,
} from '../history/moved-amounts.js';
import { spanFilter } from '../../api/pages.js';
import {
  type BookRows,
  booked,
  signed,
  unexplained,
  withoutTransaction,
  type Candidate,
  type Movement,
  type SealedMonth,
} from './movement.js';
import { balanceAfter, explanations, type Difference } from './statement.js';

export interface BooksService {
  wallets(): Promise<Wallet[]>;
  transaction(txnId: string): Promise<ListedTransaction>;
  eachTransactionPage(filter: TransactionFilter): AsyncIterable<readonly ListedTransaction[]>;
  serviceNow(): number;
}

export interface GatherDeps {
  readonly service: BooksService;
  readonly rows: BookRows;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** The adjustments of the account. */
  readonly recorded: readonly Movement[];
  /**
   * By currency, the time in epoch ms at which the movements of the wallet last added up to the
   * service's balance.
   */
  readonly ties: ReadonlyMap<string, number>;
  /**
   * Reads the transactions of this home that the service's list may lack. svcpay needs these
   * transactions only if the movements of a wallet do not add up to the service's balance.
   */
  readonly submitted: () => Promise<Iterable<Candidate>>;
  /**
   * The start and end times of periods, in epoch ms. A transaction belongs to the period in which
   * it settled.
   */
  readonly edges: readonly number[];
  /** Returns the time at which a transaction settled, if this home knows that time. */
  readonly settled: (txnId: string) => Promise<number | undefined>;
  readonly stored: StoredTimes;
  /** The closed months in their order, whose rows stay as they were sealed. */
  readonly sealed: readonly SealedMonth[];
  /** Called with each page of the list before svcpay formats the page. */
  readonly onPage: (page: readonly ListedTransaction[]) => void | Promise<void>;
}

/** The money in a wallet before its first transaction, which no adjustment explains. */
export interface Opening {
  readonly ccy: string;
  readonly value: Big;
  /** The time of the wallet's first movement in epoch ms, or now without a movement. */
  readonly at: number;
}

export interface Books {
  /** The time at which svcpay read the list, in epoch ms by the service's clock. */
  readonly at: number;
  /** The sorted codes of all currencies that have a wallet or a movement. */
  readonly currencies: readonly string[];
  /**
   * The movements of a wallet, or of all wallets, oldest first. Each call of `movements` starts
   * from the first movement of the span, which is all of history by default.
   */
  movements(ccy: string | undefined, span?: Span): Iterable<Movement>;
  candidates(ccy: string): readonly Candidate[];
  /**
   * The opening balances that svcpay calculated for wallets whose movements never added up to the
   * service's balance. `movements` includes the calculated opening balances, but the journal does
   * not contain them.
   */
  readonly openings: readonly Opening[];
  readonly tied: readonly { readonly ccy: string; readonly balance: Big }[];
  /**
   * The wallets whose movements do not add up to the service's balance. If the service reports no
   * balance for a wallet, the wallet is in `unreported`.
   */
  readonly differences: readonly Difference[];
  readonly unreported: readonly string[];
}

/**
 * A further read of the list also covers transactions created up to this many ms before the
 * previous read, because such transactions may have changed during the previous read.
 */
const overlapMs = 3_600_000;

export async function gather(deps: GatherDeps): Promise<Books> {
  const { service, rows, recorded } = deps;
  rows.replace([], recorded);
  const wallets = await readUntilTied(deps);
  const unlike = wallets.filter(isUnlike);
  if (unlike.length > 0) rows.addMissing(await deps.submitted());
  const differences = unlike.map(({ ccy, added, reported }): Difference => {
    const difference = reported.minus(added);
    return {
      ccy,
      added,
      reported,
      difference,
      lastTied: deps.ties.get(ccy),
      explanations: explanations(difference, rows.candidates(ccy)),
    };
  });
  const openings = differences
    .filter((each) => isOpening(each, deps))
    .map(({ ccy, difference: value }): Opening => {
      const [first] = rows.movements(ccy);
      return { ccy, value, at: first?.at ?? service.serviceNow() };
    });
  rows.replace([], openings.map(openingMovement));
  rows.keepSealed(deps.sealed);
  const isOpened = new Set(openings.map(({ ccy }) => ccy));
  const held = wallets.filter(({ reported }) => reported?.eq(0) === false);
  return {
    at: service.serviceNow(),
    currencies: [...new Set([...held.map(({ ccy }) => ccy), ...rows.currencies()])].toSorted(),
    movements: rows.movements,
    candidates: rows.candidates,
    openings,
    differences: differences.filter(({ ccy }) => !isOpened.has(ccy)),
    tied: wallets.flatMap(({ ccy, added, reported }) =>
      reported?.eq(added) === true ? { ccy, balance: reported } : [],
    ),
    unreported: wallets.flatMap(({ ccy, reported }) => (reported === undefined ? ccy : [])),
  };
}

/**
 * Reads the service's list, and re-reads its latest transactions while the list may lag behind the
 * wallets.
 */
async function readUntilTied({
  service,
  rows,
  edges,
  settled,
  stored,
  onPage,
  ...clock
}: GatherDeps): Promise<readonly CheckedWallet[]> {
  let since = 0;
  let wallets = await service.wallets();
  let checked: readonly CheckedWallet[] = [];
  const read = async (): Promise<PollNext<readonly CheckedWallet[]>> => {
    const startedAt = service.serviceNow();
    let oldestOpen = startedAt;
    const pages = withFigures(
      withStoredTimes(service.eachTransactionPage(spanFilter(since)), stored, edges, settled),
      async (txnId) => {
        const txn = await service.transaction(txnId);
        // Without an update time, the creation time counts, and svcpay does not ask again.
        const at = settledAt(txn) ?? (txn.txnState === 'completed' ? txn.createdAt : undefined);
        if (at != null) await stored.keep(new Map([[txnId, at]]));
        return txn;
      },
      (txn) => mayHaveCrossed(txn, edges),
    );
    for await (const page of pages) {
      await onPage(page);
      oldestOpen = Math.min(oldestOpen, keepPage(page, rows, service.serviceNow()));
    }
    const earlier = totalsOf(wallets);
    wallets = await service.wallets();
    checked = [...totalsOf(wallets)].map(([ccy, reported]) => ({
      ccy,
      added: balanceAfter(rows.movements(ccy)),
      reported,
    }));
    if (
      !checked.some(isUnlike) ||
      (isDeepStrictEqual(earlier, totalsOf(wallets)) && isSettled(wallets, startedAt))
    )
      return { done: checked };
    since = Math.min(oldestOpen, startedAt - overlapMs);
    return {};
  };
  const end = await poll(policies.laggingList, read, clock);
  if ('over' in end && end.over === 'interrupted') throw interrupted(clock.signal);
  return checked;
}

/**
 * Whether a difference between movements and balance is the opening balance of a wallet: money from
 * before the first statement. If a transaction explains a difference between movements and balance
 * exactly, the difference is not an opening balance.
 */
const isOpening = (
  { ccy, difference, lastTied, explanations: causes }: Difference,
  { recorded }: GatherDeps,
): boolean =>
  lastTied === undefined &&
  difference.gt(0) &&
  !recorded.some(({ wallet }) => wallet === ccy) &&
  !causes.some(({ isExact }) => isExact);

/** The movement of an opening balance, just before the wallet's first movement. */
const openingMovement = ({ ccy, value, at }: Opening): Movement => ({
  ...withoutTransaction,
  ...signed(value),
  wallet: ccy,
  at: at - 1,
  kind: 'adjustment',
  counterparty: unexplained,
  note: 'opening balance',
});

/**
 * Stores the movements of a page. Returns the creation time of the oldest unfinished transaction,
 * or Infinity.
 */
function keepPage(page: readonly ListedTransaction[], rows: BookRows, now: number): number {
  const found = page.map((txn) => booked(txn, now));
  const candidates = found.flatMap((each) => each.candidates);
  rows.replace(
    page.map(({ txnId }) => txnId),
    found.flatMap((each) => each.movements),
    candidates,
  );
  return Math.min(
    ...candidates
      .filter(({ reason }) => reason === 'in flight' || reason === 'reserved')
      .map(({ at }) => at),
  );
}

type Totals = ReadonlyMap<string, Big | undefined>;

const totalsOf = (wallets: readonly Wallet[]): Totals =>
  new Map(wallets.map(({ ccy, amount }) => [ccy.toUpperCase(), givenFromWire(amount)]));

/**
 * Whether every wallet last changed at least 10 s before `now`, so that the service's list must
 * include the change.
 */
const isSettled = (wallets: readonly Wallet[], now: number): boolean =>
  wallets.every(({ updatedAt }) => !(Date.parse(updatedAt ?? '') > now - longestLagMs));

const longestLagMs = 10_000;

interface CheckedWallet {
  readonly ccy: string;
  /** The sum of the wallet's movements. */
  readonly added: Big;
  /** The balance that the service reports, if it reports one. */
  readonly reported: Big | undefined;
}

const isUnlike = (wallet: CheckedWallet): wallet is CheckedWallet & { readonly reported: Big } =>
  wallet.reported?.eq(wallet.added) === false;
