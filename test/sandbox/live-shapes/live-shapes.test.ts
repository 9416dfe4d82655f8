// Tests each live response format of the test sandbox, which imitates a format that was observed at
// a live service.
import { afterEach, describe, expect, test } from 'vitest';
import { withLiveShapes } from '../../support/live-shapes/apply.js';
import { shapeNames, type LiveShapeName } from '../../support/live-shapes/table.js';
import { openSandbox } from '../../../src/sandbox/service.js';
import { hmac, startReceiver } from '../../support/receiver.js';
import {
  authenticate,
  connect,
  lightningReceive,
  lightningSend,
  lnurlSend,
  onchainSend,
  payout,
  sendTo,
  serve,
  swap,
  type Client,
} from '../support.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

interface Shaped extends Client {
  advance(by: string): Promise<unknown>;
  invoice(): Promise<string>;
  token(): Promise<unknown>;
}

const url = 'http://sandbox.localhost';

/** Starts a sandbox with these live shapes, whose answers differ from the OpenAPI description. */
async function shaped(liveShapes: readonly string[]): Promise<Shaped> {
  const sandbox = openSandbox(withLiveShapes({ autoPay: 'off', liveShapes }));
  cleanups.push(() => sandbox.close());
  const client = await connect(sendTo(sandbox), url, sandbox, () => undefined);
  await client.control('POST', 'clock/freeze');
  return {
    ...client,
    advance: (by) => client.control('POST', 'clock/advance', { by }),
    invoice: async () =>
      (await client.control('POST', 'invoice', { amount: '1000sat' })).body.invoice,
    token: async () =>
      (await authenticate(sendTo(sandbox), url, sandbox, undefined, {}, () => undefined)).body,
  };
}

const quoted = async (client: Client) => (await client.create(swap(1, 'USDT', 'BTC'))).body;
const listed = async (client: Client) => {
  await client.create(swap(1, 'USDT', 'BTC'));
  return (await client.call('GET', '/transaction')).body;
};
const get = (path: string) => async (client: Client) => (await client.call('GET', path)).body;

const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const account = (client: Client) => client.call('GET', `/account/${client.accountId}`);
const usdt = '/account/stablecoin-onchain-address?walletCcy=USDT&chainId=TRON';
const institution = expect.objectContaining({ institutionCode: expect.any(String) });
const refused = (body: object) => async (client: Client) => {
  const { status, body: answer } = await client.create(body);
  return { status, ...answer };
};
const someone = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';

type Look = (client: Shaped) => Promise<unknown>;
const token: Look = (client) => client.token();
const accessToken = expect.any(String);
const accountId = expect.stringMatching(/^ne01-/);

