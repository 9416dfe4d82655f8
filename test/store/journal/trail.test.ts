// The trail of a payment: written with each change, never changed afterwards, and leading to the
// stored payment.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { describe, expect, onTestFinished, test } from 'vitest';
import { postgresDatabase } from '../../../src/store/database/postgres.js';
import type { Claim, Journal } from '../../../src/store/journal/journal.js';
import { latest, type Attempt, type PaymentDraft } from '../../../src/store/journal/payment.js';
import { journalPart } from '../../../src/store/journal/schema.js';
import { openSqlJournal } from '../../../src/store/journal/sql-journal.js';
import { openJournal } from '../../../src/store/journal/sqlite-journal.js';
import type { Actor } from '../../../src/store/journal/steps.js';
import { hasPostgres } from '../../support/postgres.js';
import { prepareTables } from '../../support/prepared-database.js';
import { usingPostgres } from '../../support/shared-postgres.js';

const isAlive = (owner: string): boolean => !owner.includes('dead');
const by: Actor = {
  door: 'send lightning',
  user: 'ann',
  uid: 1000,
  host: 'desk-2',
  pid: 7,
  version: '1',
  profile: 'default',
  sandbox: true,
};
const draft: PaymentDraft = {
  id: 'p',
  scope: 'ne01',
  account: 'ne01',
  ref: 'order-1',
  kind: 'swap',
  request: '{}',
  instruction: '{}',
  digest: 'd',
  idempotencyKey: null,
  terms: {},
};

interface Opened {
  readonly journal: Journal;
  /** Runs a statement as someone who edits the database by hand. */
  readonly edit: (text: string) => Promise<unknown>;
}

async function sqlite(): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-trail-'));
  const path = join(folder, 'journal.db');
  const journal = openJournal({ path, isAlive, now: () => Date.now(), by });
  onTestFinished(async () => {
    await journal.close();
    rmSync(folder, { recursive: true });
  });
  const edit = async (text: string): Promise<unknown> => {
    const db = new Database(path);
    try {
      return db.exec(text);
    } finally {
      db.close();
    }
  };
  return { journal, edit };
}

const server = usingPostgres();

async function postgres(): Promise<Opened> {
  const clock = (): number => performance.now();
  const database = postgresDatabase({ url: server().database(), source: 'the test', clock });
  onTestFinished(() => database.close());
  await prepareTables(database, journalPart);
  const edit = (text: string): Promise<unknown> => database.transaction((sql) => sql.script(text));
  return { journal: openSqlJournal(database, isAlive, by), edit };
}

async function write(journal: Journal, claim: Claim, news: Partial<Attempt>): Promise<Claim> {
  return journal.write(claim, { attempt: { ...latest(claim.payment), ...news } });
}

/** Writes a payment that is submitted and paid. */
async function paid({ journal }: Opened): Promise<Claim> {
  await journal.begin(draft);
  let claim = await journal.claim('p', 'one');
  if (claim === undefined) throw new Error('the payment is held');
  claim = await write(journal, claim, { state: 'quoted', txnId: 't', txnState: 'quoted' });
  const attempt = { ...latest(claim.payment), state: 'submitting' as const };
  const approved = { ...attempt, approvedTotal: '0.5', spendCcy: 'BTC' };
  const steps = [{ step: 'approved' as const, detail: { consent: 'yes' }, ago: 2_000 }];
  claim = await journal.submit(claim, { attempt: approved, trail: { steps } }, undefined, () => {});
  return write(journal, claim, { state: 'paid', txnState: 'completed' });
}

const checkedOf = async ({ journal }: Opened) => journal.checked('', 0, 10);

