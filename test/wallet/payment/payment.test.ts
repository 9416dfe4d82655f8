// The rules of the payment machine, one after the other: what it sends, what it writes before, and
// what it says.
import { describe, expect, test } from 'vitest';
import { CancelNotOffered } from '../../../src/api/errors.js';
import { Failure } from '../../../src/formats/failure.js';
import type { Rates, Transaction } from '../../../src/api/types.js';
import { LostClaim } from '../../../src/store/journal/journal.js';
import { latest, requested, type PaymentChange } from '../../../src/store/journal/payment.js';
import { money } from '../../../src/formats/amount.js';
import {
  deducting,
  onchainOrder,
  swapOrder,
  type Order,
  usdtSpendOrder,
} from '../../../src/wallet/order/orders.js';
import { confirmQuote } from '../../../src/wallet/payment/confirm-quote.js';
import { recordRead } from '../../../src/wallet/payment/record-read.js';
import { pay, payThisQuote, resume } from '../../../src/wallet/payment/payment.js';
import {
  bench,
  limited,
  lost,
  notSent,
  order,
  otherOrder,
  quoteOf,
  refusal,
  type Bench,
} from '../support/machine.js';

/** A yes for which a person needs longer than the quote is valid. */
const slowly = (made: Bench): true => {
  made.time += 61_000;
  return true;
};

const requests = ({ log }: Bench): string[] => log.filter((line) => /^(POST|PUT)/.test(line));
const waiting = { wait: 'forever', retry: false } as const;

/** A transaction under a reference that the service has and the journal has not. */
const known = (
  extRefId: string,
  txnState: string,
  change: Partial<Transaction> = {},
): Transaction => ({
  ...quoteOf({ ...order.body, extRefId }, `known-${extRefId}`, Date.UTC(2025, 0, 15)),
  txnState,
  ...change,
});

describe('a transaction that is in the list, but not found by a read', () => {
  const elsewhere = () => {
    const made = bench();
    made.transactions.push(known('R', 'completed'));
    return made;
  };

  test('is read again, since reads may lag', async () => {
    const made = elsewhere();
    made.fail('read', refusal(404, 'not found'), refusal(404, 'not found'));
    expect(await made.pay()).toMatchObject({ txnId: 'known-R', txnState: 'completed' });
  });

  test('may have paid, and nothing is created with its reference', async () => {
    const made = elsewhere();
    made.fail('read', ...Array.from({ length: 9 }, () => refusal(404, 'not found')));
    await expect(made.pay()).rejects.toMatchObject({
      kind: 'pending',
      exitCode: 8,
      txnId: 'known-R',
    });
    expect(requests(made)).toEqual(['POST R']);
    expect(made.now()).toMatchObject({ state: 'requested', abandoned: false });
  });
});

test('a quote of another client that takes fees out of the amount is confirmed unchanged', async () => {
  const made = bench();
  const { body } = deducting(onchainOrder('bc1q-1', money('BTC', '0.00003'), 'BTC'));
  const quoted = {
    ...quoteOf(
      { ...body, sourceReq: { ...body.sourceReq, amtRequested: 0.00003 }, extRefId: 'R' },
      't1',
      made.time,
    ),
    deductNetworkFeesFromDest: true,
  };
  made.transactions.push(quoted);
  await confirmQuote(quoted, { terms: {}, consent: 'standing' }, waiting, made.deps);
  expect(made.now()).toMatchObject({
    state: 'paid',
    approvedTotal: '0.00003',
    approvedReceives: '0.00002999',
  });
});

describe('a payment', () => {
  test('is in the journal before each request', async () => {
    const made = bench();
    expect(await made.pay()).toMatchObject({ txnState: 'completed' });
    expect(made.log.filter((line) => !line.startsWith('GET'))).toEqual([
      'begin',
      'POST R',
      'write quoted',
      'submit submitting',
      'PUT t1',
      'write in-flight',
      'write paid',
    ]);
    expect(made.now()).toMatchObject({
      state: 'paid',
      txnState: 'completed',
      txnId: 't1',
      abandoned: false,
    });
  });

  test('is confirmed by a person once without --yes, and never with it', async () => {
    const asking = bench();
    await asking.pay({ yes: false });
    const agreed = bench();
    await agreed.pay({ yes: true });
    expect([asking.asked, agreed.asked]).toEqual([['0.00001001'], []]);
  });

  test('is not confirmed if its quote becomes more expensive after the agreement', async () => {
    const made = bench();
    made.says = () => {
      const [first] = made.transactions;
      if (first !== undefined)
        made.transactions[0] = {
          ...first,
          sourceReq: { ...first.sourceReq, servicepayFees: 5e-8 },
        };
      return true;
    };
    await expect(made.pay({ yes: false })).rejects.toMatchObject({ kind: 'refused' });
    expect(requests(made)).toEqual(['POST R']);
  });

  test('is not confirmed if its quote gets another destination after the agreement', async () => {
    const made = bench();
    made.says = () => {
      const [first] = made.transactions;
      if (first !== undefined)
        made.transactions[0] = {
          ...first,
          destReq: { ...first.destReq, reqDetails: { address: 'eve@pay.example' } },
        };
      return true;
    };
    await expect(made.pay({ yes: false })).rejects.toMatchObject({ kind: 'refused' });
    expect(requests(made)).toEqual(['POST R']);
  });

  test('continues if a read of its quote has only the state', async () => {
    const made = bench();
    const { service } = made.deps;
    const transaction = async (txnId: string) => ({
      ...(await service.transaction(txnId)),
      sourceReq: {},
      destReq: {},
    });
    const paid = await pay({ order, ref: 'R', terms: {}, consent: 'none' }, waiting, {
      ...made.deps,
      service: { ...service, transaction },
    });
    expect(paid).toMatchObject({ txnState: 'completed', destReq: { method: 'lnurl' } });
  });

  test('is created without reading the list, whatever its reference', async () => {
    const given = bench();
    await given.pay();
    const madeUp = bench();
    await pay({ order, ref: undefined, terms: {}, consent: 'standing' }, waiting, madeUp.deps);
    expect([...given.log, ...madeUp.log]).not.toContain('GET list');
  });

  test('that is declined is abandoned, not resumed, and a rerun asks again', async () => {
    const made = bench();
    made.says = () => false;
    await expect(made.pay({ yes: false })).rejects.toMatchObject({ kind: 'declined' });
    expect(made.now()).toMatchObject({ abandoned: true });
    await expect(resume(made.payment(), waiting, made.deps)).rejects.toMatchObject({
      kind: 'usage',
    });
    made.says = () => true;
    expect(await made.pay({ yes: false })).toMatchObject({ txnState: 'completed' });
    expect(requests(made)).toEqual(['POST R', 'PUT t1']);
  });

  test('is stored with the agreed terms', async () => {
    const made = bench();
    await made.pay({ yes: false });
    expect(made.now()).toMatchObject({
      approvedTotal: '0.00001001',
      approvedReceives: '0.00001',
    });
  });
});

