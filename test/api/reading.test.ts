// ServiceClient accepts, reports or refuses answers with missing, wrapped or unreadable fields.
import type { ServiceClient } from '../../src/api/client.js';
import { describe, expect, test } from 'vitest';
import { misread, type Transaction } from '../../src/api/types.js';
import { fixed, fromWire } from '../../src/formats/amount.js';
import { answer } from '../support/fake-transport.js';
import { start, transaction, world } from './support/client.js';

const iso = new Date(start).toISOString();

type Path = readonly [string, ...string[]];
type Form = 'missing' | 'null' | 'text' | 'wrapped' | 'nonsense';

/**
 * Each field of a transaction, with its value in another notation (`text`) and with an unreadable
 * value (`nonsense`).
 */
const fields: readonly { path: Path; text: unknown; nonsense: unknown }[] = [
  { path: ['txnId'], text: 7, nonsense: [] },
  { path: ['txnState'], text: 'QUOTED', nonsense: {} },
  { path: ['accountId'], text: 7, nonsense: [] },
  { path: ['extRefId'], text: 7, nonsense: {} },
  { path: ['note'], text: 7, nonsense: [] },
  { path: ['fxRate'], text: '1', nonsense: 'abc' },
  { path: ['createdAt'], text: iso, nonsense: 'yesterday' },
  { path: ['deductNetworkFeesFromDest'], text: 'False', nonsense: 'perhaps' },
  { path: ['sourceOfFunds'], text: { purpose: 1 }, nonsense: 'abc' },
  { path: ['sourceReq'], text: {}, nonsense: 'abc' },
  { path: ['destReq'], text: {}, nonsense: 7 },
  ...(['sourceReq', 'destReq'] as const).flatMap((side) => [
    { path: [side, 'ccy'] as const, text: 'btc', nonsense: [] },
    { path: [side, 'method'] as const, text: 'servicepay', nonsense: {} },
    { path: [side, 'amtRequested'] as const, text: '0.00002507', nonsense: '12,5' },
    { path: [side, 'amtSettled'] as const, text: '0.00002507', nonsense: true },
    { path: [side, 'servicepayFees'] as const, text: '5e-8', nonsense: 'abc' },
    { path: [side, 'networkFees'] as const, text: '0.00000002', nonsense: '' },
    { path: [side, 'reqDetails'] as const, text: {}, nonsense: 'abc' },
    { path: [side, 'kyc'] as const, text: {}, nonsense: 'abc' },
    { path: [side, 'reqStatus'] as const, text: 0, nonsense: [] },
    { path: [side, 'expiresAt'] as const, text: String(start), nonsense: 'soon' },
    { path: [side, 'createAt'] as const, text: start / 1000, nonsense: -1 },
    {
      path: [side, 'updatedAt'] as const,
      text: iso.replace('Z', '+00:00'),
      nonsense: '2025-13-40',
    },
  ]),
];

const needed = new Set(['txnId', 'txnState']);

function changed(
  [first, second]: Path,
  form: Form,
  { text, nonsense }: { text: unknown; nonsense: unknown },
) {
  const whole: Record<string, unknown> = structuredClone({
    ...transaction(),
    sourceOfFunds: { purpose: 1 },
    deductNetworkFeesFromDest: false,
  });
  const inner = second === undefined ? whole : (whole[first] as Record<string, unknown>);
  const name = second ?? first;
  if (form === 'missing') delete inner[name];
  else inner[name] = { null: null, text, wrapped: { data: inner[name] }, nonsense }[form];
  return whole;
}

/**
 * The names of fields whose value may be any object, so a value that is wrapped in another object
 * is also valid.
 */
const isObject = new Set(['sourceOfFunds', 'sourceReq', 'destReq', 'reqDetails', 'kyc']);

const shown: Readonly<Record<Form, string>> = {
  missing: 'is missing',
  null: 'is null',
  text: 'is in another notation',
  wrapped: 'is wrapped in an object',
  nonsense: 'is unreadable',
};

