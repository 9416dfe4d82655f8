// If the service cannot cancel a quote, cancelQuote lets the quote expire, and no later resume pays
// the quote.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { CancelNotOffered, ServiceError } from '../../../src/api/errors.js';
import type { Transaction } from '../../../src/api/types.js';
import type { Journal } from '../../../src/store/journal/journal.js';
import { requested } from '../../../src/store/journal/payment.js';
import { openJournal } from '../../../src/store/journal/sqlite-journal.js';
import { cancelQuote } from '../../../src/wallet/payment/record.js';

const expiresAt = Date.UTC(2026, 2, 1, 14, 2, 31);

const transaction = (txnState: string): Transaction => ({
  txnId: 'txn-1',
  txnState,
  sourceReq: { ccy: 'USDT', method: 'servicepay', expiresAt },
  destReq: { ccy: 'BTC', method: 'servicepay' },
});

function openTestJournal(): Journal {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-cancel-'));
  const journal = openJournal({
    path: join(folder, 'journal.db'),
    isAlive: () => true,
    now: () => 1,
  });
  onTestFinished(async () => {
    await journal.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return journal;
}

const quoted = {
  ...requested(1, '{}'),
  state: 'quoted',
  txnId: 'txn-1',
  txnState: 'quoted',
} as const;

/**
 * Creates a journal with a quoted payment, as after a crash between the quote and the confirmation.
 */
async function journalWithQuote(): Promise<Journal> {
  const journal = openTestJournal();
  const { payment } = await journal.begin({
    id: 'payment-1',
    scope: 'here',
    account: 'here',
    ref: 'order-118',
    kind: 'swap',
    request: '{}',
    instruction: '{}',
    digest: 'f',
    idempotencyKey: null,
    terms: {},
  });
  const claim = await journal.claim(payment.id, 'crashed:1');
  if (claim === undefined) throw new Error('The payment could not be claimed.');
  await journal.release(await journal.write(claim, { attempt: quoted }));
  return journal;
}

function depsOf(journal: Journal, states: readonly string[], cancel: () => Promise<Transaction>) {
  const left = [...states];
  const service = {
    transaction: async () => transaction(left.shift() ?? 'none'),
    cancelTransaction: cancel,
  };
  return { service, journal, scope: 'here', owner: 'me:2' };
}

const never = (): Promise<Transaction> =>
  Promise.reject(new Error('No cancellation was expected.'));
const notOffered = (): Promise<Transaction> =>
  Promise.reject(
    new CancelNotOffered('refused', 'not found', { status: 404, reason: 'not found' }),
  );
const tooLate = (): Promise<Transaction> =>
  Promise.reject(
    new ServiceError('refused', 'final', { status: 400, code: '2005', reason: 'final' }),
  );

describe('cancelQuote', () => {
  test('cancels a quote and ends its payment in the journal', async () => {
    const journal = await journalWithQuote();
    expect(await journal.open('here')).toHaveLength(1);
    const txn = await cancelQuote(
      'txn-1',
      depsOf(journal, ['quoted'], async () => transaction('usercanceled')),
    );
    expect(txn.txnState).toBe('usercanceled');
    expect(await journal.open('here')).toEqual([]);
  });

  test('abandons the payment and reports the expiry if the service cannot cancel the quote', async () => {
    const journal = await journalWithQuote();
    await expect(
      cancelQuote('txn-1', depsOf(journal, ['quoted'], notOffered)),
    ).rejects.toMatchObject({
      kind: 'refused',
      message:
        'Nothing moved: the service cannot cancel quotes. This quote expires unconfirmed at 2026-03-01T14:02:31.000Z.',
    });
    expect(await journal.open('here')).toEqual([]);
  });

  test.for(['usercanceled', 'expired'])(
    'accepts a cancellation of a quote that is already `%s`',
    async (state) => {
      const txn = await cancelQuote('txn-1', depsOf(openTestJournal(), [state], never));
      expect(txn.txnState).toBe(state);
    },
  );

  test.for(['srccreated', 'destsent', 'completed', 'failed'])(
    'refuses to cancel a transaction that is already `%s`',
    async (state) => {
      await expect(
        cancelQuote('txn-1', depsOf(openTestJournal(), [state], never)),
      ).rejects.toMatchObject({
        kind: 'refused',
        message: expect.stringContaining(`is ${state}`),
      });
    },
  );

  test('reports the final state of a quote that ended during the cancellation', async () => {
    const journal = openTestJournal();
    await expect(
      cancelQuote('txn-1', depsOf(journal, ['quoted', 'expired'], tooLate)),
    ).resolves.toMatchObject({
      txnState: 'expired',
    });
    await expect(
      cancelQuote('txn-1', depsOf(journal, ['quoted', 'completed'], tooLate)),
    ).rejects.toThrow(/is completed/);
  });

  test('reports an unknown outcome if the confirmation of the quote was already sent', async () => {
    const journal = await journalWithQuote();
    const claim = await journal.claim('payment-1', 'other:3');
    if (claim === undefined) throw new Error('The payment could not be claimed.');
    const attempt = {
      ...quoted,
      state: 'submitting',
      approvedTotal: '1',
      spendCcy: 'USDT',
    } as const;
    await journal.release(await journal.submit(claim, { attempt }, undefined, () => undefined));
    for (const state of ['expired', 'usercanceled']) {
      await expect(cancelQuote('txn-1', depsOf(journal, [state], never))).rejects.toMatchObject({
        kind: 'outcome-unknown',
        txnId: 'txn-1',
      });
    }
    expect((await journal.read('payment-1'))?.attempts).toMatchObject([{ state: 'submitting' }]);
  });

  test('refuses the cancellation if another process takes over the payment meanwhile', async () => {
    const journal = await journalWithQuote();
    const takenOver = async (): Promise<Transaction> => {
      await journal.claim('payment-1', 'me:2');
      return transaction('usercanceled');
    };
    await expect(cancelQuote('txn-1', depsOf(journal, ['quoted'], takenOver))).rejects.toThrow(
      /another process/,
    );
  });

  test('refuses the cancellation while another process drives the payment', async () => {
    const journal = await journalWithQuote();
    await journal.claim('payment-1', 'other:3');
    await expect(cancelQuote('txn-1', depsOf(journal, ['quoted'], never))).rejects.toThrow(
      /another process/,
    );
  });
});

test('cancelQuote leaves the newer attempt of a payment unchanged', async () => {
  const journal = await journalWithQuote();
  const deps = depsOf(journal, [], async () => transaction('usercanceled'));
  const goesOn = async (): Promise<Transaction> => {
    const claim = await journal.claim('payment-1', 'another:3');
    if (claim === undefined) throw new Error('The payment could not be claimed.');
    const lapsed = await journal.write(claim, { attempt: { ...quoted, state: 'lapsed' } });
    await journal.release(await journal.write(lapsed, { attempt: requested(2, '{}') }));
    return transaction('quoted');
  };
  const ended = await cancelQuote('txn-1', {
    ...deps,
    service: { ...deps.service, transaction: goesOn },
  });
  expect(ended.txnState).toBe('usercanceled');
  expect(await journal.read('payment-1')).toMatchObject({
    attempts: [{ state: 'lapsed' }, { number: 2, state: 'requested' }],
    abandoned: false,
  });
});