describe('a quote', () => {
  const wrong: readonly [what: string, change: (txn: Transaction) => Partial<Transaction>][] = [
    ['another source currency', ({ sourceReq }) => ({ sourceReq: { ...sourceReq, ccy: 'USDT' } })],
    ['another method', ({ destReq }) => ({ destReq: { ...destReq, method: 'lightning' } })],
    ['another amount', ({ sourceReq }) => ({ sourceReq: { ...sourceReq, amtRequested: 0.00002 } })],
    ['no amount', ({ sourceReq }) => ({ sourceReq: { ...sourceReq, amtRequested: null } })],
    [
      'another destination',
      ({ destReq }) => ({ destReq: { ...destReq, reqDetails: { address: 'thief@pay.example' } } }),
    ],
    [
      'less for the recipient',
      ({ destReq }) => ({ destReq: { ...destReq, amtRequested: 0.000005 } }),
    ],
    ['another reference', () => ({ extRefId: 'S' })],
  ];
  test.each(wrong)('with %s is refused', async (_what, change) => {
    const made = bench();
    made.quotes = (body) => change(quoteOf(body, 't1', made.time));
    await expect(made.pay()).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('Nothing moved'),
    });
    expect(requests(made)).toEqual(['POST R']);
    expect(made.now().abandoned).toBe(true);
  });

  const dear: readonly [
    what: string,
    fee: number,
    maxFee: { amount: string; ccy: string } | { percent: string } | undefined,
  ][] = [
    ['a fee above --max-fee', 5e-8, { amount: '0.00000004', ccy: 'BTC' }],
    ['a fee above a percentage', 1.1e-7, { percent: '1' }],
    ['a total above the balance', 0.6, undefined],
  ];
  test.each(dear)('with %s is stopped', async (_what, fee, maxFee) => {
    const made = bench();
    made.quotes = (body) => {
      const txn = quoteOf(body, 't1', made.time);
      return { sourceReq: { ...txn.sourceReq, servicepayFees: fee } };
    };
    await expect(made.pay({ maxFee })).rejects.toMatchObject({ kind: 'limit' });
    expect(requests(made)).toEqual(['POST R']);
  });

  const again: readonly [what: string, fee: number, asked: number][] = [
    ['no worse than the one agreed to', 1e-8, 1],
    ['cheaper', 0, 1],
    ['dearer', 2e-8, 2],
  ];
  test.each(again)('that expired is followed by one %s', async (_what, fee, asked) => {
    const made = bench();
    made.quotes = (body, number) => {
      const { sourceReq } = quoteOf(body, '', made.time);
      return number === 1 ? {} : { sourceReq: { ...sourceReq, servicepayFees: fee } };
    };
    made.says = () => made.transactions.length > 1 || slowly(made);
    expect(await made.pay({ yes: false })).toMatchObject({
      txnState: 'completed',
      extRefId: 'R~2',
    });
    expect(made.asked).toHaveLength(asked);
  });

  test('that was only shown is abandoned, whatever the options', async () => {
    const made = bench();
    expect(await made.pay({ until: 'quoted', yes: true })).toMatchObject({ txnState: 'quoted' });
    expect(made.now()).toMatchObject({ abandoned: true });
    expect(requests(made)).toEqual(['POST R']);
  });

  test('that was only shown is not paid by a later resume without a yes, even if the command was interrupted', async () => {
    const made = bench();
    made.journalFails = ({ abandoned }) => abandoned === true;
    await made.pay({ until: 'quoted', yes: true }).catch(() => undefined);
    expect(made.now()).toMatchObject({ state: 'quoted', abandoned: false });
    made.journalFails = () => false;
    made.says = () => false;
    await expect(resume(made.payment(), waiting, made.deps)).rejects.toMatchObject({
      kind: 'declined',
    });
    expect(made.asked).toHaveLength(1);
    expect(requests(made)).toEqual(['POST R']);
  });

  test('is not confirmed by showing a payment whose confirmation has an unknown outcome', async () => {
    const made = bench();
    made.fail('confirm', lost(), lost(), lost(), lost(), lost());
    await expect(made.pay()).rejects.toMatchObject({ kind: 'pending' });
    const before = requests(made).length;
    expect(await made.pay({ until: 'quoted' })).toMatchObject({ txnState: 'quoted' });
    expect(requests(made)).toHaveLength(before);
    expect(made.now()).toMatchObject({
      state: 'submitting',
      abandoned: false,
    });
  });

  test('that expired during the question, but is still called a quote, is cancelled and never confirmed', async () => {
    const made = bench();
    made.says = () => slowly(made);
    expect(await made.pay({ yes: false })).toMatchObject({
      txnState: 'completed',
      extRefId: 'R~2',
    });
    expect(requests(made)).toEqual(['POST R', 'PUT t1/cancel', 'POST R~2', 'PUT t2']);
  });

  test('that expired is confirmed if the service cannot cancel, and has an unknown outcome if it then reads expired', async () => {
    const made = bench();
    made.says = () => slowly(made);
    made.confirms = () => 'expired';
    made.fail(
      'cancel',
      new CancelNotOffered('refused', 'not found', { status: 404, reason: 'not found' }),
    );
    await expect(made.pay({ yes: false })).rejects.toMatchObject({ kind: 'pending', txnId: 't1' });
    expect(requests(made)).toEqual(['POST R', 'PUT t1/cancel', 'PUT t1']);
  });

  test('that was cancelled is final for this run, even if a read still calls it a quote', async () => {
    const made = bench();
    const { service } = made.deps;
    made.says = () => slowly(made);
    const lagging = async (txnId: string) => {
      const txn = await service.transaction(txnId);
      return txnId === 't1' ? { ...txn, txnState: 'quoted' } : txn;
    };
    const paying = pay(
      { order, ref: 'R', terms: {}, consent: 'none' },
      { ...waiting, wait: 60_000 },
      { ...made.deps, service: { ...service, transaction: lagging } },
    );
    expect(await paying).toMatchObject({ txnState: 'completed', extRefId: 'R~2' });
    expect(requests(made)).toEqual(['POST R', 'PUT t1/cancel', 'POST R~2', 'PUT t2']);
  });

  test('that ended just before its cancellation is replaced', async () => {
    const made = bench();
    made.says = () => slowly(made);
    made.deps.service.cancelTransaction = async () => {
      made.transactions[0] = { ...made.transactions[0]!, txnState: 'expired' };
      throw refusal(400, 'already in final state', '2005');
    };
    expect(await made.pay({ yes: false })).toMatchObject({
      txnState: 'completed',
      extRefId: 'R~2',
    });
    expect(requests(made)).toEqual(['POST R', 'POST R~2', 'PUT t2']);
  });

  test.for(['refused', 'not offered'] as const)(
    'that expired is replaced as soon as late reads show it, if its cancellation is %s',
    async (how) => {
      const made = bench();
      const { service } = made.deps;
      made.says = () => slowly(made);
      let reads = 0;
      const late = {
        ...service,
        cancelTransaction: async () => {
          made.transactions[0] = { ...made.transactions[0]!, txnState: 'expired' };
          if (how === 'refused') throw refusal(400, 'already in final state', '2005');
          throw new CancelNotOffered('refused', 'not found', { status: 404, reason: 'not found' });
        },
        transaction: async (txnId: string) => {
          const txn = await service.transaction(txnId);
          if (txn.txnState !== 'expired') return txn;
          reads += 1;
          return reads < 4 ? { ...txn, txnState: 'quoted' } : txn;
        },
      };
      const paying = pay(
        { order, ref: 'R', terms: {}, consent: 'none' },
        { ...waiting, wait: 60_000 },
        { ...made.deps, service: late },
      );
      expect(await paying).toMatchObject({ txnState: 'completed', extRefId: 'R~2' });
      expect(requests(made)).toEqual(['POST R', 'POST R~2', 'PUT t2']);
    },
  );

  test('that is created expired and not yet readable is read again', async () => {
    const made = bench();
    made.quotes = (body) => ({
      sourceReq: { ...quoteOf(body, '', made.time).sourceReq, expiresAt: made.time - 3_600_000 },
    });
    made.fail('read', refusal(404, 'not found'), refusal(404, 'not found'));
    expect(await made.pay()).toMatchObject({ txnState: 'completed', extRefId: 'R' });
    expect(requests(made)).toEqual(['POST R', 'PUT t1']);
  });

  test('that is created expired is confirmed: the clock is wrong', async () => {
    const made = bench();
    made.quotes = (body) => ({
      sourceReq: { ...quoteOf(body, '', made.time).sourceReq, expiresAt: made.time - 3_600_000 },
    });
    expect(await made.pay({ yes: false })).toMatchObject({ txnState: 'completed', extRefId: 'R' });
    expect(requests(made)).toEqual(['POST R', 'PUT t1']);
  });

  test('that is confirmed without a question is never cancelled', async () => {
    const made = bench();
    await made.pay({ until: 'quoted' });
    made.says = () => slowly(made);
    expect(
      await payThisQuote('t1', made.payment(), { consent: 'none' }, waiting, made.deps),
    ).toMatchObject({ txnState: 'completed', extRefId: 'R' });
    expect(requests(made)).toEqual(['POST R', 'PUT t1']);
  });

  test('that expires repeatedly is abandoned', async () => {
    const made = bench();
    made.quotes = (body, number) => ({
      sourceReq: { ...quoteOf(body, '', made.time).sourceReq, servicepayFees: number * 1e-8 },
    });
    made.says = () => slowly(made);
    await expect(made.pay({ yes: false })).rejects.toMatchObject({
      kind: 'temporary',
      message: expect.stringContaining('Nothing moved'),
    });
    expect(requests(made).filter((line) => line.startsWith('POST'))).toEqual([
      'POST R',
      'POST R~2',
      'POST R~3',
      'POST R~4',
      'POST R~5',
    ]);
    // What it says to do is taken: the same command once more.
    made.says = () => true;
    expect(await made.pay({ yes: false })).toMatchObject({
      txnState: 'completed',
      extRefId: 'R~6',
    });
  });
});

