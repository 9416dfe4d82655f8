// The inbox in a database, SQLite or PostgreSQL: its tables, the log of webhook events, the
// backlog, and the consumers. The name of a consumer identifies its backlog.
import { randomBytes, randomUUID } from 'node:crypto';
import * as v from 'valibot';
import {
  inserted,
  placeholders,
  rowOf,
  TimeFromNow,
  type Sql,
  type SqlDatabase,
  flag,
  inPostgres,
} from '../database/sql.js';
import { grouped } from '../../formats/text.js';
import type {
  EarlierEvent,
  EventStore,
  PlaceEvent,
  ReceivedEvent,
  StoredEvent,
  WaitingEvent,
  Consumers,
} from './event-store.js';
import { Failure, invalid } from '../../formats/failure.js';

/** The mark of an inbox file: the letters `svce`. */
export const applicationId = 0x73766365;

/**
 * The tables of both databases, as SQLite reads them: the events, the undelivered events of each
 * consumer (with an empty `txn_id` for an event that names no transaction), and when a receiver
 * last served each consumer.
 */
const tables = `CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    received_at INTEGER NOT NULL,
    body BLOB NOT NULL,
    signature TEXT NOT NULL,
    txn_id TEXT,
    txn_state TEXT,
    updated_at INTEGER,
    duplicate_of INTEGER,
    out_of_order INTEGER NOT NULL,
    missing TEXT NOT NULL,
    batch TEXT
  ) STRICT;
  CREATE INDEX events_txn ON events (txn_id, updated_at) WHERE txn_id IS NOT NULL;

  CREATE TABLE backlog (
    consumer TEXT NOT NULL,
    event_id INTEGER NOT NULL REFERENCES events (id),
    txn_id TEXT NOT NULL,
    queued_at INTEGER NOT NULL,
    PRIMARY KEY (consumer, event_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX backlog_event ON backlog (event_id);

  CREATE TABLE consumers (
    consumer TEXT PRIMARY KEY,
    served_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;`;

/**
 * In a SQLite file, one worker leases all waiting events of a consumer, because all workers run on
 * one machine.
 */
export const sqliteSteps: readonly string[] = [
  `${tables}

  CREATE TABLE workers (
    consumer TEXT PRIMARY KEY,
    worker TEXT NOT NULL,
    lease_until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;`,
];

/**
 * In PostgreSQL, each consumer has one lease per transaction with waiting events. A lease covers
 * the events of its transaction up to the last event that the worker took.
 */
const leases = `
  CREATE INDEX events_received ON events (received_at);
  CREATE INDEX backlog_transaction ON backlog (consumer, txn_id, event_id);

  CREATE TABLE leases (
    consumer TEXT NOT NULL,
    txn_id TEXT NOT NULL,
    first_event INTEGER NOT NULL,
    worker TEXT,
    lease_until INTEGER NOT NULL DEFAULT 0,
    taken_to INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (consumer, txn_id)
  ) STRICT;
  CREATE INDEX leases_waiting ON leases (consumer, first_event);`;

/**
 * Because rows of the backlog and of leases are short-lived, vacuum starts after a fixed number of
 * dead rows. Half of each page of leases stays free, so that an updated lease stays in its page.
 */
export const postgresSteps: readonly string[] = [
  `${inPostgres(tables + leases)}
  ALTER TABLE backlog SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
  ALTER TABLE leases SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 10000);`,
];

/**
 * The schema of bytes from libsql, which returns buffers or plain memory, depending on how rows are
 * read.
 */
const bytes = v.pipe(
  v.union([v.instance(Uint8Array), v.instance(ArrayBuffer)]),
  v.transform((blob) =>
    blob instanceof ArrayBuffer
      ? new Uint8Array(blob)
      : new Uint8Array(blob.buffer, blob.byteOffset, blob.length),
  ),
);
const stateList = v.pipe(
  v.string(),
  v.transform((text) => (text === '' ? [] : text.split(','))),
);

const eventsSchema = v.array(
  rowOf({
    id: v.number(),
    receivedAt: v.number(),
    body: bytes,
    signature: v.string(),
    txnId: v.nullable(v.string()),
    txnState: v.nullable(v.string()),
    updatedAt: v.nullable(v.number()),
    duplicateOf: v.nullable(v.number()),
    outOfOrder: flag,
    missing: stateList,
  }),
);

export const waitingSchema = v.array(rowOf({ eventId: v.number(), txnId: v.string() }));

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

interface EventParts {
  readonly database: SqlDatabase;
  /** The table that holds the leases of a consumer. */
  readonly leaseTable: LeaseTable;
  readonly lease: EventStore['lease'];
  /** Lets the workers of a consumer take the waiting events of a transaction. */
  readonly offer?: (sql: Sql, consumer: string, event: WaitingEvent) => Promise<unknown>;
  /** Fails if the disk is full, although the pages of the tables may have space for an event. */
  readonly checkSpace?: (sql: Sql) => Promise<unknown>;
}

