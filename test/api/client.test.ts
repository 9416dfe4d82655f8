// Each method of ServiceClient sends the specified request and returns the specified value.
import Big from 'big.js';
import { describe, expect, test } from 'vitest';
import type { ServiceClient } from '../../src/api/client.js';
import type { ListedTransaction, TransactionFilter } from '../../src/api/types.js';
import { answer } from '../support/fake-transport.js';
import {
  baseUrl,
  credentials,
  lost,
  start,
  tokenAnswer,
  tokenPath,
  transaction,
  world,
} from './support/client.js';

const wallet = {
  id: 'w1',
  ccy: 'BTC',
  amount: 1.25,
  availableBalance: 1.245,
  accountId: 'ne01-7f3a',
  createdAt: '2025-01-01T00:00:00.000Z',
  updatedAt: '2025-01-02T00:00:00.000Z',
  color: 'orange',
};
const webhook = { id: 'wh1', callback: 'https://shop.example/hook', createdAt: start };
const bank = { institutionCode: '970436', institutionType: 'bank', institutionName: 'Vietcombank' };
const mobile = { institutionCode: 'MPESA', institutionType: 'mobile', institutionName: 'M-Pesa' };
const usdt = {
  staticOnchainAddress: 'TXYZ',
  walletCcy: 'USDT',
  chainId: 'TRON',
  accountId: 'ne01-7f3a',
};
const page = { data: [transaction()], pagination: { page: 1, limit: 20, total: 1 } };

type Case = [
  request: string,
  call: (client: ServiceClient) => Promise<unknown>,
  answered: unknown,
  returned: unknown,
];

const reads: Case[] = [
  ['/api/v2/account/ne01-7f3a/wallet/', (client) => client.wallets(), { data: [wallet] }, [wallet]],
  [
    '/api/v2/account/ne01-sub/wallet/',
    (client) => client.wallets({ accountId: 'ne01-sub' }),
    { data: [] },
    [],
  ],
  [
    '/api/v2/account/ne01-7f3a',
    (client) => client.account(),
    { id: 'x', more: { a: 1 } },
    { id: 'x', more: { a: 1 } },
  ],
  [
    '/api/v2/account/onchain-address',
    (client) => client.bitcoinAddress(),
    { staticOnchainAddress: 'bc1q' },
    { staticOnchainAddress: 'bc1q' },
  ],
  [
    '/api/v2/account/stablecoin-onchain-address?walletCcy=USDT&chainId=TRON',
    (client) => client.usdtAddress('TRON'),
    { resultStatus: 'success', data: usdt },
    usdt,
  ],
  ['/api/v2/transaction/t1', (client) => client.transaction('t1'), transaction(), transaction()],
  [
    '/api/v2/transaction/a%2Fb%3Fc',
    (client) => client.transaction('a/b?c'),
    transaction(),
    transaction(),
  ],
  ['/api/v2/transaction', (client) => client.transactions(), page, page],
  ['/api/v2/webhook', (client) => client.webhooks(), { data: [webhook] }, [webhook]],
  [
    '/api/v2/reference/fiat-institution/by-country/VN',
    (client) => client.institutions('VN'),
    { banks: [bank], mobiles: [mobile] },
    [bank, mobile],
  ],
  [
    '/api/v2/reference/fiat-institution/by-country/AQ',
    (client) => client.institutions('AQ'),
    '',
    [],
  ],
  [
    '/api/v2/reference/fiat-institution/by-country/GL',
    (client) => client.institutions('GL'),
    {},
    [],
  ],
  [
    '/api/v2/rate',
    (client) => client.rates(),
    { data: { BTCUSD: 70796.845 } },
    { BTCUSD: 70796.845 },
  ],
];

