// What the journal promises, held against both: the one in SQLite and the one that the simulation runs on.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { leaseMs, LostClaim, type Intent, type IntentChange, type IntentDraft, type Journal } from '../../src/store/journal/journal.js';
import { openJournal } from '../../src/store/journal/sqlite-journal.js';
import { emptyStore, memoryJournal } from '../simulation/memory-journal.js';

const now = Date.UTC(2025, 0, 15);
const dead = new Set(['dead']);
const isAlive = (owner: string): boolean => !dead.has(owner);

function sqlite(): Journal {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-journal-'));
  const journal = openJournal(join(folder, 'journal.db'), isAlive);
  onTestFinished(async () => {
    await journal.close();
    rmSync(folder, { recursive: true });
  });
  return journal;
}

let ids = 0;
const draft = (change: Partial<IntentDraft> = {}): IntentDraft => ({
  id: `id-${(ids += 1)}`,
  scope: 'https://pay.example ne01',
  ref: 'R',
  kind: 'swap',
  request: '{}',
  fingerprint: 'same',
  onceKey: null,
  terms: {},
  consent: 'standing',
  openedAt: now,
  ...change,
});

async function written(journal: Journal, given: IntentDraft, ...changes: IntentChange[]): Promise<Intent> {
  const { intent } = await journal.begin(given);
  let claim = await journal.claim(intent.id, 'writer', now);
  if (claim === undefined) throw new Error('the intent is held');
  for (const change of changes) claim = await journal.write(claim, change, now);
  await journal.release(claim);
  return claim.intent;
}

