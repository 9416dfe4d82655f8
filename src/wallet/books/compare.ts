// Compares the service's list with the journal and the webhook inbox: the outcome of each payment,
// its amounts, currencies, reference and destination. A temporary database joins the
// sources, so that memory use stays constant.
import Big from 'big.js';
import * as v from 'valibot';
import type { ListedTransaction, Transaction } from '../../api/types.js';
import type { Span } from '../../formats/calendar.js';
import { Failure } from '../../formats/failure.js';
import { movedNothing } from '../../formats/states.js';
import { openScratch, type Scratch } from '../../store/files/scratch.js';
import { severalAtOnce } from '../history/moved-amounts.js';
import {
  amountText,
  differenceKinds,
  serviceValues,
  type FoundDifference,
  type LocalPayment,
} from './compared.js';

/** An event of the webhook inbox, with its time `at` in epoch ms by the service's clock. */
export interface KnownEvent {
  readonly txnId: string;
  readonly txnState: string;
  readonly at: number;
}

export interface Sources {
  readonly journal: AsyncIterable<LocalPayment>;
  /** The events of the webhook inbox, oldest first, or undefined if the home has no inbox. */
  readonly inbox: AsyncIterable<KnownEvent> | undefined;
}

export interface CompareDeps {
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
    id TEXT PRIMARY KEY, reference TEXT, state TEXT, outcome TEXT, is_out INTEGER,
    created INTEGER, ccy TEXT, total TEXT, arrived_ccy TEXT, arrived TEXT, requested TEXT,
    contradiction TEXT, destination TEXT, is_listed INTEGER
  ) STRICT;
  CREATE TABLE local (
    n INTEGER PRIMARY KEY, source TEXT, id TEXT, reference TEXT, outcome TEXT,
    state TEXT, ccy TEXT, total TEXT, receives_ccy TEXT, receives TEXT, destination TEXT,
    ended TEXT, seen INTEGER
  ) STRICT;
  CREATE INDEX local_id ON local (id, source);`;

/** The transactions of the service, to compare with the sources of this home. */
export interface Comparison {
  /** Stores a page of the service's list. */
  list(page: readonly ListedTransaction[]): void;
  /** Yields the differences. The caller must first store every page of the list. */
  differences(sources: Sources, deps: CompareDeps): AsyncIterable<FoundDifference>;
  close(): void;
}

export function openComparison(): Comparison {
  const db = openScratch(tables);
  return {
    list: (page) => db.together(() => page.forEach((txn) => putService(txn, 1, db))),
    async *differences(sources, deps) {
      const { first, end } = deps.period;
      const firstEvent = await putSources(sources, first, db);
      await readMissing(deps, db);
      for (const row of db.each(query, first, firstEvent, end)) yield v.parse(differenceRow, row);
    },
    close: () => db.close(),
  };
}

function putService(txn: ListedTransaction, isListed: 0 | 1, db: Scratch): void {
  const text = 'INSERT OR REPLACE INTO service VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)';
  db.run(text, ...serviceValues(txn), isListed);
}

/** Stores the payments of all sources. Returns the time of the first event in epoch ms. */
async function putSources({ journal, inbox }: Sources, since: number, db: Scratch) {
  for await (const payment of journal) putLocal(payment, db);
  let first: number | null = null;
  for await (const event of inbox ?? []) {
    first = Math.min(first ?? event.at, event.at);
    if (event.at >= since) putEvent(event, db);
  }
  return first;
}

function putLocal(payment: LocalPayment, db: Scratch): void {
  const { txnId, reference, outcome, state, ccy, total, receivesCcy, receives } = payment;
  db.run(
    `INSERT INTO local (source, id, reference, outcome, state, ccy, total, receives_ccy, receives,
      destination) VALUES ('journal',?,?,?,?,?,?,?,?,?)`,
    txnId,
    reference,
    outcome,
    state,
    ccy,
    amountText(total),
    receivesCcy,
    amountText(receives),
    payment.destination,
  );
}

/**
 * Stores the latest event of a transaction. A `completed` event stays stored even if a different
 * event follows.
 */
function putEvent({ txnId, txnState, at }: KnownEvent, db: Scratch): void {
  const inInbox = "source = 'inbox' AND id = ?";
  if (db.first(`SELECT 1 FROM local WHERE ${inInbox}`, txnId) === undefined)
    db.run("INSERT INTO local (source, id, seen) VALUES ('inbox', ?, ?)", txnId, at);
  if (txnState === 'completed')
    db.run(`UPDATE local SET outcome = 'paid', state = ? WHERE ${inInbox}`, txnState, txnId);
  else
    db.run(
      `UPDATE local SET state = iif(outcome IS NULL, ?, state), ended = coalesce(?, ended)
       WHERE ${inInbox}`,
      txnState,
      movedNothing(txnState) ? txnState : null,
      txnId,
    );
}

/** Reads the transactions that the list lacks by their ids, unless the payments moved nothing. */
async function readMissing({ read, period }: CompareDeps, db: Scratch): Promise<void> {
  // The first event of a transaction of a later period is also later.
  db.run(`DELETE FROM local AS l WHERE source = 'inbox' AND seen >= ? AND ${unlisted}`, period.end);
  const missing = [
    ...db.each(`SELECT DISTINCT id FROM local l WHERE ${unlisted} AND ${moved}`),
  ].map((row) => v.parse(idRow, row).id);
  await severalAtOnce(missing, async (txnId) => {
    const txn = await read(txnId).catch(ifNotFound);
    if (txn === undefined) return;
    const created = txn.createdAt ?? period.first;
    if (created < period.first || created >= period.end)
      return db.run('DELETE FROM local WHERE id = ?', txnId);
    putService({ ...txn, txnId }, 0, db);
  });
}

const idRow = v.object({ id: v.string() });

function ifNotFound(error: unknown): undefined {
  if (
    error instanceof Failure &&
    (error.kind === 'not-found' || error.kind === 'refused' || error.kind === 'usage')
  )
    return undefined;
  throw error;
}

const decimal = v.pipe(
  v.string(),
  v.transform((text) => new Big(text)),
);

const differenceRow = v.object({
  difference: v.picklist(differenceKinds),
  source: v.string(),
  txnId: v.nullable(v.string()),
  reference: v.nullable(v.string()),
  ccy: v.nullable(v.string()),
  here: v.nullable(decimal),
  there: v.nullable(decimal),
  detail: v.string(),
});

const moved = "l.outcome IS NOT 'nothing moved'";
const unlisted = 'NOT EXISTS (SELECT 1 FROM service s WHERE s.id = l.id)';

/** Both sides report an amount of a payment that settled. */
const settled =
  "l.outcome IN ('paid', 'in flight') AND l.source <> 'inbox' AND s.state = 'completed' AND " +
  's.total IS NOT NULL';
const hasDebit = 'l.total IS NOT NULL AND l.ccy IS NOT NULL';
const hasCredit = `${hasDebit} AND l.receives IS NOT NULL AND l.receives_ccy IS NOT NULL
  AND s.arrived IS NOT NULL`;

/** The service lists the transaction, which it created in the period. */
const listed = 's.is_listed AND s.created >= ?1 AND s.created < ?3';

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
    `NOT s.is_listed AND ${moved}`,
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
    'l.reference <> s.id AND l.reference IS NOT s.reference',
  ],
  [
    'destination differs',
    both('l.destination', 's.destination'),
    'lower(l.destination) <> lower(s.destination)',
  ],
  [
    'not comparable',
    "'the journal contains no amount'",
    `${settled} AND NOT (${hasDebit}) AND l.outcome = 'paid'`,
  ],
  ['currency differs', both('l.ccy', 's.ccy'), `${settled} AND ${hasDebit} AND l.ccy IS NOT s.ccy`],
  [
    'amount differs',
    "'the settled amount differs from the approved amount'",
    `${settled} AND ${hasDebit} AND l.ccy = s.ccy AND l.total <> s.total`,
    { ccy: 'l.ccy', here: 'l.total', there: 's.total' },
  ],
  [
    'currency differs',
    both('l.receives_ccy', 's.arrived_ccy'),
    `${settled} AND ${hasCredit} AND l.receives_ccy IS NOT s.arrived_ccy`,
  ],
  [
    'arrived differs',
    "'the amount received differs from the approved amount'",
    `${settled} AND ${hasCredit} AND l.receives_ccy = s.arrived_ccy AND l.receives <> s.arrived`,
    { ccy: 'l.receives_ccy', here: 'l.receives', there: 's.arrived' },
  ],
];

/** The contradictions within a transaction, and the transactions that this home lacks. */
const ofService: readonly Check[] = [
  [
    'unknown here',
    "'the service reports ' || s.state",
    `s.is_out AND s.outcome <> 'nothing moved' AND NOT EXISTS
      (SELECT 1 FROM local j WHERE j.id = s.id AND j.source = 'journal')`,
    { source: "'journal'" },
  ],
  [
    'not comparable',
    "'the service reports no amount or currency'",
    "s.state = 'completed' AND s.total IS NULL",
  ],
  [
    'contradicts itself',
    's.contradiction',
    "s.state = 'completed' AND s.contradiction IS NOT NULL",
  ],
  [
    'arrived differs',
    "'the amount received differs from the requested amount'",
    "s.state = 'completed' AND s.requested IS NOT NULL",
    { source: "'request'", ccy: 's.arrived_ccy', here: 's.requested', there: 's.arrived' },
  ],
  [
    'event never came',
    "'no event reported the state completed'",
    `s.state = 'completed' AND s.created >= ?2 AND NOT EXISTS
      (SELECT 1 FROM local e WHERE e.id = s.id AND e.source = 'inbox' AND e.outcome = 'paid')`,
    { source: "'inbox'" },
  ],
];

/** Selects the differences of a kind. The journal comes first, then the service, then the inbox. */
const selecting =
  (step: string, of: 'l' | 's', from: string, usual: NonNullable<Check[3]>) =>
  ([difference, detail, condition, columns]: Check): string => {
    const { source, ccy = 'NULL', here = 'NULL', there = 'NULL' } = { ...usual, ...columns };
    return `SELECT ${step} AS step, ${of === 'l' ? 'l.n' : 's.created'} AS place,
      '${difference}' AS difference, ${source} AS source, ${of}.id AS "txnId",
      ${of}.reference AS reference, ${ccy} AS ccy, ${here} AS here, ${there} AS there,
      ${detail} AS detail FROM ${from} ${condition}`;
  };

const stepOfPayment = "iif(l.source = 'inbox', 2, 0)";
const ownSource = { source: 'l.source' };

const query = `SELECT * FROM (${[
  ...ofPayments.map(
    selecting(stepOfPayment, 'l', 'local l WHERE', {
      ...ownSource,
      ccy: 'l.ccy',
      here: 'l.total',
    }),
  ),
  ...ofPairs.map(
    selecting(stepOfPayment, 'l', 'local l JOIN service s ON s.id = l.id WHERE', ownSource),
  ),
  ...ofService.map(
    selecting('1', 's', `service s WHERE ${listed} AND`, {
      source: "'service'",
      ccy: 's.ccy',
      there: 's.total',
    }),
  ),
].join(' UNION ALL ')}) ORDER BY step, place`;