const cases = fields.flatMap((field) =>
  (['missing', 'null', 'text', 'wrapped', 'nonsense'] as const).map((form) => {
    const name = field.path.at(-1) ?? '';
    const isBad = form === 'nonsense' || (form === 'wrapped' && !isObject.has(name));
    const isGone = isBad || form === 'missing' || form === 'null';
    return {
      name: field.path.join('.'),
      what: `${field.path.join('.')} ${shown[form]}`,
      isBad,
      isGone,
      row: changed(field.path, form, field),
    };
  }),
);

function doubting() {
  const doubts: string[] = [];
  return { doubts, ...world({ onUnrecognized: (words) => doubts.push(words) }) };
}

const isRefused = ({ name, isGone }: (typeof cases)[number]): boolean => needed.has(name) && isGone;

const transactions = cases.map(
  (each) =>
    [
      isRefused(each) ? 'refuses' : each.isBad ? 'warns about' : 'accepts',
      each.what,
      each,
    ] as const,
);

const rows = cases.map(
  (each) => [isRefused(each) || each.isBad ? 'warns about' : 'accepts', each.what, each] as const,
);

describe('ServiceClient transaction reader', () => {
  test.for(transactions)(
    '%s a transaction whose %s',
    async ([, , { name, isBad, isGone, row }]) => {
      const { client, service, doubts } = doubting();
      service.on('GET', '/api/v2/transaction/t1', answer(200, row));
      const read = client.transaction('t1');
      if (needed.has(name) && isGone) {
        await expect(read).rejects.toMatchObject({
          kind: 'unexpected',
          message: expect.stringContaining(name),
        });
        return;
      }
      const txn = await read;
      expect(doubts).toEqual(
        isBad ? [expect.stringMatching(`^${name} is (missing|.+, .+ was expected)`)] : [],
      );
      const field = { path: name, value: expect.anything(), expected: expect.any(String) };
      expect(txn[misread]).toEqual(isBad ? [field] : undefined);
    },
  );
});

describe('ServiceClient list reader', () => {
  test.for(rows)(
    '%s a row whose %s, and lists the other rows',
    async ([, , { name, isBad, isGone, row }]) => {
      const { client, service, doubts } = doubting();
      service.on(
        'GET',
        '/api/v2/transaction',
        answer(200, { data: [row, transaction({ txnId: 't2' })] }),
      );
      const { data } = await client.transactions();
      expect(data).toHaveLength(2);
      expect(data[1]).toMatchObject({ txnId: 't2' });
      expect(doubts).toHaveLength(isBad || (needed.has(name) && isGone) ? 1 : 0);
      if (needed.has(name) && isGone) expect(data[0]).toMatchObject({ [name]: '' });
    },
  );
});

