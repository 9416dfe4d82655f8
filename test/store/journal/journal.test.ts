// Tests the guarantees of the journal in SQLite, in PostgreSQL and in the memory journal of the
// simulation.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { postgresDatabase } from '../../../src/store/database/postgres.js';
import { prepareTables } from '../../support/prepared-database.js';
import type { SqlDatabase } from '../../../src/store/database/sql.js';
import { sqliteDatabase } from '../../../src/store/database/sqlite-database.js';
import {
  leaseMs,
  LostClaim,
  type ImportedAttempt,
  type Journal,
  type Spend,
} from '../../../src/store/journal/journal.js';
import {
  latest,
  requested,
  type Attempt,
  type Payment,
  type PaymentChange,
  type PaymentDraft,
} from '../../../src/store/journal/payment.js';
import { journalIn, journalPart } from '../../../src/store/journal/schema.js';
import { openSqlJournal } from '../../../src/store/journal/sql-journal.js';
import { openJournal } from '../../../src/store/journal/sqlite-journal.js';
import { emptyStore, memoryJournal } from '../../simulation/memory-journal.js';
import { withClock } from '../../support/sql-clock.js';
import { hasPgBouncer, hasPostgres, type Databases } from '../../support/postgres.js';
import { sharedPostgres } from '../../support/shared-postgres.js';
import { runsAll } from '../../support/part.js';

const now = Date.UTC(2025, 0, 15);
/** The time on the clock of the journal, in ms. */
let present = now;
beforeEach(() => void (present = now));
const day = 86_400_000;
/** The clock of the service, which matters only if the clock of the machine jumps. */
const service = undefined;
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

/**
 * Opens a journal on the PostgreSQL server with the clock of the test instead of the server's
 * clock.
 */
