// Compares the service's list with the journal, the webhook inbox and batch results.
// Reads each source once, with flat memory.
import Big from 'big.js';
import * as v from 'valibot';
import type { ListedTransaction, Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { isQuoted, movedNothing } from '../../formats/states.js';
import type { SortedRows } from '../../store/files/sorted-rows.js';
import { movedAmounts } from '../history/moved-amounts.js';

export const differenceKinds = [
  'unknown here',
  'unknown there',
  'amount differs',
  'event never came',
] as const;

export interface FoundDifference {
  readonly difference: (typeof differenceKinds)[number];
  /** The other source: `journal`, `inbox`, or the name of a file. */
  readonly source: string;
  readonly txnId: string;
  readonly reference: string | null;
  readonly ccy: string | null;
  /** The debit, fees included, in the source and at the service. */
  readonly here: Big | null;
  readonly there: Big | null;
  readonly detail: string;
}

/** A payment in a source of this home. */
export interface Known {
  readonly txnId: string;
  readonly reference: string | null;
  readonly ccy: string | null;
  /** The debit, fees included. */
  readonly total: Big | null;
}

/** An event of the inbox; `at` by the service's clock, epoch ms. */
export interface KnownEvent {
  readonly txnId: string;
  readonly txnState: string;
  readonly at: number;
}

export interface Sources {
  readonly listed: AsyncIterable<readonly ListedTransaction[]>;
  readonly journal: Iterable<Known>;
  /** Oldest first; undefined without an inbox. */
  readonly inbox: AsyncIterable<KnownEvent> | undefined;
  readonly files: readonly { readonly name: string; readonly rows: AsyncIterable<Known> }[];
}

export interface CompareDeps {
  readonly rows: SortedRows;
  readonly read: (txnId: string) => Promise<Transaction>;
  /** Earlier transactions (epoch ms) are only looked up. */
  readonly since: number;
  readonly onRead: (count: number) => void;
}

const serviceRow = v.object({
  txnId: v.string(),
  reference: v.nullable(v.string()),
  txnState: v.string(),
  isOut: v.boolean(),
  createdAt: v.number(),
  ccy: v.nullable(v.string()),
  total: v.nullable(
    v.pipe(
      v.string(),
      v.transform((text) => new Big(text)),
    ),
  ),
});

type ServiceRow = v.InferOutput<typeof serviceRow>;

export async function* differences(
  sources: Sources,
  deps: CompareDeps,
): AsyncGenerator<FoundDifference, void, void> {
  const { rows, since } = deps;
  const put = (group: string, id: string, data: string): void =>
    rows.add({ group, at: 0, id, data });
  let count = 0;
  for await (const page of sources.listed) {
    const listed = page.map((txn) => ({
      group: 'service',
      at: txn.createdAt ?? 0,
      id: txn.txnId,
      data: JSON.stringify(rowOf(txn)),
    }));
    rows.replace([], listed);
    deps.onRead((count += page.length));
  }
  for (const known of sources.journal) {
    put('journal', known.txnId, '');
    yield* checked(known, 'journal', deps);
  }
  for (const { name, rows: fileRows } of sources.files) {
    for await (const known of fileRows) {
      yield* checked(known, name, deps);
      if (rows.find('journal', known.txnId) === undefined)
        yield {
          ...plain(known, name),
          difference: 'unknown here',
          detail: 'the journal does not have this row of the file',
        };
    }
  }
  let firstEvent = Infinity;
  for await (const event of sources.inbox ?? []) {
    firstEvent = Math.min(firstEvent, event.at);
    if (event.at >= since) put('inbox', event.txnId, eventText(event));
  }
  for (const text of rows.each('service', since))
    yield* unmatched(v.parse(serviceRow, JSON.parse(text)), firstEvent, rows);
  for (const text of rows.each('inbox')) {
    const [txnId = ''] = text.split(' ');
    if (rows.find('service', txnId) === undefined)
      yield* checked({ txnId, reference: null, ccy: null, total: null }, 'inbox', deps);
  }
}

const eventText = ({ txnId, txnState }: Pick<KnownEvent, 'txnId' | 'txnState'>): string =>
  `${txnId} ${txnState}`;

function rowOf(
  txn: ListedTransaction,
): Omit<ServiceRow, 'total'> & { readonly total: string | null } {
  const { txnId, extRefId, txnState, createdAt, sourceReq } = txn;
  const left = movedAmounts(txn)?.left;
  return {
    txnId,
    reference: extRefId ?? null,
    txnState,
    isOut: sourceReq.method === 'servicepay',
    createdAt: createdAt ?? 0,
    ccy: left?.ccy ?? null,
    total: left?.value.toFixed() ?? null,
  };
}

const plain = ({ txnId, reference, ccy, total }: Known, source: string) => ({
  source,
  txnId,
  reference,
  ccy,
  here: total,
  there: null,
});

/** Compares a payment of a source with the service, by id if the list does not show it. */
async function* checked(
  known: Known,
  source: string,
  { rows, read, since }: CompareDeps,
): AsyncGenerator<FoundDifference, void, void> {
  const text = rows.find('service', known.txnId);
  let there = text === undefined ? undefined : v.parse(serviceRow, JSON.parse(text));
  if (there === undefined) {
    const txn = await read(known.txnId).catch(ifNotFound);
    there = txn && v.parse(serviceRow, rowOf(txn));
    if (there !== undefined && there.createdAt < since) return;
    const detail =
      there === undefined
        ? 'the service has no transaction of this id'
        : `the list leaves it out; by its id the service reports ${there.txnState}`;
    yield {
      ...plain(known, source),
      there: there?.total ?? null,
      difference: 'unknown there',
      detail,
    };
  }
  if (
    there?.txnState !== 'completed' ||
    there.total === null ||
    known.total === null ||
    there.ccy !== known.ccy
  )
    return;
  if (there.total.eq(known.total)) return;
  yield {
    ...plain(known, source),
    there: there.total,
    difference: 'amount differs',
    detail: 'settled other than agreed',
  };
}

function ifNotFound(error: unknown): undefined {
  if (
    error instanceof Failure &&
    (error.kind === 'not-found' || error.kind === 'refused' || error.kind === 'usage')
  )
    return undefined;
  throw error;
}

/** Transactions of the service that are missing in a source here. */
function* unmatched(
  row: ServiceRow,
  firstEvent: number,
  rows: SortedRows,
): Generator<FoundDifference, void, void> {
  const { txnId, reference, txnState, isOut, createdAt, ccy, total } = row;
  const found = { txnId, reference, ccy, here: null, there: total };
  const mayHaveMoved = !isQuoted(txnState) && !movedNothing(txnState);
  if (isOut && mayHaveMoved && rows.find('journal', txnId) === undefined) {
    yield {
      ...found,
      source: 'journal',
      difference: 'unknown here',
      detail: `the service reports ${txnState}`,
    };
  }
  if (
    txnState === 'completed' &&
    createdAt >= firstEvent &&
    rows.find('inbox', txnId) !== eventText(row)
  ) {
    yield {
      ...found,
      source: 'inbox',
      difference: 'event never came',
      detail: 'no event reported completed',
    };
  }
}