describe('ServiceClient field reader', () => {
  const read = async (change: Record<string, unknown>): Promise<Transaction> => {
    const { client, service } = world();
    service.on(
      'GET',
      '/api/v2/transaction/t1',
      answer(200, { txnId: 't1', txnState: 'x', ...change }),
    );
    return client.transaction('t1');
  };

  test('reads the identity of a party as texts', async () => {
    const details = { legalFullName: 'Le Van A', contactNumber: 84912345678, address1: [] };
    const { destReq } = await read({ destReq: { kyc: { type: 'individual', details } } });
    const name: string | null | undefined = destReq.kyc?.details?.legalFullName;
    expect(name).toBe('Le Van A');
    expect(destReq.kyc?.details).toMatchObject({ contactNumber: '84912345678', address1: null });
  });

  test.for([
    ['0.00025', 0.00025],
    ['0.00025000', 0.00025],
    ['1e-8', 1e-8],
    ['20999999.99999999', 20999999.99999999],
    [' 7 ', 7],
    ['-3', -3],
  ] as const)('reads the text "%s" as the number %d', async ([text, number]) => {
    expect((await read({ fxRate: text })).fxRate).toBe(number);
  });

  test('keeps every digit of a number in text, even beyond the precision of a JSON number', async () => {
    const { fxRate } = await read({ fxRate: '0.1234567890123456789' });
    expect(fixed(fromWire(fxRate ?? 0))).toBe('0.1234567890123456789');
  });

  test.for([
    '',
    'abc',
    '1,000.00',
    '0x10',
    'NaN',
    'Infinity',
    '1 2',
    '1e999',
    '--1',
    '1'.repeat(80),
  ])('reads the text "%s" as null because it is not a number', async (text) => {
    expect((await read({ fxRate: text })).fxRate).toBeNull();
  });

  test.for([
    start,
    start / 1000,
    start + 0.25,
    String(start),
    String(start / 1000),
    iso,
    iso.slice(0, -1),
    iso.replace('T', ' '),
    '2025-01-15T12:00:00',
    '2025-01-15 12:00',
    '2025-01-15T14:00:00+02:00',
    '2025-01-15T14:00:00.000000+0200',
  ])('reads the value %j as an instant', async (createdAt) => {
    expect((await read({ createdAt })).createdAt).toBe(start);
  });

  test.for([
    ['COMPLETED', 'completed'],
    ['UserCanceled', 'usercanceled'],
  ])('reads the state %s as `%s`', async ([txnState, known]) => {
    expect((await read({ txnState })).txnState).toBe(known);
  });

  test('converts a currency to upper case', async () => {
    expect((await read({ sourceReq: { ccy: 'usdt' } })).sourceReq.ccy).toBe('USDT');
  });

  test.for([
    [true, true],
    ['true', true],
    ['FALSE', false],
    [1, null],
    ['yes', null],
  ])('reads the fee flag %j as %j', async ([given, known]) => {
    expect((await read({ deductNetworkFeesFromDest: given }))['deductNetworkFeesFromDest']).toBe(
      known,
    );
  });

  test('refuses a numeric transaction id that has lost digits', async () => {
    const { client, service } = world();
    service.on(
      'GET',
      '/api/v2/transaction/t1',
      answer(200, '{"txnId":90071992547409931,"txnState":"quoted"}'),
    );
    await expect(client.transaction('t1')).rejects.toThrow(
      /txnId is 90071992547409940, a text was expected/,
    );
  });

  test('reads a number that is too large as Infinity', async () => {
    const { client, service, doubts } = doubting();
    service.on(
      'GET',
      '/api/v2/transaction/t1',
      answer(200, '{"txnId":"t1","txnState":"quoted","fxRate":1e999}'),
    );
    await client.transaction('t1');
    expect(doubts).toEqual(['fxRate is Infinity, a number was expected']);
  });

  test.for(['soon', '2025-02-30x', -1, 9e15, true])(
    'reads the value %j as null because it is not an instant',
    async (createdAt) => {
      expect((await read({ createdAt })).createdAt).toBeNull();
    },
  );
});

