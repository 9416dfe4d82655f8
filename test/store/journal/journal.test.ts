// What the journal promises, held against all: in SQLite, in PostgreSQL, and the one that the simulation runs on.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { postgresDatabase } from '../../../src/store/database/postgres.js';
import { prepareTables } from '../../../src/store/database/postgres-schema.js';
import type { SqlDatabase } from '../../../src/store/database/sql.js';
import { leaseMs, LostClaim, type Intent, type IntentChange, type IntentDraft, type Journal, type Spend } from '../../../src/store/journal/journal.js';
import { journalPart } from '../../../src/store/journal/postgres-journal.js';
import { openSqlJournal } from '../../../src/store/journal/sql-journal.js';
import { openJournal } from '../../../src/store/journal/sqlite-journal.js';
import { emptyStore, memoryJournal } from '../../simulation/memory-journal.js';
import { withClock } from '../../support/sql-clock.js';
import { hasPgBouncer, hasPostgres, type Databases } from '../../support/postgres.js';
import { sharedPostgres } from '../../support/shared-postgres.js';

const now = Date.UTC(2025, 0, 15);
/** What the journal takes for the present. */
let present = now;
beforeEach(() => void (present = now));
const window = { lengthMs: 1, earliest: now, latest: now };
const quoted = { step: 'created', txnId: 't', txnState: 'quoted' } as const;
const agreed = { step: 'confirming', approvedTotal: '0.5', spendCcy: 'BTC', approvedAt: now } as const;
const dead = new Set(['dead']);
const isAlive = (owner: string): boolean => !dead.has(owner);

function sqlite(): Journal {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-journal-'));
  const journal = openJournal({ path: join(folder, 'journal.db'), isAlive, now: () => present });
  onTestFinished(async () => {
    await journal.close();
    rmSync(folder, { recursive: true });
  });
  return journal;
}

let server: Databases | undefined;
let [url, pooled] = ['', ''];
beforeAll(async () => {
  if (!hasPostgres) return;
  server = await sharedPostgres();
  url = server.database();
  if (hasPgBouncer) pooled = (await server.pooler()).through(url);
}, 60_000);
afterAll(() => server?.stop());

/** On the real server, with the clock of the test in place of its own. */
function postgres(address: string): Journal {
  const database = postgresDatabase({ url: address, source: 'the test', clock: () => performance.now() });
  const ready = prepareTables(database, 'the test', journalPart).then(() =>
    database.transaction((sql) => sql.run('TRUNCATE intents, seen_transactions, read_spans')),
  );
  const clocked = withClock(database, () => present);
  const timed: SqlDatabase = {
    ...clocked,
    transaction: async (action, options) => (await ready, clocked.transaction(action, options)),
    read: (action) => timed.transaction(action),
  };
  onTestFinished(() => database.close());
  return openSqlJournal(timed, isAlive);
}

let ids = 0;
const draft = (change: Partial<IntentDraft> = {}): IntentDraft => ({
  id: `id-${(ids += 1)}`,
  scope: 'https://pay.example ne01',
  account: 'ne01',
  ref: 'R',
  kind: 'swap',
  request: '{}',
  fingerprint: 'same',
  onceKey: null,
  terms: {},
  consent: 'standing',
  ...change,
});

async function written(journal: Journal, given: IntentDraft, ...changes: IntentChange[]): Promise<Intent> {
  const { intent } = await journal.begin(given);
  let claim = await journal.claim(intent.id, 'writer');
  if (claim === undefined) throw new Error('the intent is held');
  for (const change of changes) claim = await journal.write(claim, change);
  await journal.release(claim);
  return claim.intent;
}

/** A journal may tell each payment or the sums of them. */
function sums(spent: readonly Spend[]): Record<string, number> {
  const total = (ccy: string): number => spent.filter((each) => each.ccy === ccy).reduce((sum, each) => sum + Number(each.total), 0);
  return Object.fromEntries(spent.map(({ ccy }) => [ccy, total(ccy)]));
}

