// The inbox in a database: the log of webhook events, and the backlog.
import { randomBytes, randomUUID } from 'node:crypto';
import * as v from 'valibot';
import {
  inserted,
  placeholders,
  rowOf,
  TimeFromNow,
  type Sql,
  type SqlDatabase,
} from '../database/sql.js';
import type {
  EarlierEvent,
  EventStore,
  Leases,
  PlaceEvent,
  ReceivedEvent,
  StoredEvent,
  WaitingEvent,
} from './event-store.js';
import { eventsSchema } from './schema.js';
import { sqlConsumers, type LeaseTable } from './sql-consumers.js';

const idsSchema = v.array(v.object({ id: v.number() }));
const spanSchema = v.tuple([
  v.object({ last: v.nullable(v.number()), oldest: v.nullable(v.number()) }),
]);
const earlierSchema = v.array(
  rowOf({ id: v.number(), txnId: v.string(), txnState: v.string(), updatedAt: v.number() }),
);
const unfinishedSchema = v.array(rowOf({ txnId: v.string(), txnState: v.string() }));

/**
 * The number of earlier events with which svcpay compares a new event, which is larger than the
 * number of states of any transaction in the specification.
 */
const earlierLimit = 32;
const rowsAtOnce = 200;
/**
 * The largest number of events in one search, because a search through millions of events would
 * exceed the statement timeout.
 */
const searchedMost = 50_000;
/**
 * The largest number of events in one DELETE, which takes a third of a second in PostgreSQL, well
 * below the statement timeout.
 */
const prunedAtOnce = 5_000;
/**
 * The number of rows in one INSERT. A separate INSERT for each row takes a third longer, and an
 * INSERT of more than 32 rows saves no further time.
 */
const addedAtOnce = 32;

export interface EventParts {
  readonly database: SqlDatabase;
  /** The table that holds the leases of a consumer. */
  readonly leaseTable: LeaseTable;
  readonly leases: Leases;
  /** Lets the workers of a consumer take the waiting events of a transaction. */
  readonly offer?: (sql: Sql, consumer: string, event: WaitingEvent) => Promise<unknown>;
  /**
   * Makes earlier commits survive a power loss, if the database does not guarantee this at the
   * commit.
   */
  readonly sync: () => Promise<unknown>;
  readonly close: () => Promise<void>;
}

export function openSqlEvents(parts: EventParts): EventStore {
  const { database, leases, offer, sync, close } = parts;
  const consumers = sqlConsumers(database, parts.leaseTable);
  const select = async (end: string, ...values: (string | number)[]): Promise<StoredEvent[]> =>
    v.parse(
      eventsSchema,
      await database.read((sql) => sql.all(`SELECT * FROM events ${end}`, ...values)),
    );
  return {
    async append(events, consumers, placing) {
      const batch = randomUUID();
      // Appends of the same transaction's events run one after the other, so that svcpay compares
      // each event with all earlier events of its transaction.
      const locks = [...new Set(events.map(({ txnId }) => `events ${txnId ?? ''}`))];
      const stored = await database.transaction(
        async (sql) => {
          const before = sql.isAgain ? await earlierTry(sql, batch, events) : [];
          if (before.length > 0) return before;
          const added: StoredEvent[] = [];
          for (const part of unrelated(events))
            added.push(...(await add(sql, part, placing, batch)));
          const fresh = added.filter(({ duplicateOf }) => duplicateOf === null);
          await queue(sql, fresh, consumers, offer);
          return added;
        },
        { locks },
      );
      await sync();
      return stored;
    },
    read: async (id) => (await select('WHERE id = ?', id))[0],
    ofTransaction: (txnId) => select('WHERE txn_id = ? ORDER BY id', txnId),
    async *since(receivedAt) {
      let last = 0;
      for (;;) {
        const rows = await select(
          'WHERE received_at >= ? AND id > ? ORDER BY id LIMIT ?',
          receivedAt,
          last,
          rowsAtOnce,
        );
        yield* rows;
        last = rows.at(-1)?.id ?? last;
        if (rows.length < rowsAtOnce) return;
      }
    },
    unfinished: async (receivedAt, finalStates, limit) => {
      const text = `SELECT txn_id, txn_state FROM
        (SELECT id, received_at, txn_id, txn_state FROM events ORDER BY id DESC
          LIMIT ${searchedMost}) AS latest
        WHERE received_at >= ? AND txn_id IS NOT NULL AND id = (
          SELECT id FROM events WHERE txn_id = latest.txn_id
            ORDER BY updated_at DESC NULLS LAST, id DESC LIMIT 1
        ) AND txn_state NOT IN (${placeholders(finalStates.length)})
        ORDER BY id DESC LIMIT ?`;
      return v.parse(
        unfinishedSchema,
        await database.read((sql) => sql.all(text, receivedAt, ...finalStates, limit)),
      );
    },
    backlog: async () =>
      (await consumers.list()).flatMap(({ oldest, oldestSeconds, ...rest }) =>
        oldest === null || oldestSeconds === null ? [] : [{ ...rest, oldest, oldestSeconds }],
      ),
    consumers,
    leases,
    check: async (bytes = usualBytes) => {
      await database.transaction((sql) => writeTrial(sql, bytes));
      await sync();
    },
    prune: (receivedBefore, after) => prune(database, receivedBefore, after),
    close,
  };
}

/** Adds events to the backlog of each consumer. */
async function queue(
  sql: Sql,
  events: readonly StoredEvent[],
  consumers: readonly string[],
  offer: EventParts['offer'],
): Promise<void> {
  // In the order of transactions, so that two processes lock leases in the same order.
  for (const { id: eventId, txnId } of events.toSorted(byTransaction))
    for (const consumer of consumers) {
      const waiting = { eventId, txnId: txnId ?? '' };
      const row = { consumer, ...waiting, queuedAt: new TimeFromNow() };
      await sql.run(...inserted('backlog', [row]));
      await offer?.(sql, consumer, waiting);
    }
}

