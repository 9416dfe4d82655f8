// Reads all transactions of an account once, and sorts their movements on disk. If the movements of
// a wallet do not add up to its balance, re-reads recent transactions, because the service may
// update its balances before its list.
import type Big from 'big.js';
import type { ListedTransaction, TransactionFilter, Wallet } from '../../api/types.js';
import { interrupted } from '../../api/request/retry.js';
import { givenFromWire } from '../../formats/amount.js';
import type { Span } from '../../formats/calendar.js';
import { policies } from '../../formats/policies.js';
import { poll, type PollNext } from '../../formats/poll.js';
import type { SortedRow, SortedRows } from '../../store/files/sorted-rows.js';
import { withFigures } from '../history/missing-amounts.js';
import { spanFilter } from '../payment/find.js';
import {
  mayHaveCrossed,
  settledAt,
  withStoredTimes,
  type StoredTimes,
} from '../history/settled-at.js';
import type { BookEntry } from '../../store/journal/book-records.js';
import { movementOf, openingEntry } from './entries.js';
import { booked, readCandidate, readMovement, type Candidate, type Movement } from './movement.js';
import { keepSealed, type SealedMonth } from './sealed-months.js';
import { balanceAfter, explanations, type Difference } from './statement.js';

export interface BooksService {
  wallets(): Promise<Wallet[]>;
  transaction(txnId: string): Promise<ListedTransaction>;
  eachTransactionPage(filter: TransactionFilter): AsyncIterable<readonly ListedTransaction[]>;
  serviceNow(): number;
}

export interface GatherDeps {
  readonly service: BooksService;
  readonly rows: SortedRows;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** The opening balances and adjustments of the account. */
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
  readonly submitted: () => Promise<readonly Candidate[]>;
  readonly ledger?: LedgerText | undefined;
  /**
   * The start and end times of periods, in epoch ms. A transaction belongs to the period in which
   * it settled.
   */
  readonly edges: readonly number[];
  /** Returns the time at which a transaction settled, if this home knows that time. */
  readonly settled: (txnId: string) => Promise<number | undefined>;
  readonly stored: StoredTimes;
  /** The closed months in their order. Their rows stay as they were sealed. */
  readonly sealed: readonly SealedMonth[];
  /** Called with each page of the list before svcpay formats the page. */
  readonly onPage: (page: readonly ListedTransaction[]) => void | Promise<void>;
}

/**
 * Formats movements for a ledger program. The ledger text of a transaction that moved no money is
 * empty.
 */
export interface LedgerText {
  readonly transaction: (txn: ListedTransaction) => string;
  readonly recorded: (movement: Movement) => string;
}

export interface Opening {
  readonly entry: Omit<BookEntry, 'recordedAt'>;
  readonly value: Big;
  /** The time of the opening balance, in epoch ms. */
  readonly at: number;
}

export interface Books {
  /** The time at which svcpay read the list, in epoch ms by the service's clock. */
  readonly at: number;
  /** The sorted codes of all currencies that have a wallet or a movement. */
  readonly currencies: readonly string[];
  /**
   * The movements of a currency, oldest first. Each call of `movements` starts from the first
   * movement.
   */
  movements(ccy: string): Iterable<Movement>;
  candidates(ccy: string): readonly Candidate[];
  /** The entries of a period as text from `LedgerText`, oldest first. */
  entries(period: Span): Iterable<string>;
  /** Whether the service's list contains the transaction. */
  has(txnId: string): boolean;
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
  const { service, rows, ledger } = deps;
  for (const movement of deps.recorded) addRecorded(movement, rows, ledger);
  const { wallets, differences, tied, unreported } = await readUntilTied(deps);
  const hidden = differences.length === 0 ? [] : await deps.submitted();
  const missing = hidden.filter(({ txnId }) => !rows.has(txnId));
  const candidates = (ccy: string): Candidate[] => [
    ...[...rows.each(`${ccy}${candidateMark}`)].map(readCandidate),
    ...missing.filter((each) => each.ccy === ccy),
  ];
  const openings = differences.flatMap((difference) =>
    isOpening(difference, candidates(difference.ccy), deps)
      ? openingOf(difference, rows, service.serviceNow())
      : [],
  );
  for (const { entry } of openings) addRecorded(movementOf(entry, 'UTC'), rows);
  keepSealed(deps.sealed, currenciesIn(rows, deps.sealed), rows, (txnId, movements) => {
    for (const each of ledger === undefined ? [] : movements)
      rows.add({
        group: seenGroup,
        at: each.at,
        id: `${txnId} ${each.ccy}`,
        data: ledger?.recorded(each) ?? '',
      });
  });
  const isOpened = new Set(openings.map(({ entry }) => entry.ccy));
  const left = differences.filter(({ ccy }) => !isOpened.has(ccy));
  const currencies = [
    ...new Set([...wallets.map(({ ccy }) => ccy.toUpperCase()), ...movementGroups(rows)]),
  ].toSorted();
  return {
    at: service.serviceNow(),
    currencies: currencies.filter(
      (ccy) => left.some((each) => each.ccy === ccy) || isUsed(ccy, wallets, rows),
    ),
    movements: (ccy) => movementsIn(ccy, rows),
    candidates,
    entries: ({ first, end }) => rows.each(seenGroup, first, end),
    has: (txnId) => rows.has(txnId),
    openings,
    differences: left,
    tied,
    unreported,
  };
}

