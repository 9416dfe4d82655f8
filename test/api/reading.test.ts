// What becomes of an answer whose fields are missing, null, texts, wrapped or nonsense: it is read,
// doubted or refused.
import { describe, expect, test } from 'vitest';
import { misread, type Transaction } from '../../src/api/types.js';
import { fixed, fromWire } from '../../src/formats/amount.js';
import { answer } from '../support/fake-transport.js';
import { start, transaction, world } from './support/client.js';

const iso = new Date(start).toISOString();

type Path = readonly [string, ...string[]];
type Form = 'missing' | 'null' | 'text' | 'wrapped' | 'nonsense';

/**
 * Every field of a transaction, with another form of what it says, and with something that says
 * nothing.
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

/** Objects may hold anything: a wrapper in their form is one of them. */
const isObject = new Set(['sourceOfFunds', 'sourceReq', 'destReq', 'reqDetails', 'kyc']);

const cases = fields.flatMap((field) =>
  (['missing', 'null', 'text', 'wrapped', 'nonsense'] as const).map((form) => {
    const name = field.path.at(-1) ?? '';
    const isBad = form === 'nonsense' || (form === 'wrapped' && !isObject.has(name));
    const isGone = isBad || form === 'missing' || form === 'null';
    return {
      name: field.path.join('.'),
      form,
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

describe('a status', () => {
  test.for(cases)('whose $name is $form', async ({ name, isBad, isGone, row }) => {
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
    expect(txn[misread]).toEqual(isBad ? doubts : undefined);
  });
});

describe('a list row', () => {
  test.for(cases)(
    'whose $name is $form is listed with the others',
    async ({ name, isBad, isGone, row }) => {
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

describe('values read from texts', () => {
  const read = async (change: Record<string, unknown>): Promise<Transaction> => {
    const { client, service } = world();
    service.on(
      'GET',
      '/api/v2/transaction/t1',
      answer(200, { txnId: 't1', txnState: 'x', ...change }),
    );
    return client.transaction('t1');
  };

  test.for([
    ['0.00025', 0.00025],
    ['0.00025000', 0.00025],
    ['1e-8', 1e-8],
    ['20999999.99999999', 20999999.99999999],
    [' 7 ', 7],
    ['-3', -3],
  ] as const)('"%s" is the number %d', async ([text, number]) => {
    expect((await read({ fxRate: text })).fxRate).toBe(number);
  });

  test('keep digits beyond the precision of a JSON number', async () => {
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
  ])('"%s" is not a number', async (text) => {
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
  ])('%j is a valid instant', async (createdAt) => {
    expect((await read({ createdAt })).createdAt).toBe(start);
  });

  test.for([
    ['COMPLETED', 'completed'],
    ['UserCanceled', 'usercanceled'],
  ])('%s is the state %s', async ([txnState, known]) => {
    expect((await read({ txnState })).txnState).toBe(known);
  });

  test('have currencies in upper case', async () => {
    expect((await read({ sourceReq: { ccy: 'usdt' } })).sourceReq.ccy).toBe('USDT');
  });

  test.for([
    [true, true],
    ['true', true],
    ['FALSE', false],
    [1, null],
    ['yes', null],
  ])('the fee flag %j is read as %j', async ([told, known]) => {
    expect((await read({ deductNetworkFeesFromDest: told }))['deductNetworkFeesFromDest']).toBe(
      known,
    );
  });

  test('are not read from a number that has lost digits', async () => {
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

  test('show a number that is too large', async () => {
    const { client, service, doubts } = doubting();
    service.on(
      'GET',
      '/api/v2/transaction/t1',
      answer(200, '{"txnId":"t1","txnState":"quoted","fxRate":1e999}'),
    );
    await client.transaction('t1');
    expect(doubts).toEqual(['fxRate is Infinity, a number was expected']);
  });

  test.for(['soon', '2025-02-30x', -1, 9e15, true])('%j is not an instant', async (createdAt) => {
    expect((await read({ createdAt })).createdAt).toBeNull();
  });
});

describe('wrappers', () => {
  const wallet = { ccy: 'BTC', amount: 1.5, availableBalance: 1 };
  const walletsPath = '/api/v2/account/ne01-7f3a/wallet/';

  test.for([
    ['as specified', { data: [wallet] }, [wallet]],
    ['bare', [wallet], [wallet]],
    ['in a result', { resultStatus: 'success', data: [wallet] }, [wallet]],
    ['wrapped twice', { data: { data: [wallet] } }, [wallet]],
    [
      'wrapped once more',
      { data: { resultStatus: 'success', data: { data: { data: [wallet] } } } },
      [wallet],
    ],
    ['with its currency in small letters', [{ ...wallet, ccy: 'btc' }], [wallet]],
    ['of null', { data: null }, []],
    ['of nothing', null, []],
    [
      'with amounts as texts',
      { data: [{ ccy: 'BTC', amount: '1.5', availableBalance: '1.0' }] },
      [wallet],
    ],
    ['with one that is none', { data: [7, wallet] }, [wallet]],
  ] as const)('a list %s', async ([, body, expected]) => {
    const { client, service } = world();
    service.on('GET', walletsPath, answer(200, body));
    expect(await client.wallets()).toEqual(expected);
  });

  test('with status 204 are empty lists; an empty 200 is an error', async () => {
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
  ] as const)('an unreadable list is an error, never an empty list: %j', async (body) => {
    const { client, service } = world();
    service.on('GET', walletsPath, answer(200, body));
    await expect(client.wallets()).rejects.toMatchObject({ kind: 'unexpected' });
  });

  test.for([
    { data: [transaction()] },
    [transaction()],
    { data: { data: [transaction()] } },
    { data: [transaction()], pagination: { page: '1', limit: '100', total: '1' } },
    { data: [transaction()], pagination: 'abc' },
  ])('a page of the history in %j', async (body) => {
    const { client, service } = world();
    service.on('GET', '/api/v2/transaction', answer(200, body));
    expect((await client.transactions()).data).toMatchObject([{ txnId: 't1' }]);
  });

  const missing = answer(404, { error: 'not found' });

  test('accept a missing page after the last, but not a missing first page', async () => {
    const { client, service } = world();
    service.on('GET', '/api/v2/transaction?page=2', missing);
    service.on('GET', '/api/v2/transaction', missing);
    expect(await client.transactions({ page: 2 })).toEqual({ data: [] });
    await expect(client.transactions()).rejects.toMatchObject({ kind: 'not-found' });
  });

  test.for([
    ['/api/v2/webhook', 'webhooks'],
    ['/api/v2/reference/fiat-institution/by-country/VN', 'institutions'],
  ] as const)(
    "the service's 404 for %s means an empty list; a gateway's does not",
    async ([path, what]) => {
      const { client, service } = world();
      service.on('GET', path, missing, answer(404, '<h1>Not Found</h1>'));
      expect(await client[what]('VN')).toEqual([]);
      await expect(client[what]('VN')).rejects.toMatchObject({ kind: 'not-found' });
    },
  );

  const bitcoin = '/api/v2/account/onchain-address';
  test.for([
    { staticOnchainAddress: 'bc1q' },
    { resultStatus: 'success', data: { staticOnchainAddress: 'bc1q' } },
    { data: { staticStablecoinOnchainAddress: 'bc1q' } },
  ])('an address in %j', async (body) => {
    const { client, service } = world();
    service.on('GET', bitcoin, answer(200, body));
    expect(await client.bitcoinAddress()).toMatchObject({ staticOnchainAddress: 'bc1q' });
  });

  test.for([{}, { data: null }, [], { staticOnchainAddress: {} }, { staticOnchainAddress: '' }])(
    'no address in %j',
    async (body) => {
      const { client, service } = world();
      service.on('GET', bitcoin, answer(200, body));
      await expect(client.bitcoinAddress()).rejects.toMatchObject({ kind: 'unexpected' });
    },
  );

  test('accept a USDT address without its currency and chain', async () => {
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
    [{ banks: [bank], mobiles: [] }, [bank]],
    [{ banks: [{ ...bank, institutionType: null }] }, [bank]],
    [{ data: { data: [{ ...bank, institutionType: 'BANK' }] } }, [bank]],
    [{ data: { banks: null, mobiles: [bank] } }, [bank]],
    [{ data: [bank] }, [bank]],
    [[bank], [bank]],
    [{ data: null }, []],
    [{}, []],
    ['', []],
    [null, []],
  ] as const)('institutions in %j', async ([body, expected]) => {
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
  ] as const)('no institutions in %j', async (body) => {
    const { client, service } = world();
    service.on('GET', banksPath, answer(200, body));
    await expect(client.institutions('VN')).rejects.toMatchObject({ kind: 'unexpected' });
  });

  test.for([
    { data: { BTCUSD: 70796.845, BTCUSDC: '70800.5', ETHBTC: null } },
    { resultStatus: 'success', data: { data: { BTCUSD: 70796.845, BTCUSDC: '70800.5' } } },
    { BTCUSD: '70796.845', BTCUSDC: 70800.5, ETHBTC: null, updatedAt: 7, message: 'OK' },
  ])('rates in %j', async (body) => {
    const { client, service } = world();
    service.on('GET', '/api/v2/rate', answer(200, body));
    expect(await client.rates()).toEqual({ BTCUSD: 70796.845, BTCUSDC: 70800.5 });
  });
});

describe('a created webhook', () => {
  const hook = { callback: 'https://shop.example/hooks', secret: 'word' };
  test.for([{ message: 'OK' }, '', { data: { id: 'wh-1' } }])(
    'that is answered with %j is found in the list',
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

  test('that the service does not list is reported', async () => {
    const { client, service } = world();
    service.on('POST', '/api/v2/webhook', answer(200, { message: 'OK' }));
    service.on('GET', '/api/v2/webhook', answer(200, { data: null }));
    await expect(client.createWebhook(hook)).rejects.toThrow('its list does not show it');
  });
});

describe('a confirmation', () => {
  const confirmPath = '/api/v2/transaction/t1/confirm';
  const confirmed = transaction({ txnState: 'srccreated' });

  test.for([{ message: 'OK' }, { resultStatus: 'success', data: null }, {}])(
    'that is answered with %j is read back',
    async (body) => {
      const { client, service } = world();
      service.on('PUT', confirmPath, answer(200, body));
      service.on('GET', '/api/v2/transaction/t1', answer(200, confirmed));
      expect(await client.confirmTransaction('t1')).toMatchObject({ txnState: 'srccreated' });
    },
  );

  test('that cannot be read back has an unknown outcome', async () => {
    const { client, service } = world();
    service.on('PUT', confirmPath, answer(200, { message: 'OK' }));
    service.on('GET', '/api/v2/transaction/t1', answer(200, { txnId: 't1' }));
    await expect(client.confirmTransaction('t1')).rejects.toMatchObject({
      name: 'NoAnswer',
      mayHaveArrived: true,
      exitCode: 8,
    });
  });

  test('may be wrapped', async () => {
    const { client, service } = world();
    service.on('PUT', confirmPath, answer(200, { data: confirmed }));
    expect(await client.confirmTransaction('t1')).toMatchObject({
      txnId: 't1',
      txnState: 'srccreated',
    });
  });

  const html = { 'content-type': 'text/html' };
  const own = { error: 'no' };
  test.for([
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
  ] as const)('with %i %j comes from the service: %s', async ([status, body, isOwn]) => {
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
  });
});

describe('a refusal', () => {
  const refused = async (status: number, body: object, headers = {}): Promise<unknown> => {
    const { client, service } = world();
    service.on('GET', '/api/v2/transaction/t1', answer(status, body, headers));
    return client.transaction('t1').catch((error: unknown) => error);
  };

  test('with status 200 has the message of the service', async () => {
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
  ] as const)('may be inside data: %i %j', async ([status, body]) => {
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
  ] as const)('with code %s is %s, whatever its text', async ([code, kind]) => {
    expect(await refused(400, { error: 'insufficient words', code })).toMatchObject({ kind, code });
  });

  test('has the request id', async () => {
    expect(await refused(400, { error: 'no' }, { 'x-request-id': 'req-7' })).toMatchObject({
      requestId: 'req-7',
    });
  });

  test.for([
    [400, { error: 'token expired', code: '1003' }],
    [200, { resultStatus: 'error', error: 'token expired', code: 1003 }],
  ] as const)(
    'of an expired token, by its code, leads to a new one: %i',
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