describe('ServiceClient read request', () => {
  test.for(reads)('sends GET %s and returns the data', async ([path, call, answered, returned]) => {
    const { client, service } = world();
    service.on('GET', path, answer(200, answered));
    expect(await call(client)).toEqual(returned);
    const [request] = service.requests();
    expect(request).toMatchObject({
      url: baseUrl + path,
      headers: {
        accept: 'application/json',
        authorization: 'Bearer kept-token',
        'user-agent': 'svcpay/1.2.3',
      },
      body: undefined,
    });
    expect(request!.headers).not.toHaveProperty('content-type');
  });

  test.for(['', '.', '..', 'half a \ud83d'])(
    'refuses "%s" as a transaction id because it changes the path',
    async (id) => {
      const { client, service } = world();
      await expect(client.transaction(id)).rejects.toMatchObject({ kind: 'usage', exitCode: 2 });
      expect(service.requests()).toEqual([]);
    },
  );

  test('uses the accountId option only in requests for the account and its wallets', async () => {
    const { client, service } = world({ accountId: 'ne01-sub' });
    service.on('GET', '/api/v2/account/ne01-sub/wallet/', answer(200, { data: [] }));
    service.on('GET', '/api/v2/account/ne01-sub', answer(200, {}));
    service.on(
      'GET',
      '/api/v2/account/onchain-address',
      answer(200, { staticOnchainAddress: 'bc1q' }),
    );
    await client.wallets();
    await client.account();
    await client.bitcoinAddress();
  });
});

describe('ServiceClient write request', () => {
  test('sends exactly the given fields in a create request', async () => {
    const { client, service } = world();
    service.on('POST', '/api/v2/transaction', answer(200, transaction()));
    const created = await client.createTransaction({
      sourceReq: { ccy: 'BTC', method: 'servicepay', reqDetails: {} },
      destReq: {
        ccy: 'BTC',
        method: 'on-chain',
        amtRequested: new Big('0.00001'),
        reqDetails: { address: 'bc1q' },
      },
      extRefId: 'order-118',
      note: undefined,
      deductNetworkFeesFromDest: true,
    });
    expect(created).toEqual(transaction());
    const [request] = service.requests();
    expect(request!.headers['content-type']).toBe('application/json');
    expect(request!.body).toBe(
      '{"sourceReq":{"ccy":"BTC","method":"servicepay","reqDetails":{}},' +
        '"destReq":{"ccy":"BTC","method":"on-chain","amtRequested":0.00001,"reqDetails":{"address":"bc1q"}},' +
        '"extRefId":"order-118","deductNetworkFeesFromDest":true}',
    );
  });

  test.for([
    ['a decimal', new Big('1e-8'), '0.00000001'],
    ['a small number', 1e-8, '0.00000001'],
    ['the total supply of bitcoin', new Big('20999999.9769'), '20999999.9769'],
    [
      'a number with more digits than a float',
      new Big('123456789012.12345678'),
      '123456789012.12345678',
    ],
    ['a large whole number', 1e21, '1000000000000000000000'],
  ] as const)('sends %s as an exact amount without an exponent', async ([, amtRequested, text]) => {
    const { client, service } = world();
    service.on('POST', '/api/v2/transaction', answer(200, transaction()));
    await client.createTransaction({
      sourceReq: { ccy: 'BTC', method: 'lightning' },
      destReq: { ccy: 'BTC', method: 'servicepay', amtRequested },
    });
    expect(service.requests()[0]!.body).toContain(`"amtRequested":${text}}`);
  });

  test('refuses the amount NaN before any request', async () => {
    const { client } = world();
    const sourceReq = { ccy: 'BTC', method: 'servicepay', amtRequested: Number.NaN };
    const destReq = { ccy: 'USDT', method: 'servicepay' };
    await expect(client.createTransaction({ sourceReq, destReq })).rejects.toThrow(
      'NaN cannot be written as JSON',
    );
  });

  test('sends a confirmation without a body, but with the content type JSON', async () => {
    const { client, service } = world();
    service.on(
      'PUT',
      '/api/v2/transaction/t%201/confirm',
      answer(200, transaction({ txnState: 'srccreated' })),
    );
    expect(await client.confirmTransaction('t 1')).toMatchObject({ txnState: 'srccreated' });
    expect(service.requests()[0]).toMatchObject({
      headers: { 'content-type': 'application/json' },
      body: undefined,
    });
  });

  test('creates a webhook with its callback and secret', async () => {
    const { client, service } = world();
    service.on('POST', '/api/v2/webhook', answer(200, webhook));
    expect(await client.createWebhook({ callback: webhook.callback, secret: 'hush' })).toEqual(
      webhook,
    );
    expect(service.requests()[0]!.body).toBe(`{"callback":"${webhook.callback}","secret":"hush"}`);
  });

  test.for(['', '{"resultStatus":"success"}', JSON.stringify(webhook)])(
    'accepts the answer %j to a change or removal of a webhook',
    async (body) => {
      const { client, service } = world();
      service.on('PUT', '/api/v2/webhook/wh1', answer(200, body));
      service.on('DELETE', '/api/v2/webhook/wh1', answer(204, body));
      await client.updateWebhook('wh1', { secret: 'new' });
      await client.removeWebhook('wh1');
      const [update, removal] = service.requests();
      expect(update).toMatchObject({
        body: '{"secret":"new"}',
        headers: { 'content-type': 'application/json' },
      });
      expect(removal!.body).toBeUndefined();
      expect(removal!.headers).not.toHaveProperty('content-type');
    },
  );
});

