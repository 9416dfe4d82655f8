// Compares the service's list with the journal and the webhook inbox: the outcome of each payment,
// its amounts, currencies, reference and destination. A temporary database joins the sources, so
// that memory use stays constant.
import Big from 'big.js';
import * as v from 'valibot';
import type { ListedTransaction, Transaction } from '../../api/types.js';
import type { Span } from '../../formats/calendar.js';
import { unlessKind } from '../../formats/failure.js';
import { movedNothing, isQuoted } from '../../formats/states.js';
import type { StoredEvent } from '../../store/events/event-store.js';
import type { Accepted } from '../../store/journal/records.js';
import { openScratch, type Scratch } from '../../store/files/sqlite-file.js';
import { severalAtOnce, movedAmounts, type MovedAmounts } from '../history/moved-amounts.js';
import { fromWire } from '../../formats/amount.js';

type DifferenceKind =
  | 'unknown here'
  | 'unknown there'
  | 'unresolved'
  | 'state differs'
  | 'amount differs'
  | 'arrived differs'
  | 'currency differs'
  | 'reference differs'
  | 'destination differs'
  | 'contradicts itself'
  | 'not comparable'
  | 'event never came'
  | 'events contradict'
  | 'total differs';

export interface FoundDifference {
  readonly difference: DifferenceKind;
  /**
   * The source of the payment, which is `journal`, `inbox`, `service`, `request` or `wallet`.
   */
  readonly source: string;
  readonly txnId?: string | null;
  readonly reference?: string;
  readonly ccy?: string | null;
  /**
   * The amount that `source` records. The field `there` contains the amount that the service
   * reports.
   */
  readonly here?: Big | string | null;
  readonly there?: Big;
  readonly detail: string;
}

/**
 * The outcome of a payment according to the journal, the inbox or the service. The
 * outcome is `unknown` if the service reports a submitted payment as expired or cancelled, because
 * the money may have moved all the same.
 */
export type Outcome = 'nothing moved' | 'in flight' | 'paid' | 'error' | 'unknown';

/** A payment as the journal records it. */
export interface LocalPayment {
  /** The transaction id, or null if only the reference is known. */
  readonly txnId: string | null;
  readonly reference: string | null;
  readonly outcome: Outcome;
  /** The state of the payment in the words of the journal. */
  readonly state: string;
  readonly ccy: string | null;
  /** The debit, including fees, as a decimal. */
  readonly total: string | null;
  readonly receivesCcy: string | null;
  /** The amount that arrives, according to the approved quote. */
  readonly receives: string | null;
  /** The invoice, address or account that is paid. */
  readonly destination: string | null;
}

/** An event of the webhook inbox. */
export type KnownEvent = Pick<StoredEvent, 'txnId' | 'txnState' | 'updatedAt'>;

export interface Sources {
  readonly journal: AsyncIterable<LocalPayment>;
  /** The events of the webhook inbox, oldest first, or undefined if the home has no inbox. */
  readonly inbox: AsyncIterable<KnownEvent> | undefined;
  /** The differences that a person has accepted. */
  readonly accepted: readonly Pick<Accepted, 'txnId' | 'facts' | 'note'>[];
  readonly read: (txnId: string) => Promise<Transaction>;
  /**
   * The compared period. svcpay compares an earlier transaction only if the journal or the inbox
   * contains it.
   */
  readonly period: Span;
}

/**
 * `service` holds the transactions of the service, `local` the payments of each source. The source
 * `inbox` has one row per transaction, with the outcome `paid` or no outcome.
 */
const tables = `
  CREATE TABLE service (
    txnId PRIMARY KEY, reference, state, outcome, isOut, created, ccy, total, arrivedCcy, arrived,
    requested, contradiction, destination, isListed
  );
  CREATE TABLE local (
    n INTEGER PRIMARY KEY, source, txnId, reference, outcome, state, ccy, total, receivesCcy,
    receives, destination, ended, seen
  );
  CREATE INDEX local_id ON local (txnId, source);
  CREATE UNIQUE INDEX local_inbox ON local (txnId) WHERE source = 'inbox';
  CREATE TABLE accepted (txnId, facts, note, PRIMARY KEY (txnId, facts));
  CREATE TABLE found (
    n INTEGER PRIMARY KEY, difference, source, txnId, reference, ccy, here, there, detail,
    facts AS (json_array(difference, ccy, here, there, detail))
  );
  CREATE VIEW differences AS
    SELECT found.*, note AS accepted FROM found LEFT JOIN accepted USING (txnId, facts);`;

/** The numbers of differences of a kind. */
export interface DifferenceCount {
  readonly difference: string;
  /** The number of differences that nobody has accepted. */
  readonly open: number;
  readonly accepted: number;
}

