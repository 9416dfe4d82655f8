// waitUntilFinal polls a transaction at intervals until its final state, or until a failure ends
// the wait.
import { describe, expect, test } from 'vitest';
import { NoAnswer, ServiceError } from '../../../src/api/errors.js';
import type { Transaction } from '../../../src/api/types.js';
import { Failure } from '../../../src/formats/failure.js';
import { takingTurns, waitUntilFinal } from '../../../src/wallet/transaction/read.js';

const transaction = (
  destMethod: string,
  txnState = 'srccreated',
  sourceMethod = 'servicepay',
): Transaction => ({
  txnId: 't1',
  txnState,
  sourceReq: { ccy: 'BTC', method: sourceMethod },
  destReq: { ccy: 'BTC', method: destMethod },
});

/**
 * Creates a clock that advances only during pauses, and a service that returns these answers in
 * turn and repeats the last answer.
 */
function world(...answers: (Partial<Transaction> | Error)[]) {
  const time = { now: 0 };
  const reads: number[] = [];
  const sleep = async (ms: number): Promise<void> => void (time.now += ms);
  const service = {
    transaction: async (): Promise<Transaction> => {
      reads.push(time.now);
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer instanceof Error) throw answer;
      return { ...transaction('lightning'), ...answer };
    },
  };
  const deps = { service, sleep, now: () => time.now, signal: new AbortController().signal };
  const wait = (txn: Transaction, atMostMs?: number) =>
    waitUntilFinal(txn, { atMostMs, onChange: () => undefined }, deps);
  return { deps, reads, time, wait };
}

/** Returns the time at which waitUntilFinal detects a payment that settles at `settlesAt`. */
async function seenAt(txn: Transaction, settlesAt: number): Promise<number> {
  const { deps, time } = world();
  const service = {
    transaction: async (): Promise<Transaction> => ({
      ...txn,
      txnState: time.now >= settlesAt ? 'completed' : 'srccreated',
    }),
  };
  await waitUntilFinal(
    txn,
    { atMostMs: undefined, onChange: () => undefined },
    { ...deps, service },
  );
  return time.now;
}

describe('polling interval', () => {
  test.for([600, 1_000, 3_100, 11_000, 43_000, 59_999])(
    'detects the settlement of a Lightning payment after %i ms with a delay of at most a third of that time',
    async (at) => {
      expect((await seenAt(transaction('lightning'), at)) - at).toBeLessThanOrEqual(at / 3);
    },
  );

  test('polls a payment with an unknown method at the end of the first second', async () => {
    expect((await seenAt(transaction('constructor'), 400)) - 400).toBe(600);
  });

  // The number of requests of a payment that are not reads of its state: sign-in, reference,
  // balance, quote, list and confirmation.
  const beside = 6;
  const limits = [
    ['lightning', 60_000, 25 - beside],
    ['lnurl', 60_000, 25 - beside],
    ['servicepay', 60_000, 25 - beside],
    ['on-chain', 3_600_000, 60 - beside],
    ['tron', 60_000, 25],
    ['vnd-instant', 60_000, 25],
  ] as const;
  test.for(limits)(
    'limits the reads of a payment with the method %s in the first %i ms to %i',
    async ([method, ms, most]) => {
      const { reads, wait } = world({ txnState: 'srccreated', destReq: { ccy: 'BTC', method } });
      await expect(wait(transaction(method), ms)).rejects.toMatchObject({ kind: 'pending' });
      // The last read comes at the end of the wait, so the limit on the number of reads does not
      // include the last read.
      expect(reads.filter((at) => at < ms).length).toBeLessThanOrEqual(most);
    },
  );

  test('derives the polling interval of a receive from its incoming method', async () => {
    const { reads, wait } = world({
      sourceReq: { method: 'on-chain' },
      destReq: { method: 'servicepay' },
    });
    await expect(
      wait(transaction('servicepay', 'srcintent', 'on-chain'), 3_600_000),
    ).rejects.toThrow();
    expect(reads.length).toBeLessThanOrEqual(60);
  });

  test('takingTurns keeps the reads of parallel waits at least a second apart', async () => {
    const pauses: number[] = [];
    const sleep = takingTurns({ sleep: async (ms) => void pauses.push(ms), now: () => 0 }, 1_000);
    for (const ms of [100, 100, 100, 5_000, 100]) await sleep(ms, new AbortController().signal);
    expect(pauses).toEqual([100, 1_100, 2_100, 5_000, 6_000]);
  });
});

