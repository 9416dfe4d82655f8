// Tests the rules for transactions of every kind: amounts, references, confirmation, cancellation,
// swaps and the list.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fresh, lightningReceive, lightningSend, swap, type Fresh } from '../support.js';

let sandbox: Fresh;

beforeEach(async () => {
  sandbox = await fresh();
});

afterEach(() => sandbox.close());

const amounts = async (): Promise<Record<string, number>> => {
  const { accounts } = (await sandbox.control('GET', 'status')).body;
  const { wallets }: { wallets: { ccy: string; amount: number }[] } = accounts[0];
  return Object.fromEntries(wallets.map(({ ccy, amount }) => [ccy, amount]));
};

describe('the sandbox for a swap', () => {
  test('executes a swap at once, with its fee on top of the source amount', async () => {
    const txn = await sandbox.run(swap(25, 'USDT', 'BTC'));
    expect(txn).toMatchObject({
      txnState: 'completed',
      fxRate: 0.00001,
      sourceReq: {
        ccy: 'USDT',
        amtRequested: 25,
        amtSettled: 25,
        servicepayFees: 0.0625,
        networkFees: 0,
      },
      destReq: { ccy: 'BTC', amtRequested: 0.00025, amtSettled: 0.00025, reqStatus: '2' },
    });
    expect(await amounts()).toMatchObject({ USDT: 9974.9375, BTC: 1.00025 });
  });

  test('credits exactly the amount requested on the destination side', async () => {
    const txn = await sandbox.run({
      sourceReq: { ccy: 'BTC', method: 'servicepay' },
      destReq: { ccy: 'VND', method: 'servicepay', amtRequested: 500_001 },
    });
    expect(txn).toMatchObject({ txnState: 'completed', fxRate: 2_500_000_000 });
    expect(txn.sourceReq).toMatchObject({ amtRequested: 0.00020001, servicepayFees: 0.00000051 });
    expect(await amounts()).toMatchObject({ VND: 50_500_001, BTC: 0.99979948 });
  });

  test('opens a wallet for the new currency of a swap', async () => {
    await sandbox.run(swap(10, 'USD', 'EUR'));
    expect(await amounts()).toMatchObject({ EUR: 9 });
  });

  test('fails a swap at the confirmation if the balance became too small after the quote', async () => {
    const quotes = await Promise.all([1, 2].map(() => sandbox.create(swap(6000, 'USDT', 'USD'))));
    const states = [];
    for (const { body } of quotes) states.push((await sandbox.confirm(body.txnId)).body.txnState);
    expect(states).toEqual(['completed', 'failed']);
    expect(await amounts()).toMatchObject({ USDT: 3985, USD: 11_000 });
  });
});