/** The transactions of the service, to compare with the sources of this home. */
export interface Comparison {
  /** Stores a page of the service's list. */
  list(page: readonly ListedTransaction[]): void;
  /** Stores a difference that only the caller can find. */
  add(difference: FoundDifference): void;
  /** Finds the differences. The caller must first store every page of the list. */
  compare(sources: Sources): Promise<void>;
  /** The differences in the order in which they were found: all, or those of a transaction. */
  differences(txnId?: string): Iterable<Difference>;
  /** What differs in a transaction, as JSON without the source, for each of its differences. */
  facts(txnId: string): readonly string[];
  counts(): readonly DifferenceCount[];
  close(): void;
}

export function openComparison(): Comparison {
  const db = openScratch(tables);
  return {
    list: (page) =>
      db.together(() => page.forEach((txn) => db.insert('service', serviceRow(txn, 1)))),
    add: (difference) => db.insert('found', { ...difference }),
    async compare(sources) {
      const { first, end } = sources.period;
      const firstEvent = await putSources(sources, db);
      await readMissing(sources, db);
      db.run(query, first, firstEvent, end);
    },
    differences(txnId) {
      const [of, ...id] = txnId === undefined ? [''] : ['WHERE txnId = ?', txnId];
      return db.each(differenceRow, `SELECT * FROM differences ${of} ORDER BY n`, ...id);
    },
    facts: (txnId) =>
      [...db.each(factsRow, 'SELECT facts FROM found WHERE txnId = ? ORDER BY n', txnId)].map(
        ({ facts }) => facts,
      ),
    counts: () => [
      ...db.each(
        countRow,
        `SELECT difference, sum(accepted IS NULL) AS open, count(accepted) AS accepted
          FROM differences GROUP BY difference ORDER BY min(n)`,
      ),
    ],
    close: db.close,
  };
}

const countRow = v.object({ difference: v.string(), open: v.number(), accepted: v.number() });

/** Stores the payments of all sources. Returns the time of the first event in epoch ms. */
async function putSources({ journal, inbox, accepted, period }: Sources, db: Scratch) {
  for (const { txnId, facts, note } of accepted) db.insert('accepted', { txnId, facts, note });
  for await (const payment of journal) db.insert('local', { source: 'journal', ...payment });
  let first: number | null = null;
  for await (const { txnId, txnState, updatedAt } of inbox ?? []) {
    if (txnId === null || txnState === null) continue;
    const at = updatedAt ?? 0;
    first = Math.min(first ?? at, at);
    if (at >= period.first) putEvent(txnId, txnState, at, db);
  }
  return first;
}

/**
 * Stores the latest event of a transaction. A `completed` event stays stored even if a different
 * event follows.
 */
const putEvent = (txnId: string, txnState: string, at: number, db: Scratch): void =>
  db.run(
    `INSERT INTO local (source, txnId, state, outcome, ended, seen)
      VALUES ('inbox', ?, ?, ?, ?, ?)
      ON CONFLICT (txnId) WHERE source = 'inbox' DO UPDATE SET
        state = iif(outcome IS NULL, excluded.state, state),
        outcome = coalesce(outcome, excluded.outcome), ended = coalesce(excluded.ended, ended)`,
    txnId,
    txnState,
    txnState === 'completed' ? 'paid' : null,
    movedNothing(txnState) ? txnState : null,
    at,
  );

/** Reads the transactions that the list lacks by their ids, unless the payments moved nothing. */
async function readMissing({ read, period }: Sources, db: Scratch): Promise<void> {
  // The first event of a transaction of a later period is also later.
  db.run(`DELETE FROM local AS l WHERE source = 'inbox' AND seen >= ? AND ${unlisted}`, period.end);
  const missing = `SELECT DISTINCT txnId FROM local l WHERE ${unlisted} AND ${moved}`;
  await severalAtOnce([...db.each(idRow, missing)], async ({ txnId }) => {
    const txn = await unlessKind(['not-found', 'refused', 'usage'], read(txnId));
    if (txn === undefined) return;
    const created = txn.createdAt ?? period.first;
    if (created < period.first || created >= period.end)
      return db.run('DELETE FROM local WHERE txnId = ?', txnId);
    db.insert('service', serviceRow({ ...txn, txnId }, 0));
  });
}

const idRow = v.object({ txnId: v.string() });