describe('a reference known only to the service', () => {
  const cases: readonly [state: string, retry: boolean, sent: string[], end: string][] = [
    ['quoted', false, ['POST R', 'PUT known-R'], 'completed'],
    ['srccreated', false, ['POST R'], 'completed'],
    ['destsent', false, ['POST R'], 'completed'],
    ['completed', false, ['POST R'], 'completed'],
    ['expired', false, ['POST R', 'POST R~2', 'PUT t2'], 'completed'],
    ['usercanceled', false, ['POST R', 'POST R~2', 'PUT t2'], 'completed'],
    ['failed', false, ['POST R'], 'payment-failed'],
    ['rejected', false, ['POST R'], 'payment-failed'],
    ['error', true, ['POST R'], 'payment-failed'],
    ['failed', true, ['POST R', 'POST R~2', 'PUT t2'], 'completed'],
    ['rejected', true, ['POST R', 'POST R~2', 'PUT t2'], 'completed'],
  ];
  test.each(cases)('as %s (retry: %s) leads to %j and %s', async (state, retry, sent, end) => {
    const made = bench(undefined, [known('R', state)]);
    const ended = await made.pay({ retry }).then(
      ({ txnState }) => txnState,
      ({ kind }) => kind,
    );
    expect([requests(made), ended]).toEqual([sent, end]);
  });

  test('of a payment in flight is followed to its end, even if the journal cannot be written', async () => {
    const made = bench(undefined, [known('R', 'destsent')]);
    made.journalFails = ({ attempt }) => attempt?.state === 'paid';
    expect(await made.pay()).toMatchObject({ txnId: 'known-R', txnState: 'completed' });
    expect(made.events.filter(({ type }) => type === 'journal-failed')).toHaveLength(1);
  });

  test('with several attempts continues with the last', async () => {
    const attempts = ['R', ...Array.from({ length: 11 }, (_, index) => `R~${index + 2}`)];
    const made = bench(
      undefined,
      attempts.map((ref) => known(ref, ref === 'R~12' ? 'destsent' : 'expired')),
    );
    expect(await made.pay()).toMatchObject({ extRefId: 'R~12', txnState: 'completed' });
    expect(requests(made)).toEqual(['POST R']);
    expect(made.now()).toMatchObject({ number: 12, state: 'paid' });
  });

  test.each(['R~0', 'R~01', 'R~x', 'Q', 'R2'])(
    'is not confused with another one such as %s',
    async (other) => {
      const made = bench(undefined, [known(other, 'completed')]);
      await made.pay();
      expect(requests(made)).toEqual(['POST R', 'PUT t2']);
    },
  );

  test('of a different payment refuses this one, and stays with the other', async () => {
    const made = bench(undefined, [known('R', 'completed')]);
    await expect(made.pay({ order: otherOrder })).rejects.toMatchObject({
      kind: 'usage',
      txnId: 'known-R',
    });
    expect(await made.pay()).toMatchObject({ txnId: 'known-R', txnState: 'completed' });
    expect(requests(made)).toEqual(['POST R', 'POST R']);
  });
});

describe('a reference in the journal', () => {
  test('reports its payment again with one read', async () => {
    const made = bench();
    await made.pay();
    made.log.length = 0;
    expect(await made.pay()).toMatchObject({ txnId: 't1', txnState: 'completed' });
    expect(made.log).toEqual(['begin', 'GET t1']);
  });

  test('refuses a different payment', async () => {
    const made = bench();
    await made.pay();
    await expect(made.pay({ order: otherOrder })).rejects.toMatchObject({
      kind: 'usage',
      txnId: 't1',
    });
  });

  test('is free for another payment while nothing was created with it', async () => {
    const made = bench();
    made.fail('create', refusal(400, 'invalid destination'));
    await expect(made.pay()).rejects.toMatchObject({ kind: 'refused' });
    expect(await made.pay({ order: otherOrder })).toMatchObject({ txnState: 'completed' });
  });

  test.each(['failed', 'rejected'])(
    'whose payment ended as %s reports it, and is repeated only with --retry',
    async (state) => {
      const made = bench();
      made.confirms = () => state;
      await expect(made.pay()).rejects.toMatchObject({ kind: 'payment-failed', exitCode: 6 });
      await expect(made.pay()).rejects.toMatchObject({ kind: 'payment-failed', exitCode: 6 });
      made.confirms = () => 'srccreated';
      expect(await made.pay({ retry: true })).toMatchObject({
        extRefId: 'R~2',
        txnState: 'completed',
      });
      expect(requests(made)).toEqual(['POST R', 'PUT t1', 'POST R~2', 'PUT t2']);
    },
  );

  test('whose quote no longer exists at the service gets a new quote', async () => {
    const made = bench();
    made.says = () => false;
    await made.pay({ yes: false }).catch(() => undefined);
    made.transactions.length = 0;
    expect(await made.pay()).toMatchObject({ txnState: 'completed', extRefId: 'R~2' });
  });
});