describe('the sandbox for a quote', () => {
  test('answers the confirmation of an expired quote with code 2005', async () => {
    const { body } = await sandbox.create(swap(1, 'USDT', 'USD'));
    await sandbox.advance('60s');
    const late = await sandbox.confirm(body.txnId);
    expect([late.status, late.body]).toEqual([
      400,
      {
        resultStatus: 'error',
        code: '2005',
        error: `transaction ${body.txnId} already in final state expired`,
        errorMetadata: { params: JSON.stringify({ State: 'expired', TxnID: body.txnId }) },
      },
    ]);
    expect((await sandbox.get(body.txnId)).body.txnState).toBe('expired');
  });

  test('refuses to confirm or cancel a cancelled quote', async () => {
    const { body } = await sandbox.create(swap(1, 'USDT', 'USD'));
    expect((await sandbox.cancel(body.txnId)).body.txnState).toBe('usercanceled');
    for (const answer of [await sandbox.confirm(body.txnId), await sandbox.cancel(body.txnId)]) {
      expect([answer.status, answer.body.code]).toEqual([400, '2005']);
    }
    expect(await amounts()).toMatchObject({ USDT: 10_000, USD: 5_000 });
  });

  test('confirms a quote once if concurrent requests confirm it', async () => {
    const { body } = await sandbox.create(swap(1, 'USDT', 'USD'));
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => sandbox.confirm(body.txnId)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(400)]);
    expect(await amounts()).toMatchObject({ USD: 5_001 });
  });

  test('requires a content type for a confirmation, although a confirmation has no body', async () => {
    const { body } = await sandbox.create(swap(1, 'USDT', 'USD'));
    const answer = await sandbox.call('PUT', `/transaction/${body.txnId}/confirm`, undefined, {
      'content-type': '',
    });
    expect([answer.status, answer.body.error]).toEqual([400, 'bad request']);
    expect((await sandbox.get(body.txnId)).body.txnState).toBe('quoted');
  });

  test('accepts a reference only once', async () => {
    const first = await sandbox.create(swap(1, 'USDT', 'USD', { extRefId: 'r' }));
    const second = await sandbox.create(lightningReceive(0.1, { extRefId: 'r' }));
    expect([first.status, second.status, second.body]).toEqual([
      200,
      400,
      { error: 'bad request', message: 'extRefId has already been used' },
    ]);
  });

  test('creates a quote even at the path with a trailing slash', async () => {
    expect((await sandbox.call('POST', '/transaction/', swap(1, 'USDT', 'USD'))).status).toBe(200);
  });

  test.for(['GET', 'PUT'])(
    'answers 404 to a %s request with an unknown transaction id',
    async (method) => {
      const path = '/transaction/00000000-0000-4000-8000-000000000000';
      const answer = await sandbox.call(method, method === 'GET' ? path : `${path}/confirm`);
      expect([answer.status, answer.body]).toEqual([404, { error: 'not found' }]);
    },
  );
});

