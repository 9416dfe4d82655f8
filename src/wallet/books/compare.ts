// Compares the service's list with the journal, the webhook inbox and batch results: the outcome of
// each payment, its amounts, currencies and reference. The comparison reads each source of payments
// once, with constant memory.
import type { Big } from 'big.js';
import * as v from 'valibot';
import type { ListedTransaction, Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { isQuoted, movedNothing } from '../../formats/states.js';
import { attemptNamed } from '../../store/journal/payment.js';
import type { SortedRows } from '../../store/files/sorted-rows.js';
import {
  isProgress,
  outcomeAtService,
  isSameOutcome,
  mayHaveMoved,
  ofWhole,
  readLocalPayment,
  readServiceRow,
  serviceText,
  type FoundDifference,
  type LocalPayment,
  type ServiceRow,
} from './compared.js';

/** An event of the webhook inbox, with its time `at` in epoch ms by the service's clock. */
export interface KnownEvent {
  readonly txnId: string;
  readonly txnState: string;
  readonly at: number;
}

type Found = AsyncGenerator<FoundDifference, void, void>;

export interface Sources {
  readonly journal: AsyncIterable<LocalPayment>;
  /** The events of the webhook inbox, oldest first, or undefined if the home has no inbox. */
  readonly inbox: AsyncIterable<KnownEvent> | undefined;
  readonly files: readonly { readonly name: string; readonly rows: AsyncIterable<LocalPayment> }[];
}

export interface CompareDeps {
  readonly rows: SortedRows;
  readonly read: (txnId: string) => Promise<Transaction>;
  /**
   * The start of the compared period in epoch ms. svcpay compares an earlier transaction only if
   * the journal, the inbox or a batch result contains it.
   */
  readonly since: number;
}

const put = (rows: SortedRows, group: string, id: string, data: unknown): void =>
  rows.add({ group, at: 0, id, data: JSON.stringify(data) });

/** Stores a page of the service's list for the comparison. */
export function putListed(page: readonly ListedTransaction[], rows: SortedRows): void {
  const kept = page.flatMap((txn) => {
    const data = serviceText(txn);
    const row = { group: 'service', at: txn.createdAt ?? 0, id: txn.txnId, data };
    return txn.extRefId == null
      ? row
      : [row, { group: 'reference', at: 0, id: txn.extRefId, data }];
  });
  rows.replace([], kept);
}

/**
 * Yields the differences between the sources and the service. The caller must first store every
 * page of the service's list with `putListed`.
 */
export async function* differences({ journal, inbox, files }: Sources, deps: CompareDeps): Found {
  const { rows, since } = deps;
  for await (const local of journal) {
    if (local.txnId !== null) put(rows, 'journal', local.txnId, local);
    if (local.txnId !== null && local.run !== null && mayHaveMoved(local))
      put(rows, `run ${local.run}`, local.txnId, local);
    yield* checked(local, 'journal', deps);
  }
  for (const file of files) yield* fileDifferences(file, deps);
  let firstEvent = Infinity;
  for await (const event of inbox ?? []) {
    firstEvent = Math.min(firstEvent, event.at);
    if (event.at >= since) noteEvent(event, rows);
  }
  for (const text of rows.each('service', since)) {
    const row = readServiceRow(text);
    yield* ownDifferences(row, rows);
    const isExpected = row.txnState === 'completed' && row.createdAt >= firstEvent;
    if (isExpected && rows.find('event completed', row.txnId) === undefined)
      yield ofWhole(
        'there',
        'event never came',
        'inbox',
        row,
        'no event reported the state completed',
      );
  }
  yield* eventDifferences(deps);
}

/**
 * Compares a payment from the journal, the inbox or a batch result with the service. If the
 * service's list does not show the payment, svcpay reads the payment's transaction by its id.
 */
async function* checked(
  local: LocalPayment,
  source: string,
  { rows, read, since }: CompareDeps,
  compare: typeof stateDifference = differing,
): Found {
  const { txnId, reference } = local;
  const text =
    txnId === null ? rows.find('reference', reference ?? '') : rows.find('service', txnId);
  if (text !== undefined) return yield* compare(local, readServiceRow(text), source);
  if (!mayHaveMoved(local)) return;
  const txn = txnId === null ? undefined : await read(txnId).catch(ifNotFound);
  if (txn === undefined) {
    const name = txnId === null ? 'reference' : 'id';
    yield ofWhole(
      'here',
      'unknown there',
      source,
      local,
      `the service has no transaction with this ${name}`,
    );
    return;
  }
  const row = readServiceRow(serviceText(txn));
  if (row.createdAt < since) return;
  const detail = `the list omits the transaction; a read by id reports ${row.txnState}`;
  yield { ...ofWhole('here', 'unknown there', source, local, detail), there: row.total };
  yield* compare(local, row, source);
}

function ifNotFound(error: unknown): undefined {
  if (
    error instanceof Failure &&
    (error.kind === 'not-found' || error.kind === 'refused' || error.kind === 'usage')
  )
    return undefined;
  throw error;
}

function stateDifference(
  { outcome, state }: LocalPayment,
  there: ServiceRow,
  source: string,
): Iterable<FoundDifference> {
  const reported = outcomeAtService(there.txnState);
  if (isSameOutcome(outcome, reported) || isProgress(outcome, reported)) return [];
  const detail = `${state} here, ${there.txnState} at the service`;
  return [{ ...ofWhole('there', 'state differs', source, there, detail), ccy: null, there: null }];
}

function* differing(
  local: LocalPayment,
  there: ServiceRow,
  source: string,
): Generator<FoundDifference, void, void> {
  yield* stateDifference(local, there, source);
  const plain = {
    ...ofWhole('there', 'reference differs', source, there, ''),
    ccy: null,
    there: null,
  };
  // For an imported transaction without a reference, the journal uses the transaction id as the
  // reference. svcpay does not compare this id with a reference at the service.
  const isNamed = local.reference !== null && local.reference !== there.txnId;
  const names = [there.reference, attemptNamed(there.reference ?? '')[0]];
  if (isNamed && !names.includes(local.reference))
    yield {
      ...plain,
      detail: `${local.reference} here, ${there.reference ?? 'none'} at the service`,
    };
  const isPaidHere = local.outcome === 'paid' || local.outcome === 'in flight';
  if (!isPaidHere || there.txnState !== 'completed' || there.total === null) return;
  if (local.total === null || local.ccy === null) {
    // The result file of a batch contains the amounts of settled rows only.
    if (local.outcome === 'in flight') return;
    yield {
      ...plain,
      difference: 'not comparable',
      detail: 'the journal or the file contains no amount',
    };
  } else
    yield* amounts('amount differs', 'the settled amount differs from the approved amount', plain, [
      { ccy: local.ccy, value: local.total },
      { ccy: there.ccy, value: there.total },
    ]);
  if (local.receives !== null && local.receivesCcy !== null && there.arrived !== null)
    yield* amounts(
      'arrived differs',
      'the amount received differs from the approved amount',
      plain,
      [
        { ccy: local.receivesCcy, value: local.receives },
        { ccy: there.arrivedCcy, value: there.arrived },
      ],
    );
}

interface Amount {
  readonly ccy: string | null;
  readonly value: Big;
}

function* amounts(
  kind: FoundDifference['difference'],
  detail: string,
  plain: FoundDifference,
  [here, there]: readonly [Amount, Amount],
): Generator<FoundDifference, void, void> {
  if (here.ccy !== there.ccy)
    yield {
      ...plain,
      difference: 'currency differs',
      detail: `${here.ccy} here, ${there.ccy} at the service`,
    };
  else if (!here.value.eq(there.value))
    yield {
      ...plain,
      difference: kind,
      ccy: here.ccy,
      here: here.value,
      there: there.value,
      detail,
    };
}

/**
 * Finds the contradictions within a transaction from the service, and reports a transaction that
 * the journal lacks.
 */
function* ownDifferences(
  row: ServiceRow,
  rows: SortedRows,
): Generator<FoundDifference, void, void> {
  const { txnId, txnState } = row;
  const isQuiet = isQuoted(txnState) || movedNothing(txnState);
  if (row.isOut && !isQuiet && rows.find('journal', txnId) === undefined)
    yield ofWhole('there', 'unknown here', 'journal', row, `the service reports ${txnState}`);
  if (txnState !== 'completed') return;
  if (row.total === null)
    yield ofWhole(
      'there',
      'not comparable',
      'service',
      row,
      'the service reports no amount or currency',
    );
  if (row.contradiction !== null)
    yield ofWhole('there', 'contradicts itself', 'service', row, row.contradiction);
  if (row.requested !== null)
    yield {
      ...ofWhole(
        'there',
        'arrived differs',
        'request',
        row,
        'the amount received differs from the requested amount',
      ),
      ccy: row.arrivedCcy,
      here: row.requested,
      there: row.arrived,
    };
}

/**
 * Finds the differences between a batch result file, the journal and the service. If the batch
 * result file has several rows for a payment, only the last row counts. A payment may have one row
 * for each of its states, but two rows with the same state, or with different references, are a
 * difference.
 */
async function* fileDifferences(
  { name, rows: fileRows }: Sources['files'][number],
  deps: CompareDeps,
): Found {
  const { rows } = deps;
  const [byName, byId] = [`file ${name}`, `file ids ${name}`];
  for await (const local of fileRows) {
    const key = local.reference ?? local.txnId ?? '';
    const before = rows.find(byName, key);
    const other = local.txnId === null ? undefined : rows.find(byId, local.txnId);
    const isRepeated = before !== undefined && readLocalPayment(before).state === local.state;
    if (isRepeated || (other !== undefined && JSON.parse(other) !== key))
      yield ofWhole('here', 'doubled row', name, local, 'the file contains this payment twice');
    put(rows, byName, key, local);
    if (local.txnId !== null) put(rows, byId, local.txnId, key);
  }
  const runs = new Set<string>();
  for (const text of rows.each(byName)) {
    const local = readLocalPayment(text);
    yield* checked(local, name, deps);
    if (local.txnId === null || !mayHaveMoved(local)) continue;
    const here = rows.find('journal', local.txnId);
    if (here === undefined)
      yield ofWhole(
        'here',
        'unknown here',
        name,
        local,
        'the journal does not contain this payment',
      );
    else runs.add(readLocalPayment(here).run ?? '');
  }
  for (const run of runs)
    for (const text of rows.each(`run ${run}`)) {
      const local = readLocalPayment(text);
      if (rows.find(byId, local.txnId ?? '') === undefined)
        yield ofWhole(
          'here',
          'not in the file',
          name,
          local,
          'the batch paid this row, but the file does not contain it',
        );
    }
}

/**
 * Stores the event as the latest event of its transaction. A `completed` event of a transaction
 * stays stored even if a different event follows.
 */
function noteEvent({ txnId, txnState }: KnownEvent, rows: SortedRows): void {
  const event = { txnId, txnState };
  put(rows, 'event', txnId, event);
  if (txnState === 'completed') put(rows, 'event completed', txnId, event);
  else if (movedNothing(txnState)) put(rows, 'event ended', txnId, event);
}

async function* eventDifferences(deps: CompareDeps): Found {
  const { rows } = deps;
  for (const text of rows.each('event')) {
    const { txnId, txnState } = v.parse(eventText, JSON.parse(text));
    const completed = rows.find('event completed', txnId) !== undefined;
    const state = completed ? 'completed' : txnState;
    const local = { ...unknownPayment, txnId, state, outcome: outcomeOfEvent(completed) };
    const ended = rows.find('event ended', txnId);
    if (completed && ended !== undefined)
      yield ofWhole(
        'here',
        'events contradict',
        'inbox',
        local,
        `completed, and also ${readState(ended)}`,
      );
    yield* checked(local, 'inbox', deps, completed ? stateDifference : () => []);
  }
}

const eventText = v.object({ txnId: v.string(), txnState: v.string() });

const readState = (text: string): string => v.parse(eventText, JSON.parse(text)).txnState;

const outcomeOfEvent = (completed: boolean): LocalPayment['outcome'] =>
  completed ? 'paid' : 'in flight';

/**
 * The fields of a payment that svcpay cannot read from an event, because an event contains no
 * amounts.
 */
const unknownPayment = {
  reference: null,
  ccy: null,
  total: null,
  receivesCcy: null,
  receives: null,
  run: null,
} as const;