describe('a quote confirmed by its id', () => {
  const yes = { terms: {}, consent: 'standing' } as const;
  /** Quoted twice, and the journal has forgotten by which transaction. */
  const forgotten = async (): Promise<Bench> => {
    const made = bench();
    await made.pay({ until: 'quoted' });
    made.transactions[0] = { ...first(made), txnState: 'expired' };
    await made.pay({ until: 'quoted' });
    forget(made);
    return made;
  };
  const forget = (made: Bench): void => {
    for (const row of made.store.rows.values())
      row.payment = { ...row.payment, attempts: [requested(1)], abandoned: true };
  };
  const first = ({ transactions: [txn] }: Bench): Transaction => {
    if (txn === undefined) throw new Error('There is no transaction.');
    return txn;
  };
  const second = ({ transactions: [, txn] }: Bench): Transaction => {
    if (txn === undefined) throw new Error('There is no second transaction.');
    return txn;
  };

  test('is an attempt of the payment with its reference, which is made once', async () => {
    const made = await forgotten();
    expect(second(made)).toMatchObject({ extRefId: 'R~2' });
    await confirmQuote(second(made), yes, waiting, made.deps);
    expect(
      [...made.store.rows.values()].map(({ payment }) => [
        payment.ref,
        latest(payment).number,
        latest(payment).state,
      ]),
    ).toEqual([['R', 2, 'paid']]);
    expect(await made.pay()).toMatchObject({ txnId: 't2', txnState: 'completed' });
    expect(made.log.filter((line) => line.startsWith('PUT'))).toEqual(['PUT t2']);
  });

  test('belongs to the requested payment if the journal lost its only attempt', async () => {
    const made = bench();
    const spend = usdtSpendOrder('T-1', money('BTC', '0.0001'));
    await made.pay({ order: spend, until: 'quoted' });
    forget(made);
    await confirmQuote(first(made), yes, waiting, made.deps);
    expect(await made.pay({ order: spend })).toMatchObject({ txnId: 't1', txnState: 'completed' });
  });

  test('has its own approval: interrupted before the confirmation, the payment needs a new one', async () => {
    const made = await forgotten();
    made.journalFails = ({ attempt, abandoned }) =>
      attempt?.state === 'submitting' || abandoned === true;
    await expect(confirmQuote(second(made), yes, waiting, made.deps)).rejects.toBeInstanceOf(Error);
    expect(made.now()).toMatchObject({ state: 'quoted', status: 'open' });
  });

  test('is not confirmed, and no other quote, if the payment has a newer one', async () => {
    const made = await forgotten();
    await confirmQuote(second(made), yes, waiting, made.deps);
    await expect(payThisQuote('t1', made.payment(), yes, waiting, made.deps)).rejects.toMatchObject(
      { kind: 'usage', txnId: 't2' },
    );
    made.transactions.push({ ...first(made), txnId: 't9', txnState: 'quoted' });
    await expect(
      confirmQuote({ ...first(made), txnId: 't9', txnState: 'quoted' }, yes, waiting, made.deps),
    ).rejects.toMatchObject({ kind: 'usage' });
    expect(made.log.filter((line) => line.startsWith('PUT'))).toEqual(['PUT t2']);
  });
});

describe('a single-use destination', () => {
  const invoice = { ...order, idempotencyKey: 'bolt11:hash' };

  test('is refused with another reference after it was paid', async () => {
    const made = bench();
    await made.pay({ order: invoice });
    await expect(made.pay({ order: invoice, ref: 'S' })).rejects.toMatchObject({
      kind: 'usage',
      txnId: 't1',
    });
    expect(requests(made)).toEqual(['POST R', 'PUT t1']);
  });

  test('is refused with another reference while its outcome is unknown', async () => {
    const made = bench();
    made.fail('confirm', lost(), lost(), lost(), lost(), lost());
    await made.pay({ order: invoice }).catch(() => undefined);
    await expect(made.pay({ order: invoice, ref: 'S' })).rejects.toMatchObject({ kind: 'usage' });
  });

  test('is not paid by an older quote, confirmed by its id, after another one paid it', async () => {
    const made = bench();
    await made.pay({ order: invoice, until: 'quoted' });
    const older = made.payment();
    await made.pay({ order: invoice, ref: 'S' });
    const yes = { terms: {}, consent: 'standing' } as const;
    await expect(payThisQuote('t1', older, yes, waiting, made.deps)).rejects.toMatchObject({
      kind: 'usage',
      txnId: 't2',
    });
    expect(requests(made)).toEqual(['POST R', 'POST S', 'PUT t2']);
  });

  const unnamed = (made: Bench, wanted: Order): Promise<Transaction> =>
    pay({ order: wanted, ref: undefined, terms: {}, consent: 'standing' }, waiting, made.deps);

  test('with a payment in flight from another machine is followed, whatever the limits here', async () => {
    const overLightning: Order = {
      ...invoice,
      body: { ...order.body, destReq: { ...order.body.destReq, method: 'lightning' } },
    };
    const there = {
      ...quoteOf(
        { ...overLightning.body, extRefId: 'bolt11-hash' },
        'theirs',
        Date.UTC(2025, 0, 15),
      ),
      txnState: 'destsent',
    };
    const made = bench(undefined, [there]);
    let reads = 0;
    const transaction = async (): Promise<Transaction> => ({
      ...made.transactions[0]!,
      txnState: (reads += 1) > 2 ? 'completed' : 'destsent',
    });
    Object.assign(made.deps, { service: { ...made.deps.service, transaction } });
    const terms = { maxFee: { amount: '0', ccy: 'BTC' } };
    const paid = await pay(
      { order: overLightning, ref: undefined, terms, consent: 'standing' },
      waiting,
      made.deps,
    );
    expect(paid).toMatchObject({ txnId: 'theirs', txnState: 'completed' });
    expect(requests(made)).toEqual(['POST bolt11-hash']);
  });

  test('is resumed without a reference while its outcome is unknown, and refused after it is paid', async () => {
    const made = bench();
    made.fail('confirm', lost(), lost(), lost(), lost(), lost());
    await made.pay({ order: invoice }).catch(() => undefined);
    expect(await unnamed(made, invoice)).toMatchObject({ txnId: 't1', txnState: 'completed' });
    await expect(unnamed(made, invoice)).rejects.toMatchObject({ kind: 'usage', txnId: 't1' });
  });

  test('is not resumed without a reference if the payment differs', async () => {
    const made = bench();
    made.fail('confirm', lost(), lost(), lost(), lost(), lost());
    await made.pay({ order: invoice }).catch(() => undefined);
    await expect(
      unnamed(made, { ...otherOrder, idempotencyKey: invoice.idempotencyKey }),
    ).rejects.toMatchObject({ kind: 'usage' });
  });

  test('may be paid with another reference after a failure', async () => {
    const made = bench();
    made.confirms = () => 'failed';
    await made.pay({ order: invoice }).catch(() => undefined);
    made.confirms = () => 'srccreated';
    expect(await made.pay({ order: invoice, ref: 'S' })).toMatchObject({ txnState: 'completed' });
  });

  test('is not paid by two quotes that were open at the same time', async () => {
    const made = bench();
    made.says = () => made.asked.length > 1;
    await made.pay({ order: invoice, yes: false }).catch(() => undefined);
    const second = made.pay({ order: invoice, ref: 'S' });
    expect(await second).toMatchObject({ txnState: 'completed' });
    await expect(made.pay({ order: invoice })).rejects.toMatchObject({
      kind: 'usage',
      txnId: 't2',
    });
  });
});

describe('a creation without an answer', () => {
  test('is repeated, and the earlier transaction of the answer is accepted', async () => {
    const made = bench();
    const { createTransaction } = made.deps.service;
    let calls = 0;
    const service = {
      ...made.deps.service,
      createTransaction: async (body: Parameters<typeof createTransaction>[0]) => {
        const txn = await createTransaction(body);
        calls += 1;
        if (calls === 1) throw lost();
        return txn;
      },
    };
    Object.assign(made.deps, { service });
    expect(await made.pay()).toMatchObject({ txnId: 't1', txnState: 'completed' });
    expect(requests(made)).toEqual(['POST R', 'POST R', 'PUT t1']);
  });

  test.each([
    ['no answer', [lost(), lost(), lost(), lost()]],
    ['no connection', [notSent(), notSent(), notSent(), notSent()]],
    ['429', [limited(), limited(), limited(), limited()]],
    ['429 with a long Retry-After', [limited(60_000)]],
  ])('(%s) that finally moves nothing reports that', async (_what, errors) => {
    const made = bench();
    made.fail('create', ...errors);
    await expect(made.pay()).rejects.toMatchObject({ kind: 'temporary', exitCode: 75 });
    expect(requests(made)).toHaveLength(errors.length);
  });

  test('is found if a repetition is refused because the first took effect', async () => {
    const made = bench();
    const { createTransaction } = made.deps.service;
    const service = {
      ...made.deps.service,
      createTransaction: async (body: Parameters<typeof createTransaction>[0]) => {
        const isFirst = made.transactions.length === 0;
        const txn = await createTransaction(body);
        if (isFirst) throw limited(1_000);
        return txn;
      },
    };
    Object.assign(made.deps, { service });
    const start = { order, ref: undefined, terms: {}, consent: 'standing' } as const;
    expect(await pay(start, waiting, made.deps)).toMatchObject({
      txnId: 't1',
      txnState: 'completed',
    });
  });

  test('waits for Retry-After', async () => {
    const made = bench();
    const start = made.time;
    made.fail('create', limited(17_000));
    await made.pay({ wait: false });
    expect(made.time - start).toBe(17_000);
  });
});