/**
 * Reads the service's list, and re-reads its latest transactions while the list may lag behind the
 * wallets.
 */
async function readUntilTied({
  service,
  rows,
  ties,
  ledger,
  edges,
  settled,
  stored,
  onPage,
  ...clock
}: GatherDeps): Promise<Compared & { readonly wallets: readonly Wallet[] }> {
  let since = 0;
  let wallets = await service.wallets();
  let compared: Compared = { differences: [], tied: [], unreported: [] };
  const read = async (): Promise<PollNext<Compared>> => {
    const startedAt = service.serviceNow();
    let oldestOpen = startedAt;
    const found = new Map<string, number>();
    const pages = withFigures(
      withStoredTimes(service.eachTransactionPage(spanFilter(since)), stored, edges, settled),
      async (txnId) => {
        const txn = await service.transaction(txnId);
        // Without an update time, the creation time counts, and svcpay does not ask again.
        const at = settledAt(txn) ?? (txn.txnState === 'completed' ? txn.createdAt : undefined);
        if (at != null) found.set(txnId, at);
        return txn;
      },
      (txn) => mayHaveCrossed(txn, edges),
    );
    for await (const page of pages) {
      if (found.size > 0) await stored.keep(found);
      found.clear();
      await onPage(page);
      const sorted = sortedRows(page, service.serviceNow(), ledger);
      // The first read of the list replaces no rows, because no earlier read has stored rows.
      rows.replace(since === 0 ? [] : page.map(({ txnId }) => txnId), sorted.rows);
      oldestOpen = Math.min(oldestOpen, sorted.oldestOpen);
    }
    const earlier = totalsOf(wallets);
    wallets = await service.wallets();
    compared = compare(wallets, rows, ties);
    if (
      compared.differences.length === 0 ||
      (isSame(earlier, totalsOf(wallets)) && isSettled(wallets, startedAt))
    )
      return { done: compared };
    since = Math.min(oldestOpen, startedAt - overlapMs);
    return {};
  };
  const end = await poll(policies.laggingList, read, clock);
  if ('over' in end && end.over === 'interrupted') throw interrupted(clock.signal);
  return { ...compared, wallets };
}

function addRecorded(movement: Movement, rows: SortedRows, ledger?: LedgerText): void {
  const { ccy, at, reference } = movement;
  const id = reference ?? '';
  rows.add({ group: ccy, at, id, data: JSON.stringify(movement) });
  if (ledger !== undefined) rows.add({ group: seenGroup, at, id, data: ledger.recorded(movement) });
}

/**
 * Whether a difference between movements and balance is the opening balance of a wallet: money from
 * before the first statement. If a transaction explains a difference between movements and balance
 * exactly, the difference is not an opening balance.
 */
const isOpening = (
  { ccy, difference, lastTied }: Difference,
  candidates: readonly Candidate[],
  { recorded }: GatherDeps,
): boolean =>
  lastTied === undefined &&
  difference.gt(0) &&
  !recorded.some((each) => each.ccy === ccy && each.kind === 'opening entry') &&
  !explanations({ difference }, candidates).some(({ isExact }) => isExact);