describe('ServiceClient transaction list', () => {
  const filters: [TransactionFilter, string][] = [
    [{}, ''],
    [{ time: '30d' }, '?time=30d'],
    [
      { time: 'other', startTime: '2025-01-01T00:00:00.000Z', endTime: '2025-01-31T23:59:59.999Z' },
      '?time=other&startTime=2025-01-01T00%3A00%3A00.000Z&endTime=2025-01-31T23%3A59%3A59.999Z',
    ],
    [{ txnStatuses: ['quoted', 'expired'] }, '?txnStatuses=quoted&txnStatuses=expired'],
    [{ txnStatuses: [] }, ''],
    [
      { srcMethods: 'servicepay', destMethods: 'on-chain' },
      '?srcMethods=servicepay&destMethods=on-chain',
    ],
    [
      { excludedSrcMethods: 'lnurl', excludedDestMethods: 'tron' },
      '?excludedSrcMethods=lnurl&excludedDestMethods=tron',
    ],
    [{ limit: 5, page: 3, time: undefined }, '?limit=5&page=3'],
  ];
  test.for(filters)('encodes the filter %j as the query "%s"', async ([filter, query]) => {
    const { client, service } = world();
    service.on('GET', `/api/v2/transaction${query}`, answer(200, page));
    expect(await client.transactions(filter)).toEqual(page);
  });

  test('accepts list rows whose `sourceReq` and `destReq` are almost empty', async () => {
    const { client, service } = world();
    const reduced = { txnId: 't1', txnState: 'completed', sourceReq: {}, destReq: { ccy: 'BTC' } };
    service.on('GET', '/api/v2/transaction', answer(200, { ...page, data: [reduced] }));
    expect((await client.transactions()).data).toEqual([reduced]);
  });

  const pageOf = (ids: string[], number: number, total: number, limit = 2) =>
    answer(200, {
      data: ids.map((txnId) => transaction({ txnId })),
      pagination: { page: number, limit, total },
    });
  const idsOf = async (all: AsyncIterable<ListedTransaction>): Promise<string[]> => {
    const ids: string[] = [];
    for await (const { txnId } of all) ids.push(txnId);
    return ids;
  };
  const listPath = (number: number, limit = 2) =>
    `/api/v2/transaction?limit=${limit}&time=1y&page=${number}`;

  test('reads the list page by page to its end', async () => {
    const { client, service } = world();
    service.on('GET', listPath(1), pageOf(['a', 'b'], 1, 5));
    service.on('GET', listPath(2), pageOf(['c', 'd'], 2, 5));
    service.on('GET', listPath(3), pageOf(['e'], 3, 5));
    service.on('GET', listPath(4), pageOf([], 4, 5));
    expect(await idsOf(client.eachTransaction({ limit: 2, time: '1y' }))).toEqual([
      'a',
      'b',
      'c',
      'd',
      'e',
    ]);
  });

  test('reads the list from a given page', async () => {
    const { client, service } = world();
    service.on('GET', listPath(3), pageOf(['e'], 3, 5));
    service.on('GET', listPath(4), pageOf([], 4, 5));
    expect(await idsOf(client.eachTransaction({ limit: 2, time: '1y', page: 3 }))).toEqual(['e']);
  });

  test('reads the whole list even if the service returns smaller pages than requested', async () => {
    const { client, service } = world();
    service.on('GET', '/api/v2/transaction?limit=1000&page=1', pageOf(['a', 'b'], 1, 3));
    service.on('GET', '/api/v2/transaction?limit=1000&page=2', pageOf(['c'], 2, 3));
    service.on('GET', '/api/v2/transaction?limit=1000&page=3', pageOf([], 3, 3));
    expect(await idsOf(client.eachTransaction())).toEqual(['a', 'b', 'c']);
  });

  const twenty = Array.from({ length: 20 }, (_, n) => `t${n}`);
  const hundred = Array.from({ length: 100 }, (_, n) => `t${n}`);
  test.for([
    ['refuses 1,000 rows', answer(400, { error: 'limit too large' }), hundred, 100],
    ['answers a request for 1,000 rows with 20', pageOf(twenty, 1, 101), hundred, 100],
    ['never returns more than 20 rows', pageOf(twenty, 1, 21), twenty, 1_000],
  ] as const)(
    'repeats a list request with 100 rows and stores the page size if the service %s',
    async ([, large, rows, size]) => {
      const saved: number[] = [];
      const pageSizes = {
        load: async () => saved.at(-1),
        save: async (kept: number) => void saved.push(kept),
      };
      const { client, service } = world({ pageSizes });
      const total = rows.length + 1;
      service.on('GET', '/api/v2/transaction?limit=1000&page=1', large);
      service.on('GET', '/api/v2/transaction?limit=100&page=1', pageOf(rows, 1, total));
      const listTheRest = (): void => {
        service.on('GET', `/api/v2/transaction?limit=${size}&page=2`, pageOf(['last'], 2, total));
        service.on('GET', `/api/v2/transaction?limit=${size}&page=3`, pageOf([], 3, total));
      };
      listTheRest();
      expect(await idsOf(client.eachTransaction())).toHaveLength(total);
      expect(saved).toEqual([size]);
      service.on('GET', `/api/v2/transaction?limit=${size}&page=1`, pageOf(rows, 1, total));
      listTheRest();
      expect(await idsOf(client.eachTransaction())).toHaveLength(total);
    },
  );

  test('reports a refused list if the service also refuses a smaller page', async () => {
    const { client, service } = world();
    service.on(
      'GET',
      '/api/v2/transaction?limit=1000&page=1',
      answer(400, { error: 'bad request' }),
    );
    service.on(
      'GET',
      '/api/v2/transaction?limit=100&page=1',
      answer(400, { error: 'bad request' }),
    );
    await expect(idsOf(client.eachTransaction())).rejects.toMatchObject({ kind: 'refused' });
  });

  test('returns each transaction once even if new transactions shift the pages', async () => {
    const { client, service } = world();
    service.on('GET', listPath(1), pageOf(['c', 'b'], 1, 3));
    service.on('GET', listPath(2), pageOf(['b', 'a'], 2, 4));
    service.on('GET', listPath(3), pageOf([], 3, 4));
    expect(await idsOf(client.eachTransaction({ limit: 2, time: '1y' }))).toEqual(['c', 'b', 'a']);
  });

  test('ends the list at an empty page even if the total is higher', async () => {
    const { client, service } = world();
    service.on('GET', listPath(1), pageOf([], 1, 99));
    expect(await idsOf(client.eachTransaction({ limit: 2, time: '1y' }))).toEqual([]);
  });

  test('ignores a failed prefetch of a page if the caller stops early', async () => {
    const { client, service } = world();
    service.on('GET', listPath(1), pageOf(['a', 'b'], 1, 4));
    service.on('GET', listPath(2), answer(400, { error: 'bad request' }));
    for await (const { txnId } of client.eachTransaction({ limit: 2, time: '1y' })) {
      expect(txnId).toBe('a');
      break;
    }
  });

  test('returns the rows before a failed page and then fails', async () => {
    const { client, service } = world();
    service.on('GET', listPath(1), pageOf(['a', 'b'], 1, 4));
    service.on('GET', listPath(2), answer(400, { error: 'bad request' }));
    const seen: string[] = [];
    const walk = async (): Promise<void> => {
      for await (const { txnId } of client.eachTransaction({ limit: 2, time: '1y' }))
        seen.push(txnId);
    };
    await expect(walk()).rejects.toMatchObject({ kind: 'refused' });
    expect(seen).toEqual(['a', 'b']);
  });
});