describe.each([
  ['SQLite', sqlite],
  ['memory', () => memoryJournal(emptyStore(), isAlive)],
])('the journal in %s', (_name, open) => {
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
    const intent = await written(journal, draft(), change, { txnId: null, closed: true });
    expect(await journal.read(intent.id)).toEqual(intent);
    expect(intent).toMatchObject({ ...change, txnId: null, closed: true });
  });

  test.each(['id-find', 't-find', 'R-find'])('finds an intent by %s', async (name) => {
    const journal = open();
    const intent = await written(journal, draft({ id: 'id-find', ref: 'R-find' }), { txnId: 't-find' });
    expect(await journal.find(intent.scope, name)).toEqual(intent);
    expect(await journal.find('elsewhere', name)).toBeUndefined();
  });

  test('lists what is neither final nor closed, oldest first', async () => {
    const journal = open();
    await written(journal, draft({ ref: 'closed' }), { closed: true });
    await written(journal, draft({ ref: 'final' }), { step: 'final' });
    await written(journal, draft({ ref: 'younger', openedAt: now + 1 }));
    await written(journal, draft({ ref: 'older' }), { step: 'confirming' });
    const listed = await journal.open(draft().scope);
    expect(listed.map(({ ref }) => ref)).toEqual(['older', 'younger']);
  });

  const rivals: readonly [why: string, changes: IntentChange[], found: 'once' | 'new'][] = [
    ['is open', [], 'once'],
    ['was let go', [{ step: 'confirming' }], 'once'],
    ['was paid', [{ step: 'final', txnState: 'completed' }], 'once'],
    ['ended as error', [{ step: 'final', txnState: 'error' }], 'once'],
    ['was closed in doubt', [{ step: 'confirming', closed: true }], 'once'],
    ['was closed', [{ step: 'created', closed: true }], 'new'],
    ['failed', [{ step: 'final', txnState: 'failed' }], 'new'],
    ['was rejected', [{ step: 'final', txnState: 'rejected' }], 'new'],
    ['expired', [{ step: 'final', txnState: 'expired' }], 'new'],
    ['was cancelled', [{ step: 'final', txnState: 'usercanceled' }], 'new'],
  ];
  test.each(rivals)('what can be paid once and %s', async (_why, changes, found) => {
    const journal = open();
    await written(journal, draft({ ref: 'first', onceKey: 'hash' }), ...changes);
    expect(await journal.begin(draft({ ref: 'second', onceKey: 'hash' }))).toMatchObject({ found });
    expect(await journal.begin(draft({ ref: 'third', onceKey: 'other' }))).toMatchObject({ found: 'new' });
  });

  test('does not open again what another intent has paid for since', async () => {
    const journal = open();
    await written(journal, draft({ ref: 'first', onceKey: 'hash' }), { closed: true });
    await written(journal, draft({ ref: 'second', onceKey: 'hash' }), { step: 'confirmed' });
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
    ['was quoted', { step: 'created', closed: true }],
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
    const claim = await journal.claim(intent.id, 'one', now);
    expect(claim?.fence).toBe(1);
    expect(await journal.claim(intent.id, 'two', now)).toBeUndefined();
    expect((await journal.claim(intent.id, 'one', now))?.fence).toBe(2);
  });

  test.each<[string, string, number]>([
    ['its driver is dead', 'dead', now],
    ['its lease ran out', 'one', now + leaseMs],
    ['the clock was set back', 'one', now - 1],
  ])('hands an intent over when %s', async (_why, owner, at) => {
    const journal = open();
    const { intent } = await journal.begin(draft());
    const first = await journal.claim(intent.id, owner, now);
    const second = await journal.claim(intent.id, 'two', at);
    expect(second?.fence).toBe(2);
    await expect(journal.write(first!, { step: 'created' }, at)).rejects.toBeInstanceOf(LostClaim);
    await expect(journal.spend(first!, {}, { since: 0, now: at }, () => {})).rejects.toBeInstanceOf(LostClaim);
    expect((await journal.write(second!, { step: 'created' }, at)).intent.step).toBe('created');
  });

  test('renews the lease with every write', async () => {
    const journal = open();
    const { intent } = await journal.begin(draft());
    await journal.write((await journal.claim(intent.id, 'one', now))!, {}, now + leaseMs - 1);
    expect(await journal.claim(intent.id, 'two', now + leaseMs)).toBeUndefined();
  });

  test('gives back with a release, but not what another has taken over', async () => {
    const journal = open();
    const { intent } = await journal.begin(draft());
    const first = await journal.claim(intent.id, 'dead', now);
    const second = await journal.claim(intent.id, 'two', now);
    await journal.release(first!);
    expect(await journal.claim(intent.id, 'three', now)).toBeUndefined();
    await journal.release(second!);
    expect(await journal.claim(intent.id, 'three', now)).toBeDefined();
  });

  test('shows, before money is let go, all that was let go and has not come back', async () => {
    const journal = open();
    const spent = { spendCcy: 'BTC', approvedTotal: '0.5', approvedAt: now } as const;
    await written(journal, draft({ ref: 'before' }), { ...spent, step: 'final', txnState: 'completed', approvedAt: now - 2 });
    await written(journal, draft({ ref: 'paid' }), { ...spent, step: 'final', txnState: 'completed' });
    await written(journal, draft({ ref: 'doubt' }), { ...spent, step: 'confirming', approvedTotal: '0.25' });
    await written(journal, draft({ ref: 'failed' }), { ...spent, step: 'final', txnState: 'failed' });
    await written(journal, draft({ ref: 'closed' }), { ...spent, step: 'created', closed: true });
    const { intent } = await journal.begin(draft({ ref: 'now' }));
    const claim = await journal.claim(intent.id, 'one', now);
    const seen: unknown[] = [];
    await journal.spend(claim!, { ...spent, step: 'confirming' }, { since: now - 1, now }, (before) => void seen.push(before));
    expect(seen).toEqual([{ spent: [{ ccy: 'BTC', total: '0.5' }, { ccy: 'BTC', total: '0.25' }], rival: undefined }]);
  });

  test('counts also what arrived outside in another currency, but not what stayed in an own wallet', async () => {
    const journal = open();
    const spent = { spendCcy: 'BTC', approvedTotal: '0.5', approvedAt: now, step: 'confirmed' } as const;
    const request = '{"receives":{"ccy":"VND","value":"500000"}}';
    await written(journal, draft({ ref: 'payout', kind: 'payout', request }), spent);
    await written(journal, draft({ ref: 'swap', kind: 'swap', request }), spent);
    expect(await journal.spent(draft().scope, now)).toHaveLength(3);
    expect(await journal.spent(draft().scope, now)).toContainEqual({ ccy: 'VND', total: '500000' });
  });

  test('names a rival that was let go, at the last moment', async () => {
    const journal = open();
    const { intent } = await journal.begin(draft({ ref: 'first', onceKey: 'hash' }));
    const claim = await journal.write((await journal.claim(intent.id, 'one', now))!, { closed: true }, now);
    await written(journal, draft({ ref: 'second', onceKey: 'hash' }), { step: 'confirming' });
    const rivals: unknown[] = [];
    await journal.spend(claim, { closed: false }, { since: 0, now }, ({ rival }) => void rivals.push(rival?.ref));
    expect(rivals).toEqual(['second']);
  });

  test('writes nothing when money may not be let go', async () => {
    const journal = open();
    const { intent } = await journal.begin(draft());
    const claim = await journal.claim(intent.id, 'one', now);
    const refuse = (): never => {
      throw new Error('too much');
    };
    await expect(journal.spend(claim!, { step: 'confirming' }, { since: 0, now }, refuse)).rejects.toThrow('too much');
    expect((await journal.read(intent.id))?.step).toBe('intent');
  });
});