describe.each([
  ['SQLite', sqlite, true],
  ['PostgreSQL', postgres, hasPostgres],
] as const)('trail in %s', (_name, open, isThere) => {
  test.skipIf(!isThere)(
    'has the steps of a payment, with their times and their actor',
    async () => {
      const opened = await open();
      await paid(opened);
      const trail = await opened.journal.trails(['p']);
      const names = ['asked', 'quoted', 'approved', 'submitting', 'paid'];
      expect(trail.map(({ seq, step }) => [seq, step])).toEqual(
        names.map((each, n) => [n + 1, each]),
      );
      expect(trail.every((each) => each.by.door === by.door && each.by.uid === by.uid)).toBe(true);
      expect(trail[4]?.detail).toEqual({ txnState: 'completed' });
      const [, , approved, submitting] = trail;
      expect((submitting?.at ?? 0) - (approved?.at ?? 0)).toBeGreaterThanOrEqual(1_990);
      expect(await checkedOf(opened)).toMatchObject([{ id: 'p', steps: 5, differs: undefined }]);
    },
  );

  test.skipIf(!isThere)('finds a total of the daily limit that someone changed', async () => {
    const opened = await open();
    await paid(opened);
    expect(await opened.journal.wrongTotals()).toEqual([]);
    await opened.edit('UPDATE spending SET trillionths = trillionths - 100000000000');
    expect(await opened.journal.wrongTotals()).toMatchObject([
      { differs: 'the daily limit counts 0.4 BTC, its payments 0.5 BTC' },
    ]);
  });

  test.skipIf(!isThere)('records a process that takes over from a dead one', async () => {
    const opened = await open();
    const { journal } = opened;
    await journal.begin(draft);
    await journal.claim('p', 'desk-1/boot/ns 41 dead');
    await journal.claim('p', 'two');
    const [, taken] = await journal.trails(['p']);
    expect(taken).toMatchObject({ step: 'taken over', detail: { host: 'desk-1', pid: 41 } });
  });

  test.skipIf(!isThere)('refuses to change or delete a step, except with its payment', async () => {
    const opened = await open();
    await paid(opened);
    await expect(opened.edit(`UPDATE trail SET step = 'failed'`)).rejects.toThrow(/never change/);
    await expect(opened.edit('DELETE FROM trail')).rejects.toThrow(/never change|only with/);
    await opened.edit('DELETE FROM payments');
    expect(await opened.journal.trails(['p'])).toEqual([]);
  });

  test.skipIf(!isThere).for([
    ['UPDATE payments SET abandoned = 1', /is abandoned/],
    [`UPDATE payments SET digest = 'e'`, /instruction differs/],
    [`UPDATE attempts SET approved_total = '0.4'`, /approvedTotal 0.4, and its steps lead to 0.5/],
    [`UPDATE attempts SET state = 'failed', outcome = 'failed'`, /state failed.* lead to paid/],
    [`UPDATE attempts SET outcome = 'failed'`, /attempt 1 has another outcome/],
    [`UPDATE attempts SET number = 2`, /attempt 1 is missing/],
    [`DELETE FROM attempts`, /./],
  ] as const)('finds the difference after %s', async ([text, differs]) => {
    const opened = await open();
    await paid(opened);
    await opened.edit(text);
    expect((await checkedOf(opened))[0]?.differs).toMatch(differs);
  });

  test.skipIf(!isThere).for([
    ['DELETE FROM trail WHERE seq = 4', /step 4 is missing/],
    ['DELETE FROM trail WHERE seq = 5', /state paid.* lead to submitting/],
    [`UPDATE trail SET step = 'sold' WHERE seq = 3`, /step 3, "sold", is unknown/],
    [
      `UPDATE trail SET step = 'lapsed' WHERE seq = 4`,
      /step 5, "paid", does not follow from lapsed/,
    ],
    [`UPDATE trail SET detail = '{' WHERE seq = 2`, /./],
  ] as const)('finds the changed trail after %s', async ([text, differs]) => {
    const opened = await open();
    await paid(opened);
    const triggers = ['trail_update', 'trail_delete'].map((each) => `DROP TRIGGER ${each};`);
    const unlock = open === sqlite ? triggers.join(' ') : 'DROP TRIGGER trail_unchanged ON trail;';
    await opened.edit(`${unlock} ${text}`);
    expect((await checkedOf(opened))[0]?.differs).toMatch(differs);
  });
});