describe('a confirmation', () => {
  const cases: readonly [what: string, errors: unknown[], sent: number, end: string][] = [
    ['without an answer, once', [lost()], 2, 'completed'],
    ['that was never sent, once', [notSent()], 2, 'completed'],
    ['with 429, once', [limited()], 2, 'completed'],
    ['without an answer, always', [lost(), lost(), lost(), lost(), lost()], 5, 'pending'],
    [
      'that was never sent, always',
      [notSent(), notSent(), notSent(), notSent(), notSent()],
      5,
      'temporary',
    ],
    ['that is refused', [refusal(400, 'bad request')], 1, 'refused'],
    ['that is refused for the funds', [refusal(400, 'insufficient balance')], 1, 'limit'],
    [
      'that is refused after one without an answer',
      [lost(), refusal(400, 'bad request')],
      2,
      'pending',
    ],
    ['of an unknown transaction', [refusal(404, 'not found')], 1, 'not-found'],
    ['with a token that is not taken', [refusal(401, 'unauthorized')], 1, 'authentication'],
    ['with code 2005 although it is quoted', [refusal(400, 'already', '2005')], 2, 'completed'],
    ['that breaks off in a way nobody knows', [new Error('?')], 2, 'completed'],
  ];
  test.each(cases)('%s', async (_what, errors, sent, end) => {
    const made = bench();
    made.fail('confirm', ...errors);
    const ended = await made.pay().then(
      ({ txnState }) => txnState,
      ({ kind }) => kind,
    );
    expect([requests(made).filter((line) => line.startsWith('PUT')).length, ended]).toEqual([
      sent,
      end,
    ]);
    expect(new Set(requests(made)).size).toBe(2);
    expect(made.now().state).toBe(
      end === 'completed'
        ? 'paid'
        : end === 'pending'
          ? 'submitting'
          : end === 'temporary'
            ? 'quoted'
            : 'lapsed',
    );
  });

  test('whose refusal cannot be checked has an unknown outcome', async () => {
    const made = bench();
    made.fail('confirm', refusal(400, 'bad request'));
    made.fail('read', ...Array.from({ length: 9 }, lost));
    await expect(made.pay()).rejects.toMatchObject({ kind: 'pending' });
  });

  test.for([
    [1, 'No second attempt was made.'],
    [5, 'The same transaction was confirmed again.'],
  ] as const)(
    'with an unknown outcome reports whether it was repeated (%d times)',
    async ([sent, said]) => {
      const made = bench();
      made.fail('confirm', ...Array.from({ length: 5 }, lost));
      if (sent === 1) made.fail('read', ...Array.from({ length: 9 }, lost));
      await expect(made.pay()).rejects.toMatchObject({
        kind: 'pending',
        message: expect.stringContaining(said),
      });
      expect(requests(made).filter((line) => line.startsWith('PUT'))).toHaveLength(sent);
    },
  );

  test('that the service answers with `quoted` has an unknown outcome, and is repeated', async () => {
    const made = bench();
    let calls = 0;
    made.confirms = () => ((calls += 1) < 3 ? 'quoted' : 'srccreated');
    expect(await made.pay()).toMatchObject({ txnState: 'completed' });
    expect(calls).toBe(3);
  });

  test('interrupted before it is sent moves nothing', async () => {
    const made = bench();
    made.says = () => {
      made.interrupt.abort();
      return true;
    };
    await expect(made.pay({ yes: false })).rejects.toMatchObject({
      kind: 'interrupted',
      exitCode: 130,
    });
    expect(requests(made)).toEqual(['POST R']);
    expect(made.log).not.toContain('submit submitting');
    expect(made.now().abandoned).toBe(true);
  });

  test('interrupted between the journal and the request moves nothing', async () => {
    const made = bench();
    made.journalFails = ({ attempt }) => {
      if (attempt?.state === 'submitting') made.interrupt.abort();
      return false;
    };
    await expect(made.pay()).rejects.toMatchObject({ kind: 'interrupted', exitCode: 130 });
    expect(requests(made)).toEqual(['POST R']);
    expect(made.now()).toMatchObject({ state: 'quoted', status: 'abandoned', submittedAt: null });
  });

  test('that was sent makes an expiry an unknown outcome, which only --retry continues, with the options of that run', async () => {
    const made = bench();
    made.fail('confirm', lost(), lost(), lost(), lost(), lost());
    await made.pay({ yes: false }).catch(() => undefined);
    made.transactions[0] = { ...made.transactions[0]!, txnState: 'expired' };
    made.quotes = (body) => ({
      sourceReq: { ...quoteOf(body, '', made.time).sourceReq, servicepayFees: 9e-8 },
    });
    for (let again = 0; again < 2; again += 1) {
      await expect(made.pay({ yes: true })).rejects.toMatchObject({
        kind: 'pending',
        exitCode: 8,
        next: { do: 'retry', id: 'R' },
      });
    }
    await expect(resume(made.payment(), waiting, made.deps)).rejects.toMatchObject({
      kind: 'pending',
    });
    expect(requests(made).filter((line) => line.startsWith('POST'))).toEqual(['POST R']);
    expect(await made.pay({ yes: true, retry: true })).toMatchObject({
      extRefId: 'R~2',
      txnState: 'completed',
    });
    expect(made.asked).toHaveLength(1);
  });

  test('that was sent in time has an unknown outcome if its answer reports an expired quote', async () => {
    const made = bench();
    made.confirms = () => {
      made.time += 61_000;
      return 'expired';
    };
    await expect(made.pay()).rejects.toMatchObject({ kind: 'pending', txnId: 't1' });
    expect(requests(made)).toEqual(['POST R', 'PUT t1']);
  });

  test.each(['a confirmation is being processed', 'already confirmed', 'conflict'])(
    'that is refused because of another one (%s) has an unknown outcome',
    async (reason) => {
      const made = bench();
      made.fail('confirm', refusal(400, reason));
      made.confirms = () => 'quoted';
      await expect(made.pay()).rejects.toMatchObject({ kind: 'pending', txnId: 't1' });
      expect(made.now()).toMatchObject({ state: 'submitting', abandoned: false });
    },
  );

  test('that another process took over has an unknown outcome if the journal then fails', async () => {
    const made = bench();
    const { journal } = made.deps;
    let isLost = false;
    const failing = {
      ...journal,
      write: async (...args: Parameters<typeof journal.write>) => {
        if (args[1].attempt?.state !== 'paid') return journal.write(...args);
        isLost = true;
        throw new LostClaim('another process took the payment over');
      },
      claim: async (...args: Parameters<typeof journal.claim>) => {
        if (isLost) throw new Failure('temporary', 'The database is not reached.');
        return journal.claim(...args);
      },
    };
    await expect(
      pay({ order, ref: 'R', terms: {}, consent: 'standing' }, waiting, {
        ...made.deps,
        journal: failing,
      }),
    ).rejects.toMatchObject({ kind: 'pending', txnId: 't1' });
  });

  test('that another process works on has an unknown outcome if the journal then fails', async () => {
    const made = bench();
    const { journal } = made.deps;
    const claim = async (): Promise<undefined> => {
      if (made.events.some(({ type }) => type === 'following'))
        throw new Failure('temporary', 'The database is not reached.');
    };
    await expect(
      pay({ order, ref: 'R', terms: {}, consent: 'standing' }, waiting, {
        ...made.deps,
        journal: { ...journal, claim },
      }),
    ).rejects.toMatchObject({
      kind: 'pending',
      message: expect.stringContaining('The database is not reached.'),
    });
  });

  test('that another process works on is left to it as interrupted if nothing had moved', async () => {
    const made = bench();
    const journal = { ...made.deps.journal, claim: async () => undefined };
    await expect(
      pay({ order, ref: 'R', terms: {}, consent: 'standing' }, waiting, {
        ...made.deps,
        journal,
        signal: AbortSignal.abort(),
      }),
    ).rejects.toMatchObject({
      kind: 'interrupted',
      exitCode: 130,
      next: { do: 'resume', id: 'R' },
    });
  });

  test('that another process repeats has an unknown outcome', async () => {
    const made = bench();
    made.fail('confirm', lost(), lost(), lost(), lost(), lost());
    await made.pay().catch(() => undefined);
    for (const row of made.store.rows.values())
      row.payment = { ...row.payment, attempts: [...row.payment.attempts, requested(2)] };
    const journal = { ...made.deps.journal, claim: async () => undefined };
    await expect(
      pay(
        { order, ref: 'R', terms: {}, consent: 'standing' },
        { ...waiting, wait: 1_000 },
        { ...made.deps, journal },
      ),
    ).rejects.toMatchObject({
      kind: 'pending',
      message: expect.stringContaining('another process'),
    });
  });

  test('that another process has made is reported if the own request fails', async () => {
    const made = bench();
    made.journalFails = ({ attempt, abandoned }) =>
      attempt?.state === 'quoted' || abandoned === true;
    await made.pay().catch(() => undefined);
    made.journalFails = () => false;
    const { service } = made.deps;
    let isFirst = true;
    const eachTransaction = async function* (...args: Parameters<typeof service.eachTransaction>) {
      if (isFirst) {
        isFirst = false;
        await made.pay();
        throw refusal(400, 'nothing');
      }
      yield* service.eachTransaction(...args);
    };
    const looking = pay(
      { order, ref: 'R', terms: {}, consent: 'none' },
      { ...waiting, until: 'quoted' },
      { ...made.deps, service: { ...service, eachTransaction } },
    );
    expect(await looking).toMatchObject({ txnState: 'completed' });
  });

  test('with an unknown outcome keeps it if another attempt fails, and is not resumed without --retry', async () => {
    const made = bench();
    made.fail('confirm', lost(), lost(), lost(), lost(), lost());
    await made.pay().catch(() => undefined);
    made.transactions[0] = { ...made.transactions[0]!, txnState: 'expired' };
    made.says = () => false;
    const doubt = { kind: 'pending', exitCode: 8, next: { do: 'retry', id: 'R' } };
    await expect(made.pay({ yes: false, retry: true })).rejects.toMatchObject(doubt);
    expect(made.asked).toHaveLength(1);
    await expect(made.pay({ yes: true })).rejects.toMatchObject(doubt);
    await expect(resume(made.payment(), waiting, made.deps)).rejects.toMatchObject(doubt);
    expect(requests(made).filter((line) => line.startsWith('PUT t2'))).toEqual([]);
    made.says = () => true;
    expect(await made.pay({ yes: false, retry: true })).toMatchObject({ txnState: 'completed' });
  });

  test('with an unknown outcome counts against the limit per day, with the attempt that a person requests', async () => {
    const made = bench();
    made.fail('confirm', lost(), lost(), lost(), lost(), lost());
    await made.pay().catch(() => undefined);
    made.transactions[0] = { ...made.transactions[0]!, txnState: 'expired' };
    const limited = (most: string) => ({
      ...made.deps,
      limits: { perPayment: {}, perDay: { BTC: most }, destinations: [] },
    });
    const retry = (most: string) =>
      pay(
        { order, ref: 'R', terms: {}, consent: 'standing' },
        { ...waiting, retry: true },
        limited(most),
      );
    await expect(retry('0.000015')).rejects.toMatchObject({
      kind: 'pending',
      message: expect.stringMatching(/over your daily limit/),
    });
    expect(requests(made).filter((line) => line.startsWith('PUT t2'))).toEqual([]);
    expect(await retry('0.1')).toMatchObject({ txnState: 'completed', extRefId: 'R~2' });
    expect(made.payment().attempts).toMatchObject([
      { number: 1, state: 'unknown', txnId: 't1', spendCcy: 'BTC' },
      { number: 2, state: 'paid' },
    ]);
  });

  /**
   * The attempt before is in doubt, and the process that was to make another one ended before it
   * could.
   */
  const leftBetween = async (): Promise<Bench> => {
    const made = bench();
    made.fail('confirm', lost(), lost(), lost(), lost(), lost());
    await made.pay().catch(() => undefined);
    made.transactions[0] = { ...made.transactions[0]!, txnState: 'expired' };
    made.journalFails = ({ attempt, abandoned }) =>
      abandoned === true || (attempt?.number === 2 && attempt.state !== 'requested');
    await made.pay({ retry: true }).catch(() => undefined);
    made.journalFails = () => false;
    expect(made.now()).toMatchObject({ state: 'requested', number: 2, status: 'unknown' });
    return made;
  };

  test('with an unknown outcome keeps it for the process that resumes the next attempt', async () => {
    const { store, transactions, payment } = await leftBetween();
    const next = bench(store, transactions);
    next.fail('confirm', refusal(400, 'no'));
    await expect(resume(payment(), waiting, next.deps)).rejects.toMatchObject({
      kind: 'pending',
      exitCode: 8,
    });
    expect(next.now()).toMatchObject({ state: 'lapsed', number: 2, status: 'unknown' });
    const interrupted = await leftBetween();
    interrupted.interrupt.abort();
    await expect(resume(interrupted.payment(), waiting, interrupted.deps)).rejects.toMatchObject({
      kind: 'pending',
      exitCode: 8,
    });
  });

  test.for(['claim', 'write'] as const)(
    'with an unknown outcome keeps it if the journal fails for the next attempt: %s',
    async (call) => {
      const made = await leftBetween();
      const fail = () => Promise.reject(new Failure('temporary', 'The database is not reached.'));
      const deps = { ...made.deps, journal: { ...made.deps.journal, [call]: fail } };
      const again = pay({ order, ref: 'R', terms: {}, consent: 'standing' }, waiting, deps);
      await expect(again).rejects.toMatchObject({ kind: 'pending', exitCode: 8 });
      expect(requests(made).filter((line) => line.startsWith('PUT t2'))).toEqual([]);
    },
  );

  test.for([
    ['completed', 'paid', 'completed'],
    ['expired', 'unknown', 'pending'],
  ] as const)(
    'with an unknown outcome that becomes %s is the outcome of the payment if another attempt fails',
    async ([state, status, end]) => {
      const made = await leftBetween();
      made.confirms = () => {
        made.transactions[0] = { ...made.transactions[0]!, txnState: state };
        return 'failed';
      };
      const ended = await made.pay({ retry: true }).then(
        ({ txnState }) => txnState,
        ({ kind }) => kind,
      );
      expect(ended).toBe(end);
      expect(made.now()).toMatchObject({ status, state: 'failed', number: 2 });
      expect(requests(made).filter((line) => line.startsWith('PUT t2'))).toEqual(['PUT t2']);
    },
  );

  test('that a read calls a quote again has an unknown outcome, unless a later state was seen', async () => {
    const made = bench();
    made.fail('confirm', lost(), lost(), lost(), lost(), lost());
    await made.pay().catch(() => undefined);
    made.transactions[0] = { ...made.transactions[0]!, txnState: 'expired' };
    await resume(made.payment(), waiting, made.deps).catch(() => undefined);
    expect(made.now().state).toBe('unknown');
    made.transactions[0] = { ...made.transactions[0]!, txnState: 'quoted' };
    const unwaited = { ...waiting, wait: false } as const;
    await expect(resume(made.payment(), unwaited, made.deps)).rejects.toMatchObject({
      kind: 'pending',
      exitCode: 8,
    });
    const seen = bench();
    await seen.pay({ wait: false });
    seen.transactions[0] = { ...seen.transactions[0]!, txnState: 'quoted' };
    expect(await resume(seen.payment(), unwaited, seen.deps)).toMatchObject({
      txnState: 'srccreated',
    });
  });

  test('that was not sent is not reported as accepted if the creation has an unknown state', async () => {
    const made = bench();
    made.quotes = () => ({ txnState: 'simmering' });
    await expect(made.pay({ wait: false })).rejects.toMatchObject({
      kind: 'pending',
      message: expect.stringContaining('simmering'),
    });
    expect(requests(made)).toEqual(['POST R']);
  });

  const hourMs = 3_600_000;
  test.for([
    ['was carried out', 'srccreated', 0, 'completed'],
    ['was not', 'quoted', 0, 'pending'],
    ['cannot be read', 'srccreated', 9, 'pending'],
  ] as const)(
    'answered with a rate limit is read before it is reported: %s',
    async ([, txnState, unread, end]) => {
      const made = bench();
      made.confirms = (txn): never => {
        made.transactions[0] = { ...txn, txnState };
        made.fail('read', ...Array.from({ length: unread }, notSent));
        throw limited(hourMs);
      };
      expect(
        await made.pay().then(
          ({ txnState }) => txnState,
          ({ kind }) => kind,
        ),
      ).toBe(end);
      expect(requests(made).filter((line) => line.startsWith('PUT'))).toEqual(['PUT t1']);
      expect(made.now().abandoned).toBe(false);
    },
  );

  test('whose last answer is lost is read again before its outcome is unknown', async () => {
    const made = bench();
    let confirmations = 0;
    made.confirms = (txn) => {
      confirmations += 1;
      if (confirmations === 5) made.transactions[0] = { ...txn, txnState: 'srccreated' };
      throw lost();
    };
    expect(await made.pay()).toMatchObject({ txnState: 'completed' });
    expect(confirmations).toBe(5);
  });

  test('interrupted after sending has an unknown outcome, and is resumed', async () => {
    const made = bench();
    made.confirms = () => {
      made.interrupt.abort();
      throw lost();
    };
    await expect(made.pay()).rejects.toMatchObject({
      kind: 'pending',
      exitCode: 8,
      next: { do: 'resume', id: 't1' },
    });
    expect(made.now()).toMatchObject({ state: 'submitting', abandoned: false });
  });
});