/** The size in bytes of the body of a usual event. */
const usualBytes = 1024;

/** An event whose body no database can compress. */
const trialOf = (bytes: number): ReceivedEvent => ({
  receivedAt: 0,
  body: randomBytes(bytes),
  signature: '',
  txnId: null,
  txnState: null,
  updatedAt: null,
});

async function writeTrial(sql: Sql, bytes: number): Promise<void> {
  for (const { id } of await add(sql, [trialOf(bytes)], inOrder, '')) {
    await sql.run('DELETE FROM backlog WHERE event_id = ?', id);
    await sql.run('DELETE FROM events WHERE id = ?', id);
  }
}

const inOrder: PlaceEvent = () => ({ duplicateOf: null, outOfOrder: false, missing: [] });

/**
 * Examines the next few thousand events after the id `after`, and deletes the events that were
 * received before `receivedBefore` and have been delivered to all consumers. Resolves with the last
 * examined id, or with undefined if the remaining events are newer than `receivedBefore`.
 */
async function prune(
  database: SqlDatabase,
  receivedBefore: number,
  after: number,
): Promise<number | undefined> {
  const span = `SELECT max(id) AS last, min(received_at) AS oldest
    FROM (SELECT id, received_at FROM events WHERE id > ? ORDER BY id LIMIT ${prunedAtOnce})
      AS next`;
  const [{ last, oldest }] = v.parse(
    spanSchema,
    await database.read((sql) => sql.all(span, after)),
  );
  if (last === null || oldest === null || oldest >= receivedBefore) return undefined;
  // The newest event is never deleted, so that no later event gets its id.
  const text = `DELETE FROM events WHERE id > ? AND id <= ? AND received_at < ?
    AND id < (SELECT max(id) FROM events)
    AND NOT EXISTS (SELECT 1 FROM backlog WHERE event_id = events.id)`;
  await database.transaction((sql) => sql.run(text, after, last, receivedBefore));
  return last;
}

function byTransaction(
  { txnId: a, id: first }: StoredEvent,
  { txnId: b, id: second }: StoredEvent,
): number {
  if (a === b) return first - second;
  return (a ?? '') < (b ?? '') ? -1 : 1;
}

/**
 * Returns the events that an earlier run of the same `append` call stored. The database may have
 * committed an earlier run of `append` although its response was lost.
 */
async function earlierTry(
  sql: Sql,
  batch: string,
  events: readonly ReceivedEvent[],
): Promise<StoredEvent[]> {
  const since = Math.min(...events.map(({ receivedAt }) => receivedAt));
  const rows = await sql.all(
    'SELECT * FROM events WHERE received_at >= ? AND batch = ? ORDER BY id',
    since,
    batch,
  );
  return v.parse(eventsSchema, rows);
}

/**
 * Splits events into parts that contain at most one event of each transaction, because svcpay
 * compares a new event only with stored events of its transaction.
 */
function* unrelated(events: readonly ReceivedEvent[]): Generator<readonly ReceivedEvent[]> {
  let part: ReceivedEvent[] = [];
  const named = new Set<string>();
  for (const event of events) {
    if (part.length === addedAtOnce || (event.txnId !== null && named.has(event.txnId))) {
      yield part;
      part = [];
      named.clear();
    }
    part.push(event);
    if (event.txnId !== null) named.add(event.txnId);
  }
  if (part.length > 0) yield part;
}

async function add(
  sql: Sql,
  events: readonly ReceivedEvent[],
  placing: PlaceEvent,
  batch: string,
): Promise<StoredEvent[]> {
  const earlier = await earlierOf(sql, events);
  const placed = events.map((event) => ({
    event,
    place: placing(event, earlier.get(event.txnId) ?? []),
  }));
  const added = placed.map(({ event, place }) => ({
    ...event,
    ...place,
    outOfOrder: Number(place.outOfOrder),
    missing: place.missing.join(','),
    batch,
  }));
  const rows = await sql.all(...inserted('events', added, 'RETURNING id'));
  // Sorts the ids of the inserted events, because PostgreSQL assigns ids in the order of the rows,
  // but may return the rows in any order.
  const ids = v
    .parse(idsSchema, rows)
    .map(({ id }) => id)
    .toSorted((a, b) => a - b);
  return placed.map(({ event, place }, index) =>
    Object.assign({ id: ids[index] ?? 0 }, event, place),
  );
}

/**
 * Reads the stored events of the transactions that the given events name, grouped by transaction.
 */
async function earlierOf(
  sql: Sql,
  events: readonly ReceivedEvent[],
): Promise<Map<string | null, EarlierEvent[]>> {
  const names = events.flatMap(({ txnId }) => (txnId === null ? [] : [txnId]));
  if (names.length === 0) return new Map();
  const text = `SELECT id, txn_id, txn_state, updated_at FROM (
      SELECT id, txn_id, txn_state, updated_at, row_number() OVER (PARTITION BY txn_id
        ORDER BY updated_at DESC, id) AS nth
      FROM events WHERE txn_id IN (${placeholders(names.length)}) AND updated_at IS NOT NULL
        AND duplicate_of IS NULL
    ) AS earlier WHERE nth <= ${earlierLimit}`;
  const rows = v.parse(earlierSchema, await sql.all(text, ...names));
  const earlier = new Map<string | null, EarlierEvent[]>(names.map((name) => [name, []]));
  for (const { txnId, ...event } of rows) earlier.get(txnId)?.push(event);
  return earlier;
}
