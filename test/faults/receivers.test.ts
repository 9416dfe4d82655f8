// Tests several receivers on one home or one database, including a full inbox and a failing
// database.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'libsql';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openEventStore } from '../../src/store/events/sqlite-events.js';
import { eventsFile, findHome } from '../../src/store/files/home.js';
import { svcpay } from '../support/in-process.js';
import { hasPostgres } from '../support/postgres.js';
import { countOf } from '../support/part.js';
import { preparedDatabase } from '../support/prepared-database.js';
import { usingPostgres } from '../support/shared-postgres.js';
import { test as withSandbox, type Environment } from '../support/svcpay.js';
import { until } from '../support/until.js';
import { deliver, startApplication, startListening } from '../support/webhooks.js';

const server = usingPostgres();

function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'svcpay-receivers-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

/** A webhook inbox whose tables exist. */
interface Inbox {
  /** Runs SQL on the database of the inbox, to simulate an administrator or a fault. */
  readonly sql: (text: string) => void;
  readonly count: (table: string) => number;
  /** Returns an environment for a receiver that uses this inbox. */
  readonly around: () => Environment;
}

async function inFile(): Promise<Inbox> {
  const home = newHome();
  const file = eventsFile(findHome({ SVCPAY_HOME: home }));
  await openEventStore(file, Date.now).close();
  const opened = <T>(action: (db: Database.Database) => T): T => {
    const db = new Database(file);
    try {
      return action(db);
    } finally {
      db.close();
    }
  };
  return {
    sql: (text) => void opened((db) => db.exec(text)),
    count: (table) =>
      Number(
        Object.values(
          opened((db) => db.prepare(`SELECT count(*) FROM ${table}`).get()) as object,
        )[0],
      ),
    around: () => ({ home }),
  };
}

async function inPostgres(): Promise<Inbox> {
  const url = await preparedDatabase(server());
  const env = { SVCPAY_DATABASE_URL: url };
  expect(await svcpay(['db', 'upgrade'], { home: newHome(), env })).toMatchObject({ exitCode: 0 });
  const sql = (text: string): string =>
    server().sql(`SET search_path = svcpay; ${text}`, new URL(url).pathname.slice(1));
  return {
    sql: (text) => void sql(text),
    count: (table) => Number(sql(`SELECT count(*) FROM ${table}`)),
    around: () => ({ home: newHome(), env }),
  };
}

const oldEvents = 12_000;
const row = (id: string, body: string): string =>
  `${id}, 1, ${body}, '', 'old', 'completed', 0, ''`;
const columns =
  'INSERT INTO events (id, received_at, body, signature, txn_id, txn_state, out_of_order, missing)';

/**
 * In the SQL for each kind of inbox, `fill` inserts old events, one of which is still in the
 * backlog; `failing` makes every deletion fail; `limited` makes a deletion of many events fail,
 * like a statement timeout.
 */
const inboxes = [
  {
    name: 'SQLite',
    open: inFile,
    fill: `WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < ${oldEvents}) ${columns} SELECT ${row('id', `x''`)} FROM n;
      INSERT INTO backlog (consumer, event_id, txn_id, queued_at) VALUES ('elsewhere', 7, 'old', 1)`,
    limited: '',
    failing: `CREATE TRIGGER failing BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'the disk is gone'); END`,
  },
  {
    name: 'PostgreSQL',
    open: inPostgres,
    fill: `${columns} SELECT ${row('id', `''`)} FROM generate_series(1, ${oldEvents}) AS id;
      SELECT setval(pg_get_serial_sequence('events', 'id'), ${oldEvents});
      INSERT INTO backlog (consumer, event_id, txn_id, queued_at) VALUES ('elsewhere', 7, 'old', 1)`,
    limited: `CREATE FUNCTION limited() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF (SELECT count(*) FROM gone) > 5000 THEN RAISE EXCEPTION 'statement timeout' USING ERRCODE = '57014'; END IF; RETURN NULL; END $$;
      CREATE TRIGGER limited AFTER DELETE ON events REFERENCING OLD TABLE AS gone EXECUTE FUNCTION limited()`,
    failing: `CREATE FUNCTION failing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the disk is gone'; END $$;
      CREATE TRIGGER failing BEFORE DELETE ON events EXECUTE FUNCTION failing()`,
  },
] as const;

const event = (txnId: string, txnState = 'completed', updatedAt = 1) => ({
  txnId,
  txnState,
  updatedAt,
});

/** The number of transactions, each with four events. */
const transactions = countOf({ part: 50, all: 125 });