describe('a creation refused without a reason, while the list shows nothing yet,', () => {
  /**
   * The list shows nothing until so much time has passed; used references are refused with these
   * words.
   */
  const lagging = (made: Bench, ms: number): Bench => {
    const { service } = made.deps;
    const shownFrom = made.time + ms;
    const isShown = (): boolean => made.time >= shownFrom;
    const lists = {
      ...service,
      transactions: async (...args: Parameters<typeof service.transactions>) =>
        isShown()
          ? service.transactions(...args)
          : { data: [], pagination: { page: 1, limit: 100, total: 0 } },
      async *eachTransaction(...args: Parameters<typeof service.eachTransaction>) {
        if (isShown()) yield* service.eachTransaction(...args);
      },
      createTransaction: async (...args: Parameters<typeof service.createTransaction>) => {
        const [{ extRefId }] = args;
        if (made.transactions.some((txn) => txn.extRefId === extRefId))
          throw refusal(400, 'bad request');
        return service.createTransaction(...args);
      },
    };
    return { ...made, deps: { ...made.deps, service: lists } };
  };
  const payAt = ({ deps }: Bench) =>
    pay({ order, ref: 'R', terms: {}, consent: 'standing' }, waiting, deps);

  test('is refused after one read of the newest page', async () => {
    const made = lagging(bench(undefined, [known('R', 'quoted')]), 3_000);
    await expect(payAt(made)).rejects.toMatchObject({ kind: 'refused', exitCode: 3 });
  });

  test('is refused if the list continues to show nothing', async () => {
    const made = lagging(bench(undefined, [known('R', 'quoted')]), 1e9);
    await expect(payAt(made)).rejects.toMatchObject({ kind: 'refused' });
  });

  test('has an unknown outcome if a killed run may have sent it', async () => {
    const made = bench();
    const { service } = made.deps;
    const cutOff = {
      ...service,
      createTransaction: async (body: Parameters<typeof service.createTransaction>[0]) => {
        await service.createTransaction(body);
        return new Promise<Transaction>(() => undefined);
      },
    };
    void pay({ order, ref: 'R', terms: {}, consent: 'standing' }, waiting, {
      ...made.deps,
      service: cutOff,
    });
    await expect.poll(() => made.transactions).toHaveLength(1);
    await expect(payAt(lagging(made, 1e9))).rejects.toMatchObject({ kind: 'pending' });
    expect(made.now()).toMatchObject({ state: 'requested', abandoned: false });
    expect(await made.pay()).toMatchObject({ txnState: 'completed', txnId: 't1' });
  });
});