export function openSqlEvents(parts: EventParts): EventStore {
  const { database, lease, offer, checkSpace } = parts;
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
      return database.transaction(
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
        { locks, lasts: true },
      );
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
    lease,
    check: async (bytes = usualBytes) => {
      await database.transaction(
        async (sql) => {
          await writeTrial(sql, bytes);
          await checkSpace?.(sql);
        },
        { lasts: true },
      );
    },
    prune: (receivedBefore, after) => prune(database, receivedBefore, after),
    close: () => database.close(),
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

/** Writes and deletes an event whose body no database can compress, also from the backlog. */
async function writeTrial(sql: Sql, bytes: number): Promise<void> {
  const body = randomBytes(bytes);
  const trial = { receivedAt: 0, body, signature: '', outOfOrder: 0, missing: '' };
  const rows = await sql.all(...inserted('events', [trial], 'RETURNING id'));
  for (const { id } of v.parse(idsSchema, rows)) {
    await sql.run('DELETE FROM backlog WHERE event_id = ?', id);
    await sql.run('DELETE FROM events WHERE id = ?', id);
  }
}

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
    place: placing(event, earlier.get(event.txnId ?? '') ?? []),
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
): Promise<Map<string, EarlierEvent[]>> {
  const names = events.flatMap(({ txnId }) => (txnId === null ? [] : [txnId]));
  if (names.length === 0) return new Map();
  const text = `SELECT id, txn_id, txn_state, updated_at FROM (
      SELECT id, txn_id, txn_state, updated_at, row_number() OVER (PARTITION BY txn_id
        ORDER BY updated_at DESC, id) AS nth
      FROM events WHERE txn_id IN (${placeholders(names.length)}) AND updated_at IS NOT NULL
        AND duplicate_of IS NULL
    ) AS earlier WHERE nth <= ${earlierLimit}`;
  return grouped(v.parse(earlierSchema, await sql.all(text, ...names)), ({ txnId }) => txnId);
}

type LeaseTable = 'leases' | 'workers';

const consumersSchema = v.array(
  rowOf({
    consumer: v.string(),
    count: v.number(),
    oldest: v.nullable(v.number()),
    servedAt: v.nullable(v.number()),
  }),
);

const listed = `SELECT named.consumer, coalesce(waiting.count, 0) AS count,
    (SELECT queued_at FROM backlog WHERE backlog.consumer = named.consumer
      AND event_id = waiting.first) AS oldest,
    consumers.served_at
  FROM (SELECT consumer FROM consumers UNION SELECT consumer FROM backlog) AS named
  LEFT JOIN consumers ON consumers.consumer = named.consumer
  LEFT JOIN (SELECT consumer, count(*) AS count, min(event_id) AS first
    FROM backlog GROUP BY consumer) AS waiting
    ON waiting.consumer = named.consumer
  ORDER BY named.consumer`;

function sqlConsumers(database: SqlDatabase, leaseTable: LeaseTable): Consumers {
  const refuseIfServed = async (sql: Sql, name: string): Promise<void> => {
    const text = `SELECT 1 FROM ${leaseTable} WHERE consumer = ? AND lease_until > ? LIMIT 1`;
    if ((await sql.all(text, name, await sql.now())).length > 0) throw beingServed(name);
  };
  return {
    serve: (names) =>
      database.transaction(async (sql) => {
        const at = await sql.now();
        if (names.length > 0)
          await sql.run(
            ...inserted(
              'consumers',
              names.toSorted().map((consumer) => ({ consumer, servedAt: at })),
              'ON CONFLICT (consumer) DO UPDATE SET served_at = excluded.served_at',
            ),
          );
        const others = `INSERT INTO consumers (consumer, served_at)
          SELECT DISTINCT consumer, CAST(? AS BIGINT) FROM backlog
          WHERE consumer NOT IN (SELECT consumer FROM consumers) ON CONFLICT DO NOTHING`;
        await sql.run(others, at);
      }),
    list: () =>
      database.read(async (sql) => {
        const [rows, at] = [v.parse(consumersSchema, await sql.all(listed)), await sql.now()];
        const ago = (time: number | null): number | null =>
          time === null ? null : Math.max(0, at - time) / 1_000;
        return rows.map(({ servedAt, ...row }) => ({
          ...row,
          oldestSeconds: ago(row.oldest),
          servedSeconds: ago(servedAt),
        }));
      }),
    remove: (name) =>
      database.transaction(async (sql) => {
        await refuseIfServed(sql, name);
        const dropped = await sql.run('DELETE FROM backlog WHERE consumer = ?', name);
        for (const table of [leaseTable, 'consumers'])
          await sql.run(`DELETE FROM ${table} WHERE consumer = ?`, name);
        return dropped;
      }, unlimited),
    rename: (name, to) =>
      database.transaction(async (sql) => {
        const stored = `SELECT consumer FROM consumers WHERE consumer = ?
            UNION SELECT consumer FROM backlog WHERE consumer = ?`;
        if ((await sql.all(stored, to, to)).length > 0) throw taken(to);
        await refuseIfServed(sql, name);
        for (const table of ['backlog', leaseTable, 'consumers'])
          await sql.run(`UPDATE ${table} SET consumer = ? WHERE consumer = ?`, to, name);
      }, unlimited),
  };
}

/** The options for a change of a whole backlog, which may take longer than other statements. */
const unlimited = { isUnlimited: true } as const;

const beingServed = (name: string): Failure =>
  new Failure('temporary', `Nothing was changed: a receiver is delivering to ${name}.`, {
    hint: 'Stop the receivers of this consumer, then run the same command again.',
  });

const taken = (name: string): Failure =>
  invalid(`Nothing was changed: the consumer ${name} already exists.`, {
    hint: 'Choose another name, or remove the existing consumer first.',
  });