describe('ServiceClient with another service name', () => {
  const onWire = {
    ...transaction(),
    sourceReq: { ccy: 'BTC', method: 'acmepay', acmepayFees: 5e-8, networkFees: 0 },
    destReq: { ccy: 'USDT', method: 'acmepay', note: 'acmepay' },
  };
  const inside = {
    ...transaction(),
    sourceReq: { ccy: 'BTC', method: 'servicepay', servicepayFees: 5e-8, networkFees: 0 },
    destReq: { ccy: 'USDT', method: 'servicepay', note: 'acmepay' },
  };

  test('translates answers to the names of the specification', async () => {
    const { client, service } = world({ maker: 'acme' });
    service.on('GET', '/api/v2/transaction/t1', answer(200, onWire));
    service.on('GET', '/api/v2/transaction', answer(200, { ...page, data: [onWire] }));
    expect(await client.transaction('t1')).toEqual(inside);
    expect((await client.transactions()).data).toEqual([inside]);
  });

  test('translates bodies and filters to the names of the service', async () => {
    const { client, service } = world({ maker: 'acme' });
    service.on('POST', '/api/v2/transaction', answer(200, onWire));
    const list = '/api/v2/transaction?srcMethods=acmepay%2Clightning&excludedDestMethods=acmepay';
    service.on('GET', list, answer(200, page));
    await client.createTransaction({
      sourceReq: { ccy: 'BTC', method: 'servicepay', amtRequested: new Big('1e-8') },
      destReq: { ccy: 'USDT', method: 'servicepay' },
      note: 'servicepay',
      deductServicepayFees: true,
    });
    await client.transactions({
      srcMethods: 'servicepay,lightning',
      excludedDestMethods: 'servicepay',
    });
    expect(service.requests('POST')[0]!.body).toBe(
      '{"sourceReq":{"ccy":"BTC","method":"acmepay","amtRequested":0.00000001},' +
        '"destReq":{"ccy":"USDT","method":"acmepay"},"note":"servicepay","deductAcmepayFees":true}',
    );
  });
});