/** For each live shape, a request and the expected answer. */
const seen: Readonly<Partial<Record<LiveShapeName, readonly [look: Look, answer: unknown]>>> = {
  'token-expiry-iso': [token, { accessToken, expiredAt: iso, accountId }],
  'token-expiry-text': [
    token,
    { accessToken, expiredAt: expect.stringMatching(/^\d{13}$/), accountId },
  ],
  'token-expiry-absent': [token, { accessToken, accountId }],
  'token-wrapped': [
    token,
    { resultStatus: 'success', data: expect.objectContaining({ accessToken }) },
  ],
  'data-around': [
    token,
    { resultStatus: 'success', data: expect.objectContaining({ accessToken }) },
  ],
  'btc-address-wrapped': [
    get('/account/onchain-address'),
    { resultStatus: 'success', data: { staticOnchainAddress: expect.any(String) } },
  ],
  'usdt-address-renamed': [
    get(usdt),
    {
      resultStatus: 'success',
      data: {
        staticStablecoinOnchainAddress: expect.stringMatching(/^T/),
        accountId: expect.any(String),
      },
    },
  ],
  'usdt-address-bare': [
    get(usdt),
    expect.objectContaining({ staticOnchainAddress: expect.stringMatching(/^T/) }),
  ],
  'list-null': [get('/webhook'), { data: null }],
  'list-abbreviated': [
    listed,
    expect.objectContaining({
      data: [expect.not.objectContaining({ destReq: expect.anything() })],
    }),
  ],
  'read-abbreviated': [
    async (client) => {
      const quote = await quoted(client);
      const { destReq, sourceReq, txnState } = (await client.get(quote.txnId)).body;
      return { quote: Object.keys(quote), destReq, source: Object.keys(sourceReq), txnState };
    },
    {
      quote: expect.arrayContaining(['destReq', 'sourceReq']),
      destReq: undefined,
      source: expect.not.arrayContaining(['ccy', 'method']),
      txnState: 'quoted',
    },
  ],
  'list-without-pagination': [listed, { data: [expect.objectContaining({ txnState: 'quoted' })] }],
  'list-bare': [listed, [expect.objectContaining({ txnState: 'quoted' })]],
  'times-iso': [
    quoted,
    expect.objectContaining({
      createdAt: iso,
      sourceReq: expect.objectContaining({ expiresAt: iso, updatedAt: iso }),
    }),
  ],
  'times-without-zone': [
    quoted,
    expect.objectContaining({ createdAt: expect.stringMatching(/\.\d{3}$/) }),
  ],
  'times-in-seconds': [
    async (client) => {
      const { createdAt } = await quoted(client);
      return Math.abs(Date.now() / 1000 - createdAt) < 60 && Number.isInteger(createdAt);
    },
    true,
  ],
  'numbers-as-text': [
    quoted,
    expect.objectContaining({
      fxRate: '0.00001',
      sourceReq: expect.objectContaining({
        amtRequested: '1',
        servicepayFees: '0.0025',
        networkFees: '0',
        amtSettled: null,
      }),
    }),
  ],
  'lnurl-echo': [
    async (client) =>
      (await client.create(lnurlSend('ann@example.com', 0.001))).body.destReq.reqDetails,
    { lnurl: 'ann@example.com', lnurlAddress: 'ann@example.com' },
  ],
  'lnurl-bech32': [
    async (client) =>
      (await client.create(lnurlSend('ann@example.com', 0.001))).body.destReq.reqDetails.address,
    expect.stringMatching(/^LNURL1/i),
  ],
  'states-between': [
    async (client) => {
      const states = [];
      for (const body of [
        lightningSend(await client.invoice()),
        payout(500_000),
        onchainSend(someone, 0.001),
      ]) {
        const { txnId, txnState } = await client.run(body);
        await client.advance('6s');
        states.push(txnState, (await client.get(txnId)).body.txnState);
      }
      return states;
    },
    ['srcsent', 'completed', 'srcpendconfirmfill', 'srcconfirmfilled', 'srcsent', 'destpendsent'],
  ],
  'state-canceled': [
    async (client) => (await client.cancel((await quoted(client)).txnId)).body.txnState,
    'canceled',
  ],
  'confirm-before-invoice': [
    async (client) => {
      const { txnId, txnState, sourceReq } = await client.run(lightningReceive(0.001));
      return [
        txnState,
        sourceReq.reqDetails.paymentRequest,
        (await client.get(txnId)).body.txnState,
      ];
    },
    ['userconfirmed', null, 'srccreated'],
  ],
  'confirm-ok': [
    async (client) => [
      await client.run(swap(1, 'USDT', 'BTC')),
      (await client.call('GET', '/transaction')).body.data[0].txnState,
    ],
    [{ message: 'OK' }, 'completed'],
  ],
  'institutions-wrapped': [
    get('/reference/fiat-institution/by-country/VN'),
    {
      resultStatus: 'success',
      data: { banks: expect.arrayContaining([institution]), mobiles: [] },
    },
  ],
  'institutions-bare': [
    get('/reference/fiat-institution/by-country/VN'),
    expect.arrayContaining([institution]),
  ],
  'rates-null': [
    get('/rate'),
    { data: expect.objectContaining({ BTCRWF: null, BTCUSDC: 100_000 }) },
  ],
  'rates-bare': [get('/rate'), expect.objectContaining({ BTCUSD: 100_000 })],
  'webhook-changes-ok': [
    async (client) => {
      const { id } = (
        await client.call('POST', '/webhook', { callback: 'https://a.example', secret: 's' })
      ).body;
      const change = await client.call('PUT', `/webhook/${id}`, { secret: 't' });
      return [change.body, (await client.call('DELETE', `/webhook/${id}`)).body];
    },
    [{ message: 'OK' }, { message: 'OK' }],
  ],
  'webhook-exists': [
    async (client) => {
      const set = () =>
        client.call('POST', '/webhook', { callback: 'https://a.example', secret: 's' });
      const [first, second] = [await set(), await set()];
      return [first.status, second.status, second.body.code];
    },
    [200, 400, '3002'],
  ],
  'account-record': [
    async (client) => (await account(client)).body,
    expect.objectContaining({
      id: expect.stringMatching(/^ne01-/),
      accountStatus: 'ACTIVE',
      countryCode: 'CA',
    }),
  ],
  'error-codes': [
    refused(swap(1_000_000, 'USDT', 'BTC')),
    {
      status: 400,
      resultStatus: 'error',
      code: '2001',
      error: 'insufficient balance',
      errorMetadata: { params: expect.any(String) },
    },
  ],
  'error-in-200': [
    refused(swap(1, 'USDT', 'USDT')),
    {
      status: 200,
      resultStatus: 'error',
      error: 'bad request',
      message: expect.any(String),
    },
  ],
  'rate-limit-headers': [
    async (client) => Object.fromEntries((await account(client)).headers),
    expect.objectContaining({
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': '59',
      'x-ratelimit-reset': '60',
    }),
  ],
  'rate-limit': [
    async (client) => {
      const answers = [];
      for (let call = 0; call < 6; call += 1) answers.push(await account(client));
      const last = answers.at(-1);
      return [
        answers.slice(0, 3).map(({ status }) => status),
        last?.status,
        last?.headers.get('x-ratelimit-reset'),
      ];
    },
    [[200, 200, 200], 429, '1'],
  ],
};