describe('waitUntilFinal', () => {
  const unread = new Failure(
    'unexpected',
    "The service's answer could not be read: txnState is missing.",
  );

  test('ends the wait with exit code 8 after three unreadable answers in a row', async () => {
    const { reads, wait } = world(unread);
    await expect(wait(transaction('lightning'))).rejects.toMatchObject({
      exitCode: 8,
      txnId: 't1',
      message: expect.stringContaining('txnState is missing'),
      cause: unread,
    });
    expect(reads).toHaveLength(3);
  });

  test('restarts the count of unreadable answers after a readable answer', async () => {
    const { wait } = world(unread, unread, {}, unread, unread, { txnState: 'completed' });
    expect(await wait(transaction('lightning'))).toMatchObject({ txnState: 'completed' });
  });

  test('continues to wait after missing answers and temporary failures', async () => {
    const silent = new NoAnswer('temporary', 'No answer.', { mayHaveArrived: false });
    const failing = new ServiceError('temporary', 'The service failed.', {
      status: 500,
      reason: 'internal',
    });
    const { wait } = world(silent, failing, silent, failing, silent, { txnState: 'completed' });
    expect(await wait(transaction('lightning'))).toMatchObject({ txnState: 'completed' });
  });

  test('ends the wait after repeated 404 answers of the service but tolerates a 404 of a gateway', async () => {
    const missing = (isOwnRefusal: boolean) =>
      new ServiceError('not-found', 'not found', {
        status: 404,
        reason: 'not found',
        isOwnRefusal,
      });
    const own = world(missing(true));
    await expect(own.wait(transaction('lightning'))).rejects.toMatchObject({ exitCode: 8 });
    expect(own.time.now).toBeLessThan(15_000);
    const lagging = world(...Array.from({ length: 10 }, () => missing(true)), {
      txnState: 'completed',
    });
    expect(await lagging.wait(transaction('lightning'))).toMatchObject({ txnState: 'completed' });
    const gateway = world(missing(false), { txnState: 'completed' });
    expect(await gateway.wait(transaction('lightning'))).toMatchObject({ txnState: 'completed' });
    const always = world(missing(false));
    await expect(always.wait(transaction('on-chain'))).rejects.toMatchObject({ exitCode: 8 });
    expect(always.reads).toHaveLength(3);
  });

  test.for(['completed', 'failed', 'expired', 'rejected', 'error', 'usercanceled', 'canceled'])(
    'ends the wait if the transaction is `%s`',
    async (txnState) => {
      expect(await world({ txnState }).wait(transaction('lightning'))).toMatchObject({ txnState });
    },
  );

  const onTheWay = [
    'userconfirmed',
    'srcsent',
    'srcpendconfirmfill',
    'srcconfirmfilled',
    'destpendsent',
    'unrecognized',
  ];
  test.for(onTheWay)('continues to wait while the transaction is `%s`', async (txnState) => {
    await expect(world({ txnState }).wait(transaction('lightning'), 5_000)).rejects.toMatchObject({
      kind: 'pending',
    });
  });
});

test('waitUntilFinal keeps the known fields that an abbreviated answer omits', async () => {
  const { wait } = world({ txnState: 'completed', sourceReq: {}, destReq: { amtSettled: 0.1 } });
  expect(await wait(transaction('lightning'))).toEqual({
    txnId: 't1',
    txnState: 'completed',
    sourceReq: { ccy: 'BTC', method: 'servicepay' },
    destReq: { ccy: 'BTC', method: 'lightning', amtSettled: 0.1 },
  });
});