describe('ServiceClient answer wrappers', () => {
  const wallet = { ccy: 'BTC', amount: 1.5, availableBalance: 1 };
  const walletsPath = '/api/v2/account/ne01-7f3a/wallet/';

  test.for([
    ['in the specified form', { data: [wallet] }, [wallet]],
    ['without a wrapper', [wallet], [wallet]],
    ['wrapped in a result', { resultStatus: 'success', data: [wallet] }, [wallet]],
    ['wrapped twice', { data: { data: [wallet] } }, [wallet]],
    [
      'wrapped four times',
      { data: { resultStatus: 'success', data: { data: { data: [wallet] } } } },
      [wallet],
    ],
    ['with a currency in lower case', [{ ...wallet, ccy: 'btc' }], [wallet]],
    ['as empty if the data is null', { data: null }, []],
    ['as empty if the body is null', null, []],
    [
      'with amounts as text',
      { data: [{ ccy: 'BTC', amount: '1.5', availableBalance: '1.0' }] },
      [wallet],
    ],
    ['without its invalid row', { data: [7, wallet] }, [wallet]],
  ] as const)('reads a wallet list %s', async ([, body, expected]) => {
    const { client, service } = world();
    service.on('GET', walletsPath, answer(200, body));
    expect(await client.wallets()).toEqual(expected);
  });

  test('reads an answer with status 204 as an empty list but refuses an empty answer with status 200', async () => {
    const { client, service } = world();
    service.on(
      'GET',
      '/api/v2/webhook',
      answer(204, ''),
      ...Array.from({ length: 4 }, () => answer(200, '')),
    );
    expect(await client.webhooks()).toEqual([]);
    await expect(client.webhooks()).rejects.toMatchObject({ kind: 'temporary' });
  });

  test.for([
    {},
    { data: 'abc' },
    7,
    { list: [wallet] },
    { data: {} },
    { data: [{ amount: 1 }] },
  ] as const)(
    'reports the unreadable list %j as an error instead of an empty list',
    async (body) => {
      const { client, service } = world();
      service.on('GET', walletsPath, answer(200, body));
      await expect(client.wallets()).rejects.toMatchObject({ kind: 'unexpected' });
    },
  );

  test.for<[why: string, body: object]>([
    ['wrapped in data', { data: [transaction()] }],
    ['without a wrapper', [transaction()]],
    ['wrapped twice', { data: { data: [transaction()] } }],
    [
      'with pagination as text',
      { data: [transaction()], pagination: { page: '1', limit: '100', total: '1' } },
    ],
    ['with unreadable pagination', { data: [transaction()], pagination: 'abc' }],
  ])('reads a page of transactions %s', async ([, body]) => {
    const { client, service } = world();
    service.on('GET', '/api/v2/transaction', answer(200, body));
    expect((await client.transactions()).data).toMatchObject([{ txnId: 't1' }]);
  });

  const missing = answer(404, { error: 'not found' });

  test('accepts a missing page after the last page but refuses a missing first page', async () => {
    const { client, service } = world();
    service.on('GET', '/api/v2/transaction?page=2', missing);
    service.on('GET', '/api/v2/transaction', missing);
    expect(await client.transactions({ page: 2 })).toEqual({ data: [] });
    await expect(client.transactions()).rejects.toMatchObject({ kind: 'not-found' });
  });

  test.for([
    ['/api/v2/webhook', (client: ServiceClient) => client.webhooks()],
    [
      '/api/v2/reference/fiat-institution/by-country/VN',
      (client: ServiceClient) => client.institutions('VN'),
    ],
  ] as const)(
    'returns an empty list if the service answers %s with 404, but throws if a gateway answers with 404',
    async ([path, ask]) => {
      const { client, service } = world();
      service.on('GET', path, missing, answer(404, '<h1>Not Found</h1>'));
      expect(await ask(client)).toEqual([]);
      await expect(ask(client)).rejects.toMatchObject({ kind: 'not-found' });
    },
  );

  const bitcoin = '/api/v2/account/onchain-address';
  test.for([
    { staticOnchainAddress: 'bc1q' },
    { resultStatus: 'success', data: { staticOnchainAddress: 'bc1q' } },
    { data: { staticStablecoinOnchainAddress: 'bc1q' } },
  ])('reads the deposit address in %j', async (body) => {
    const { client, service } = world();
    service.on('GET', bitcoin, answer(200, body));
    expect(await client.bitcoinAddress()).toMatchObject({ staticOnchainAddress: 'bc1q' });
  });

  test.for([
    [{}],
    [{ data: null }],
    [[]],
    [{ staticOnchainAddress: {} }],
    [{ staticOnchainAddress: '' }],
  ])('reports a missing deposit address in %j', async ([body]) => {
    const { client, service } = world();
    service.on('GET', bitcoin, answer(200, body));
    await expect(client.bitcoinAddress()).rejects.toMatchObject({ kind: 'unexpected' });
  });

  test('accepts a USDT deposit address without its currency and chain', async () => {
    const { client, service } = world();
    const path = '/api/v2/account/stablecoin-onchain-address?walletCcy=USDT&chainId=TRON';
    service.on('GET', path, answer(200, { staticStablecoinOnchainAddress: 'T1' }));
    expect(await client.usdtAddress('TRON')).toMatchObject({ staticOnchainAddress: 'T1' });
  });

  const bank = {
    institutionCode: '970436',
    institutionType: 'bank',
    institutionName: 'Vietcombank',
  };
  const banksPath = '/api/v2/reference/fiat-institution/by-country/VN';
  test.for([
    ['from the lists `banks` and `mobiles`', { banks: [bank], mobiles: [] }, [bank]],
    ['if they have no type', { banks: [{ ...bank, institutionType: null }] }, [bank]],
    [
      'from an object wrapped twice, with a type in upper case',
      { data: { data: [{ ...bank, institutionType: 'BANK' }] } },
      [bank],
    ],
    [
      'from an object inside `data` if `banks` is null',
      { data: { banks: null, mobiles: [bank] } },
      [bank],
    ],
    ['from a list inside `data`', { data: [bank] }, [bank]],
    ['from a list without a wrapper', [bank], [bank]],
    ['as an empty list if the data is null', { data: null }, []],
    ['as an empty list if the body is an empty object', {}, []],
    ['as an empty list if the body is empty', '', []],
    ['as an empty list if the body is null', null, []],
  ] as const)('reads the payout institutions %s', async ([, body, expected]) => {
    const { client, service } = world();
    service.on('GET', banksPath, answer(200, body));
    expect(await client.institutions('VN')).toEqual(expected);
  });

  test.for([
    { list: [bank] },
    { banks: 'abc' },
    7,
    { data: 'abc' },
    { banks: [{ name: 'x' }] },
  ] as const)('reports the answer %j as an unreadable list of institutions', async (body) => {
    const { client, service } = world();
    service.on('GET', banksPath, answer(200, body));
    await expect(client.institutions('VN')).rejects.toMatchObject({ kind: 'unexpected' });
  });

  test.for([
    { data: { BTCUSD: 70796.845, BTCUSDC: '70800.5', ETHBTC: null } },
    { resultStatus: 'success', data: { data: { BTCUSD: 70796.845, BTCUSDC: '70800.5' } } },
    { BTCUSD: '70796.845', BTCUSDC: 70800.5, ETHBTC: null, updatedAt: 7, message: 'OK' },
  ])('reads the rates in %j', async (body) => {
    const { client, service } = world();
    service.on('GET', '/api/v2/rate', answer(200, body));
    expect(await client.rates()).toEqual({ BTCUSD: 70796.845, BTCUSDC: 70800.5 });
  });
});