describe('the sandbox with live response formats', () => {
  test.for(Object.entries(seen))(
    'applies the live response format %s to answers',
    async ([name, [look, expected]]) => {
      expect(await look(await shaped([name]))).toEqual(expected);
    },
  );

  test.for<{ name: string; events: (string | undefined)[]; header: string }>([
    {
      name: 'webhook-put',
      events: ['PUT quoted', 'PUT completed', 'PUT completed'],
      header: 'x-servicepay-signature',
    },
    {
      name: 'webhook-final-only',
      events: ['POST completed', 'POST completed'],
      header: 'x-servicepay-signature',
    },
    {
      name: 'webhook-once',
      events: ['POST quoted', 'POST completed'],
      header: 'x-servicepay-signature',
    },
    {
      name: 'webhook-signature-header',
      events: ['POST quoted', 'POST completed', 'POST completed'],
      header: 'x-signature',
    },
  ])('applies the live response format $name to webhooks', async ({ name, events, header }) => {
    const receiver = await startReceiver();
    cleanups.push(() => receiver.close());
    const { sandbox, client } = await serve({ allowHttpCallbacks: true, liveShapes: [name] });
    cleanups.push(() => sandbox.stop());
    await sandbox.clock.freeze();
    await client.call('POST', '/webhook', { callback: receiver.url, secret: 'secret' });
    const { txnId } = (await client.create(swap(1, 'USDT', 'BTC'))).body;
    await sandbox.webhooks.settled();
    receiver.answer(500);
    await client.confirm(txnId);
    await sandbox.webhooks.settled();
    await sandbox.clock.advance('1m');
    await sandbox.webhooks.settled();
    expect(receiver.received.map(({ method, event }) => `${method} ${event.txnState}`)).toEqual(
      events,
    );
    for (const { headers, raw } of receiver.received)
      expect(headers[header]).toBe(hmac('secret', raw));
  });

  test('has a test in this file for every live response format', () => {
    const delivered = [
      'webhook-put',
      'webhook-final-only',
      'webhook-once',
      'webhook-signature-header',
    ];
    expect([...Object.keys(seen), ...delivered].toSorted()).toEqual([...shapeNames].toSorted());
  });

  test('combines live response formats under the name "all", and lists the formats if a name is unknown', async () => {
    const client = await shaped(['all']);
    expect(await client.token()).toEqual({
      resultStatus: 'success',
      data: { accessToken, expiredAt: iso, accountId },
    });
    expect(() => withLiveShapes({ liveShapes: ['list-blank'] })).toThrow(
      /"list-blank" is not a live shape\. Use all, token-expiry-iso,/,
    );
  });
});

test.for([
  ['PUT', 'final', ['PUT completed']],
  ['POST', 'every', ['POST quoted', 'POST completed']],
] as const)(
  'the sandbox delivers webhooks by %s if webhookEvents is %s',
  async ([webhookMethod, webhookEvents, events]) => {
    const receiver = await startReceiver();
    cleanups.push(() => receiver.close());
    const { sandbox, client } = await serve({
      allowHttpCallbacks: true,
      webhookMethod,
      webhookEvents,
    });
    cleanups.push(() => sandbox.stop());
    await client.call('POST', '/webhook', { callback: receiver.url, secret: 'secret' });
    await client.run(swap(1, 'USDT', 'BTC'));
    await sandbox.webhooks.settled();
    expect(receiver.received.map(({ method, event }) => `${method} ${event.txnState}`)).toEqual(
      events,
    );
  },
);