describe('the sandbox for a create request', () => {
  const source = { ccy: 'USDT', method: 'servicepay' };
  const one = { ...source, amtRequested: 1 };
  const dest = { ccy: 'USD', method: 'servicepay' };
  const withAmount = (literal: string): string =>
    `{"sourceReq":{"ccy":"USDT","method":"servicepay","amtRequested":${literal}},"destReq":${JSON.stringify(dest)}}`;

  const bad: readonly { what: string; body: unknown }[] = [
    { what: 'an empty body', body: '' },
    { what: 'broken JSON', body: '{"sourceReq":' },
    { what: 'an array as the body', body: [] },
    { what: 'no destination', body: { sourceReq: source } },
    { what: 'a number instead of a side', body: { sourceReq: 5, destReq: dest } },
    { what: 'an unknown currency', body: { sourceReq: { ...one, ccy: 'XYZ' }, destReq: dest } },
    { what: 'an unknown method', body: { sourceReq: one, destReq: { ...dest, method: 'cash' } } },
    {
      what: 'the method name of another service',
      body: { sourceReq: { ...one, method: 'acmepay' }, destReq: dest },
    },
    { what: 'no amount', body: { sourceReq: source, destReq: dest } },
    { what: 'two amounts', body: { sourceReq: one, destReq: { ...dest, amtRequested: 1 } } },
    {
      what: 'one currency on both sides',
      body: { sourceReq: one, destReq: { ...dest, ccy: 'USDT' } },
    },
    { what: 'an amount as text', body: withAmount('"1"') },
    { what: 'an amount of zero', body: withAmount('0') },
    { what: 'a negative amount', body: withAmount('-1') },
    { what: 'seven decimals in an amount of USDT', body: withAmount('1.0000001') },
    {
      what: 'more decimals in an amount than a double has',
      body: withAmount('1.00000000000000000001'),
    },
    { what: 'an amount that is too small to convert', body: withAmount('0.000001') },
    { what: 'an amount of 1e30', body: withAmount('1e30') },
    { what: 'an amount of 1e400', body: withAmount('1e400') },
    { what: 'a number as the reference', body: { ...swap(1, 'USDT', 'USD'), extRefId: 5 } },
    {
      what: 'a null character in the reference',
      body: swap(1, 'USDT', 'USD', { extRefId: 'a\0b' }),
    },
    { what: 'a null character in the note', body: swap(1, 'USDT', 'USD', { note: 'a\0b' }) },
    { what: 'an empty reference', body: swap(1, 'USDT', 'USD', { extRefId: '' }) },
    {
      what: 'the amount of a receive on the source side',
      body: {
        sourceReq: { ccy: 'BTC', method: 'lightning', amtRequested: 1 },
        destReq: { ccy: 'BTC', method: 'servicepay' },
      },
    },
    {
      what: 'nine decimals in the amount of a receive',
      body: JSON.stringify(lightningReceive(7)).replace('7', '0.000000001'),
    },
    {
      what: 'a currency other than BTC over Lightning',
      body: {
        sourceReq: { ccy: 'USDT', method: 'lightning' },
        destReq: { ccy: 'USDT', method: 'servicepay', amtRequested: 1 },
      },
    },
    {
      what: 'no invoice for a Lightning send',
      body: {
        sourceReq: { ccy: 'BTC', method: 'servicepay' },
        destReq: { ccy: 'BTC', method: 'lightning', reqDetails: {} },
      },
    },
  ];
  test.for(bad.map((each) => [each.what, each] as const))(
    'refuses a create request with %s',
    async ([, { body }]) => {
      const answer = await sandbox.call('POST', '/transaction', body);
      expect([answer.status, answer.body.error]).toEqual([400, 'bad request']);
      expect((await sandbox.call('GET', '/transaction')).body.pagination.total).toBe(0);
    },
  );

  test('accepts an amount with all six decimals of USDT', async () => {
    const { body } = await sandbox.call('POST', '/transaction', withAmount('9.999999'));
    expect(body.sourceReq.amtRequested).toBe(9.999999);
  });

  test('writes amounts without an exponent', async () => {
    const answer = await sandbox.create(lightningReceive(0.00000001));
    expect(answer.text).toContain('"amtRequested":0.00000001,');
  });

  test('ignores unknown fields', async () => {
    expect((await sandbox.create(swap(1, 'USDT', 'USD', { colour: 'green' }))).status).toBe(200);
  });

  test('refuses a create request with both an amount and an invoice', async () => {
    const body = JSON.stringify(lightningSend(await sandbox.invoice('1000sat')));
    const answer = await sandbox.call(
      'POST',
      '/transaction',
      body.replace('"method"', '"amtRequested":1,"method"'),
    );
    expect([answer.status, answer.body.error]).toEqual([400, 'bad request']);
  });
});

