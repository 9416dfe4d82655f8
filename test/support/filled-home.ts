// Creates a home with payments in every state and a few events, like a home after a day of use.
import { join } from 'node:path';
import { openEventStore } from '../../src/store/events/sqlite-events.js';
import { latest, type Attempt, type PaymentDraft } from '../../src/store/journal/payment.js';
import { openJournal } from '../../src/store/journal/sqlite-journal.js';

export const account = 'ne01-e84b64ed';

const quoted = { state: 'quoted', txnState: 'quoted' } as const;
const submitted = { state: 'submitting', approvedTotal: '0.00001003', spendCcy: 'BTC' } as const;
const inFlight = { state: 'in-flight', txnState: 'srccreated' } as const;
const ended = (state: Attempt['state'], txnState: string): Partial<Attempt> => ({
  state,
  txnState,
});

/** The states that each payment goes through, keyed by the payment's reference. */
const courses: Readonly<Record<string, readonly Partial<Attempt>[]>> = {
  requested: [],
  quoted: [quoted],
  lapsed: [quoted, ended('lapsed', 'expired')],
  submitting: [quoted, submitted],
  going: [quoted, submitted, inFlight],
  coffee: [quoted, submitted, inFlight, ended('paid', 'completed')],
  'coffee-again': [quoted, submitted, ended('failed', 'rejected')],
  error: [quoted, submitted, ended('error', 'error')],
  unknown: [quoted, submitted, ended('unknown', 'expired')],
  euros: [quoted, { ...submitted, approvedTotal: '12.5', spendCcy: 'EUR' }, inFlight],
};
export const refs = Object.keys(courses);

const draftOf = (ref: string): PaymentDraft => ({
  id: `id-${ref}`,
  scope: account,
  account,
  ref,
  kind: 'payout',
  request: '{"receives":{"ccy":"VND","value":"500000"}}',
  instruction: '{}',
  digest: `f-${ref}`,
  idempotencyKey: `key-${ref}`,
  terms: { maxRateLoss: '1' },
});

/** Writes the payments and events into the home, and resolves with the number of written rows. */
export async function fillHome(home: string) {
  const journal = openJournal({
    path: join(home, 'journal.db'),
    isAlive: () => false,
    now: () => Date.now(),
  });
  for (const [ref, course] of Object.entries(courses)) {
    const { payment } = await journal.begin(draftOf(ref));
    let claim = await journal.claim(payment.id, 'test 1 x');
    if (claim === undefined) throw new Error('the payment is held');
    for (const change of course) {
      const attempt: Attempt = { ...latest(claim.payment), txnId: `txn-${ref}`, ...change };
      claim =
        attempt.state === 'submitting'
          ? await journal.submit(claim, { attempt }, undefined, () => undefined)
          : await journal.write(claim, { attempt });
    }
    await journal.release(claim);
  }
  await journal.close();
  const events = openEventStore(join(home, 'events.db'), () => Date.now());
  const bodies = ['quoted', 'srccreated', 'completed'].map((txnState, at) => ({
    receivedAt: Date.now() + at,
    body: Buffer.from(JSON.stringify({ txnState })),
    signature: 'signed',
    txnId: 'txn-coffee',
    txnState,
    updatedAt: at,
  }));
  const placing = () => ({ duplicateOf: null, outOfOrder: false, missing: [] });
  await events.append(bodies, ['http://127.0.0.1:9/hooks'], placing);
  await events.close();
  return { payments: refs.length, attempts: refs.length, events: bodies.length };
}
