// Tests the rules of the payment core: the requests that it sends, the states that it writes first,
// and the outcomes that it reports.
import { encodeInvoice } from '../../../src/formats/bolt11/encode.js';
import { orderOf, instructionOfOrder } from '../../../src/wallet/instruction/order.js';
import { readSendNow } from '../../../src/wallet/instruction/send.js';
import { bitcoinAddress, tronAddress } from '../../support/destinations.js';
import { describe, expect, test } from 'vitest';
import { CancelNotOffered } from '../../../src/api/errors.js';
import { Failure } from '../../../src/formats/failure.js';
import type { Rates, Transaction } from '../../../src/api/types.js';
import { LostClaim } from '../../../src/store/journal/journal.js';
import { latest, requested, type PaymentChange } from '../../../src/store/journal/payment.js';
import { money } from '../../../src/formats/amount.js';
import type { Order } from '../../../src/wallet/order/orders.js';
import { deducting, onchainOrder, swapOrder, usdtSpendOrder } from '../../support/orders.js';
import { confirmQuote } from '../../../src/wallet/payment/resume.js';
import { recordRead } from '../../../src/wallet/payment/record.js';
import { pay, resume } from '../../../src/wallet/payment/pay.js';
import {
  approved,
  asked,
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

/** Approves the quote after the quote has expired. */
const slowly = (made: Bench): true => {
  made.time += 61_000;
  return true;
};

const requests = ({ log }: Bench): string[] => log.filter((line) => /^(POST|PUT)/.test(line));
const waiting = { wait: 'forever', retry: false } as const;

/** Creates a transaction whose reference the service has but the journal lacks. */
const known = (
  extRefId: string,
  txnState: string,
  change: Partial<Transaction> = {},
): Transaction => ({
  ...quoteOf({ ...order.body, extRefId }, `known-${extRefId}`, Date.UTC(2025, 0, 15)),
  txnState,
  ...change,
});

describe('the payment driver while reads lag', () => {
  const elsewhere = () => {
    const made = bench();
    made.transactions.push(known('R', 'completed'));
    return made;
  };

  test('reads a listed transaction again if the first read returns "not found"', async () => {
    const made = elsewhere();
    made.fail('read', refusal(404, 'not found'), refusal(404, 'not found'));
    expect(await made.pay()).toMatchObject({ txnId: 'known-R', txnState: 'completed' });
  });

  test('reports an unknown outcome if a listed transaction cannot be read', async () => {
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

test('confirmQuote confirms a quote that another client created with fees deducted from the amount', async () => {
  const made = bench();
  const { body } = deducting(onchainOrder(bitcoinAddress(1), money('BTC', '0.00003'), 'BTC'));
  const quoted = {
    ...quoteOf(
      { ...body, sourceReq: { ...body.sourceReq, amtRequested: 0.00003 }, extRefId: 'R' },
      't1',
      made.time,
    ),
    deductNetworkFeesFromDest: true,
  };
  made.transactions.push(quoted);
  await confirmQuote(quoted, { terms: {}, consent: approved, wait: waiting.wait }, made.deps);
  expect(made.now()).toMatchObject({
    state: 'paid',
    approvedTotal: '0.00003',
    approvedReceives: '0.00002999',
  });
});

describe('the payment driver', () => {
  test('writes each step of a payment to the journal before it sends a request for the step', async () => {
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

  test('writes a reported state to the journal once, however often svcpay reads it', async () => {
    const made = bench();
    const { service } = made.deps;
    let reads = 0;
    const transaction = async (txnId: string) => {
      const txn = await service.transaction(txnId);
      reads += 1;
      return reads < 6 ? { ...txn, txnState: 'destpending' } : txn;
    };
    await pay({ instruction: asked, ref: 'R', terms: {}, consent: approved }, waiting, {
      ...made.deps,
      service: { ...service, transaction },
    });
    const writes = made.log.filter((line) => line.startsWith('write'));
    expect(writes).toEqual(['write quoted', 'write in-flight', 'write in-flight', 'write paid']);
  });

  test('asks for consent once without --yes and never with --yes', async () => {
    const asking = bench();
    await asking.pay({ yes: false });
    const agreed = bench();
    await agreed.pay({ yes: true });
    expect([asking.asked, agreed.asked]).toEqual([['0.00001001'], []]);
  });

  test('refuses to confirm a quote that becomes more expensive after the consent', async () => {
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

  test('refuses to confirm a quote whose destination changes after the consent', async () => {
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

  test('completes a payment if a read of the quote returns only the state', async () => {
    const made = bench();
    const { service } = made.deps;
    const transaction = async (txnId: string) => ({
      ...(await service.transaction(txnId)),
      sourceReq: {},
      destReq: {},
    });
    const paid = await pay(
      { instruction: asked, ref: 'R', terms: {}, consent: made.asks },
      waiting,
      {
        ...made.deps,
        service: { ...service, transaction },
      },
    );
    expect(paid).toMatchObject({ txnState: 'completed', destReq: { method: 'lnurl' } });
  });

  test('creates a payment without reading the transaction list', async () => {
    const given = bench();
    await given.pay();
    const madeUp = bench();
    await pay(
      { instruction: asked, ref: undefined, terms: {}, consent: approved },
      waiting,
      madeUp.deps,
    );
    expect([...given.log, ...madeUp.log]).not.toContain('GET list');
  });

  test('abandons a declined payment and asks again on a rerun', async () => {
    const made = bench();
    made.says = () => false;
    await expect(made.pay({ yes: false })).rejects.toMatchObject({ kind: 'declined' });
    expect(made.now()).toMatchObject({ abandoned: true });
    await expect(
      resume(made.payment(), { ...waiting, consent: made.asks }, made.deps),
    ).rejects.toMatchObject({
      kind: 'usage',
    });
    made.says = () => true;
    expect(await made.pay({ yes: false })).toMatchObject({ txnState: 'completed' });
    expect(requests(made)).toEqual(['POST R', 'PUT t1']);
  });

  test('stores the approved total and received amount in the journal', async () => {
    const made = bench();
    await made.pay({ yes: false });
    expect(made.now()).toMatchObject({
      approvedTotal: '0.00001001',
      approvedReceives: '0.00001',
    });
  });
});

describe('the payment driver with a quote', () => {
  const wrong: readonly [what: string, change: (txn: Transaction) => Partial<Transaction>][] = [
    ['another source currency', ({ sourceReq }) => ({ sourceReq: { ...sourceReq, ccy: 'USDT' } })],
    [
      'another destination method',
      ({ destReq }) => ({ destReq: { ...destReq, method: 'lightning' } }),
    ],
    [
      'another source amount',
      ({ sourceReq }) => ({ sourceReq: { ...sourceReq, amtRequested: 0.00002 } }),
    ],
    [
      'a missing source amount',
      ({ sourceReq }) => ({ sourceReq: { ...sourceReq, amtRequested: null } }),
    ],
    [
      'another destination address',
      ({ destReq }) => ({ destReq: { ...destReq, reqDetails: { address: 'thief@pay.example' } } }),
    ],
    [
      'a lower amount for the recipient',
      ({ destReq }) => ({ destReq: { ...destReq, amtRequested: 0.000005 } }),
    ],
    ['another reference', () => ({ extRefId: 'S' })],
  ];
  test.each(wrong)('refuses a quote with %s', async (_what, change) => {
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
    ['a fee above the percentage in --max-fee', 1.1e-7, { percent: '1' }],
    ['a total above the balance', 0.6, undefined],
  ];
  test.each(dear)('stops a payment whose quote has %s', async (_what, fee, maxFee) => {
    const made = bench();
    made.quotes = (body) => {
      const txn = quoteOf(body, 't1', made.time);
      return { sourceReq: { ...txn.sourceReq, servicepayFees: fee } };
    };
    await expect(made.pay({ maxFee })).rejects.toMatchObject({ kind: 'limit' });
    expect(requests(made)).toEqual(['POST R']);
  });

  const again: readonly [what: string, fee: number, asked: number][] = [
    ['without a new question if the costs are equal', 1e-8, 1],
    ['without a new question if the new quote is cheaper', 0, 1],
    ['and asks again if the new quote is more expensive', 2e-8, 2],
  ];
  test.each(again)('replaces an expired quote %s', async (_what, fee, asked) => {
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

  test('abandons a payment after --quote-only even with --yes', async () => {
    const made = bench();
    expect(await made.pay({ until: 'quoted', yes: true })).toMatchObject({ txnState: 'quoted' });
    expect(made.now()).toMatchObject({ abandoned: true });
    expect(requests(made)).toEqual(['POST R']);
  });

  test('asks for consent before it resumes an interrupted --quote-only payment', async () => {
    const made = bench();
    made.journalFails = ({ abandoned }) => abandoned === true;
    await made.pay({ until: 'quoted', yes: true }).catch(() => undefined);
    expect(made.now()).toMatchObject({ state: 'quoted', abandoned: false });
    made.journalFails = () => false;
    made.says = () => false;
    await expect(
      resume(made.payment(), { ...waiting, consent: made.asks }, made.deps),
    ).rejects.toMatchObject({
      kind: 'declined',
    });
    expect(made.asked).toHaveLength(1);
    expect(requests(made)).toEqual(['POST R']);
  });

  test('sends no confirmation with --quote-only if an earlier confirmation has an unknown outcome', async () => {
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

  test('cancels and replaces a quote that expired while svcpay asked for approval', async () => {
    const made = bench();
    made.says = () => slowly(made);
    expect(await made.pay({ yes: false })).toMatchObject({
      txnState: 'completed',
      extRefId: 'R~2',
    });
    expect(requests(made)).toEqual(['POST R', 'PUT t1/cancel', 'POST R~2', 'PUT t2']);
  });

  test('reports an unknown outcome if the late confirmation of an expired quote returns `expired`', async () => {
    const made = bench();
    made.says = () => slowly(made);
    made.confirms = () => 'expired';
    made.fail(
      'cancel',
      new CancelNotOffered('refused', 'not found', { status: 404, reason: 'not found' }),
    );
    await expect(made.pay({ yes: false })).rejects.toMatchObject({
      kind: 'outcome-unknown',
      txnId: 't1',
    });
    expect(requests(made)).toEqual(['POST R', 'PUT t1/cancel', 'PUT t1']);
  });

  test('treats a cancelled quote as final even if a read still returns `quoted`', async () => {
    const made = bench();
    const { service } = made.deps;
    made.says = () => slowly(made);
    const lagging = async (txnId: string) => {
      const txn = await service.transaction(txnId);
      return txnId === 't1' ? { ...txn, txnState: 'quoted' } : txn;
    };
    const paying = pay(
      { instruction: asked, ref: 'R', terms: {}, consent: made.asks },
      { ...waiting, wait: 60_000 },
      { ...made.deps, service: { ...service, transaction: lagging } },
    );
    expect(await paying).toMatchObject({ txnState: 'completed', extRefId: 'R~2' });
    expect(requests(made)).toEqual(['POST R', 'PUT t1/cancel', 'POST R~2', 'PUT t2']);
  });

  test('replaces a quote that expired just before its cancellation', async () => {
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
    'replaces an expired quote as soon as a read shows the expiry if the cancellation is %s',
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
        { instruction: asked, ref: 'R', terms: {}, consent: made.asks },
        { ...waiting, wait: 60_000 },
        { ...made.deps, service: late },
      );
      expect(await paying).toMatchObject({ txnState: 'completed', extRefId: 'R~2' });
      expect(requests(made)).toEqual(['POST R', 'POST R~2', 'PUT t2']);
    },
  );

  test('reads a new quote again if the quote is not yet readable', async () => {
    const made = bench();
    made.quotes = (body) => ({
      sourceReq: { ...quoteOf(body, '', made.time).sourceReq, expiresAt: made.time - 3_600_000 },
    });
    made.fail('read', refusal(404, 'not found'), refusal(404, 'not found'));
    expect(await made.pay()).toMatchObject({ txnState: 'completed', extRefId: 'R' });
    expect(requests(made)).toEqual(['POST R', 'PUT t1']);
  });

  test('confirms a quote created with a past expiry because the local clock may be wrong', async () => {
    const made = bench();
    made.quotes = (body) => ({
      sourceReq: { ...quoteOf(body, '', made.time).sourceReq, expiresAt: made.time - 3_600_000 },
    });
    expect(await made.pay({ yes: false })).toMatchObject({ txnState: 'completed', extRefId: 'R' });
    expect(requests(made)).toEqual(['POST R', 'PUT t1']);
  });

  test('confirms a quote by its id and sends no cancellation', async () => {
    const made = bench();
    await made.pay({ until: 'quoted' });
    made.says = () => slowly(made);
    expect(
      await resume(
        made.payment(),
        { ...waiting, consent: made.asks, only: { txnId: 't1', terms: {} } },
        made.deps,
      ),
    ).toMatchObject({ txnState: 'completed', extRefId: 'R' });
    expect(requests(made)).toEqual(['POST R', 'PUT t1']);
  });

  test('abandons a payment after five expired quotes', async () => {
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
    // After five expired quotes, the message suggests running the command again.
    made.says = () => true;
    expect(await made.pay({ yes: false })).toMatchObject({
      txnState: 'completed',
      extRefId: 'R~6',
    });
  });
});

describe('the payment driver for a reference that only the service has', () => {
  const cases: readonly [
    why: string,
    state: string,
    retry: boolean,
    sent: string[],
    end: string,
  ][] = [
    [
      'confirms a `quoted` transaction with the reference',
      'quoted',
      false,
      ['POST R', 'PUT known-R'],
      'completed',
    ],
    [
      'follows a `srccreated` transaction with the reference',
      'srccreated',
      false,
      ['POST R'],
      'completed',
    ],
    [
      'follows a `destsent` transaction with the reference',
      'destsent',
      false,
      ['POST R'],
      'completed',
    ],
    [
      'reports a `completed` transaction with the reference',
      'completed',
      false,
      ['POST R'],
      'completed',
    ],
    [
      'opens a second attempt after an `expired` transaction with the reference',
      'expired',
      false,
      ['POST R', 'POST R~2', 'PUT t2'],
      'completed',
    ],
    [
      'opens a second attempt after a `usercanceled` transaction with the reference',
      'usercanceled',
      false,
      ['POST R', 'POST R~2', 'PUT t2'],
      'completed',
    ],
    [
      'reports a `failed` transaction with the reference',
      'failed',
      false,
      ['POST R'],
      'payment-failed',
    ],
    [
      'reports a `rejected` transaction with the reference',
      'rejected',
      false,
      ['POST R'],
      'payment-failed',
    ],
    [
      'reports an `error` transaction with the reference even with --retry',
      'error',
      true,
      ['POST R'],
      'outcome-unknown',
    ],
    [
      'opens a second attempt after a `failed` transaction with --retry',
      'failed',
      true,
      ['POST R', 'POST R~2', 'PUT t2'],
      'completed',
    ],
    [
      'opens a second attempt after a `rejected` transaction with --retry',
      'rejected',
      true,
      ['POST R', 'POST R~2', 'PUT t2'],
      'completed',
    ],
  ];
  test.each(cases)('the payment driver %s', async (_why, state, retry, sent, end) => {
    const made = bench(undefined, [known('R', state)]);
    const ended = await made.pay({ retry }).then(
      ({ txnState }) => txnState,
      ({ kind }) => kind,
    );
    expect([requests(made), ended]).toEqual([sent, end]);
  });

  test('follows a payment in flight to its end even if the journal cannot be written', async () => {
    const made = bench(undefined, [known('R', 'destsent')]);
    made.journalFails = ({ attempt }) => attempt?.state === 'paid';
    expect(await made.pay()).toMatchObject({ txnId: 'known-R', txnState: 'completed' });
    expect(made.events.filter(({ type }) => type === 'journal-failed')).toHaveLength(1);
  });

  test('continues with the latest attempt if the service lists several attempts of the payment', async () => {
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
    'ignores a transaction with the reference "%s" in a lookup of the reference "R"',
    async (other) => {
      const made = bench(undefined, [known(other, 'completed')]);
      await made.pay();
      expect(requests(made)).toEqual(['POST R', 'PUT t2']);
    },
  );

  test('refuses a reference if the service already has a different payment with this reference', async () => {
    const made = bench(undefined, [known('R', 'completed')]);
    await expect(made.pay({ order: otherOrder })).rejects.toMatchObject({
      kind: 'usage',
      txnId: 'known-R',
    });
    expect(await made.pay()).toMatchObject({ txnId: 'known-R', txnState: 'completed' });
    expect(requests(made)).toEqual(['POST R', 'POST R']);
  });
});

describe('the payment driver for a reference in the journal', () => {
  test('reports a completed payment again with a single read', async () => {
    const made = bench();
    await made.pay();
    made.log.length = 0;
    expect(await made.pay()).toMatchObject({ txnId: 't1', txnState: 'completed' });
    expect(made.log).toEqual(['begin', 'GET t1']);
  });

  test('refuses a different payment under a reference that is already used', async () => {
    const made = bench();
    await made.pay();
    await expect(made.pay({ order: otherOrder })).rejects.toMatchObject({
      kind: 'usage',
      txnId: 't1',
    });
  });

  test('accepts a different payment under a reference if the create request of the first payment was refused', async () => {
    const made = bench();
    made.fail('create', refusal(400, 'invalid destination'));
    await expect(made.pay()).rejects.toMatchObject({ kind: 'refused' });
    expect(await made.pay({ order: otherOrder })).toMatchObject({ txnState: 'completed' });
  });

  test.each(['failed', 'rejected'])(
    'repeats a payment that ended as `%s` only with --retry',
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

  test('creates a new quote if the service no longer has the old quote', async () => {
    const made = bench();
    made.says = () => false;
    await made.pay({ yes: false }).catch(() => undefined);
    made.transactions.length = 0;
    expect(await made.pay()).toMatchObject({ txnState: 'completed', extRefId: 'R~2' });
  });
});

describe('confirmQuote', () => {
  const yes = { terms: {}, consent: approved, wait: waiting.wait } as const;
  /** Creates a payment with two quotes whose transaction ids the journal has lost. */
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
      row.payment = {
        ...row.payment,
        attempts: [requested(1, latest(row.payment).request)],
        abandoned: true,
      };
  };
  const first = ({ transactions: [txn] }: Bench): Transaction => {
    if (txn === undefined) throw new Error('There is no transaction.');
    return txn;
  };
  const second = ({ transactions: [, txn] }: Bench): Transaction => {
    if (txn === undefined) throw new Error('There is no second transaction.');
    return txn;
  };

  test('records a confirmed quote as an attempt of the payment with the reference of the quote', async () => {
    const made = await forgotten();
    expect(second(made)).toMatchObject({ extRefId: 'R~2' });
    await confirmQuote(second(made), yes, made.deps);
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

  test('finds the payment of a confirmed quote even if the journal lost the attempt', async () => {
    const made = bench();
    const spend = usdtSpendOrder(tronAddress(1), money('BTC', '0.0001'));
    await made.pay({ order: spend, until: 'quoted' });
    forget(made);
    await confirmQuote(first(made), yes, made.deps);
    expect(await made.pay({ order: spend })).toMatchObject({ txnId: 't1', txnState: 'completed' });
  });

  test('leaves the payment quoted and open if the journal fails before the confirmation', async () => {
    const made = await forgotten();
    made.journalFails = ({ attempt, abandoned }) =>
      attempt?.state === 'submitting' || abandoned === true;
    await expect(confirmQuote(second(made), yes, made.deps)).rejects.toBeInstanceOf(Error);
    expect(made.now()).toMatchObject({ state: 'quoted', status: 'open' });
  });

  test('refuses to confirm an older quote if the payment has a newer quote', async () => {
    const made = await forgotten();
    await confirmQuote(second(made), yes, made.deps);
    await expect(
      resume(made.payment(), { ...yes, only: { txnId: 't1', terms: {} } }, made.deps),
    ).rejects.toMatchObject({ kind: 'usage', txnId: 't2' });
    made.transactions.push({ ...first(made), txnId: 't9', txnState: 'quoted' });
    await expect(
      confirmQuote({ ...first(made), txnId: 't9', txnState: 'quoted' }, yes, made.deps),
    ).rejects.toMatchObject({ kind: 'usage' });
    expect(made.log.filter((line) => line.startsWith('PUT'))).toEqual(['PUT t2']);
  });
});

describe('the payment driver for a single-use destination', () => {
  const invoice = { ...order, idempotencyKey: 'bolt11:hash' };
  const realInvoice = encodeInvoice(
    {
      network: 'mainnet',
      amountMsat: 1_000_000n,
      timestamp: Date.UTC(2025, 0, 15) / 1000,
      paymentHash: '11'.repeat(32),
      paymentSecret: '22'.repeat(32),
      description: 'tea',
      expiry: 3_600,
    },
    new Uint8Array(32).fill(7),
  );

  test('refuses to pay an invoice again under another reference', async () => {
    const made = bench();
    await made.pay({ order: invoice });
    await expect(made.pay({ order: invoice, ref: 'S' })).rejects.toMatchObject({
      kind: 'already-paid',
      txnId: 't1',
    });
    expect(requests(made)).toEqual(['POST R', 'PUT t1']);
  });

  test('refuses to pay an invoice under another reference while the outcome of the first payment is unknown', async () => {
    const made = bench();
    made.fail('confirm', lost(), lost(), lost(), lost(), lost());
    await made.pay({ order: invoice }).catch(() => undefined);
    await expect(made.pay({ order: invoice, ref: 'S' })).rejects.toMatchObject({
      kind: 'already-paid',
    });
  });

  test('refuses to confirm an older quote for an invoice that is already paid', async () => {
    const made = bench();
    await made.pay({ order: invoice, until: 'quoted' });
    const older = made.payment();
    await made.pay({ order: invoice, ref: 'S' });
    const yes = { terms: {}, consent: approved, wait: waiting.wait } as const;
    await expect(
      resume(older, { ...yes, only: { txnId: 't1', terms: {} } }, made.deps),
    ).rejects.toMatchObject({
      kind: 'already-paid',
      txnId: 't2',
    });
    expect(requests(made)).toEqual(['POST R', 'POST S', 'PUT t2']);
  });

  const unnamed = (made: Bench, wanted: Order): Promise<Transaction> =>
    pay(
      {
        instruction: instructionOfOrder(wanted, false),
        ref: undefined,
        terms: {},
        consent: approved,
      },
      waiting,
      made.deps,
    );

  test('follows an invoice payment of another machine even if the payment exceeds the local limits', async () => {
    const { instruction } = readSendNow({ to: realInvoice }, { network: 'mainnet', now: 0 });
    const overLightning = orderOf(instruction, { now: 0 });
    const hash = instruction.once?.replace('bolt11:', '') ?? '';
    const there = {
      ...quoteOf(
        { ...overLightning.body, extRefId: `bolt11-${hash}` },
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
      {
        instruction,
        ref: undefined,
        terms,
        consent: approved,
      },
      waiting,
      made.deps,
    );
    expect(paid).toMatchObject({ txnId: 'theirs', txnState: 'completed' });
    expect(requests(made)).toEqual([`POST bolt11-${hash}`]);
  });

  test('resumes an invoice payment with an unknown outcome even if the command has no --ref', async () => {
    const made = bench();
    made.fail('confirm', lost(), lost(), lost(), lost(), lost());
    await made.pay({ order: invoice }).catch(() => undefined);
    expect(await unnamed(made, invoice)).toMatchObject({ txnId: 't1', txnState: 'completed' });
    expect(await unnamed(made, invoice)).toMatchObject({ txnId: 't1', txnState: 'completed' });
    expect(requests(made).filter((line) => line.startsWith('POST'))).toEqual(['POST R']);
  });

  test('pays an invoice under another reference after a failed payment', async () => {
    const made = bench();
    made.confirms = () => 'failed';
    await made.pay({ order: invoice }).catch(() => undefined);
    made.confirms = () => 'srccreated';
    expect(await made.pay({ order: invoice, ref: 'S' })).toMatchObject({ txnState: 'completed' });
  });

  test('pays an invoice only once if two quotes for the invoice are open', async () => {
    const made = bench();
    made.says = () => made.asked.length > 1;
    await made.pay({ order: invoice, yes: false }).catch(() => undefined);
    const second = made.pay({ order: invoice, ref: 'S' });
    expect(await second).toMatchObject({ txnState: 'completed' });
    await expect(made.pay({ order: invoice })).rejects.toMatchObject({
      kind: 'already-paid',
      txnId: 't2',
    });
  });
});

describe('the payment driver after a failed create request', () => {
  test('repeats an unanswered create request and accepts the transaction of the first request', async () => {
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
    ['a 429 response', [limited(), limited(), limited(), limited()]],
    ['a 429 response with a long Retry-After', [limited(60_000)]],
  ])('reports a temporary failure if every create request gets %s', async (_what, errors) => {
    const made = bench();
    made.fail('create', ...errors);
    await expect(made.pay()).rejects.toMatchObject({ kind: 'temporary', exitCode: 75 });
    expect(requests(made)).toHaveLength(errors.length);
  });

  test('finds the transaction of a rate-limited create request if the repeated request is refused', async () => {
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
    const start = { instruction: asked, ref: undefined, terms: {}, consent: approved } as const;
    expect(await pay(start, waiting, made.deps)).toMatchObject({
      txnId: 't1',
      txnState: 'completed',
    });
  });

  test('waits for Retry-After before it repeats a create request', async () => {
    const made = bench();
    const start = made.time;
    made.fail('create', limited(17_000));
    await made.pay({ wait: false });
    expect(made.time - start).toBe(17_000);
  });
});

describe('the payment driver at the confirmation', () => {
  const cases: readonly [what: string, errors: unknown[], sent: number, end: string][] = [
    ['repeats an unanswered confirmation', [lost()], 2, 'completed'],
    ['repeats a confirmation that was never sent', [notSent()], 2, 'completed'],
    ['repeats a confirmation after a 429 response', [limited()], 2, 'completed'],
    [
      'reports an unknown outcome after five unanswered confirmations',
      [lost(), lost(), lost(), lost(), lost()],
      5,
      'pending',
    ],
    [
      'reports a temporary failure if five confirmations were never sent',
      [notSent(), notSent(), notSent(), notSent(), notSent()],
      5,
      'temporary',
    ],
    [
      'reports `refused` if the service refuses the confirmation',
      [refusal(400, 'bad request')],
      1,
      'refused',
    ],
    [
      'reports `limit` if the service refuses the confirmation for insufficient funds',
      [refusal(400, 'insufficient balance')],
      1,
      'limit',
    ],
    [
      'reports an unknown outcome if the service refuses a confirmation after an unanswered confirmation',
      [lost(), refusal(400, 'bad request')],
      2,
      'pending',
    ],
    [
      'reports `not-found` if the service cannot find the transaction to confirm',
      [refusal(404, 'not found')],
      1,
      'not-found',
    ],
    [
      'reports `authentication` if the service refuses the token of the confirmation',
      [refusal(401, 'unauthorized')],
      1,
      'authentication',
    ],
    [
      'repeats a confirmation after code 2005 if a read still returns `quoted`',
      [refusal(400, 'already', '2005')],
      2,
      'completed',
    ],
    ['repeats a confirmation after an unrecognized error', [new Error('?')], 2, 'completed'],
  ];
  test.each(cases)('the payment driver %s', async (_what, errors, sent, end) => {
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

  test('reports an unknown outcome if a refused confirmation cannot be checked by a read', async () => {
    const made = bench();
    made.fail('confirm', refusal(400, 'bad request'));
    made.fail('read', ...Array.from({ length: 9 }, lost));
    await expect(made.pay()).rejects.toMatchObject({ kind: 'pending' });
  });

  test.for([
    ['that svcpay sent the confirmation only once', 1, 'No second attempt was made.'],
    ['that svcpay repeated the confirmation', 5, 'svcpay repeated the confirmation.'],
  ] as const)('reports %s if the outcome is unknown', async ([, sent, words]) => {
    const made = bench();
    made.fail('confirm', ...Array.from({ length: 5 }, lost));
    if (sent === 1) made.fail('read', ...Array.from({ length: 9 }, lost));
    await expect(made.pay()).rejects.toMatchObject({
      kind: 'pending',
      message: expect.stringContaining(words),
    });
    expect(requests(made).filter((line) => line.startsWith('PUT'))).toHaveLength(sent);
  });

  test('repeats a confirmation that the service answers with `quoted`', async () => {
    const made = bench();
    let calls = 0;
    made.confirms = () => ((calls += 1) < 3 ? 'quoted' : 'srccreated');
    expect(await made.pay()).toMatchObject({ txnState: 'completed' });
    expect(calls).toBe(3);
  });

  test('sends no confirmation after an interrupt during the question', async () => {
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

  test('sends no confirmation after an interrupt between the journal write and the request', async () => {
    const made = bench();
    made.journalFails = ({ attempt }) => {
      if (attempt?.state === 'submitting') made.interrupt.abort();
      return false;
    };
    await expect(made.pay()).rejects.toMatchObject({ kind: 'interrupted', exitCode: 130 });
    expect(requests(made)).toEqual(['POST R']);
    expect(made.now()).toMatchObject({ state: 'quoted', status: 'abandoned', submittedAt: null });
  });

  test('requires --retry for a new attempt if the quote expires after an unanswered confirmation', async () => {
    const made = bench();
    made.fail('confirm', lost(), lost(), lost(), lost(), lost());
    await made.pay({ yes: false }).catch(() => undefined);
    made.transactions[0] = { ...made.transactions[0]!, txnState: 'expired' };
    made.quotes = (body) => ({
      sourceReq: { ...quoteOf(body, '', made.time).sourceReq, servicepayFees: 9e-8 },
    });
    for (let again = 0; again < 2; again += 1) {
      await expect(made.pay({ yes: true })).rejects.toMatchObject({
        kind: 'outcome-unknown',
        exitCode: 8,
        next: { do: 'retry', id: 'R' },
      });
    }
    await expect(
      resume(made.payment(), { ...waiting, consent: made.asks }, made.deps),
    ).rejects.toMatchObject({
      kind: 'outcome-unknown',
    });
    expect(requests(made).filter((line) => line.startsWith('POST'))).toEqual(['POST R']);
    expect(await made.pay({ yes: true, retry: true })).toMatchObject({
      extRefId: 'R~2',
      txnState: 'completed',
    });
    expect(made.asked).toHaveLength(1);
  });

  test('reports an unknown outcome if a confirmation sent in time returns `expired`', async () => {
    const made = bench();
    made.confirms = () => {
      made.time += 61_000;
      return 'expired';
    };
    await expect(made.pay()).rejects.toMatchObject({ kind: 'outcome-unknown', txnId: 't1' });
    expect(requests(made)).toEqual(['POST R', 'PUT t1']);
  });

  test.each([{ wait: false }, { until: 'quoted' }] as const)(
    'reports the state that the service names after an early `expired`, with %o',
    async (options) => {
      const made = bench();
      made.confirms = () => {
        made.time += 61_000;
        return 'expired';
      };
      await expect(made.pay()).rejects.toMatchObject({ kind: 'outcome-unknown' });
      const transaction = async () => ({ ...made.transactions[0]!, txnState: 'destsent' });
      Object.assign(made.deps, { service: { ...made.deps.service, transaction } });
      expect(await made.pay(options)).toMatchObject({ txnId: 't1', txnState: 'destsent' });
    },
  );

  test.each(['a confirmation is being processed', 'already confirmed', 'conflict'])(
    'reports an unknown outcome if the service refuses a confirmation with "%s"',
    async (reason) => {
      const made = bench();
      made.fail('confirm', refusal(400, reason));
      made.confirms = () => 'quoted';
      await expect(made.pay()).rejects.toMatchObject({ kind: 'pending', txnId: 't1' });
      expect(made.now()).toMatchObject({ state: 'submitting', abandoned: false });
    },
  );

  test('reports an unknown outcome if the journal fails after another process took over', async () => {
    const made = bench();
    const { journal } = made.deps;
    let isLost = false;
    const failing = {
      ...journal,
      write: async (...args: Parameters<typeof journal.write>) => {
        if (args[1].attempt?.state !== 'paid') return journal.write(...args);
        isLost = true;
        throw new LostClaim('another process took over the payment');
      },
      claim: async (...args: Parameters<typeof journal.claim>) => {
        if (isLost) throw new Failure('temporary', 'The database is not reached.');
        return journal.claim(...args);
      },
    };
    await expect(
      pay({ instruction: asked, ref: 'R', terms: {}, consent: approved }, waiting, {
        ...made.deps,
        journal: failing,
      }),
    ).rejects.toMatchObject({ kind: 'pending', txnId: 't1' });
  });

  test('reports an unknown outcome if the journal fails while another process drives the payment', async () => {
    const made = bench();
    const { journal } = made.deps;
    const claim = async (): Promise<undefined> => {
      if (made.events.some(({ type }) => type === 'following'))
        throw new Failure('temporary', 'The database is not reached.');
    };
    await expect(
      pay({ instruction: asked, ref: 'R', terms: {}, consent: approved }, waiting, {
        ...made.deps,
        journal: { ...journal, claim },
      }),
    ).rejects.toMatchObject({
      kind: 'pending',
      message: expect.stringContaining('The database is not reached.'),
    });
  });

  test('reports an interrupt with a resume hint while another process drives the payment', async () => {
    const made = bench();
    const journal = { ...made.deps.journal, claim: async () => undefined };
    await expect(
      pay({ instruction: asked, ref: 'R', terms: {}, consent: approved }, waiting, {
        ...made.deps,
        journal,
        signal: AbortSignal.abort(),
      }),
    ).rejects.toMatchObject({
      kind: 'interrupted',
      message: expect.stringContaining('Nothing moved here: another process is working on R, and '),
      exitCode: 130,
      next: { do: 'resume', id: 'R' },
    });
  });

  test('reports an unknown outcome while another process repeats the confirmation', async () => {
    const made = bench();
    made.fail('confirm', lost(), lost(), lost(), lost(), lost());
    await made.pay().catch(() => undefined);
    for (const row of made.store.rows.values())
      row.payment = {
        ...row.payment,
        attempts: [...row.payment.attempts, requested(2, latest(row.payment).request)],
      };
    const journal = { ...made.deps.journal, claim: async () => undefined };
    await expect(
      pay(
        { instruction: asked, ref: 'R', terms: {}, consent: approved },
        { ...waiting, wait: 1_000 },
        { ...made.deps, journal },
      ),
    ).rejects.toMatchObject({
      kind: 'pending',
      message: expect.stringContaining('another process'),
    });
  });

  test('reports a payment as completed if another process completed the payment while the list request failed', async () => {
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
      { instruction: asked, ref: 'R', terms: {}, consent: made.asks },
      { ...waiting, until: 'quoted' },
      { ...made.deps, service: { ...service, eachTransaction } },
    );
    expect(await looking).toMatchObject({ txnState: 'completed' });
  });

  test('still reports the unknown outcome of the first attempt if the person declines the second attempt', async () => {
    const made = bench();
    made.fail('confirm', lost(), lost(), lost(), lost(), lost());
    await made.pay().catch(() => undefined);
    made.transactions[0] = { ...made.transactions[0]!, txnState: 'expired' };
    made.says = () => false;
    const doubt = { kind: 'outcome-unknown', exitCode: 8, next: { do: 'retry', id: 'R' } };
    await expect(made.pay({ yes: false, retry: true })).rejects.toMatchObject(doubt);
    expect(made.asked).toHaveLength(1);
    await expect(made.pay({ yes: true })).rejects.toMatchObject(doubt);
    await expect(
      resume(made.payment(), { ...waiting, consent: made.asks }, made.deps),
    ).rejects.toMatchObject(doubt);
    expect(requests(made).filter((line) => line.startsWith('PUT t2'))).toEqual([]);
    made.says = () => true;
    expect(await made.pay({ yes: false, retry: true })).toMatchObject({ txnState: 'completed' });
  });

  test('counts an attempt with an unknown outcome against the daily limit', async () => {
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
        { instruction: asked, ref: 'R', terms: {}, consent: approved },
        { ...waiting, retry: true },
        limited(most),
      );
    await expect(retry('0.000015')).rejects.toMatchObject({
      kind: 'outcome-unknown',
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
   * Creates a payment whose first attempt has an unknown outcome, and whose process ended before it
   * submitted the second attempt.
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

  test('still reports the unknown outcome of the first attempt if another process resumes the second attempt without moving money', async () => {
    const { store, transactions, payment } = await leftBetween();
    const next = bench(store, transactions);
    next.fail('confirm', refusal(400, 'no'));
    await expect(
      resume(payment(), { ...waiting, consent: next.asks }, next.deps),
    ).rejects.toMatchObject({
      kind: 'outcome-unknown',
      exitCode: 8,
    });
    expect(next.now()).toMatchObject({ state: 'lapsed', number: 2, status: 'unknown' });
    const interrupted = await leftBetween();
    interrupted.interrupt.abort();
    await expect(
      resume(interrupted.payment(), { ...waiting, consent: interrupted.asks }, interrupted.deps),
    ).rejects.toMatchObject({
      kind: 'outcome-unknown',
      exitCode: 8,
    });
  });

  test.for(['claim', 'write'] as const)(
    'still reports the unknown outcome of the first attempt if the journal call "%s" of the second attempt fails',
    async (call) => {
      const made = await leftBetween();
      const fail = () => Promise.reject(new Failure('temporary', 'The database is not reached.'));
      const deps = { ...made.deps, journal: { ...made.deps.journal, [call]: fail } };
      const again = pay(
        { instruction: asked, ref: 'R', terms: {}, consent: approved },
        waiting,
        deps,
      );
      await expect(again).rejects.toMatchObject({ kind: 'pending', exitCode: 8 });
      expect(requests(made).filter((line) => line.startsWith('PUT t2'))).toEqual([]);
    },
  );

  test.for([
    ['completed', 'paid', 'completed'],
    ['expired', 'unknown', 'outcome-unknown'],
  ] as const)(
    'reports the outcome of the first attempt if the first attempt becomes `%s` while the second attempt fails',
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

  test('keeps the latest known state of a payment if a read returns `quoted` again', async () => {
    const made = bench();
    made.fail('confirm', lost(), lost(), lost(), lost(), lost());
    await made.pay().catch(() => undefined);
    made.transactions[0] = { ...made.transactions[0]!, txnState: 'expired' };
    await resume(made.payment(), { ...waiting, consent: made.asks }, made.deps).catch(
      () => undefined,
    );
    expect(made.now().state).toBe('unknown');
    made.transactions[0] = { ...made.transactions[0]!, txnState: 'quoted' };
    const unwaited = { ...waiting, wait: false, consent: made.asks } as const;
    await expect(resume(made.payment(), unwaited, made.deps)).rejects.toMatchObject({
      kind: 'outcome-unknown',
      exitCode: 8,
    });
    const seen = bench();
    await seen.pay({ wait: false });
    seen.transactions[0] = { ...seen.transactions[0]!, txnState: 'quoted' };
    expect(await resume(seen.payment(), unwaited, seen.deps)).toMatchObject({
      txnState: 'srccreated',
    });
  });

  test('reports an unrecognized state of a new transaction and sends no confirmation', async () => {
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
    ['took effect', 'srccreated', 0, 'completed'],
    ['had no effect', 'quoted', 0, 'pending'],
    ['cannot be read back', 'srccreated', 9, 'pending'],
  ] as const)(
    'reads the transaction after a rate-limited confirmation that %s',
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

  test('reads the transaction again if the answer to the last confirmation is lost', async () => {
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

  test('reports an unknown outcome with a resume hint after an interrupt during the confirmation', async () => {
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

describe('the payment driver after a refused create request with an outdated list of transactions', () => {
  /**
   * Simulates a service whose list stays empty for `ms` and which refuses a reference that is
   * already used, but reports no reason.
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
    pay({ instruction: asked, ref: 'R', terms: {}, consent: approved }, waiting, deps);

  test('reports the refusal of the create request if the list shows the reference only after 3 s', async () => {
    const made = lagging(bench(undefined, [known('R', 'quoted')]), 3_000);
    await expect(payAt(made)).rejects.toMatchObject({ kind: 'refused', exitCode: 3 });
  });

  test('reports the refusal of the create request if the list never shows the reference', async () => {
    const made = lagging(bench(undefined, [known('R', 'quoted')]), 1e9);
    await expect(payAt(made)).rejects.toMatchObject({ kind: 'refused' });
  });

  test('reports an unknown outcome if a killed run may have sent the create request', async () => {
    const made = bench();
    const { service } = made.deps;
    const cutOff = {
      ...service,
      createTransaction: async (body: Parameters<typeof service.createTransaction>[0]) => {
        await service.createTransaction(body);
        return new Promise<Transaction>(() => undefined);
      },
    };
    void pay({ instruction: asked, ref: 'R', terms: {}, consent: approved }, waiting, {
      ...made.deps,
      service: cutOff,
    });
    await expect.poll(() => made.transactions).toHaveLength(1);
    await expect(payAt(lagging(made, 1e9))).rejects.toMatchObject({ kind: 'pending' });
    expect(made.now()).toMatchObject({ state: 'requested', abandoned: false });
    expect(await made.pay()).toMatchObject({ txnState: 'completed', txnId: 't1' });
  });
});

describe('the payment driver for a conversion with a loss of 10 %', () => {
  const answers: readonly (readonly [
    why: string,
    rates: Rates,
    maxRateLoss: string | undefined,
    end: string,
  ])[] = [
    ['refuses a loss of 10 % over a limit of 1 %', { BTCUSDT: 100_000 }, '1', 'limit'],
    ['accepts a loss of 10 % under a limit of 20 %', { BTCUSDT: 100_000 }, '20', 'paid'],
    ['refuses a loss of 10 % without a given limit', { BTCUSDT: 100_000 }, undefined, 'limit'],
    [
      'computes the loss from the inverse rate if the direct rate is 0',
      { BTCUSDT: 0, USDTBTC: 0.00001 },
      undefined,
      'limit',
    ],
    ['refuses a conversion with a loss limit if its only rate is 0', { BTCUSDT: 0 }, '1', 'limit'],
    ['refuses a conversion with a loss limit if the service has no rates', {}, '1', 'limit'],
    [
      'accepts a conversion without a loss limit if the service has no rates',
      {},
      undefined,
      'paid',
    ],
  ];
  test.each(answers)('the payment driver %s', async (_why, rates, maxRateLoss, end) => {
    const made = bench();
    made.rates = rates;
    made.quotes = (body) => ({
      fxRate: 90_000,
      destReq: { ...quoteOf(body, '', made.time).destReq, amtRequested: 0.9 },
    });
    const swap = swapOrder('BTC', 'USDT', money('BTC', '0.00001'), 'source');
    const paying = pay(
      {
        instruction: instructionOfOrder(swap, false),
        ref: 'R',
        terms: { maxRateLoss },
        consent: approved,
      },
      waiting,
      made.deps,
    );
    expect(
      await paying.then(
        () => 'paid',
        (error: unknown) => (error instanceof Failure ? error.kind : error),
      ),
    ).toBe(end);
  });
});

test.each([
  ['accepts a quote that omits its fees if --max-fee is not set', undefined, 'paid'],
  ['refuses a quote that omits its fees if --max-fee is set', { percent: '1' }, 'limit'],
])('pay %s', async (_why, maxFee, end) => {
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

test('pay refuses a conversion at the rate 0', async () => {
  const made = bench();
  made.quotes = (body) => ({
    fxRate: 0,
    destReq: { ...quoteOf(body, '', made.time).destReq, amtRequested: 0.9 },
  });
  const swap = swapOrder('BTC', 'USDT', money('BTC', '0.00001'), 'source');
  await expect(
    pay(
      { instruction: instructionOfOrder(swap, false), ref: 'R', terms: {}, consent: approved },
      waiting,
      made.deps,
    ),
  ).rejects.toMatchObject({ kind: 'refused' });
});

describe('the payment driver for a quote that another client may have confirmed', () => {
  const lapsedNow = async (made: Bench): Promise<void> => {
    await made.pay({ until: 'quoted' });
    made.transactions[0] = { ...made.transactions[0]!, txnState: 'expired' };
  };

  test('reports an unknown outcome if an event showed a later state of the expired quote', async () => {
    const made = bench();
    await lapsedNow(made);
    const reported = async (txnId: string): Promise<string[]> =>
      txnId === 't1' ? ['quoted', 'srccreated'] : [];
    const run = (from: Bench) =>
      pay({ instruction: asked, ref: 'R', terms: {}, consent: approved }, waiting, {
        ...from.deps,
        reported,
      });
    await expect(run(made)).rejects.toMatchObject({ kind: 'outcome-unknown', txnId: 't1' });
    // The journal of another home has no record of the payment.
    const elsewhere = bench(undefined, made.transactions);
    await expect(run(elsewhere)).rejects.toMatchObject({ kind: 'outcome-unknown', txnId: 't1' });
    expect([...requests(made), ...requests(elsewhere)]).toEqual(['POST R', 'POST R']);
  });

  test('reports an unknown outcome if a read showed a later state of the expired quote', async () => {
    const made = bench();
    await lapsedNow(made);
    await recordRead(
      made.payment(),
      { ...made.transactions[0]!, txnState: 'destsent' },
      made.deps.journal,
      'a look',
    );
    await expect(made.pay()).rejects.toMatchObject({ kind: 'outcome-unknown', txnId: 't1' });
    expect(requests(made)).toEqual(['POST R']);
  });
});

describe('the payment driver near a daily limit', () => {
  const hour = 3_600_000;
  const clocks: readonly [
    what: string,
    machine: number,
    service: number,
    kind: string | undefined,
  ][] = [
    ['still counts a payment if only the clock of the machine moves a day ahead', 25, 0, 'limit'],
    ['still counts a payment if only the clock of the service runs a day ahead', 0, 25, 'limit'],
    ['still counts a payment if the clock of the machine is set back a day', -25, 0, 'limit'],
    ['stops counting a payment if both clocks are a day ahead', 25, 25, undefined],
  ];
  test.each(clocks)(
    'measures a day by the clock of the machine and the clock of the service, and %s',
    async (_what, machine, service, kind) => {
      const made = bench();
      const deps = {
        ...made.deps,
        limits: { perPayment: {}, perDay: { BTC: '0.000015' }, destinations: [] },
      };
      const payAs = (ref: string) =>
        pay({ instruction: asked, ref, terms: {}, consent: approved }, waiting, deps);
      await payAs('R');
      made.time += machine * hour;
      made.ahead += (service - machine) * hour;
      const second = payAs('Q').then(
        () => undefined,
        (error: unknown) => (error instanceof Failure ? error.kind : error),
      );
      expect(await second).toBe(kind);
    },
  );
});

describe('the payment driver with a failing journal', () => {
  const before: readonly [
    what: string,
    fails: (change: PaymentChange) => boolean,
    sent: string[],
  ][] = [
    ['at the start', (change) => Object.keys(change).length === 0, []],
    ['after the quote', ({ attempt }) => attempt?.state === 'quoted', ['POST R']],
    ['before the confirmation', ({ attempt }) => attempt?.state === 'submitting', ['POST R']],
  ];
  test.each(before)(
    'stops a payment if the journal cannot be written %s',
    async (_what, fails, sent) => {
      const made = bench();
      made.journalFails = fails;
      await expect(made.pay()).rejects.toMatchObject({ exitCode: 2 });
      expect(requests(made)).toEqual(sent);
    },
  );

  test.each([['in-flight'], ['paid']])(
    'continues a payment with a notice if the journal cannot be written at `%s`',
    async (state) => {
      const made = bench();
      made.journalFails = (change) => change.attempt?.state === state;
      expect(await made.pay()).toMatchObject({ txnState: 'completed' });
      expect(made.events.filter(({ type }) => type === 'journal-failed')).toHaveLength(1);
      made.journalFails = () => false;
      expect(
        await resume(made.payment(), { ...waiting, consent: made.asks }, made.deps),
      ).toMatchObject({
        txnState: 'completed',
      });
      expect(made.now()).toMatchObject({ state: 'paid', txnState: 'completed' });
    },
  );
});

describe('the payment driver after the submission', () => {
  test('reports an unknown outcome if a resumed payment cannot be read', async () => {
    const made = bench();
    await made.pay({ wait: false });
    made.fail('read', notSent());
    await expect(
      resume(made.payment(), { ...waiting, consent: made.asks }, made.deps),
    ).rejects.toMatchObject({
      kind: 'pending',
      txnId: 't1',
    });
    expect(
      await resume(made.payment(), { ...waiting, consent: made.asks }, made.deps),
    ).toMatchObject({
      txnState: 'completed',
    });
  });

  test('ends the wait at the timeout even if the clock jumps back', async () => {
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

  test('reports an unknown outcome if a read returns another transaction', async () => {
    const made = bench();
    await made.pay({ wait: false });
    const service = {
      ...made.deps.service,
      transaction: async () => ({ ...made.transactions[0]!, txnId: 't9', txnState: 'completed' }),
    };
    Object.assign(made.deps, { service });
    await expect(
      resume(made.payment(), { ...waiting, consent: made.asks }, made.deps),
    ).rejects.toMatchObject({
      kind: 'pending',
    });
  });
});

describe('the payment driver for tx resume', () => {
  test('leaves a payment open after a temporary failure', async () => {
    const made = bench();
    made.journalFails = ({ abandoned, attempt }) =>
      abandoned === true || attempt?.state === 'quoted';
    await made.pay().catch(() => undefined);
    made.journalFails = () => false;
    expect(made.now()).toMatchObject({ state: 'requested', abandoned: false });
    made.fail('create', notSent(), notSent(), notSent(), notSent());
    await expect(
      resume(made.payment(), { ...waiting, consent: made.asks }, made.deps),
    ).rejects.toMatchObject({
      kind: 'temporary',
    });
    expect(made.now().abandoned).toBe(false);
    expect(
      await resume(made.payment(), { ...waiting, consent: made.asks }, made.deps),
    ).toMatchObject({
      txnId: 't1',
      txnState: 'completed',
    });
  });

  test('abandons a resumed payment that the person declines', async () => {
    const made = bench();
    made.journalFails = ({ abandoned }) => abandoned === true;
    made.says = () => false;
    await made.pay({ yes: false }).catch(() => undefined);
    made.journalFails = () => false;
    expect(made.now()).toMatchObject({ state: 'quoted', abandoned: false });
    await expect(
      resume(made.payment(), { ...waiting, consent: made.asks }, made.deps),
    ).rejects.toMatchObject({
      kind: 'declined',
    });
    expect(made.now().abandoned).toBe(true);
  });

  test('refuses a payment that was abandoned after the list was read', async () => {
    const made = bench();
    made.journalFails = ({ abandoned, attempt }) =>
      abandoned === true || attempt?.state === 'quoted';
    await made.pay().catch(() => undefined);
    made.journalFails = () => false;
    const listed = made.payment();
    for (const row of made.store.rows.values()) row.payment = { ...row.payment, abandoned: true };
    await expect(
      resume(listed, { ...waiting, consent: made.asks }, made.deps),
    ).rejects.toMatchObject({ kind: 'usage' });
    expect(made.now().abandoned).toBe(true);
  });

  test('refuses to resume a payment if a different payment has taken its reference since svcpay listed it', async () => {
    const made = bench();
    made.journalFails = ({ abandoned, attempt }) =>
      abandoned === true || attempt?.state === 'quoted';
    await made.pay().catch(() => undefined);
    made.journalFails = () => false;
    const listed = made.payment();
    for (const row of made.store.rows.values()) row.payment = { ...row.payment, digest: 'another' };
    await expect(
      resume(listed, { ...waiting, consent: made.asks }, made.deps),
    ).rejects.toMatchObject({ kind: 'usage' });
    expect(requests(made)).toEqual(['POST R']);
  });

  test('reports a failed payment without a new attempt', async () => {
    const made = bench();
    made.confirms = () => 'failed';
    await made.pay().catch(() => undefined);
    await expect(
      resume(made.payment(), { ...waiting, consent: made.asks }, made.deps),
    ).rejects.toMatchObject({
      kind: 'payment-failed',
    });
    expect(requests(made)).toEqual(['POST R', 'PUT t1']);
  });
});