/** The row of the table `service` for a transaction. */
function serviceRow(txn: ListedTransaction, isListed: 0 | 1) {
  const { txnId, extRefId, txnState, createdAt, sourceReq, destReq } = txn;
  const moved = movedAmounts(txn);
  const isOut = sourceReq.method === 'servicepay';
  return {
    txnId,
    reference: extRefId ?? null,
    state: txnState,
    outcome: outcomeAtService(txnState),
    isOut: Number(isOut),
    created: createdAt ?? 0,
    ...(moved && {
      ccy: moved.left.ccy,
      total: moved.left.value,
      arrivedCcy: moved.arrived.ccy,
      arrived: moved.arrived.value,
      requested: isOut ? null : requestedOtherwise(txn, moved),
      contradiction: contradictionIn(txn, moved),
    }),
    destination: destinationIn(destReq.reqDetails),
    isListed,
  };
}

/** The invoice, address or account in the details of a payment, or null. */
export function destinationIn(details: ListedTransaction['destReq']['reqDetails']): string | null {
  const { paymentRequest, address, acctNum, bankAcctNum } = details ?? {};
  const found = [paymentRequest, address, acctNum, bankAcctNum].find(
    (each) => typeof each === 'string',
  );
  return typeof found === 'string' ? found : null;
}

/**
 * The requested amount, if a different amount arrived and the fees do not explain the difference.
 */
function requestedOtherwise({ destReq }: ListedTransaction, moved: MovedAmounts): Big | null {
  if (destReq.amtRequested == null) return null;
  const requested = fromWire(destReq.amtRequested);
  const { value } = moved.arrived;
  return value.eq(requested) || value.eq(requested.minus(moved.fees)) ? null : requested;
}

/**
 * Describes a contradiction between the settled amounts of the two sides, if both sides have the
 * same currency. The settled source amount must equal the amount that arrives, with or without the
 * fees.
 */
function contradictionIn(
  { sourceReq, destReq }: ListedTransaction,
  moved: MovedAmounts,
): string | null {
  if (sourceReq.amtSettled == null || destReq.amtSettled == null) return null;
  const { ccy, value } = moved.arrived;
  if (moved.left.ccy !== ccy) return null;
  const settled = fromWire(sourceReq.amtSettled);
  if (settled.eq(value) || settled.eq(value.plus(moved.fees))) return null;
  return (
    `${settled.toFixed()} ${ccy} left the source, but ${value.toFixed()} ${ccy} arrived, and the ` +
    `fees are ${moved.fees.toFixed()} ${ccy}`
  );
}

function outcomeAtService(txnState: string): Outcome {
  if (txnState === 'completed') return 'paid';
  if (txnState === 'error') return 'error';
  return movedNothing(txnState) || isQuoted(txnState) ? 'nothing moved' : 'in flight';
}

const decimal = v.pipe(
  v.string(),
  v.transform((text) => new Big(text)),
);

const differenceRow = v.object({
  difference: v.string(),
  source: v.string(),
  txnId: v.nullable(v.string()),
  reference: v.nullable(v.string()),
  ccy: v.nullable(v.string()),
  here: v.nullable(decimal),
  there: v.nullable(decimal),
  detail: v.string(),
  accepted: v.nullable(v.string()),
});

const factsRow = v.object({ facts: v.string() });

/** A difference with the note of the person who accepted the difference, or null. */
export type Difference = Readonly<v.InferOutput<typeof differenceRow>>;

const moved = "l.outcome IS NOT 'nothing moved'";
const unlisted = 'NOT EXISTS (SELECT 1 FROM service s WHERE s.txnId = l.txnId)';

const completed = "s.state = 'completed'";

/** The payment settled. A comparison with an amount that either side lacks is never true. */
const settled = `l.outcome IN ('paid', 'in flight') AND ${completed}`;

/** The service lists the transaction, which it created in the period. */
const listed = 's.isListed AND s.created >= ?1 AND s.created < ?3';

const both = (here: string, there: string): string =>
  `${here} || ' here, ' || coalesce(${there}, 'none') || ' at the service'`;

/** A kind of difference, its explanation and its condition as SQL, and further columns. */
type Check = readonly [
  difference: FoundDifference['difference'],
  detail: string,
  condition: string,
  columns?: Partial<Record<'source' | 'ccy' | 'here' | 'there', string>>,
];

/** The payments that the service lacks, and the contradictions between events. */
const ofPayments: readonly Check[] = [
  ['unknown there', "'the service has no transaction with this id'", `${unlisted} AND ${moved}`],
  [
    'events contradict',
    "'completed, and also ' || l.ended",
    "l.source = 'inbox' AND l.outcome = 'paid' AND l.ended IS NOT NULL",
  ],
];