describe('ServiceClient raw request', () => {
  test('refuses a path without a slash at its start', async () => {
    await expect(world().client.request('GET', 'x')).rejects.toThrow(
      'The path of a request must begin with a slash.',
    );
  });

  test('sends the body of a raw request unchanged and returns the answer unchanged', async () => {
    const { client, service } = world({ maker: 'acme' });
    const body = '{ "amtRequested": 1e-8, "method": "servicepay" }';
    service.on('POST', '/api/v2/transaction?x=1', answer(418, 'short and stout', { 'x-id': '7' }));
    expect(await client.request('post', '/api/v2/transaction?x=1', body)).toEqual({
      status: 418,
      headers: { 'content-type': 'application/json', 'x-id': '7' },
      body: 'short and stout',
    });
    const headers = { authorization: 'Bearer kept-token', 'content-type': 'application/json' };
    expect(service.requests()[0]).toMatchObject({ method: 'POST', body, headers });
  });

  test('reports an unknown outcome if a raw request may have reached the service', async () => {
    const { client, service } = world();
    service.on('DELETE', '/api/v2/x', lost());
    const failure = { name: 'NoAnswer', kind: 'pending', mayHaveArrived: true };
    await expect(client.request('DELETE', '/api/v2/x')).rejects.toMatchObject(failure);
  });

  test.for(['api/v2/x', '@evil.example/', '.evil.example/', ':8080/', 'https://evil.example/'])(
    'refuses the path "%s" because the token would go to another host',
    async (path) => {
      const { client, service } = world();
      await expect(client.request('GET', path)).rejects.toMatchObject({ kind: 'usage' });
      expect(service.requests()).toEqual([]);
    },
  );
});

test('ServiceClient logs method, path, status and time of each exchange without secrets', async () => {
  const { client, service, log } = world({ token: null });
  service.on('POST', tokenPath, tokenAnswer('token-in-answer'));
  service.on('POST', '/api/v2/transaction', answer(200, transaction()));
  service.on('GET', '/api/v2/x?code=query-secret', answer(200, 'secret-in-body'));
  await client.createTransaction({
    sourceReq: {
      ccy: 'BTC',
      method: 'servicepay',
      kyc: { type: 'individual', details: kycDetails },
    },
    destReq: { ccy: 'VND', method: 'vnd-instant' },
  });
  await client.request('GET', '/api/v2/x?code=query-secret');
  expect(log).toEqual([
    `POST ${tokenPath} 200 0 ms`,
    'POST /api/v2/transaction 200 0 ms',
    'GET /api/v2/x 200 0 ms',
  ]);
  expect(log.join()).not.toContain(credentials.apiKey);
});
const kycDetails = { legalFullName: 'Le Van A', countryCode: 'VN' };