describe.each(
  inboxes
    .filter(({ name }) => name === 'SQLite' || hasPostgres)
    .map((each) => [each.name, each] as const),
)('svcpay webhook listen with its inbox in %s', (_name, { open, fill, limited, failing }) => {
  test('deletes old events in batches after it starts to listen', async () => {
    const inbox = await open();
    inbox.sql(fill);
    inbox.sql(limited);
    const listener = await startListening([], inbox.around());
    expect(await deliver(listener.url, event('new'))).toBe(200);
    // If the deletion runs before the new event arrives, the newest old event also stays, because
    // the deletion keeps the newest event.
    await until(() => inbox.count('events') <= 3);
    expect(inbox.count("events WHERE id = 7 OR txn_id = 'new'")).toBe(2);
    listener.child.kill('SIGINT');
    expect((await listener.ended).stderr).not.toContain('Warning');
  });

  test('receives events and prints a warning if old events cannot be deleted', async () => {
    const inbox = await open();
    inbox.sql(fill);
    inbox.sql(failing);
    const listener = await startListening([], inbox.around());
    expect(await deliver(listener.url, event('new'))).toBe(200);
    await until(() => listener.stderr().includes('svcpay could not delete old events'));
    listener.child.kill('SIGINT');
    expect(await listener.ended).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('the disk is gone'),
    });
    expect(inbox.count('events')).toBe(oldEvents + 1);
  });

  withSandbox(
    'keeps listening with a warning if the inbox cannot be searched for missed states',
    async ({ sandbox }) => {
      const inbox = await open();
      inbox.sql('ALTER TABLE events RENAME COLUMN updated_at TO elsewhere');
      const listener = await startListening(['--enrich'], { ...inbox.around(), sandbox });
      await until(() => listener.stderr().includes('svcpay could not search the inbox'));
      inbox.sql('ALTER TABLE events RENAME COLUMN elsewhere TO updated_at');
      await until(async () => (await deliver(listener.url, event('new'))) === 200);
      listener.child.kill('SIGINT');
      expect(await listener.ended).toMatchObject({ exitCode: 0 });
    },
  );

  test('reports ready only while it can store events', async () => {
    const inbox = await open();
    const listener = await startListening(['--metrics', '0'], inbox.around());
    const isReady = async (): Promise<boolean> =>
      (await fetch(`${listener.url}/readyz`)).status === 200;
    expect(await isReady()).toBe(true);
    inbox.sql('ALTER TABLE backlog RENAME TO elsewhere');
    await until(async () => !(await isReady()));
    expect(await (await fetch(listener.metricsUrl)).text()).toContain('svcpay_database_up 0');
    expect((await fetch(`${listener.url}/healthz`)).status).toBe(200);
    inbox.sql('ALTER TABLE elsewhere RENAME TO backlog');
    await until(isReady);
    expect(await (await fetch(listener.metricsUrl)).text()).toContain('svcpay_database_up 1');
  });

  test(
    `delivers each of ${4 * transactions} events once if two of four receivers on one inbox are stopped`,
    { timeout: 240_000 },
    async () => {
      const inbox = await open();
      const application = await startApplication(() => 200);
      const start = () =>
        startListening(['--forward-to', application.url, '-q'], {
          ...inbox.around(),
          deadlineMs: 220_000,
        });
      const listeners = await Promise.all(Array.from({ length: 4 }, start));
      const states = ['quoted', 'srccreated', 'destsent', 'completed'];
      let sent = 0;
      let next = 0;
      /**
       * Delivers each event to one receiver after the other until a receiver accepts the event, as
       * the service does.
       */
      const send = async (): Promise<void> => {
        while (next < transactions) {
          const n = (next += 1);
          for (const [at, txnState] of states.entries()) {
            await until(
              async () =>
                (await deliver(
                  listeners[(sent += 1) % 4]?.url ?? '',
                  event(`t${n}`, txnState, at),
                )) === 200,
            );
          }
          if (n === Math.floor(transactions / 2))
            for (const { child } of listeners.slice(0, 2)) child.kill('SIGTERM');
        }
      };
      await Promise.all(Array.from({ length: 16 }, send));
      await until(() => new Set(application.bodies).size === transactions * states.length);
      for (const { child } of listeners.slice(2)) child.kill('SIGINT');
      for (const { ended } of listeners) expect(await ended).toMatchObject({ exitCode: 0 });
      expect(application.bodies).toHaveLength(transactions * states.length);
      const arrived = application.bodies.map((body): { txnId: string; txnState: string } =>
        JSON.parse(body),
      );
      for (let n = 1; n <= transactions; n += 1) {
        expect(
          arrived.filter(({ txnId }) => txnId === `t${n}`).map(({ txnState }) => txnState),
        ).toEqual(states);
      }
    },
  );

  test(
    'delivers no event twice to a slow application if two of four receivers are stopped',
    { timeout: 120_000 },
    async () => {
      const inbox = await open();
      const application = await startApplication(() => delay(1_000, 200));
      const args = ['--forward-to', application.url, '-q'];
      const listeners = await Promise.all(
        Array.from({ length: 4 }, () => startListening(args, inbox.around())),
      );
      const events = 80;
      const send = (n: number): Promise<number> =>
        deliver(listeners[n % 4]?.url ?? '', event(`t${n}`));
      await Promise.all(Array.from({ length: events }, (_, n) => send(n)));
      await until(() => application.bodies.length > 0);
      for (const { child, ended } of listeners.slice(0, 2)) {
        child.kill('SIGTERM');
        expect(await ended).toMatchObject({ exitCode: 0 });
      }
      await until(() => new Set(application.bodies).size === events);
      for (const { child, ended } of listeners.slice(2)) {
        child.kill('SIGTERM');
        expect(await ended).toMatchObject({ exitCode: 0 });
      }
      expect(application.bodies).toHaveLength(events);
      expect(new Set(application.eventIds).size).toBe(events);
    },
  );
});