function postgres(address: string): Journal {
  const database = postgresDatabase({
    url: address,
    source: 'the test',
    clock: () => performance.now(),
  });
  const ready = prepareTables(database, journalPart).then(() =>
    database.transaction((sql) => sql.run('TRUNCATE payments, attempts, trail, spending')),
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

test('openSqlJournal syncs only a submission and the decisions of a person to disk', async () => {
  let synced = 0;
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-journal-'));
  const database = sqliteDatabase(journalIn(join(folder, 'journal.db')), () => now);
  onTestFinished(async () => {
    await database.close();
    rmSync(folder, { recursive: true });
  });
  const journal = openSqlJournal(
    {
      ...database,
      transaction: (action, options) => {
        if (options?.lasts === true) synced += 1;
        return database.transaction(action, options);
      },
    },
    isAlive,
  );
  const syncs = async (...steps: readonly Step[]): Promise<number> => {
    synced = 0;
    await written(journal, draft({ ref: `R${ids}` }), ...steps);
    return synced;
  };
  expect(await syncs(quoted)).toBe(0);
  expect(await syncs(quoted, submitted)).toBe(1);
  expect(await syncs(quoted, submitted, became('paid', 'completed'))).toBe(1);
  expect(await syncs(abandoned)).toBe(1);
  expect(await syncs(quoted, submitted, became('error', 'error'), resolved)).toBe(2);
});

let ids = 0;
const draft = (change: Partial<PaymentDraft> = {}): PaymentDraft => ({
  id: `id-${(ids += 1)}`,
  scope: 'ne01',
  account: 'ne01',
  ref: 'R',
  kind: 'swap',
  request: '{}',
  instruction: '{}',
  digest: 'same',
  idempotencyKey: null,
  terms: {},
  ...change,
});

/** A change of a payment and of one of its attempts, by default the latest attempt. */
type Step = Omit<PaymentChange, 'attempt'> & { readonly attempt?: Partial<Attempt> };

const quoted: Step = { attempt: { state: 'quoted', txnId: 't', txnState: 'quoted' } };
const approved = { approvedTotal: '0.5', spendCcy: 'BTC' } as const;
const submitted: Step = { attempt: { state: 'submitting', ...approved } };
const became = (state: Attempt['state'], txnState: string): Step => ({
  attempt: { state, txnState },
});
const abandoned: Step = { abandoned: true };
const resolved: Step = { attempt: { resolution: { moved: false, note: 'ticket 1', at: 1 } } };
const { request: _derivedLater, ...nextAttempt } = requested(2, '{}');
/** Opens a further attempt, with the order of the first. */
const again: Step = { attempt: nextAttempt };

function changeOf(payment: Payment, { attempt, ...columns }: Step): PaymentChange {
  if (attempt === undefined) return columns;
  const known = payment.attempts.find(({ number }) => number === attempt.number) ?? latest(payment);
  return { ...columns, attempt: { ...known, ...attempt } };
}

const whole = (
  payment: Payment,
  attempt: Partial<Attempt>,
): PaymentChange & { readonly attempt: Attempt } => ({
  attempt: { ...latest(payment), ...attempt },
});

const isSubmission = (
  change: PaymentChange,
): change is PaymentChange & { readonly attempt: Attempt } =>
  change.attempt?.state === 'submitting';

async function written(
  journal: Journal,
  given: PaymentDraft,
  ...steps: readonly Step[]
): Promise<Payment> {
  const { payment } = await journal.begin(given);
  let claim = await journal.claim(payment.id, 'writer');
  if (claim === undefined) throw new Error('the payment is held');
  for (const step of steps) {
    const change = changeOf(claim.payment, step);
    claim = isSubmission(change)
      ? await journal.submit(claim, change, service, () => undefined)
      : await journal.write(claim, change);
  }
  await journal.release(claim);
  return claim.payment;
}

/** Adds up debits per currency, because some journals return several debits in one currency. */
function sums(spent: readonly Spend[]): Record<string, number> {
  const total = (ccy: string): number =>
    spent.filter((each) => each.ccy === ccy).reduce((sum, each) => sum + Number(each.total), 0);
  return Object.fromEntries(spent.map(({ ccy }) => [ccy, total(ccy)]));
}

const journals: [string, () => Journal][] = [
  ['SQLite', sqlite],
  ...(hasPostgres ? [['PostgreSQL', () => postgres(url)] satisfies [string, () => Journal]] : []),
  ...(runsAll && hasPgBouncer
    ? [['PostgreSQL through PgBouncer', () => postgres(pooled)] satisfies [string, () => Journal]]
    : []),
  ['memory', () => memoryJournal(emptyStore(), isAlive, () => present)],
];

describe.each(journals)('journal in %s', (_name, open) => {
  test('opens one payment per reference', async () => {
    const journal = open();
    const first = await journal.begin(draft());
    expect(first).toMatchObject({
      found: 'new',
      payment: { abandoned: false, openedAt: now, attempts: [requested(1, '{}')] },
    });
    expect(await journal.begin(draft())).toEqual({ found: 'ref', payment: first.payment });
  });

  test('lists the runs of batches and the payees paid in each run', async () => {
    const journal = open();
    const mark = (run: string, name: string) => ({ run, row: JSON.stringify({ name }) });
    const [october, november] = ['2026-10-22T08:00:00.000Z a', '2026-11-21T08:00:00.000Z a'];
    const paid = draft({ ref: 'p1', batch: mark(october, 'Ann') });
    await written(journal, paid, quoted, submitted, became('paid', 'completed'));
    await written(journal, draft({ ref: 'p2', batch: mark(october, 'Bob') }), quoted, abandoned);
    await journal.begin(draft({ ref: 'p3', batch: mark(november, 'Ann') }));
    await journal.begin(draft({ ref: 'alone' }));
    expect(await journal.runs(paid.scope, 9)).toEqual([
      { run: november, payments: 1 },
      { run: october, payments: 2 },
    ]);
    expect(await journal.runs(paid.scope, 1)).toHaveLength(1);
    expect(await journal.runs('another', 9)).toEqual([]);
    expect(await journal.paidInRun(paid.scope, october)).toEqual([JSON.stringify({ name: 'Ann' })]);
    expect(await journal.inRun(paid.scope, october)).toMatchObject([
      { ref: 'p1', batch: paid.batch },
      { ref: 'p2' },
    ]);
  });

  test('finds references that differ only in letter case and spaces', async () => {
    const journal = open();
    const { scope } = draft();
    for (const ref of ['P1 ', 'p\u00A01', 'p2']) await journal.begin(draft({ ref }));
    expect((await journal.alike(scope, ['p1'])).map(({ ref }) => ref).toSorted()).toEqual([
      'P1 ',
      'p\u00A01',
    ]);
    expect(await journal.alike('another', ['p1'])).toEqual([]);
  });

  test('opens one payment if begin gets a draft twice', async () => {
    const journal = open();
    const given = draft();
    const first = await journal.begin(given);
    expect(await journal.begin(given)).toMatchObject({ payment: first.payment });
  });

  test('opens separate payments for one reference in two scopes', async () => {
    const journal = open();
    await journal.begin(draft());
    expect(await journal.begin(draft({ scope: 'ne02' }))).toMatchObject({ found: 'new' });
  });

  test('stores every field of a payment and its attempts', async () => {
    const journal = open();
    const terms = { maxFee: { percent: '1' }, maxRateLoss: '2' };
    const payment = await written(
      journal,
      draft({ idempotencyKey: 'hash' }),
      { ...quoted, terms },
      { attempt: { state: 'lapsed', txnState: 'expired' } },
      again,
      { attempt: { ...approved, approvedReceives: '1.5' } },
      { attempt: { approvedTotal: null }, abandoned: true },
    );
    expect(await journal.read(payment.id)).toEqual(payment);
    expect(payment).toMatchObject({
      terms,
      abandoned: true,
      attempts: [
        { ...requested(1, '{}'), state: 'lapsed', txnId: 't', txnState: 'expired' },
        { ...requested(2, '{}'), approvedReceives: '1.5', spendCcy: 'BTC' },
      ],
    });
  });

  test.each([
    ['its id', 'id-find'],
    ['the transaction id of its first attempt', 't-first'],
    ['the transaction id of its second attempt', 't-second'],
    ['its reference', 'R-find'],
    ['the reference of its second attempt', 'R-find~2'],
  ])('finds a payment by %s', async (_by, name) => {
    const journal = open();
    const payment = await written(
      journal,
      draft({ id: 'id-find', ref: 'R-find' }),
      { attempt: { ...quoted.attempt, txnId: 't-first' } },
      became('lapsed', 'expired'),
      again,
      { attempt: { ...quoted.attempt, txnId: 't-second' } },
    );
    expect(await journal.find('ne01', name)).toEqual(payment);
    expect(await journal.find('elsewhere', name)).toBeUndefined();
    expect(await journal.find('ne01', 'R-find~3')).toBeUndefined();
  });

  test('finds a payment by its reference before one whose ids have that text', async () => {
    const journal = open();
    await written(journal, draft({ id: 'of-another', ref: 'another' }), {
      attempt: { ...quoted.attempt, txnId: 't-of-another' },
    });
    for (const ref of ['of-another', 't-of-another']) {
      await journal.begin(draft({ id: `named-${ref}`, ref }));
      expect(await journal.find('ne01', ref)).toMatchObject({ ref });
    }
  });

  test('finds payments by the start of a transaction id', async () => {
    const journal = open();
    const first = await written(
      journal,
      draft({ ref: 'one' }),
      { attempt: { ...quoted.attempt, txnId: '3c335075-1' } },
      became('lapsed', 'expired'),
      again,
      { attempt: { ...quoted.attempt, txnId: '3c335075-11' } },
    );
    present += 1;
    const second = await written(journal, draft({ ref: 'two' }), {
      attempt: { ...quoted.attempt, txnId: '3c335075-2' },
    });
    expect(await journal.beginning('ne01', '3c335075')).toEqual([first, second]);
    expect(await journal.beginning('ne01', '3c335075-2')).toEqual([second]);
    expect(await journal.beginning('elsewhere', '3c335075')).toEqual([]);
  });

  test('sorts the payments of an account by their last submission, newest first', async () => {
    const journal = open();
    const account = 'ne01-latest';
    await written(journal, draft({ account, ref: 'only quoted' }), quoted);
    for (const [at, ref] of ['first', 'second', 'third'].entries()) {
      present = now + at;
      await written(journal, draft({ account, ref }), quoted, submitted);
    }
    present = now + 9;
    const retried = await journal.find('ne01', 'first');
    await written(
      journal,
      { ...draft({ account }), ...retried },
      became('failed', 'failed'),
      again,
      { attempt: { ...quoted.attempt, txnId: 't2' } },
      submitted,
    );
    expect((await journal.latest(account, 2)).map(({ ref }) => ref)).toEqual(['first', 'third']);
    expect(await journal.latest('ne01-nobody', 2)).toEqual([]);
  });

  test('compares with unfinished and recently changed payments to the same destination', async () => {
    const journal = open();
    const account = 'ne01-only';
    const paid = became('paid', 'completed');
    const courses = [
      ['old', now, paid, 'here'],
      ['unfinished', now, undefined, 'here'],
      ['unfinished elsewhere', now, undefined, 'elsewhere'],
      ['recent', now + 9, paid, 'here'],
      ['recent elsewhere', now + 9, paid, 'elsewhere'],
    ] as const;
    for (const [ref, at, end, key] of courses) {
      present = at;
      const instruction = JSON.stringify({ keys: [key, 'lnurl:other'] });
      const steps = [quoted, submitted, ...(end === undefined ? [] : [end])];
      await written(journal, draft({ scope: account, account, ref, instruction }), ...steps);
    }
    const refs = async (withinMs: number, keys = ['here']): Promise<string[]> =>
      (await journal.comparable(account, account, keys, withinMs, 9))
        .map(({ ref }) => ref)
        .toSorted();
    expect(await refs(5)).toEqual(['recent', 'unfinished']);
    expect(await refs(10)).toEqual(['old', 'recent', 'unfinished']);
    expect(await refs(5, ['her', 'elsewhere'])).toEqual([
      'recent elsewhere',
      'unfinished elsewhere',
    ]);
  });

  const ends: readonly (readonly [ref: string, steps: readonly Step[], isOpen: boolean])[] = [
    ['requested', [], true],
    ['quoted', [quoted], true],
    ['abandoned', [quoted, abandoned], false],
    ['reopened', [quoted, abandoned, { abandoned: false }], true],
    ['submitting', [quoted, submitted], true],
    ['in flight', [quoted, submitted, became('in-flight', 'srccreated')], true],
    ['unknown', [quoted, submitted, became('unknown', 'expired')], true],
    [
      'unknown, then abandoned',
      [quoted, submitted, became('unknown', 'expired'), { ...again, ...abandoned }],
      true,
    ],
    [
      'unknown, then paid',
      [
        quoted,
        submitted,
        became('unknown', 'expired'),
        again,
        { attempt: { state: 'paid', txnId: 't2' } },
      ],
      false,
    ],
    ['paid', [quoted, became('paid', 'completed')], false],
    ['failed', [quoted, submitted, became('failed', 'failed')], false],
    ['error', [quoted, submitted, became('error', 'error')], true],
    ['error, resolved', [quoted, submitted, became('error', 'error'), resolved], false],
    ['unknown, resolved', [quoted, submitted, became('unknown', 'expired'), resolved], false],
    [
      'resolved, then read again',
      [
        quoted,
        submitted,
        became('unknown', 'expired'),
        resolved,
        { attempt: { state: 'error', resolution: null } },
      ],
      true,
    ],
    ['lapsed', [quoted, became('lapsed', 'expired')], false],
  ];
  test('lists unfinished payments with the oldest first', async () => {
    const journal = open();
    for (const [ref, steps] of ends) {
      present += 1;
      await written(journal, draft({ ref }), ...steps);
    }
    const listed = await journal.open('ne01');
    expect(listed.map(({ ref }) => ref)).toEqual(
      ends.filter(([, , isOpen]) => isOpen).map(([ref]) => ref),
    );
    expect(await journal.open('elsewhere')).toEqual([]);
  });

  const rivals: readonly [why: string, steps: Step[], found: 'once' | 'new'][] = [
    ['opens a second payment with an idempotency key if the first was only requested', [], 'new'],
    [
      'opens a second payment with an idempotency key if the first was only quoted',
      [quoted],
      'new',
    ],
    [
      'returns the first payment with an idempotency key if the first was submitted',
      [quoted, submitted],
      'once',
    ],
    [
      'returns the first payment with an idempotency key if the first was paid',
      [quoted, submitted, became('paid', 'completed')],
      'once',
    ],
    [
      'returns the first payment with an idempotency key if the first ended as `error`',
      [quoted, submitted, became('error', 'error')],
      'once',
    ],
    [
      'returns the first payment with an idempotency key if the first expired after its submission',
      [quoted, submitted, became('unknown', 'expired')],
      'once',
    ],
    [
      'returns the first payment with an idempotency key if an attempt has an unknown outcome',
      [quoted, submitted, became('unknown', 'expired'), { ...again, ...abandoned }],
      'once',
    ],
    [
      'opens a second payment with an idempotency key if the first was abandoned',
      [quoted, abandoned],
      'new',
    ],
    [
      'opens a second payment with an idempotency key if the first failed',
      [quoted, submitted, became('failed', 'rejected')],
      'new',
    ],
    [
      'opens a second payment with an idempotency key if the first lapsed',
      [quoted, became('lapsed', 'usercanceled')],
      'new',
    ],
  ];
  test.each(rivals)('begin %s', async (_why, steps, found) => {
    const journal = open();
    await written(journal, draft({ ref: 'first', idempotencyKey: 'hash' }), ...steps);
    const elsewhere = { scope: 'alias', account: 'alias' };
    expect(
      await journal.begin(draft({ ...elsewhere, ref: 'second', idempotencyKey: 'hash' })),
    ).toMatchObject({ found });
    expect(await journal.begin(draft({ ref: 'third', idempotencyKey: 'other' }))).toMatchObject({
      found: 'new',
    });
  });

  test('returns the submitted payment of an idempotency key instead of the abandoned payment', async () => {
    const journal = open();
    await written(journal, draft({ ref: 'first', idempotencyKey: 'hash' }), abandoned);
    await written(
      journal,
      draft({ ref: 'second', idempotencyKey: 'hash' }),
      quoted,
      became('in-flight', 'srccreated'),
    );
    const found = await journal.begin(draft({ ref: 'first', idempotencyKey: 'hash' }));
    expect(found).toMatchObject({ found: 'once', payment: { ref: 'second' } });
  });

  const lapsed: Step = { attempt: { state: 'lapsed', txnState: 'expired' } };

  test.each<[string, readonly Step[], number]>([
    ['svcpay created no transaction', [abandoned], 1],
    ['the person declined a quote', [quoted, abandoned], 2],
    ['a quote was cancelled', [quoted, abandoned, lapsed], 2],
    ['the next attempt was abandoned', [quoted, lapsed, again, abandoned], 2],
    ['the quote of the next attempt expired', [quoted, lapsed, again, quoted, lapsed], 3],
  ])('begin reuses a reference for a new order if %s', async (_why, steps, number) => {
    const journal = open();
    const before = await written(journal, draft(), ...steps);
    const request = '{"receives":{"ccy":"BTC","value":"1"}}';
    const asked = {
      instruction: '{"verb":"send"}',
      digest: 'other',
      idempotencyKey: 'hash',
      terms: { maxRateLoss: '1' },
    };
    present = now + 7;
    const replaced = await journal.begin(draft({ ...asked, request }));
    expect(replaced).toMatchObject({
      found: 'new',
      replaced: { digest: 'same' },
      payment: {
        ...asked,
        id: before.id,
        abandoned: false,
        openedAt: now + 7,
        attempts: [requested(number, request)],
      },
    });
    expect(await journal.read(before.id)).toEqual(replaced.payment);
    expect(await journal.open('ne01')).toEqual([replaced.payment]);
    expect(await journal.find('ne01', 't')).toBeUndefined();
    const [first, second] = [
      await journal.claim(before.id, 'one'),
      draft({ instruction: '{}', digest: 'third' }),
    ];
    expect(first?.payment).toEqual(replaced.payment);
    expect(await journal.begin(second)).toMatchObject({ found: 'ref', payment: asked });
  });

  test.each<[string, readonly Step[]]>([
    ['the payment is open', []],
    ['the payment has an open quote', [quoted]],
    ['the service refused the submitted payment', [quoted, submitted, lapsed]],
    [
      'an earlier attempt of the payment was submitted',
      [quoted, submitted, lapsed, again, abandoned],
    ],
    ['the payment failed', [quoted, became('failed', 'failed'), again, abandoned]],
  ])(
    'begin returns the earlier payment with the same reference, and opens no new payment, if %s',
    async (_why, steps) => {
      const journal = open();
      await written(journal, draft(), ...steps);
      expect(await journal.begin(draft({ instruction: '{}', digest: 'other' }))).toMatchObject({
        found: 'ref',
        payment: { digest: 'same' },
      });
    },
  );

  test('begin does not reuse the reference of an abandoned payment that another process has claimed', async () => {
    const journal = open();
    const { id } = await written(journal, draft(), abandoned);
    await journal.claim(id, 'one');
    expect(await journal.begin(draft({ instruction: '{}', digest: 'other' }))).toMatchObject({
      payment: { digest: 'same' },
    });
  });

  test('lets only one process claim a payment', async () => {
    const journal = open();
    const { payment } = await journal.begin(draft());
    const claim = await journal.claim(payment.id, 'one');
    expect(claim).toMatchObject({ payment, fence: 1 });
    expect(await journal.claim(payment.id, 'two')).toBeUndefined();
    expect((await journal.claim(payment.id, 'one'))?.fence).toBe(2);
    expect(await journal.claim('no such payment', 'one')).toBeUndefined();
  });

  test.each<[string, string, number]>([
    ['the first process is dead', 'dead', now],
    ['the lease of the first process ran out', 'one', now + leaseMs],
    ['the clock was set back', 'one', now - 1],
  ])('lets a second process claim a payment if %s', async (_why, owner, at) => {
    const journal = open();
    const { payment } = await journal.begin(draft());
    const first = await journal.claim(payment.id, owner);
    present = at;
    const second = await journal.claim(payment.id, 'two');
    expect(second?.fence).toBe(2);
    await expect(journal.write(first!, changeOf(payment, quoted))).rejects.toBeInstanceOf(
      LostClaim,
    );
    await expect(
      journal.submit(first!, whole(payment, {}), service, () => {}),
    ).rejects.toBeInstanceOf(LostClaim);
    expect(
      (await journal.write(second!, changeOf(payment, quoted))).payment.attempts[0]?.state,
    ).toBe('quoted');
  });

  test('refuses to return an attempt to an earlier state', async () => {
    const journal = open();
    const { payment } = await journal.begin(draft());
    const stale = await journal.write(
      (await journal.claim(payment.id, 'one'))!,
      changeOf(payment, quoted),
    );
    await journal.write(stale, changeOf(stale.payment, became('paid', 'completed')));
    await expect(
      journal.write(stale, changeOf(stale.payment, became('lapsed', 'expired'))),
    ).rejects.toThrow('transition from paid to lapsed');
    expect((await journal.read(payment.id))?.attempts).toMatchObject([{ state: 'paid' }]);
  });

  test('extends a lease with each write and each call of extendLease', async () => {
    const journal = open();
    const { payment } = await journal.begin(draft());
    const claim = await journal.claim(payment.id, 'one');
    present += leaseMs - 1;
    await journal.write(claim!, {});
    present += leaseMs - 1;
    await journal.extendLease(claim!);
    present += leaseMs - 1;
    expect(await journal.claim(payment.id, 'two')).toBeUndefined();
    present += 1;
    expect(await journal.claim(payment.id, 'two')).toBeDefined();
    await expect(journal.extendLease(claim!)).rejects.toBeInstanceOf(LostClaim);
  });

  test('releases a payment only if the caller still holds the claim', async () => {
    const journal = open();
    const { payment } = await journal.begin(draft());
    const first = await journal.claim(payment.id, 'dead');
    const second = await journal.claim(payment.id, 'two');
    await journal.release(first!);
    expect(await journal.claim(payment.id, 'three')).toBeUndefined();
    await journal.release(second!);
    expect(await journal.claim(payment.id, 'three')).toBeDefined();
  });

  test('sums the spending of an account before it submits an attempt', async () => {
    const journal = open();
    present = now - day - 1;
    await written(
      journal,
      draft({ ref: 'before' }),
      quoted,
      submitted,
      became('paid', 'completed'),
    );
    present = now;
    await written(
      journal,
      draft({ ref: 'paid', scope: 'alias' }),
      quoted,
      submitted,
      became('paid', 'completed'),
    );
    await written(
      journal,
      draft({ ref: 'unknown' }),
      quoted,
      { attempt: { ...submitted.attempt, approvedTotal: '0.25' } },
      became('unknown', 'expired'),
    );
    await written(journal, draft({ ref: 'failed' }), quoted, submitted, became('failed', 'failed'));
    await written(
      journal,
      draft({ ref: 'refused' }),
      quoted,
      submitted,
      became('lapsed', 'quoted'),
    );
    await written(
      journal,
      draft({ ref: 'other', scope: 'ne02', account: 'ne02' }),
      quoted,
      submitted,
    );
    const { payment } = await journal.begin(draft({ ref: 'now' }));
    const claim = await journal.write(
      (await journal.claim(payment.id, 'one'))!,
      changeOf(payment, quoted),
    );
    const seen: unknown[] = [];
    const after = await journal.submit(
      claim,
      whole(claim.payment, submitted.attempt ?? {}),
      service,
      async (before) => {
        seen.push(sums(await before.spent()), before.rival);
      },
    );
    expect(seen).toEqual([{ BTC: 0.75 }, undefined]);
    expect(after.payment.attempts).toMatchObject([{ state: 'submitting', submittedAt: now }]);
    expect(await journal.read(payment.id)).toEqual(after.payment);
  });

  test('submits only one of two payments that together exceed a limit', async () => {
    const journal = open();
    const submit = async (ref: string): Promise<unknown> => {
      const { payment } = await journal.begin(draft({ ref }));
      const claim = await journal.write(
        (await journal.claim(payment.id, ref))!,
        changeOf(payment, quoted),
      );
      return journal.submit(
        claim,
        whole(claim.payment, submitted.attempt!),
        service,
        async ({ spent }) => {
          if ((await spent()).length > 0) throw new Error('too much');
        },
      );
    };
    const results = await Promise.allSettled([submit('one'), submit('two')]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(sums(await journal.spent('ne01', service))).toEqual({ BTC: 0.5 });
  });

  test('stores text with SQL syntax unchanged', async () => {
    const journal = open();
    const ref = `'); DROP TABLE payments; -- \\' $1 ? ?? \u2028 \uD83D\uDE00`;
    const payment = await written(journal, draft({ ref, idempotencyKey: `E'\\'` }), {
      attempt: { state: 'in-flight', txnId: `t'?;\\`, txnState: `?'"` },
    });
    expect(await journal.find(payment.scope, ref)).toEqual(payment);
    expect(await journal.begin(draft({ ref: 'other', idempotencyKey: `E'\\'` }))).toMatchObject({
      found: 'once',
      payment: { ref },
    });
  });

  const imported: ImportedAttempt = {
    number: 2,
    txnId: 'found',
    state: 'paid',
    txnState: 'completed',
    approvedTotal: '0.5',
    approvedReceives: '0.4',
    spendCcy: 'BTC',
    ago: 0,
  };
  test.each<[string, Step[]]>([
    ['lacks the payment', []],
    [
      'has the attempt as a quote',
      [
        quoted,
        became('lapsed', 'expired'),
        again,
        { attempt: { ...quoted.attempt, txnId: 'found' } },
      ],
    ],
    ['has the payment as abandoned', [{ ...again, ...abandoned }]],
    ['has only an earlier failed attempt', [quoted, submitted, became('failed', 'failed')]],
    ['has only a later attempt', [{ attempt: requested(3, '{}') }]],
  ])('imports an attempt exactly once if the journal %s', async (_why, steps) => {
    const journal = open();
    const given = draft({ idempotencyKey: 'hash' });
    if (steps.length > 0) await written(journal, draft({ idempotencyKey: 'hash' }), ...steps);
    const working = await journal.claim((await journal.find(given.scope, 'R'))?.id ?? '', 'one');
    expect([
      await journal.enter(given, imported, service),
      await journal.enter(given, imported, service),
    ]).toEqual([true, false]);
    const { ago: _ago, ...attempt } = imported;
    expect(await journal.find(given.scope, 'found')).toMatchObject({ ref: 'R', abandoned: false });
    expect((await journal.find(given.scope, 'R'))?.attempts).toContainEqual({
      ...attempt,
      budget: null,
      request: '{}',
      submittedAt: now,
      resolution: null,
    });
    expect(sums(await journal.spent('ne01', service))).toEqual({ BTC: 0.5 });
    expect(await journal.begin(draft({ ref: 'other', idempotencyKey: 'hash' }))).toMatchObject({
      found: 'once',
      payment: { ref: 'R' },
    });
    expect((await journal.open('ne01')).length).toBe(0);
    if (working !== undefined)
      await expect(journal.write(working, {})).rejects.toBeInstanceOf(LostClaim);
  });

  test('counts amounts received in another currency unless a wallet of the same account receives them', async () => {
    const journal = open();
    const request = '{"receives":{"ccy":"VND","value":"500000"}}';
    const unstated = '{"body":{"destReq":{"ccy":"VND"}}}';
    await written(journal, draft({ ref: 'payout', kind: 'payout', request }), quoted, submitted);
    await written(journal, draft({ ref: 'swap', kind: 'swap', request }), quoted, submitted);
    const receives: Step = { attempt: { ...submitted.attempt, approvedReceives: '7' } };
    await written(
      journal,
      draft({ ref: 'stated by the quote', kind: 'payout', request: unstated }),
      quoted,
      receives,
    );
    expect(sums(await journal.spent('ne01', service))).toEqual({ BTC: 1.5, VND: 500_007 });
  });

  const second: Step = { attempt: { ...quoted.attempt, txnId: 't2' } };
  const more: Step = { attempt: { ...submitted.attempt, approvedTotal: '0.7' } };
  const unknown = became('unknown', 'expired');
  test.each<[string, Step[], Record<string, number>]>([
    [
      'in addition to the next attempt',
      [quoted, submitted, unknown, again, second, more],
      { BTC: 1.2, VND: 500_000 * 2 },
    ],
    [
      'while the next attempt is not submitted',
      [quoted, submitted, unknown, again, second],
      { BTC: 0.5, VND: 500_000 },
    ],
    [
      'even if the next attempt failed',
      [quoted, submitted, unknown, again, second, more, became('failed', 'failed')],
      { BTC: 0.5, VND: 500_000 },
    ],
    [
      'only until the service reports that the attempt failed',
      [
        quoted,
        submitted,
        unknown,
        again,
        second,
        more,
        { attempt: { number: 1, state: 'failed' } },
      ],
      { BTC: 0.7, VND: 500_000 },
    ],
  ])(
    'counts an attempt with an unknown outcome against the spending limits %s',
    async (_when, steps, counted) => {
      const journal = open();
      await written(
        journal,
        draft({ kind: 'payout', request: '{"receives":{"ccy":"VND","value":"500000"}}' }),
        ...steps,
      );
      expect(sums(await journal.spent('ne01', service))).toEqual(counted);
      present = now + day + 60_000;
      expect(sums(await journal.spent('ne01', service))).toEqual({});
    },
  );

  test('reports an earlier payment with the same idempotency key to the check of a submission', async () => {
    const journal = open();
    const { payment } = await journal.begin(draft({ ref: 'first', idempotencyKey: 'hash' }));
    const claim = await journal.write(
      (await journal.claim(payment.id, 'one'))!,
      changeOf(payment, quoted),
    );
    await written(
      journal,
      draft({ ref: 'second', scope: 'alias', idempotencyKey: 'hash' }),
      quoted,
      submitted,
    );
    const seen: unknown[] = [];
    await journal.submit(
      claim,
      whole(claim.payment, submitted.attempt!),
      service,
      ({ rival }) => void seen.push(rival?.ref),
    );
    expect(seen).toEqual(['second']);
  });

  test('leaves a payment unchanged if a check refuses the submission', async () => {
    const journal = open();
    const { payment } = await journal.begin(draft());
    const claim = await journal.write(
      (await journal.claim(payment.id, 'one'))!,
      changeOf(payment, quoted),
    );
    const refuse = async (): Promise<never> => {
      throw new Error('too much');
    };
    await expect(
      journal.submit(claim, whole(claim.payment, submitted.attempt!), service, refuse),
    ).rejects.toThrow('too much');
    expect(await journal.read(payment.id)).toEqual(claim.payment);
  });

  test.each<[string, Step[]]>([
    [
      'from requested to submitting',
      [{ attempt: { state: 'submitting', txnId: 't', ...submitted.attempt } }],
    ],
    ['to a quote without a transaction', [{ attempt: { state: 'quoted' } }]],
    [
      'to submitting without approved amounts',
      [quoted, { attempt: { state: 'submitting', submittedAt: now } }],
    ],
    [
      'from submitting back to quoted with a submission time',
      [quoted, submitted, { attempt: { state: 'quoted' } }],
    ],
    [
      'from submitting back to requested',
      [quoted, submitted, { attempt: { state: 'requested', txnId: null } }],
    ],
    [
      'from unknown to lapsed',
      [quoted, submitted, became('unknown', 'expired'), became('lapsed', 'expired')],
    ],
    [
      'from paid to failed',
      [quoted, submitted, became('paid', 'completed'), became('failed', 'failed')],
    ],
    [
      'to submitting if the journal lacks the attempt',
      [{ attempt: { ...requested(2, '{}'), ...submitted.attempt, txnId: 't' } }],
    ],
  ])('refuses a change of an attempt %s', async (_why, steps) => {
    const journal = open();
    await expect(written(journal, draft(), ...steps)).rejects.toThrow(/[Jj]ournal/);
  });
});

test('journal in SQLite reads the clock only while it holds the lock', async () => {
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
  const { payment } = await journal.begin(draft());
  const claim = await journal.claim(payment.id, 'one');
  const created = await journal.write(claim!, changeOf(payment, quoted));
  await journal.extendLease(created);
  await journal.submit(
    created,
    whole(created.payment, submitted.attempt!),
    service,
    () => undefined,
  );
  expect(isFree.length).toBeGreaterThanOrEqual(5);
  expect(isFree).not.toContain(true);
  for (const rival of rivals) rival.close();
  await journal.close();
  rmSync(folder, { recursive: true });
});