/**
 * Returns the opening balance of a wallet, dated just before the wallet's first movement, or dated
 * `now` if the wallet has no movement.
 */
function openingOf({ ccy, difference }: Difference, rows: SortedRows, now: number): Opening {
  const [first] = movementsIn(ccy, rows);
  const at = first === undefined ? now : first.at - 1;
  return { entry: openingEntry(ccy, difference, at), value: difference, at };
}

const candidateMark = '?';
const seenGroup = '';

function* movementsIn(ccy: string, rows: SortedRows): Generator<Movement, void, void> {
  for (const text of rows.each(ccy)) yield readMovement(text);
}

const movementGroups = (rows: SortedRows): string[] =>
  rows.groups().filter((group) => group !== seenGroup && !group.endsWith(candidateMark));

/** The currencies of the list and of the closed months. */
const currenciesIn = (rows: SortedRows, sealed: readonly SealedMonth[]): string[] => [
  ...new Set([
    ...movementGroups(rows),
    ...sealed.flatMap((month) => month.rows.flatMap(({ wallet }) => wallet ?? [])),
  ]),
];

/**
 * Returns the rows of a page for sorting, and the creation time of the oldest unfinished
 * transaction (`oldestOpen`).
 */
function sortedRows(
  page: readonly ListedTransaction[],
  now: number,
  ledger: LedgerText | undefined,
) {
  let oldestOpen = Infinity;
  const sorted: SortedRow[] = [];
  for (const txn of page) {
    const { movements, candidates } = booked(txn, now);
    const row = (group: string, at: number, data: string): SortedRow => ({
      group,
      at,
      id: txn.txnId,
      data,
    });
    sorted.push(
      row(seenGroup, settledAt(txn) ?? txn.createdAt ?? 0, ledger?.transaction(txn) ?? ''),
      ...movements.map((each) => row(each.ccy, each.at, JSON.stringify(each))),
      ...candidates.map((each) =>
        row(`${each.ccy}${candidateMark}`, each.at, JSON.stringify(each)),
      ),
    );
    if (candidates.some(({ reason }) => reason === 'in flight' || reason === 'reserved'))
      oldestOpen = Math.min(oldestOpen, txn.createdAt ?? now);
  }
  return { rows: sorted, oldestOpen };
}

type Totals = ReadonlyMap<string, Big | undefined>;

const totalsOf = (wallets: readonly Wallet[]): Totals =>
  new Map(wallets.map(({ ccy, amount }) => [ccy.toUpperCase(), givenFromWire(amount)]));

const isSame = (a: Totals, b: Totals): boolean =>
  a.size === b.size &&
  [...a].every(([ccy, total]) =>
    total === undefined ? b.get(ccy) === undefined : b.get(ccy)?.eq(total) === true,
  );

/**
 * Whether every wallet last changed at least 10 s before `now`, so that the service's list must
 * include the change.
 */
const isSettled = (wallets: readonly Wallet[], now: number): boolean =>
  wallets.every(({ updatedAt }) => !(Date.parse(updatedAt ?? '') > now - longestLagMs));

const longestLagMs = 10_000;

const isUsed = (ccy: string, wallets: readonly Wallet[], rows: SortedRows): boolean =>
  movementGroups(rows).includes(ccy) || totalsOf(wallets).get(ccy)?.eq(0) === false;

interface Compared {
  readonly differences: Difference[];
  readonly tied: { readonly ccy: string; readonly balance: Big }[];
  readonly unreported: string[];
}

function compare(
  wallets: readonly Wallet[],
  rows: SortedRows,
  ties: ReadonlyMap<string, number>,
): Compared {
  const compared: Compared = { differences: [], tied: [], unreported: [] };
  for (const [ccy, reported] of totalsOf(wallets)) {
    if (reported === undefined) {
      compared.unreported.push(ccy);
      continue;
    }
    const added = balanceAfter(movementsIn(ccy, rows));
    if (added.eq(reported)) compared.tied.push({ ccy, balance: reported });
    else
      compared.differences.push({
        ccy,
        added,
        reported,
        difference: reported.minus(added),
        lastTied: ties.get(ccy),
      });
  }
  return compared;
}