describe('ServiceClient created webhook', () => {
  const hook = { callback: 'https://shop.example/hooks', secret: 'word' };
  test.for([{ message: 'OK' }, '', { data: { id: 'wh-1' } }])(
    'finds a created webhook in the list if its creation is answered with %j',
    async (body) => {
      const { client, service } = world();
      service.on('POST', '/api/v2/webhook', answer(200, body));
      service.on(
        'GET',
        '/api/v2/webhook',
        answer(200, { data: [{ id: 'wh-1', callback: hook.callback }] }),
      );
      expect(await client.createWebhook(hook)).toMatchObject({ id: 'wh-1' });
    },
  );

  test('reports a created webhook that the service does not list', async () => {
    const { client, service } = world();
    service.on('POST', '/api/v2/webhook', answer(200, { message: 'OK' }));
    service.on('GET', '/api/v2/webhook', answer(200, { data: null }));
    await expect(client.createWebhook(hook)).rejects.toThrow('does not list the webhook');
  });
});

describe('ServiceClient answer to a confirmation', () => {
  const confirmPath = '/api/v2/transaction/t1/confirm';
  const confirmed = transaction({ txnState: 'srccreated' });

  test.for([{ message: 'OK' }, { resultStatus: 'success', data: null }, {}])(
    'reads the transaction back if a confirmation is answered with %j',
    async (body) => {
      const { client, service } = world();
      service.on('PUT', confirmPath, answer(200, body));
      service.on('GET', '/api/v2/transaction/t1', answer(200, confirmed));
      expect(await client.confirmTransaction('t1')).toMatchObject({ txnState: 'srccreated' });
    },
  );

  test('reports an unknown outcome if a confirmed transaction cannot be read back', async () => {
    const { client, service } = world();
    service.on('PUT', confirmPath, answer(200, { message: 'OK' }));
    service.on('GET', '/api/v2/transaction/t1', answer(200, { txnId: 't1' }));
    await expect(client.confirmTransaction('t1')).rejects.toMatchObject({
      name: 'NoAnswer',
      mayHaveArrived: true,
      exitCode: 8,
    });
  });

  test('reads the answer to a confirmation if the transaction is inside "data"', async () => {
    const { client, service } = world();
    service.on('PUT', confirmPath, answer(200, { data: confirmed }));
    expect(await client.confirmTransaction('t1')).toMatchObject({
      txnId: 't1',
      txnState: 'srccreated',
    });
  });

  const html = { 'content-type': 'text/html' };
  const own = { error: 'no' };
  const answers = [
    [400, own, true],
    [401, own, true],
    [403, own, true],
    [404, own, true],
    [400, { error: 'no', message: 'x' }, true],
    [400, '<h1>Bad</h1>', false],
    [403, '', false],
    [404, '<h1>Not Found</h1>', false],
    [404, { message: 'no route' }, false],
    [405, own, false],
    [408, own, false],
    [409, own, false],
    [422, own, false],
    [423, own, false],
    [425, own, false],
    [499, own, false],
    [500, own, false],
    [200, { resultStatus: 'error', error: 'no' }, true],
    [200, '', false],
    [400, { data: own }, true],
    [200, { data: { resultStatus: 'error', ...own } }, true],
    [200, '{"txnId":"t1"', false],
    [200, '['.repeat(4000) + ']'.repeat(4000), false],
  ] as const;

  const named = answers.map(
    ([status, body, isOwn]) =>
      [
        isOwn ? 'a refusal' : 'an unknown outcome',
        status,
        JSON.stringify(body).slice(0, 60),
        { status, body, isOwn },
      ] as const,
  );

  test.for(named)(
    'reports %s if a confirmation gets status %i with %s',
    async ([, , , { status, body, isOwn }]) => {
      const { client, service } = world();
      const tokens = Array.from({ length: status === 401 ? 1 : 0 }, () =>
        answer(200, { accessToken: 'a', accountId: 'ne01-7f3a' }),
      );
      service.on('POST', '/api/v2/authentication/token-signature', ...tokens);
      const once = answer(status, body, typeof body === 'string' ? html : {});
      service.on('PUT', confirmPath, once, ...tokens.map(() => once));
      const expected = isOwn
        ? { name: 'ServiceError', isOwnRefusal: true, status }
        : { name: 'NoAnswer', mayHaveArrived: true, kind: 'pending' };
      await expect(client.confirmTransaction('t1')).rejects.toMatchObject(expected);
    },
  );
});