const journals: [string, () => Journal][] = [
  ['SQLite', sqlite],
  ...(hasPostgres ? [['PostgreSQL', () => postgres(url)] satisfies [string, () => Journal]] : []),
  ...(hasPgBouncer ? [['PostgreSQL by way of PgBouncer', () => postgres(pooled)] satisfies [string, () => Journal]] : []),
  ['memory', () => memoryJournal(emptyStore(), isAlive, () => present)],
];

describe.each(journals)('the journal in %s', (_name, open) => {
  test('opens an intent once for a reference', async () => {
    const journal = open();
    const first = await journal.begin(draft());
    expect(first).toMatchObject({ found: 'new', intent: { attempt: 1, step: 'intent', closed: false, txnId: null } });
    expect(await journal.begin(draft())).toEqual({ found: 'ref', intent: first.intent });
  });

  test('keeps scopes apart', async () => {
    const journal = open();
    await journal.begin(draft());
    expect(await journal.begin(draft({ scope: 'https://other.example ne02' }))).toMatchObject({ found: 'new' });
  });

  test('keeps what is written, also nothing where there was something', async () => {
    const journal = open();
    const terms = { maxFee: { percent: '1' } };
    const change = { step: 'created', txnId: 't1', txnState: 'quoted', attempt: 2, terms, approvedReceives: '1.5' } as const;
    const intent = await written(journal, draft(), change, { step: 'intent', txnId: null, closed: true });
    expect(await journal.read(intent.id)).toEqual(intent);
    expect(intent).toMatchObject({ ...change, step: 'intent', txnId: null, closed: true });
  });

  test.each(['id-find', 't-find', 'R-find'])('finds an intent by %s', async (name) => {
    const journal = open();
    const intent = await written(journal, draft({ id: 'id-find', ref: 'R-find' }), { ...quoted, txnId: 't-find' });
    expect(await journal.find(intent.scope, name)).toEqual(intent);
    expect(await journal.find('elsewhere', name)).toBeUndefined();
  });

  test('tells the one or the two whose transaction id begins so', async () => {
    const journal = open();
    const first = await written(journal, draft({ ref: 'one' }), { ...quoted, txnId: '3c335075-1' });
    const second = await written(journal, draft({ ref: 'two' }), { ...quoted, txnId: '3c335075-2' });
    expect(await journal.beginning(first.scope, '3c335075')).toEqual([first, second]);
    expect(await journal.beginning(first.scope, '3c335075-2')).toEqual([second]);
    expect(await journal.beginning('elsewhere', '3c335075')).toEqual([]);
  });

  test('lists what an account let go last, newest first', async () => {
    const journal = open();
    const account = 'ne01-latest';
    await written(journal, draft({ account, ref: 'looked-at' }), { ...quoted, txnId: 't-looked' });
    for (const [at, ref] of ['first', 'second', 'third'].entries()) {
      await written(journal, draft({ account, ref }), { ...quoted, txnId: `t-${ref}`, approvedAt: at + 1 });
    }
    expect((await journal.latest(account, 2)).map(({ ref }) => ref)).toEqual(['third', 'second']);
    expect(await journal.latest('ne01-nobody', 2)).toEqual([]);
  });

  test('lists what is neither final nor closed, oldest first', async () => {
    const journal = open();
    await written(journal, draft({ ref: 'closed' }), { closed: true });
    await written(journal, draft({ ref: 'final' }), quoted, { step: 'final', txnState: 'completed' });
    await written(journal, draft({ ref: 'older' }), quoted, agreed);
    present += 1;
    await written(journal, draft({ ref: 'younger' }));
    const listed = await journal.open(draft().scope);
    expect(listed.map(({ ref }) => ref)).toEqual(['older', 'younger']);
  });

  const over = (txnState: string): IntentChange => ({ step: 'final', txnState });
  const rivals: readonly [why: string, changes: IntentChange[], found: 'once' | 'new'][] = [
    ['is open', [], 'once'],
    ['was let go', [quoted, agreed], 'once'],
    ['was paid', [quoted, agreed, over('completed')], 'once'],
    ['ended as error', [quoted, agreed, over('error')], 'once'],
    ['is said to have lapsed after it was let go', [quoted, agreed, { txnState: 'expired' }], 'once'],
    ['was closed', [quoted, { closed: true }], 'new'],
    ['failed', [quoted, agreed, over('failed')], 'new'],
    ['was rejected', [quoted, agreed, over('rejected')], 'new'],
    ['lapsed unconfirmed', [quoted, over('expired')], 'new'],
    ['was cancelled', [quoted, over('usercanceled')], 'new'],
  ];
  test.each(rivals)('what can be paid once and %s', async (_why, changes, found) => {
    const journal = open();
    await written(journal, draft({ ref: 'first', onceKey: 'hash' }), ...changes);
    const elsewhere = { scope: 'http://127.0.0.1 alias', account: 'alias' };
    expect(await journal.begin(draft({ ...elsewhere, ref: 'second', onceKey: 'hash' }))).toMatchObject({ found });
    expect(await journal.begin(draft({ ref: 'third', onceKey: 'other' }))).toMatchObject({ found: 'new' });
  });

  test('does not open again what another intent has paid for since', async () => {
    const journal = open();
    await written(journal, draft({ ref: 'first', onceKey: 'hash' }), { closed: true });
    await written(journal, draft({ ref: 'second', onceKey: 'hash' }), quoted, { step: 'confirmed' });
    const again = await journal.begin(draft({ ref: 'first', onceKey: 'hash' }));
    expect(again).toMatchObject({ found: 'once', intent: { ref: 'second' } });
  });

  test('lets another payment have a reference under which nothing was created', async () => {
    const journal = open();
    await written(journal, draft(), { closed: true });
    const replaced = await journal.begin(draft({ fingerprint: 'other', request: '{"other":1}' }));
    expect(replaced).toMatchObject({ found: 'ref', intent: { fingerprint: 'other', request: '{"other":1}' } });
  });

  test.each<[string, IntentChange]>([
    ['was quoted', { ...quoted, closed: true }],
    ['is open', {}],
    ['had an attempt before', { attempt: 2, closed: true }],
  ])('keeps a reference for its payment when it %s', async (_why, change) => {
    const journal = open();
    await written(journal, draft(), change);
    expect(await journal.begin(draft({ fingerprint: 'other' }))).toMatchObject({ intent: { fingerprint: 'same' } });
  });

  test('lets one process at a time have an intent', async () => {
    const journal = open();
    const { intent } = await journal.begin(draft());
    const claim = await journal.claim(intent.id, 'one');
    expect(claim?.fence).toBe(1);
    expect(await journal.claim(intent.id, 'two')).toBeUndefined();
    expect((await journal.claim(intent.id, 'one'))?.fence).toBe(2);
  });

  test.each<[string, string, number]>([
    ['its driver is dead', 'dead', now],
    ['its lease ran out', 'one', now + leaseMs],
    ['the clock was set back', 'one', now - 1],
  ])('hands an intent over when %s', async (_why, owner, at) => {
    const journal = open();
    const { intent } = await journal.begin(draft());
    const first = await journal.claim(intent.id, owner);
    present = at;
    const second = await journal.claim(intent.id, 'two');
    expect(second?.fence).toBe(2);
    await expect(journal.write(first!, quoted)).rejects.toBeInstanceOf(LostClaim);
    await expect(journal.spend(first!, {}, window, () => {})).rejects.toBeInstanceOf(LostClaim);
    expect((await journal.write(second!, quoted)).intent.step).toBe('created');
  });

  test('renews the lease with every write, and without one while a request is out', async () => {
    const journal = open();
    const { intent } = await journal.begin(draft());
    const claim = await journal.claim(intent.id, 'one');
    present += leaseMs - 1;
    await journal.write(claim!, {});
    present += leaseMs - 1;
    await journal.renew(claim!);
    present += leaseMs - 1;
    expect(await journal.claim(intent.id, 'two')).toBeUndefined();
    present += 1;
    expect(await journal.claim(intent.id, 'two')).toBeDefined();
    await expect(journal.renew(claim!)).rejects.toBeInstanceOf(LostClaim);
  });

  test('gives back with a release, but not what another has taken over', async () => {
    const journal = open();
    const { intent } = await journal.begin(draft());
    const first = await journal.claim(intent.id, 'dead');
    const second = await journal.claim(intent.id, 'two');
    await journal.release(first!);
    expect(await journal.claim(intent.id, 'three')).toBeUndefined();
    await journal.release(second!);
    expect(await journal.claim(intent.id, 'three')).toBeDefined();
  });

  test('shows, before money is let go, all that was let go and has not come back', async () => {
    const journal = open();
    const yesterday = { ...agreed, approvedAt: now - 2 };
    await written(journal, draft({ ref: 'before' }), quoted, yesterday, over('completed'));
    await written(journal, draft({ ref: 'paid', scope: 'https://alias.example ne01' }), quoted, agreed, over('completed'));
    await written(journal, draft({ ref: 'doubt' }), quoted, { ...agreed, approvedTotal: '0.25', txnState: 'expired' });
    await written(journal, draft({ ref: 'failed' }), quoted, agreed, over('failed'));
    await written(journal, draft({ ref: 'refused' }), quoted, agreed, { step: 'created', closed: true, approvedAt: null });
    await written(journal, draft({ ref: 'other', scope: 'https://pay.example ne02', account: 'ne02' }), quoted, agreed);
    const { intent } = await journal.begin(draft({ ref: 'now' }));
    const claim = await journal.write((await journal.claim(intent.id, 'one'))!, quoted);
    const seen: unknown[] = [];
    const spent = await journal.spend(claim, { ...agreed, approvedAt: null }, window, (before) => void seen.push(sums(before.spent), before.rival));
    expect(seen).toEqual([{ BTC: 0.75 }, undefined]);
    expect(spent.intent).toMatchObject({ step: 'confirming', approvedAt: window.latest });
  });

  test('keeps texts that could end a statement, or begin another one', async () => {
    const journal = open();
    const ref = `'); DROP TABLE intents; -- \\' $1 ? ?? \u2028 \uD83D\uDE00`;
    const intent = await written(journal, draft({ ref, onceKey: `E'\\'` }), { ...quoted, txnId: `t'?\\`, txnState: `?'"` });
    expect(await journal.find(intent.scope, ref)).toEqual(intent);
    expect(await journal.begin(draft({ ref: 'other', onceKey: `E'\\'` }))).toMatchObject({ found: 'once', intent: { ref } });
  });

  const letGo = { txnId: 't', attempt: 2, txnState: 'completed', step: 'final', approvedTotal: '0.5', approvedReceives: '0.4', spendCcy: 'BTC', ago: 0 } as const;
  test.each<[string, IntentChange[]]>([
    ['it does not know', []],
    ['it knows as a quote', [quoted]],
    ['it gave up', [{ ...quoted, closed: true }]],
    ['it knows to have failed', [quoted, agreed, over('failed')]],
  ])('enters once what was let go and %s', async (_why, changes) => {
    const journal = open();
    const given = draft({ ref: 'R', onceKey: 'hash' });
    if (changes.length > 0) await written(journal, draft({ ref: 'R', onceKey: 'hash' }), ...changes);
    const working = await journal.claim((await journal.find(given.scope, 'R'))?.id ?? '', 'one');
    expect([await journal.enter(given, letGo, window), await journal.enter(given, letGo, window)]).toEqual([true, false]);
    expect(await journal.find(given.scope, 't')).toMatchObject({ ref: 'R', attempt: 2, step: 'final', txnState: 'completed', approvedAt: now, closed: false });
    expect(sums(await journal.spent('ne01', window))).toEqual({ BTC: 0.5 });
    expect(await journal.begin(draft({ ref: 'other', onceKey: 'hash' }))).toMatchObject({ found: 'once', intent: { ref: 'R' } });
    if (working !== undefined) await expect(journal.write(working, {})).rejects.toBeInstanceOf(LostClaim);
  });

  test('counts also what arrived outside in another currency, but not what stayed in an own wallet', async () => {
    const journal = open();
    const request = '{"receives":{"ccy":"VND","value":"500000"}}';
    await written(journal, draft({ ref: 'payout', kind: 'payout', request }), quoted, agreed);
    await written(journal, draft({ ref: 'swap', kind: 'swap', request }), quoted, agreed);
    expect(sums(await journal.spent('ne01', window))).toEqual({ BTC: 1, VND: 500_000 });
  });

  const lapsed: IntentChange = { step: 'final', txnState: 'expired' };
  const again: IntentChange = { step: 'intent', attempt: 2, txnId: null, txnState: null, approvedAt: null };
  const second: IntentChange = { step: 'created', txnId: 't2', txnState: 'quoted' };
  const other: IntentChange = { ...agreed, approvedTotal: '0.7' };
  const failed: IntentChange = { step: 'final', txnState: 'failed' };
  test.each<[string, IntentChange[], Record<string, number>]>([
    ['beside the attempt after it', [quoted, agreed, again, second, other], { BTC: 1.2, VND: 500_000 * 2 }],
    ['while the attempt after it is not let go', [quoted, agreed, lapsed, again, second], { BTC: 0.5, VND: 500_000 }],
    ['though the attempt after it failed', [quoted, agreed, again, second, other, failed], { BTC: 0.5, VND: 500_000 }],
    ['once when the payment goes back to it', [quoted, agreed, again, second,
      { step: 'confirmed', attempt: 1, txnId: 't', txnState: 'expired', approvedTotal: '0.5', approvedAt: now }], { BTC: 0.5, VND: 500_000 }],
    ['with every attempt after it', [quoted, agreed, again, second, other, { ...again, attempt: 3 }], { BTC: 1.2, VND: 500_000 * 2 }],
    ['unless it failed', [quoted, agreed, failed, again, second, other], { BTC: 0.7, VND: 500_000 }],
  ])('counts an attempt that may have paid %s', async (_when, changes, counted) => {
    const journal = open();
    const given = draft({ kind: 'payout', request: '{"receives":{"ccy":"VND","value":"500000"}}' });
    const { id } = await written(journal, given, ...changes);
    expect(sums(await journal.spent('ne01', window))).toEqual(counted);
    present = now + 2;
    expect(sums(await journal.spent('ne01', { ...window, earliest: present, latest: present }))).toEqual({});
    expect((await journal.read(id))?.doubts.every(({ approvedAt }) => approvedAt === now)).toBe(true);
  });

  test('names a rival that was let go, at the last moment', async () => {
    const journal = open();
    const { intent } = await journal.begin(draft({ ref: 'first', onceKey: 'hash' }));
    const claim = await journal.write((await journal.claim(intent.id, 'one'))!, { ...quoted, closed: true });
    await written(journal, draft({ ref: 'second', scope: 'http://[::1] ne01', onceKey: 'hash' }), quoted, agreed);
    const rivals: unknown[] = [];
    await journal.spend(claim, { ...agreed, closed: false }, window, ({ rival }) => void rivals.push(rival?.ref));
    expect(rivals).toEqual(['second']);
  });

  test('writes nothing when money may not be let go', async () => {
    const journal = open();
    const { intent } = await journal.begin(draft());
    const claim = await journal.claim(intent.id, 'one');
    const refuse = (): never => {
      throw new Error('too much');
    };
    await expect(journal.spend(claim!, agreed, window, refuse)).rejects.toThrow('too much');
    expect((await journal.read(intent.id))?.step).toBe('intent');
  });

  const isDone: IntentChange = { step: 'final', txnState: 'completed' };
  test.each<[string, IntentChange[]]>([
    ['from the intent to the confirmation', [agreed]],
    ['to a quote without a transaction', [{ step: 'created' }]],
    ['to a confirmation that nobody agreed to', [quoted, { step: 'confirming' }]],
    ['from a confirmation back to the quote, as if it had not been sent', [quoted, agreed, { step: 'created' }]],
    ['from a confirmation to a new attempt under the same number', [quoted, agreed, { step: 'intent', txnId: null }]],
    ['that gives up what was let go', [quoted, agreed, { closed: true }]],
    ['to an end that the service does not know', [quoted, agreed, { step: 'final', txnState: 'destsent' }]],
    ['from the end back to the confirmation', [quoted, agreed, isDone, { step: 'confirmed' }]],
  ])('takes no move %s', async (_why, changes) => {
    const journal = open();
    await expect(written(journal, draft(), ...changes)).rejects.toThrow(/journal/);
  });

  test('knows again what was read of the list, and how far it was read', async () => {
    const { references } = open();
    const scope = draft().scope;
    expect(await references.covered(scope)).toBeUndefined();
    await references.note(scope, [{ txnId: 't1', extRefId: 'R', createdAt: 5 }], { from: 0, to: 10 });
    await references.note(scope, [{ txnId: 't2', extRefId: 'R~2', createdAt: 12 }, { txnId: 't1', extRefId: 'R', createdAt: 5 }], { from: 8, to: 20 });
    await references.note(scope, [{ txnId: 't3', extRefId: 'R2', createdAt: 15 }, { txnId: 't4', extRefId: null, createdAt: 16 }], { from: 14, to: 18 });
    await references.note('elsewhere', [{ txnId: 't5', extRefId: 'R', createdAt: 5 }], { from: 0, to: 30 });
    expect(await references.covered(scope)).toEqual({ from: 0, to: 20 });
    expect((await references.attempts(scope, 'R')).map(({ txnId }) => txnId)).toEqual(['t1', 't2']);
    expect(await references.countSince(scope, 12)).toBe(3);
  });

  test('counts a part of the list as read only where it hangs together', async () => {
    const { references } = open();
    await references.note('scope', [], { from: 0, to: 10 });
    await references.note('scope', [], { from: 20, to: 30 });
    expect(await references.covered('scope')).toEqual({ from: 20, to: 30 });
  });
});

test('a journal in SQLite reads the present when the lock is its own', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-journal-'));
  const path = join(folder, 'journal.db');
  const isFree: boolean[] = [];
  const rivals: Database.Database[] = [];
  const look = (): number => {
    const rival = rivals[0];
    if (rival === undefined) return now;
    try {
      rival.exec('BEGIN IMMEDIATE');
      rival.exec('ROLLBACK');
      isFree.push(true);
    } catch {
      isFree.push(false);
    }
    return now;
  };
  const journal = openJournal({ path, isAlive, now: look });
  await journal.open('any');
  rivals.push(new Database(path));
  const { intent } = await journal.begin(draft());
  const claim = await journal.claim(intent.id, 'one');
  const created = await journal.write(claim!, quoted);
  await journal.renew(created);
  await journal.spend(created, agreed, window, () => undefined);
  expect(isFree.length).toBeGreaterThanOrEqual(5);
  expect(isFree).not.toContain(true);
  for (const rival of rivals) rival.close();
  await journal.close();
  rmSync(folder, { recursive: true });
});