describe('the sandbox list of transactions', () => {
  const list = async (query = '') => (await sandbox.call('GET', `/transaction${query}`)).body;
  /**
   * The references on a page of the list. The receives that fund a new sandbox have no reference.
   */
  const refs = async (query: string): Promise<string[]> =>
    (await list(query)).data.flatMap(({ extRefId }: { extRefId?: string }) => extRefId ?? []);

  test('returns transactions with abbreviated sides, the newest first, and their total number', async () => {
    await sandbox.create(swap(1, 'USDT', 'USD', { extRefId: 'a' }));
    await sandbox.run(swap(2, 'USDT', 'USD', { extRefId: 'b' }));
    const { data, pagination } = await list();
    expect(pagination).toEqual({ page: 1, limit: 20, total: 2 });
    expect(data[0]).toEqual({
      txnId: expect.any(String),
      accountId: sandbox.accountId,
      accountDisplayName: 'Sandbox',
      extRefId: 'b',
      txnState: 'completed',
      sourceReq: {
        ccy: 'USDT',
        method: 'servicepay',
        amtRequested: 2,
        amtSettled: 2,
        servicepayFees: 0.005,
        networkFees: 0,
        reqStatus: '2',
      },
      destReq: { ccy: 'USD', method: 'servicepay', amtRequested: 2, amtSettled: 2, reqStatus: '2' },
      fxRate: 1,
      createdAt: expect.any(Number),
    });
    expect(data[1].extRefId).toBe('a');
  });

  test.for(
    [
      { filter: 'without a filter', query: '' },
      { filter: 'with a filter by state', query: '&txnStatuses=quoted' },
    ].map((each) => [each.filter, each] as const),
  )('contains each transaction once over all pages %s', async ([, { query }]) => {
    for (let i = 0; i < 7; i += 1)
      await sandbox.create(swap(1, 'USDT', 'USD', { extRefId: `r${i}` }));
    const pages = await Promise.all(
      [1, 2, 3, 4].map((page) => refs(`?limit=3&page=${page}${query}`)),
    );
    expect(pages).toEqual([['r6', 'r5', 'r4'], ['r3', 'r2', 'r1'], ['r0'], []]);
  });

  test('filters transactions by state and method, and accepts several values in one parameter or in repeated parameters', async () => {
    await sandbox.create(swap(1, 'USDT', 'USD', { extRefId: 'quoted' }));
    await sandbox.run(swap(1, 'USDT', 'USD', { extRefId: 'swapped' }));
    await sandbox.run(lightningReceive(0.1, { extRefId: 'received' }));
    await sandbox.create(lightningSend(await sandbox.invoice('1000sat'), { extRefId: 'sent' }));
    expect(await refs('?txnStatuses=completed,srccreated')).toEqual(['received', 'swapped']);
    expect(await refs('?txnStatuses=completed&txnStatuses=srccreated')).toEqual([
      'received',
      'swapped',
    ]);
    expect(await refs('?txnStatuses[]=completed&txnStatuses%5B%5D=srccreated')).toEqual([
      'received',
      'swapped',
    ]);
    expect(await refs('?srcMethods=lightning')).toEqual(['received']);
    expect(await refs('?destMethods=lightning')).toEqual(['sent']);
    expect(await refs('?excludedSrcMethods=lightning&txnStatuses=quoted')).toEqual([
      'sent',
      'quoted',
    ]);
    expect(await refs('?excludedDestMethods=servicepay')).toEqual(['sent']);
    expect(await refs('?destMethods=tron')).toEqual([]);
    expect(await refs('?unknown=a?b&destMethods=lightning')).toEqual(['sent']);
  });

  test('returns the last seven days by default', async () => {
    await sandbox.create(swap(1, 'USDT', 'USD', { extRefId: 'old' }));
    const created = (await list()).data[0].createdAt;
    await sandbox.advance('8d');
    sandbox = { ...sandbox, ...(await sandbox.login(sandbox)) };
    await sandbox.create(swap(1, 'USDT', 'USD', { extRefId: 'new' }));
    const at = (ms: number): string => new Date(ms).toISOString();
    expect(await refs('')).toEqual(['new']);
    expect(await refs('?time=1d')).toEqual(['new']);
    expect(await refs('?time=30d')).toEqual(['new', 'old']);
    expect(await refs('?time=other')).toEqual(['new', 'old']);
    expect(await refs(`?time=other&endTime=${at(created)}`)).toEqual(['old']);
    expect(await refs(`?time=other&startTime=${at(created)}&endTime=${at(created)}`)).toEqual([
      'old',
    ]);
    expect(await refs(`?time=other&startTime=${at(created + 1)}`)).toEqual(['new']);
    expect(await refs(`?time=30d&startTime=${at(created + 1)}`)).toEqual(['new', 'old']);
  });

  // Endpoint 10 defines startTime and endTime as ISO 8601 times, and its list includes transactions
  // at exactly these times.
  test.for([
    ['2031-05-17T10:00:00.000Z', true],
    ['2031-05-17T10:00:00', true],
    ['2031-05-17T12:00%2B02:00', true],
    ['2031-05-17', true],
    ['2031-05-17T10:00:00.001', false],
    ['2031-05-17T09:00-0200', false],
    ['2031-05-18', false],
  ] as const)('reads startTime=%s in UTC unless it has a time zone', async ([from, isListed]) => {
    const later = await fresh({ now: () => Date.UTC(2031, 4, 17, 10) });
    await later.create(swap(1, 'USDT', 'USD'));
    const { data } = (await later.call('GET', `/transaction?time=other&startTime=${from}`)).body;
    expect(data).toHaveLength(isListed ? 1 : 0);
    await later.close();
  });

  test('keeps the order of transactions if the machine clock is set back', async () => {
    let machine = Date.now();
    const stepping = await fresh({ now: () => machine });
    await stepping.control('POST', 'clock/thaw');
    const first = (await stepping.create(swap(1, 'USDT', 'USD'))).body;
    machine -= 5_000;
    const second = (await stepping.create(swap(1, 'USDT', 'USD'))).body;
    expect(second.createdAt).toBeGreaterThanOrEqual(first.createdAt);
    const { data } = (await stepping.call('GET', '/transaction')).body;
    expect(data.map(({ txnId }: { txnId: string }) => txnId)).toEqual([second.txnId, first.txnId]);
    await stepping.close();
  });

  test('contains at most 100 transactions per page', async () => {
    expect((await list('?limit=5000')).pagination.limit).toBe(100);
  });

  test.for([
    'limit=0',
    'limit=-1',
    'limit=x',
    'limit=1.5',
    'page=0',
    'page=1e3',
    'time=2d',
    'time=constructor',
    'txnStatuses=done',
    'time=other&startTime=yesterday',
    'time=other&endTime=2026-13-01',
    'time=other&startTime=2026-02-30',
  ])('refuses the query ?%s', async (query) => {
    expect((await sandbox.call('GET', `/transaction?${query}`)).status).toBe(400);
  });
});