describe('a conversion that loses 10 %', () => {
  const answers: readonly (readonly [
    rates: Rates,
    maxRateLoss: string | undefined,
    end: string,
  ])[] = [
    [{ BTCUSDT: 100_000 }, '1', 'limit'],
    [{ BTCUSDT: 100_000 }, '20', 'paid'],
    [{ BTCUSDT: 100_000 }, undefined, 'limit'],
    [{ BTCUSDT: 0, USDTBTC: 0.00001 }, undefined, 'limit'],
    [{ BTCUSDT: 0 }, '1', 'limit'],
    [{}, '1', 'limit'],
    [{}, undefined, 'paid'],
  ];
  test.each(answers)(
    'by the rates %j, with a highest loss of %s: %s',
    async (rates, maxRateLoss, end) => {
      const made = bench();
      made.rates = rates;
      made.quotes = (body) => ({
        fxRate: 90_000,
        destReq: { ...quoteOf(body, '', made.time).destReq, amtRequested: 0.9 },
      });
      const swap = swapOrder('BTC', 'USDT', money('BTC', '0.00001'), 'source');
      const paying = pay(
        { order: swap, ref: 'R', terms: { maxRateLoss }, consent: 'standing' },
        waiting,
        made.deps,
      );
      expect(
        await paying.then(
          () => 'paid',
          (error: unknown) => (error instanceof Failure ? error.kind : error),
        ),
      ).toBe(end);
    },
  );
});

test.each([
  [undefined, 'paid'],
  [{ percent: '1' }, 'limit'],
])('a quote without fees, with a highest fee of %j: %s', async (maxFee, end) => {
  const made = bench();
  made.quotes = (body) => ({
    sourceReq: {
      ...quoteOf(body, '', made.time).sourceReq,
      servicepayFees: null,
      networkFees: null,
    },
  });
  expect(
    await made.pay({ maxFee }).then(
      () => 'paid',
      (error: unknown) => (error instanceof Failure ? error.kind : error),
    ),
  ).toBe(end);
});

test('a conversion at the rate 0 is refused', async () => {
  const made = bench();
  made.quotes = (body) => ({
    fxRate: 0,
    destReq: { ...quoteOf(body, '', made.time).destReq, amtRequested: 0.9 },
  });
  const swap = swapOrder('BTC', 'USDT', money('BTC', '0.00001'), 'source');
  await expect(
    pay({ order: swap, ref: 'R', terms: {}, consent: 'standing' }, waiting, made.deps),
  ).rejects.toMatchObject({ kind: 'refused' });
});