describe('ServiceClient refusal', () => {
  const refused = async (status: number, body: object, headers = {}): Promise<unknown> => {
    const { client, service } = world();
    service.on('GET', '/api/v2/transaction/t1', answer(status, body, headers));
    return client.transaction('t1').catch((error: unknown) => error);
  };

  test('reports the message of the service for a refusal with status 200', async () => {
    const body = { resultStatus: 'error', error: 'the wallet is locked', code: 2003 };
    expect(await refused(200, body)).toMatchObject({
      kind: 'refused',
      reason: 'the wallet is locked',
      code: '2003',
      exitCode: 3,
    });
  });

  test.for([
    [400, { data: { error: 'the wallet is locked', code: '2003' } }],
    [200, { data: { resultStatus: 'ERROR', error: 'the wallet is locked', code: 2003 } }],
    [200, { resultStatus: 'error', data: { message: 'the wallet is locked', code: '2003' } }],
  ] as const)('reads a refusal inside data (status %i, %j)', async ([status, body]) => {
    expect(await refused(status, body)).toMatchObject({
      kind: 'refused',
      reason: 'the wallet is locked',
      code: '2003',
    });
  });

  test.for([
    ['1001', 'authentication'],
    ['1002', 'authentication'],
    ['2001', 'limit'],
    ['2002', 'refused'],
    ['2005', 'refused'],
    ['2006', 'refused'],
    ['3002', 'refused'],
  ] as const)('reports code %s as `%s` whatever the text of the refusal', async ([code, kind]) => {
    expect(await refused(400, { error: 'insufficient words', code })).toMatchObject({ kind, code });
  });

  test('includes the request id in the error of a refused request', async () => {
    expect(await refused(400, { error: 'no' }, { 'x-request-id': 'req-7' })).toMatchObject({
      requestId: 'req-7',
    });
  });

  test.for([
    [400, { error: 'token expired', code: '1003' }],
    [200, { resultStatus: 'error', error: 'token expired', code: 1003 }],
  ] as const)(
    'requests a new token if an answer with status %i has the error code of an expired token',
    async ([status, body]) => {
      const { client, service } = world();
      const path = '/api/v2/transaction/t1';
      service.on('GET', path, answer(status, body), answer(200, transaction()));
      service.on(
        'POST',
        '/api/v2/authentication/token-signature',
        answer(200, { accessToken: 'a', accountId: 'ne01-7f3a' }),
      );
      expect(await client.transaction('t1')).toMatchObject({ txnId: 't1' });
    },
  );
});