describe('the sandbox for rates, resets and unknown paths', () => {
  test('names both currencies of each exchange rate', async () => {
    const { data } = (await sandbox.call('GET', '/rate')).body;
    expect(data).toMatchObject({ BTCUSD: 100_000, BTCVND: 2_500_000_000, USDTUSD: 1 });
  });

  test('uses the configured service name on the wire', async () => {
    const acme = await fresh({ maker: 'acme' });
    const { status, body } = await acme.create({
      sourceReq: { ccy: 'USDT', method: 'acmepay', amtRequested: 1 },
      destReq: { ccy: 'USD', method: 'acmepay' },
    });
    expect(status).toBe(200);
    expect(body.sourceReq).toMatchObject({ method: 'acmepay', acmepayFees: 0.0025 });
    expect((await acme.call('GET', '/transaction')).body.data[0].sourceReq.acmepayFees).toBe(
      0.0025,
    );
    expect(JSON.stringify(body)).not.toContain('servicepay');
    await acme.close();
  });

  test('keeps the credentials and deletes all data at a reset', async () => {
    await sandbox.run(swap(1, 'USDT', 'USD'));
    await sandbox.advance('1d');
    await sandbox.control('POST', 'reset');
    const again = await sandbox.login(sandbox);
    const { data } = (await again.call('GET', '/transaction?time=other')).body;
    expect(data.map(({ note }: { note: string }) => note)).toEqual(
      Array.from({ length: 5 }, () => 'Sandbox money'),
    );
    expect(await amounts()).toMatchObject({ USDT: 10_000, USD: 5_000 });
    expect((await sandbox.control('GET', 'clock')).body.frozen).toBe(false);
  });

  test('answers 404 for an unknown path', async () => {
    expect((await sandbox.call('GET', '/nothing')).body).toEqual({ error: 'not found' });
    expect((await sandbox.call('DELETE', '/transaction')).status).toBe(404);
  });

  test('answers a HEAD request with the status of a GET request', async () => {
    const status = async (path: string, headers = sandbox.headers()): Promise<number> =>
      (await sandbox.send(new Request(`${sandbox.url}/api/v2${path}`, { method: 'HEAD', headers })))
        .status;
    expect(await status('/transaction?limit=2')).toBe(200);
    expect(await status('/transaction', {})).toBe(401);
    expect(await status('/transaction/none/confirm')).toBe(404);
  });
});