describe('a later state of a quote confirmed elsewhere', () => {
  const lapsedNow = async (made: Bench): Promise<void> => {
    await made.pay({ until: 'quoted' });
    made.transactions[0] = { ...made.transactions[0]!, txnState: 'expired' };
  };

  test('from an event makes an expiry an unknown outcome', async () => {
    const made = bench();
    await lapsedNow(made);
    const reported = async (txnId: string): Promise<string[]> =>
      txnId === 't1' ? ['quoted', 'srccreated'] : [];
    const run = (from: Bench) =>
      pay({ order, ref: 'R', terms: {}, consent: 'standing' }, waiting, { ...from.deps, reported });
    await expect(run(made)).rejects.toMatchObject({ kind: 'pending', txnId: 't1' });
    // Also where the journal does not know of it.
    const elsewhere = bench(undefined, made.transactions);
    await expect(run(elsewhere)).rejects.toMatchObject({ kind: 'pending', txnId: 't1' });
    expect([...requests(made), ...requests(elsewhere)]).toEqual(['POST R', 'POST R']);
  });

  test('from a read makes an expiry an unknown outcome', async () => {
    const made = bench();
    await lapsedNow(made);
    await recordRead(
      made.payment(),
      { ...made.transactions[0]!, txnState: 'destsent' },
      made.deps.journal,
      'a look',
    );
    await expect(made.pay()).rejects.toMatchObject({ kind: 'pending', txnId: 't1' });
    expect(requests(made)).toEqual(['POST R']);
  });
});

describe('a limit per day', () => {
  const hour = 3_600_000;
  const clocks: readonly [
    what: string,
    machine: number,
    service: number,
    kind: string | undefined,
  ][] = [
    ['the clock of the machine is moved forward', 25, 0, 'limit'],
    ['the clock of the service runs ahead', 0, 25, 'limit'],
    ['the clock of the machine is set back', -25, 0, 'limit'],
    ['the day is over by both', 25, 25, undefined],
  ];
  test.each(clocks)('when %s', async (_what, machine, service, kind) => {
    const made = bench();
    const deps = {
      ...made.deps,
      limits: { perPayment: {}, perDay: { BTC: '0.000015' }, destinations: [] },
    };
    const payAs = (ref: string) =>
      pay({ order, ref, terms: {}, consent: 'standing' }, waiting, deps);
    await payAs('R');
    made.time += machine * hour;
    made.ahead += (service - machine) * hour;
    const second = payAs('Q').then(
      () => undefined,
      (error: unknown) => (error instanceof Failure ? error.kind : error),
    );
    expect(await second).toBe(kind);
  });
});

describe('the journal', () => {
  const before: readonly [
    what: string,
    fails: (change: PaymentChange) => boolean,
    sent: string[],
  ][] = [
    ['at the start', (change) => Object.keys(change).length === 0, []],
    ['with the quote', ({ attempt }) => attempt?.state === 'quoted', ['POST R']],
    ['before the confirmation', ({ attempt }) => attempt?.state === 'submitting', ['POST R']],
  ];
  test.each(before)('that cannot be written %s stops the payment', async (_what, fails, sent) => {
    const made = bench();
    made.journalFails = fails;
    await expect(made.pay()).rejects.toMatchObject({ exitCode: 2 });
    expect(requests(made)).toEqual(sent);
  });

  test.each([['in-flight'], ['paid']])(
    'that cannot be written at %s does not stop it, with a notice',
    async (state) => {
      const made = bench();
      made.journalFails = (change) => change.attempt?.state === state;
      expect(await made.pay()).toMatchObject({ txnState: 'completed' });
      expect(made.events.filter(({ type }) => type === 'journal-failed')).toHaveLength(1);
      made.journalFails = () => false;
      expect(await resume(made.payment(), waiting, made.deps)).toMatchObject({
        txnState: 'completed',
      });
      expect(made.now()).toMatchObject({ state: 'paid', txnState: 'completed' });
    },
  );
});

describe('a resumed payment', () => {
  test('has an unknown outcome if it cannot be read', async () => {
    const made = bench();
    await made.pay({ wait: false });
    made.fail('read', notSent());
    await expect(resume(made.payment(), waiting, made.deps)).rejects.toMatchObject({
      kind: 'pending',
      txnId: 't1',
    });
    expect(await resume(made.payment(), waiting, made.deps)).toMatchObject({
      txnState: 'completed',
    });
  });

  test('is awaited no longer than its timeout, even if the clock jumps', async () => {
    const made = bench();
    let slept = 0;
    const sleep = async (ms: number): Promise<void> => {
      slept += ms;
      made.time -= 3_600_000;
    };
    const service = {
      ...made.deps.service,
      transaction: async () => ({ ...made.transactions[0]!, txnState: 'destsent' }),
    };
    Object.assign(made.deps, { sleep, service });
    await expect(made.pay({ wait: 5_000 })).rejects.toMatchObject({
      kind: 'pending',
      next: { do: 'watch', id: 't1' },
    });
    expect(slept).toBe(5_000);
  });

  test('is not confused with another transaction', async () => {
    const made = bench();
    await made.pay({ wait: false });
    const service = {
      ...made.deps.service,
      transaction: async () => ({ ...made.transactions[0]!, txnId: 't9', txnState: 'completed' }),
    };
    Object.assign(made.deps, { service });
    await expect(resume(made.payment(), waiting, made.deps)).rejects.toMatchObject({
      kind: 'pending',
    });
  });
});

describe('resume', () => {
  test('leaves a payment open after a temporary failure', async () => {
    const made = bench();
    made.journalFails = ({ abandoned, attempt }) =>
      abandoned === true || attempt?.state === 'quoted';
    await made.pay().catch(() => undefined);
    made.journalFails = () => false;
    expect(made.now()).toMatchObject({ state: 'requested', abandoned: false });
    made.fail('create', notSent(), notSent(), notSent(), notSent());
    await expect(resume(made.payment(), waiting, made.deps)).rejects.toMatchObject({
      kind: 'temporary',
    });
    expect(made.now().abandoned).toBe(false);
    expect(await resume(made.payment(), waiting, made.deps)).toMatchObject({
      txnId: 't1',
      txnState: 'completed',
    });
  });

  test('abandons a payment after a no', async () => {
    const made = bench();
    made.journalFails = ({ abandoned }) => abandoned === true;
    made.says = () => false;
    await made.pay({ yes: false }).catch(() => undefined);
    made.journalFails = () => false;
    expect(made.now()).toMatchObject({ state: 'quoted', abandoned: false });
    await expect(resume(made.payment(), waiting, made.deps)).rejects.toMatchObject({
      kind: 'declined',
    });
    expect(made.now().abandoned).toBe(true);
  });

  test('does not reopen a payment abandoned since the list was read', async () => {
    const made = bench();
    made.journalFails = ({ abandoned, attempt }) =>
      abandoned === true || attempt?.state === 'quoted';
    await made.pay().catch(() => undefined);
    made.journalFails = () => false;
    const listed = made.payment();
    for (const row of made.store.rows.values()) row.payment = { ...row.payment, abandoned: true };
    await expect(resume(listed, waiting, made.deps)).rejects.toMatchObject({ kind: 'usage' });
    expect(made.now().abandoned).toBe(true);
  });

  test('distinguishes a payment from an earlier one with its reference', async () => {
    const made = bench();
    made.journalFails = ({ abandoned, attempt }) =>
      abandoned === true || attempt?.state === 'quoted';
    await made.pay().catch(() => undefined);
    made.journalFails = () => false;
    const listed = made.payment();
    for (const row of made.store.rows.values())
      row.payment = { ...row.payment, fingerprint: 'another' };
    await expect(resume(listed, waiting, made.deps)).rejects.toMatchObject({ kind: 'usage' });
    expect(requests(made)).toEqual(['POST R']);
  });

  test('reports a final payment, and starts no new one', async () => {
    const made = bench();
    made.confirms = () => 'failed';
    await made.pay().catch(() => undefined);
    await expect(resume(made.payment(), waiting, made.deps)).rejects.toMatchObject({
      kind: 'payment-failed',
    });
    expect(requests(made)).toEqual(['POST R', 'PUT t1']);
  });
});
