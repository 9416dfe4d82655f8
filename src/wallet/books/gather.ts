// Reads all transactions of an account once, with their movements sorted on disk; then reads new ones
// until the sums match the wallets, or nothing changes.
import type Big from 'big.js';
import type { ListedTransaction, TransactionFilter, Wallet } from '../../api/types.js';
import { givenFromWire } from '../../formats/amount.js';
import type { Span } from '../../formats/calendar.js';
import type { SortedRow, SortedRows } from '../../store/files/sorted-rows.js';
import { withFigures } from '../history/missing-amounts.js';
import { spanFilter } from '../payment/find.js';
import { booked, readCandidate, readMovement, type Candidate, type Movement } from './movement.js';
import { balanceAfter, type Difference } from './statement.js';

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
  readonly signal: AbortSignal;
  /** Balances before the first listed transaction. */
  readonly before: ReadonlyMap<string, Big>;
  /** Formats a transaction for a ledger program. */
  readonly entry?: ((txn: ListedTransaction) => string) | undefined;
  /** Called after each page with the total number of transactions. */
  readonly onRead: (count: number) => void;
}

export interface Books {
  /** Every currency with a wallet or a movement, sorted. */
  readonly currencies: readonly string[];
  /** Oldest first. Can be read repeatedly. */
  movements(ccy: string): Iterable<Movement>;
  candidates(ccy: string): readonly Candidate[];
  /** The formatted transactions of a period, oldest first. */
  entries(period: Span): Iterable<string>;
  /** Whether the list contains it. */
  has(txnId: string): boolean;
  /** Wallets whose sum differs from the service's total; without a total they are in `unreported`. */
  readonly differences: readonly Difference[];
  readonly unreported: readonly string[];
}

/** Pauses (ms) before the list is read again, because it may lag behind the wallets. */
const pauses = [0, 2_000, 6_000] as const;

/** Transactions created shortly before a round may change during it. */
const overlapMs = 3_600_000;

export async function gather(deps: GatherDeps): Promise<Books> {
  const { service, rows, before, entry = () => '', onRead } = deps;
  let [since, count] = [0, 0];
  let wallets = await service.wallets();
  let [differences, unreported]: [Difference[], string[]] = [[], []];
  for (const pause of pauses) {
    if (pause > 0) await deps.sleep(pause, deps.signal);
    const begun = service.serviceNow();
    let oldestOpen = begun;
    const pages = withFigures(service.eachTransactionPage(spanFilter(since)), (txnId) =>
      service.transaction(txnId),
    );
    for await (const page of pages) {
      const sorted = sortedRows(page, service.serviceNow(), entry);
      // The first round has nothing to replace.
      rows.replace(since === 0 ? [] : page.map(({ txnId }) => txnId), sorted.rows);
      oldestOpen = Math.min(oldestOpen, sorted.oldestOpen);
      onRead((count += page.length));
    }
    const earlier = totalsOf(wallets);
    wallets = await service.wallets();
    ({ differences, unreported } = compare(wallets, rows, before));
    if (
      differences.length === 0 ||
      (isSame(earlier, totalsOf(wallets)) && isSettled(wallets, begun))
    )
      break;
    since = Math.min(oldestOpen, begun - overlapMs);
  }
  const currencies = [
    ...new Set([...wallets.map(({ ccy }) => ccy.toUpperCase()), ...movementGroups(rows)]),
  ].toSorted();
  return {
    currencies: currencies.filter(
      (ccy) => differences.some((each) => each.ccy === ccy) || isUsed(ccy, wallets, rows),
    ),
    movements: (ccy) => movementsIn(ccy, rows),
    candidates: (ccy) => [...rows.each(`${ccy}${candidateMark}`)].map(readCandidate),
    entries: ({ first, end }) => rows.each(seenGroup, first, end),
    has: (txnId) => rows.has(txnId),
    differences,
    unreported,
  };
}

const candidateMark = '?';
const seenGroup = '';

function* movementsIn(ccy: string, rows: SortedRows): Generator<Movement, void, void> {
  for (const text of rows.each(ccy)) yield readMovement(text);
}

const movementGroups = (rows: SortedRows): string[] =>
  rows.groups().filter((group) => group !== seenGroup && !group.endsWith(candidateMark));

/** `oldestOpen` is the creation time of the oldest unfinished transaction. */
function sortedRows(
  page: readonly ListedTransaction[],
  now: number,
  entry: (txn: ListedTransaction) => string,
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
      row(seenGroup, txn.createdAt ?? 0, entry(txn)),
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

/** Whether the list is up to date with the latest change of a wallet. */
const isSettled = (wallets: readonly Wallet[], now: number): boolean =>
  wallets.every(({ updatedAt }) => !(Date.parse(updatedAt ?? '') > now - longestLagMs));

const longestLagMs = 10_000;

const isUsed = (ccy: string, wallets: readonly Wallet[], rows: SortedRows): boolean =>
  movementGroups(rows).includes(ccy) || totalsOf(wallets).get(ccy)?.eq(0) === false;

function compare(wallets: readonly Wallet[], rows: SortedRows, before: ReadonlyMap<string, Big>) {
  const differences: Difference[] = [];
  const unreported: string[] = [];
  for (const [ccy, reported] of totalsOf(wallets)) {
    if (reported === undefined) {
      unreported.push(ccy);
      continue;
    }
    const added = balanceAfter(movementsIn(ccy, rows), before.get(ccy));
    if (!added.eq(reported))
      differences.push({ ccy, added, reported, difference: reported.minus(added) });
  }
  return { differences, unreported };
}