/** The differences between a payment and the transaction that the service reports for it. */
const ofPairs: readonly Check[] = [
  [
    'unknown there',
    "'the list omits the transaction; a read by id reports ' || s.state",
    `NOT s.isListed AND ${moved}`,
    { ccy: 'l.ccy', here: 'l.total', there: 's.total' },
  ],
  [
    'state differs',
    both('l.state', 's.state'),
    `l.outcome <> s.outcome AND NOT (l.outcome = 'unknown' AND s.outcome <> 'paid')
      AND NOT (l.outcome = 'in flight' AND s.outcome = 'paid')`,
  ],
  // For an imported transaction without a reference, the journal uses the transaction id as the
  // reference. svcpay does not compare this id with a reference at the service.
  [
    'reference differs',
    both('l.reference', 's.reference'),
    'l.reference <> s.txnId AND l.reference IS NOT s.reference',
  ],
  [
    'destination differs',
    both('l.destination', 's.destination'),
    'lower(l.destination) <> lower(s.destination)',
  ],
  [
    'not comparable',
    "'the journal contains no amount'",
    `l.source = 'journal' AND l.outcome = 'paid' AND ${completed} AND s.total IS NOT NULL
      AND (l.total IS NULL OR l.ccy IS NULL)`,
  ],
  ['currency differs', both('l.ccy', 's.ccy'), `${settled} AND l.ccy <> s.ccy`],
  [
    'amount differs',
    "'the settled amount differs from the approved amount'",
    `${settled} AND l.ccy = s.ccy AND l.total <> s.total`,
    { ccy: 'l.ccy', here: 'l.total', there: 's.total' },
  ],
  [
    'currency differs',
    both('l.receivesCcy', 's.arrivedCcy'),
    `${settled} AND l.receives IS NOT NULL AND l.receivesCcy <> s.arrivedCcy`,
  ],
  [
    'arrived differs',
    "'the amount received differs from the approved amount'",
    `${settled} AND l.receivesCcy = s.arrivedCcy AND l.receives <> s.arrived`,
    { ccy: 'l.receivesCcy', here: 'l.receives', there: 's.arrived' },
  ],
];

/** The contradictions within a transaction, and the transactions that this home lacks. */
const ofService: readonly Check[] = [
  [
    'unknown here',
    "'the service reports ' || s.state",
    `s.isOut AND s.outcome <> 'nothing moved' AND NOT EXISTS
      (SELECT 1 FROM local j WHERE j.txnId = s.txnId AND j.source = 'journal')`,
    { source: "'journal'" },
  ],
  [
    'not comparable',
    "'the service reports no amount or currency'",
    `${completed} AND s.total IS NULL`,
  ],
  ['contradicts itself', 's.contradiction', `${completed} AND s.contradiction IS NOT NULL`],
  [
    'arrived differs',
    "'the amount received differs from the requested amount'",
    `${completed} AND s.requested IS NOT NULL`,
    { source: "'request'", ccy: 's.arrivedCcy', here: 's.requested', there: 's.arrived' },
  ],
  [
    'event never came',
    "'no event reported the state completed'",
    `${completed} AND s.created >= ?2 AND NOT EXISTS
      (SELECT 1 FROM local e
        WHERE e.txnId = s.txnId AND e.source = 'inbox' AND e.outcome = 'paid')`,
    { source: "'inbox'" },
  ],
];

/** Selects the differences of a kind. The journal comes first, then the service, then the inbox. */
const selecting =
  (step: string, of: 'l' | 's', from: string, usual: NonNullable<Check[3]>) =>
  ([difference, detail, condition, columns]: Check): string => {
    const { source, ccy = 'NULL', here = 'NULL', there = 'NULL' } = { ...usual, ...columns };
    return `SELECT ${step} AS step, ${of === 'l' ? 'l.n' : 's.created'} AS place,
      '${difference}' AS difference, ${source} AS source, ${of}.txnId,
      ${of}.reference, ${ccy} AS ccy, ${here} AS here, ${there} AS there,
      ${detail} AS detail FROM ${from} ${condition}`;
  };

const stepOfPayment = "iif(l.source = 'inbox', 2, 0)";
const ownSource = { source: 'l.source' };

const query = `INSERT INTO found
  SELECT NULL, difference, source, txnId, reference, ccy, here, there, detail FROM (${[
    ...ofPayments.map(
      selecting(stepOfPayment, 'l', 'local l WHERE', {
        ...ownSource,
        ccy: 'l.ccy',
        here: 'l.total',
      }),
    ),
    ...ofPairs.map(
      selecting(stepOfPayment, 'l', 'local l JOIN service s ON s.txnId = l.txnId WHERE', ownSource),
    ),
    ...ofService.map(
      selecting('1', 's', `service s WHERE ${listed} AND`, {
        source: "'service'",
        ccy: 's.ccy',
        there: 's.total',
      }),
    ),
  ].join(' UNION ALL ')}) ORDER BY step, place`;
