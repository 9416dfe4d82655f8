// An independent client tests every row of the specification's tables on the sandbox.
import { Agent, createServer, request as httpRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import {
  authenticate,
  bodies,
  hmac,
  integrator,
  request,
  tokenPath,
  withSandbox,
} from './integrator.js';

const text = expect.any(String);
const number = expect.any(Number);
const epoch = expect.toSatisfy(
  (value: unknown) => Number.isSafeInteger(value) && Number(value) > 1e12,
  'epoch ms',
);
const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
const error = (status: number, words: string) => ({
  status,
  json: expect.objectContaining({ error: words }),
});

const finalState = (txnId: string, state: string) => ({
  status: 400,
  json: {
    resultStatus: 'error',
    code: '2005',
    error: expect.stringMatching(
      new RegExp(`^transaction .*${txnId}.* already in final state.*${state}`),
    ),
    errorMetadata: {
      params: expect.toSatisfy(
        (params: string) => params.includes(txnId) && params.includes(state),
      ),
    },
  },
});

describe('sandbox authentication', () => {
  test('returns a JWT with its expiry and the account id', () =>
    withSandbox({}, async ({ sandbox }) => {
      const { status, json } = await authenticate(sandbox, sandbox);
      expect(status).toBe(200);
      expect(json).toEqual({
        accessToken: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
        expiredAt: epoch,
        accountId: expect.stringMatching(/^ne01-./),
      });
      expect(json.expiredAt).toBeGreaterThan(await sandbox.clock.now());
    }));

  test('accepts any signed JSON value as the body of a token request', () =>
    withSandbox({}, async ({ sandbox }) => {
      for (const body of ['{}', '{ "a" : 1 }', '[1]', '"x"', '1', 'null', '{"é":"ü"}']) {
        expect(await authenticate(sandbox, sandbox, body)).toMatchObject({ status: 200 });
      }
      expect((await authenticate(sandbox, sandbox, '{oops')).status).toBe(400);
    }));

  test('refuses a token request with wrong credentials or a used signature', () =>
    withSandbox({}, async ({ sandbox }) => {
      const bad = 'invalid API key or signature';
      const json = { 'content-type': 'application/json' };
      expect(await request(sandbox.url + tokenPath, 'POST', json, '{}')).toMatchObject(
        error(401, bad),
      );
      expect(
        await request(
          sandbox.url + tokenPath,
          'POST',
          { ...json, 'x-api-key': sandbox.apiKey },
          '{}',
        ),
      ).toMatchObject(error(401, bad));
      expect(await authenticate(sandbox, { ...sandbox, apiKey: 'nobody' })).toMatchObject(
        error(401, bad),
      );
      expect(
        await authenticate(sandbox, sandbox, '{"b":1}', { 'x-api-signature': hmac('other', 'x') }),
      ).toMatchObject(error(401, 'invalid api signature'));
      expect(await authenticate(sandbox, sandbox, '{"once":1}')).toMatchObject({ status: 200 });
      expect(await authenticate(sandbox, sandbox, '{"once":1}')).toMatchObject(
        error(401, 'invalid api signature'),
      );
    }));

  test('accepts a repeated signature if the sandbox allows signature reuse', () =>
    withSandbox({ allowSignatureReuse: true }, async ({ sandbox }) => {
      for (const _ of [1, 2, 3])
        expect(await authenticate(sandbox, sandbox, '{}')).toMatchObject({ status: 200 });
    }));

  test('distinguishes a missing token from an expired token', () =>
    withSandbox({}, async ({ sandbox, call, renew }) => {
      const without = (headers: Record<string, string>) =>
        request(`${sandbox.url}/api/v2/transaction`, 'GET', headers);
      expect(await without({})).toMatchObject(error(401, 'unauthorized'));
      expect(await without({ authorization: 'Basic abc' })).toMatchObject(
        error(401, 'unauthorized'),
      );
      expect(await without({ authorization: 'Bearer a.b.c' })).toMatchObject(
        error(401, 'invalid token or token expired'),
      );
      await sandbox.clock.advance('25h');
      expect(await call('GET', '/webhook')).toMatchObject(
        error(401, 'invalid token or token expired'),
      );
      await renew();
      expect(await call('GET', '/webhook')).toMatchObject({ status: 200 });
    }));
});

describe('sandbox accounts and wallets', () => {
  test('returns wallets with exactly the specified fields', () =>
    withSandbox({}, async ({ get, accountId }) => {
      const { status, json } = await get(`/account/${accountId}/wallet/`);
      expect(status).toBe(200);
      expect(Object.keys(json)).toEqual(['data']);
      for (const wallet of json.data) {
        expect(wallet).toEqual({
          id: text,
          ccy: text,
          amount: number,
          availableBalance: number,
          accountId,
          createdAt: iso,
          updatedAt: iso,
        });
      }
      expect(new Set(json.data.map(({ ccy }: { ccy: string }) => ccy)).size).toBe(json.data.length);
      expect((await get(`/account/${accountId}/wallet`)).status).toBe(404);
      expect((await get(`/account/${accountId}`)).status).toBe(200);
    }));

  test('shows an account only to the account itself and its parent', () =>
    withSandbox({}, async ({ sandbox, get, accountId, run }) => {
      const child = await sandbox.account('Child');
      const stranger = await sandbox.account('Stranger', null);
      expect((await get(`/account/${child.accountId}/wallet/`)).status).toBe(200);
      const foreign = 'you are not authorized to view this account';
      expect(await get(`/account/${stranger.accountId}/wallet/`)).toMatchObject(
        error(401, foreign),
      );
      expect(await get(`/account/${stranger.accountId}`)).toMatchObject(error(401, foreign));
      expect(await get('/account/nonsense/wallet/')).toMatchObject(
        error(400, 'failed to get account'),
      );
      expect(await get('/account/ne01-00000000/wallet/')).toMatchObject(error(401, foreign));
      const below = await integrator(sandbox, child);
      expect(await below.get(`/account/${accountId}/wallet/`)).toMatchObject(error(401, foreign));
      const { txnId } = await run(bodies.swap());
      expect([403, 404]).toContain((await below.get(`/transaction/${txnId}`)).status);
      expect([403, 404]).toContain((await below.confirm(txnId)).status);
    }));

  test('returns permanent deposit addresses for Bitcoin and USDT', () =>
    withSandbox({}, async ({ get, accountId }) => {
      const first = await get('/account/onchain-address');
      expect(first).toMatchObject({ status: 200, json: { staticOnchainAddress: text } });
      expect(Object.keys(first.json)).toEqual(['staticOnchainAddress']);
      expect((await get('/account/onchain-address')).json).toEqual(first.json);
      for (const [chainId, start] of [
        ['TRON', /^T/],
        ['ETH', /^0x/],
      ] as const) {
        const answer = await get(
          `/account/stablecoin-onchain-address?walletCcy=USDT&chainId=${chainId}`,
        );
        expect(answer.json).toEqual({
          resultStatus: 'success',
          data: {
            staticOnchainAddress: expect.stringMatching(start),
            walletCcy: 'USDT',
            chainId,
            accountId,
          },
        });
      }
      for (const query of [
        '',
        '?walletCcy=USDT',
        '?chainId=TRON',
        '?walletCcy=BTC&chainId=TRON',
        '?walletCcy=USDT&chainId=SOL',
      ]) {
        expect((await get(`/account/stablecoin-onchain-address${query}`)).status).toBe(400);
      }
    }));
});

const quotedSource = {
  ccy: text,
  method: text,
  amtSettled: null,
  reqStatus: '0',
  expiresAt: epoch,
  createAt: epoch,
  updatedAt: epoch,
  servicepayFees: number,
  networkFees: number,
};

describe('sandbox quotes', () => {
  test('returns every specified field in a quote of each kind', () =>
    withSandbox({}, async ({ sandbox, quote, accountId, get }) => {
      const banks = (await get('/reference/fiat-institution/by-country/VN')).json.banks;
      const all: [object, object][] = [
        [
          bodies.receiveLightning(),
          { sourceReq: { reqDetails: { paymentRequest: null, invoicePageUrl: null } } },
        ],
        [
          bodies.receiveOnchain(),
          { sourceReq: { reqDetails: { address: null, invoicePageUrl: null } } },
        ],
        [bodies.sendLightning(await sandbox.invoice('1000sat')), {}],
        [
          bodies.sendLnurl(),
          { destReq: { reqDetails: { address: 'ann@example.com', lnurlAddress: text } } },
        ],
        [bodies.sendOnchain(), {}],
        [bodies.sendUsdt(), {}],
        [bodies.swap(), { sourceReq: { networkFees: 0 } }],
        [
          bodies.payout(banks[0].institutionCode),
          { sourceOfFunds: { purpose: 1, source: 1, relationship: 1 } },
        ],
      ];
      for (const [body, more] of all) {
        const txn = await quote({ ...body, extRefId: `ref-${Math.random()}`, note: 'tea' });
        expect(txn).toMatchObject({
          txnId: text,
          accountId,
          accountDisplayName: text,
          note: 'tea',
          extRefId: text,
          txnState: 'quoted',
          fxRate: number,
          createdAt: epoch,
          sourceReq: quotedSource,
          destReq: { ccy: text, method: text, amtSettled: null },
        });
        expect(txn).toMatchObject(body);
        expect(txn).toMatchObject(more);
        expect(txn.sourceReq.expiresAt).toBeGreaterThan(txn.createdAt);
        if (txn.sourceReq.ccy === txn.destReq.ccy) expect(txn.fxRate).toBe(1);
        expect(await get(`/transaction/${txn.txnId}`)).toMatchObject({ status: 200, json: txn });
      }
      const bare = await quote(bodies.receiveLightning());
      expect([bare.extRefId ?? null, bare.note ?? null]).toEqual([null, null]);
    }));

  test('answers 400 to a create request that breaks a rule', () =>
    withSandbox({}, async ({ sandbox, call, get, quote }) => {
      const { institutionCode } = (await get('/reference/fiat-institution/by-country/VN')).json
        .banks[0];
      const lightning = bodies.sendLightning(await sandbox.invoice('1000sat'));
      const payout = bodies.payout(institutionCode);
      const { sourceOfFunds: _funds, ...domesticOnly } = payout;
      const withSide = (
        body: { sourceReq: object; destReq: object },
        side: 'sourceReq' | 'destReq',
        change: object,
      ) => ({ ...body, [side]: { ...body[side], ...change } });
      const wrong: [string, unknown][] = [
        ['an empty body', {}],
        ['no destReq', { sourceReq: bodies.swap().sourceReq }],
        ['no sourceReq', { destReq: bodies.swap().destReq }],
        ['no ccy', withSide(bodies.swap(), 'sourceReq', { ccy: undefined })],
        ['an unknown ccy', withSide(bodies.swap(), 'sourceReq', { ccy: 'XXX' })],
        ['no method', withSide(bodies.swap(), 'destReq', { method: undefined })],
        ['an unknown method', withSide(bodies.swap(), 'destReq', { method: 'pigeon' })],
        ['amounts on both sides', withSide(bodies.swap(), 'destReq', { amtRequested: 1 })],
        ['an amount on no side', withSide(bodies.swap(), 'sourceReq', { amtRequested: undefined })],
        ['an amount of zero', bodies.swap(0)],
        ['a negative amount', bodies.swap(-1)],
        ['an amount as text', withSide(bodies.swap(), 'sourceReq', { amtRequested: '25' })],
        ['less than a satoshi', bodies.receiveLightning(0.000000001)],
        [
          'a Bolt11 send with an amount on the source',
          withSide(lightning, 'sourceReq', { amtRequested: 0.00001 }),
        ],
        [
          'a Bolt11 send with an amount on the dest',
          withSide(lightning, 'destReq', { amtRequested: 0.00001 }),
        ],
        ['a Bolt11 send without an invoice', withSide(lightning, 'destReq', { reqDetails: {} })],
        ['a broken invoice', bodies.sendLightning('lnbc1pvjluezpp5')],
        [
          'lnurl with the amount on the dest',
          {
            ...bodies.sendLnurl(),
            sourceReq: { ccy: 'BTC', method: 'servicepay' },
            destReq: { ...bodies.sendLnurl().destReq, amtRequested: 0.00001 },
          },
        ],
        ['lnurl without an address', withSide(bodies.sendLnurl(), 'destReq', { reqDetails: {} })],
        [
          'a receive with the amount on the source',
          withSide(
            withSide(bodies.receiveLightning(), 'destReq', { amtRequested: undefined }),
            'sourceReq',
            { amtRequested: 0.0001 },
          ),
        ],
        [
          'a receive into another rail',
          withSide(bodies.receiveLightning(), 'destReq', { method: 'tron' }),
        ],
        [
          'an on-chain send with the amount on the source',
          {
            ...bodies.sendOnchain(),
            sourceReq: { ccy: 'BTC', method: 'servicepay', amtRequested: 0.001 },
            destReq: { ...bodies.sendOnchain().destReq, amtRequested: undefined },
          },
        ],
        ['an on-chain send below the minimum', bodies.sendOnchain(undefined, 0.00000999)],
        ['a wrong address', bodies.sendOnchain('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5')],
        ['USDT in another currency', withSide(bodies.sendUsdt(), 'destReq', { ccy: 'BTC' })],
        ['USDT without an address', withSide(bodies.sendUsdt(), 'destReq', { reqDetails: {} })],
        [
          'USDT to an address that is none of TRON',
          withSide(bodies.sendUsdt(), 'destReq', {
            reqDetails: { address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' },
          }),
        ],
        [
          'USDT over eth, which is not available',
          withSide(bodies.sendUsdt(), 'destReq', {
            method: 'eth',
            reqDetails: { address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' },
          }),
        ],
        [
          'tron as a source',
          {
            sourceReq: { ccy: 'USDT', method: 'tron' },
            destReq: { ccy: 'USDT', method: 'servicepay', amtRequested: 1 },
          },
        ],
        ['a swap within one currency', withSide(bodies.swap(), 'destReq', { ccy: 'USDT' })],
        ["a payout without the sender's KYC", withSide(payout, 'sourceReq', { kyc: undefined })],
        ["a payout without the recipient's KYC", withSide(payout, 'destReq', { kyc: undefined })],
        [
          'an unknown type in the KYC',
          withSide(payout, 'destReq', {
            kyc: { type: 'robot', details: { legalFullName: 'R', countryCode: 'VN' } },
          }),
        ],
        [
          'a KYC without a name',
          withSide(payout, 'destReq', {
            kyc: { type: 'individual', details: { countryCode: 'VN' } },
          }),
        ],
        ['an international payout without source of funds', domesticOnly],
        [
          'source of funds that are no integers',
          { ...payout, sourceOfFunds: { purpose: 'a', source: 1, relationship: 1 } },
        ],
        ['a payout to an unknown institution', bodies.payout('NOPE')],
        ['a payout in another currency', withSide(payout, 'destReq', { ccy: 'KES' })],
        [
          'a flag that is no boolean',
          { ...bodies.sendOnchain(), deductNetworkFeesFromDest: 'yes' },
        ],
        ['a reference that is no text', { ...bodies.swap(), extRefId: 7 }],
        ['no JSON', '{oops'],
        ['no object', '[]'],
      ];
      for (const [why, body] of wrong) {
        const answer = await call('POST', '/transaction', body);
        expect
          .soft({ why, status: answer.status, error: answer.json?.error })
          .toEqual({ why, status: 400, error: text });
      }
      expect(await call('POST', '/transaction', { sourceReq: {}, destReq: {} })).toMatchObject(
        error(400, 'bad request'),
      );
      await quote({ ...bodies.swap(), extRefId: 'one' });
      expect(
        (await call('POST', '/transaction', { ...bodies.receiveLightning(), extRefId: 'one' }))
          .status,
      ).toBe(400);
    }));

  test('accepts every form of address and recipient in the specification', () =>
    withSandbox({}, async ({ get, quote }) => {
      const addresses = [
        'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
        'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
        '3P14159f73E4gFr7JterCCQh9QjiTjiZrG',
        '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2',
      ];
      for (const address of addresses) {
        expect(await quote(bodies.sendOnchain(address))).toMatchObject({
          destReq: { reqDetails: { address } },
        });
      }
      const [bank] = (await get('/reference/fiat-institution/by-country/VN')).json.banks;
      const long = {
        acctName: 'NGUYEN',
        acctNum: '0123',
        institutionCode: bank.institutionCode,
        institutionName: bank.institutionName,
      };
      expect((await quote(bodies.payout(bank.institutionCode, long))).destReq.reqDetails).toEqual(
        long,
      );
      expect(await quote(bodies.swapInto())).toMatchObject({ destReq: { amtRequested: 0.0001 } });
      expect(await quote(bodies.sendUsdt('BTC'))).toMatchObject({
        sourceReq: { ccy: 'BTC' },
        destReq: { amtRequested: 25 },
      });
    }));
});

describe('sandbox with other HTTP clients', () => {
  test('accepts requests in the format of axios', () =>
    withSandbox({}, async ({ call, confirm, read }) => {
      const axios = {
        'content-type': 'application/json; charset=utf-8',
        accept: 'application/json, text/plain, */*',
        'user-agent': 'axios/1.7',
      };
      const created = await call('POST', '/transaction/', bodies.swap(), axios);
      expect(created).toMatchObject({ status: 200, json: { txnState: 'quoted' } });
      const { txnId } = created.json;
      expect(await call('PUT', `/transaction/${txnId}/confirm`, {}, axios)).toMatchObject({
        status: 200,
        json: { txnState: 'completed' },
      });
      expect(await confirm(txnId)).toMatchObject(finalState(txnId, 'completed'));
      expect(await read(txnId)).toMatchObject({ txnState: 'completed' });
    }));

  test('accepts header names in any letter case and several requests on one connection', () =>
    withSandbox({}, async ({ sandbox }) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const sockets = new Set<unknown>();
      const send = (method: string, path: string, headers: Record<string, string>, body = '') =>
        new Promise<string>((done, fail) => {
          const outgoing = httpRequest(
            sandbox.url + path,
            { method, agent, headers: { Accept: '*/*', ...headers } },
            (incoming) => {
              done(buffer(incoming).then(String));
            },
          );
          outgoing
            .on('socket', (socket) => sockets.add(socket))
            .on('error', fail)
            .end(body);
        });
      const signature = hmac(sandbox.apiSecret, `${sandbox.apiKey}&payload={}`);
      const caps = {
        'CONTENT-TYPE': 'Application/JSON',
        'X-API-KEY': sandbox.apiKey,
        'x-Api-sIgNaTuRe': signature,
      };
      const { accessToken } = JSON.parse(await send('POST', tokenPath, caps, '{}'));
      for (const _ of [1, 2, 3]) {
        expect(
          JSON.parse(
            await send('GET', '/api/v2/webhook', { AUTHORIZATION: `Bearer ${accessToken}` }),
          ),
        ).toEqual({ data: [] });
      }
      expect(sockets.size).toBe(1);
      agent.destroy();
    }));

  test('refuses a POST or PUT request with a content type other than JSON', () =>
    withSandbox({}, async ({ call, quote, read }) => {
      const plain = { 'content-type': 'text/plain' };
      expect((await call('POST', '/transaction', bodies.swap(), plain)).status).toBe(400);
      const { txnId } = await quote(bodies.swap());
      expect((await call('PUT', `/transaction/${txnId}/confirm`, undefined, plain)).status).toBe(
        400,
      );
      expect(await read(txnId)).toMatchObject({ txnState: 'quoted' });
    }));
});

describe('sandbox with transactions', () => {
  test('completes a Lightning receive request after its invoice is paid', () =>
    withSandbox({}, async ({ sandbox, run, read, wallet, confirm }) => {
      const before = await wallet('BTC');
      const txn = await run(bodies.receiveLightning(0.0001));
      expect(txn).toMatchObject({
        txnState: 'srccreated',
        sourceReq: {
          reqDetails: {
            paymentRequest: expect.stringMatching(/^ln(bc|tb)100u1/),
            invoicePageUrl: expect.stringMatching(/^http/),
          },
        },
      });
      await sandbox.pay(txn.sourceReq.reqDetails.paymentRequest);
      expect(await read(txn.txnId)).toMatchObject({
        txnState: 'completed',
        sourceReq: { reqStatus: '2' },
        destReq: { amtSettled: 0.0001 },
      });
      expect((await wallet('BTC')).amount).toBeCloseTo(before.amount + 0.0001, 8);
      expect(await confirm(txn.txnId)).toMatchObject(finalState(txn.txnId, 'completed'));
    }));

  test('moves an on-chain receive from `srcintent` through `srccreated` to `completed`', () =>
    withSandbox({}, async ({ sandbox, run, read }) => {
      const txn = await run(bodies.receiveOnchain(0.001));
      const { reqDetails } = txn.sourceReq;
      expect(txn.txnState).toBe('srcintent');
      expect(reqDetails).toEqual({
        address: text,
        amount: 0.001,
        invoice: expect.stringMatching(/^bitcoin:.*amount=0\.001/),
        invoicePageUrl: text,
        expiredAt: iso,
      });
      expect(reqDetails.invoice).toContain(reqDetails.address);
      await sandbox.pay(reqDetails.address);
      expect(await read(txn.txnId)).toMatchObject({ txnState: 'srccreated' });
      await sandbox.mine(6);
      expect(await read(txn.txnId)).toMatchObject({
        txnState: 'completed',
        destReq: { amtSettled: 0.001 },
        sourceReq: { reqStatus: '2' },
      });
    }));

  test('reports an unpaid or unconfirmed transaction as `expired`', () =>
    withSandbox({}, async ({ sandbox, run, quote, read, confirm, renew }) => {
      const lightning = await run(bodies.receiveLightning());
      const onchain = await run(bodies.receiveOnchain());
      const quoted = await quote(bodies.swap());
      await sandbox.clock.advance(quoted.sourceReq.expiresAt - (await sandbox.clock.now()) + 1000);
      expect(await confirm(quoted.txnId)).toMatchObject(finalState(quoted.txnId, 'expired'));
      expect(await read(quoted.txnId)).toMatchObject({ txnState: 'expired' });
      await sandbox.clock.advance('25h');
      await renew();
      for (const { txnId } of [lightning, onchain])
        expect(await read(txnId)).toMatchObject({
          txnState: 'expired',
          destReq: { amtSettled: null },
        });
    }));

  test('keeps a cancelled quote in the state `usercanceled`', () =>
    withSandbox({}, async ({ quote, call, confirm }) => {
      const { txnId } = await quote(bodies.swap());
      expect(await call('PUT', `/transaction/${txnId}/cancel`)).toMatchObject({
        status: 200,
        json: { txnState: 'usercanceled' },
      });
      expect(await confirm(txnId)).toMatchObject(finalState(txnId, 'usercanceled'));
    }));

  test.for([
    ['a Lightning send', 'sendLightning'],
    ['a send to a Lightning Address', 'sendLnurl'],
    ['an on-chain send', 'sendOnchain'],
    ['a USDT send', 'sendUsdt'],
    ['a payout', 'payout'],
  ] as const)(
    'reserves the funds of %s in `srccreated` and debits the funds in `completed`',
    ([, kind]) =>
      withSandbox({}, async ({ sandbox, run, read, wallet, get, renew }) => {
        await sandbox.clock.freeze();
        const argument = {
          sendLightning: async () => sandbox.invoice('1000sat'),
          payout: async () =>
            (await get('/reference/fiat-institution/by-country/VN')).json.banks[0].institutionCode,
        };
        const body =
          kind === 'sendLightning' || kind === 'payout'
            ? bodies[kind](await argument[kind]())
            : bodies[kind]();
        const ccy = kind === 'sendUsdt' ? 'USDT' : 'BTC';
        const before = await wallet(ccy);
        const txn = await run(body);
        const { servicepayFees, networkFees, amtRequested } = txn.sourceReq;
        const cost = amtRequested + servicepayFees + networkFees;
        expect(txn).toMatchObject({
          txnState: 'srccreated',
          sourceReq: { reqStatus: '0', amtSettled: null },
        });
        const reserved = await wallet(ccy);
        expect(reserved.amount).toBe(before.amount);
        expect(reserved.availableBalance).toBeCloseTo(before.availableBalance - cost, 8);
        const seen = new Set<string>();
        for (let step = 0; step < 60 && !seen.has('completed'); step += 1) {
          await sandbox.clock.advance(step < 40 ? 250 : '10m');
          if (step === 40) await sandbox.mine(6);
          if (step >= 40) await renew();
          seen.add((await read(txn.txnId)).txnState);
        }
        expect([...seen].filter((state) => state !== 'srccreated')).toEqual([
          'destsent',
          'completed',
        ]);
        expect(await read(txn.txnId)).toMatchObject({
          sourceReq: { reqStatus: '2', amtSettled: number },
          destReq: { amtSettled: number },
        });
        const after = await wallet(ccy);
        expect([after.amount, after.availableBalance]).toEqual([
          reserved.availableBalance,
          reserved.availableBalance,
        ]);
      }),
  );

  test('completes a swap at once without network fees', () =>
    withSandbox({}, async ({ run, wallet }) => {
      const txn = await run(bodies.swap());
      expect(txn).toMatchObject({
        txnState: 'completed',
        sourceReq: { amtSettled: 25, reqStatus: '2', networkFees: 0 },
        destReq: { amtSettled: number },
      });
      expect((await wallet('USDT')).amount).toBeCloseTo(
        10_000 - 25 - txn.sourceReq.servicepayFees,
        6,
      );
    }));

  test('reports a send without a route as `failed` and debits no funds', () =>
    withSandbox({}, async ({ sandbox, run, read, wallet }) => {
      const before = await wallet('BTC');
      sandbox.faults.add({ kind: 'payment', outcome: 'no-route' });
      const { txnId } = await run(bodies.sendLightning(await sandbox.invoice('1000sat')));
      await sandbox.clock.advance('10s');
      expect(await read(txnId)).toMatchObject({ txnState: 'failed' });
      expect(await wallet('BTC')).toMatchObject({
        amount: before.amount,
        availableBalance: before.availableBalance,
      });
    }));

  test('deducts the fees from the received amount with deductNetworkFeesFromDest', () =>
    withSandbox({}, async ({ sandbox, run, read, renew }) => {
      const txn = await run({
        ...bodies.sendOnchain(undefined, 0.001),
        deductNetworkFeesFromDest: true,
      });
      await sandbox.clock.advance('2h');
      await renew();
      const { destReq, sourceReq } = await read(txn.txnId);
      expect(destReq.amtSettled).toBeCloseTo(
        0.001 - sourceReq.servicepayFees - sourceReq.networkFees,
        8,
      );
    }));

  test('answers 404 to a request for an unknown transaction or webhook', () =>
    withSandbox({}, async ({ get, confirm, call }) => {
      expect(await get('/transaction/nothing')).toMatchObject(error(404, 'not found'));
      expect(await get('/transaction/8b50d845-3578-4e58-82e1-b981ec213595')).toMatchObject(
        error(404, 'not found'),
      );
      expect(await confirm('nothing')).toMatchObject(error(404, 'not found'));
      expect(await call('PUT', '/webhook/nothing', { secret: 'a' })).toMatchObject(
        error(404, 'not found'),
      );
      expect(await call('DELETE', '/webhook/nothing')).toMatchObject(error(404, 'not found'));
    }));
});

describe('sandbox transaction list', () => {
  test('returns pages of 20 rows with the specified fields', () =>
    withSandbox({}, async ({ quote, get }) => {
      for (let n = 0; n < 23; n += 1) await quote(bodies.receiveLightning());
      const first = await get('/transaction');
      expect(first.json.pagination).toEqual({ page: 1, limit: 20, total: 23 });
      expect(first.json.data).toHaveLength(20);
      for (const item of first.json.data) {
        expect(item).toMatchObject({
          txnId: text,
          accountId: text,
          txnState: 'quoted',
          fxRate: 1,
          createdAt: epoch,
          sourceReq: { ccy: 'BTC', method: 'lightning' },
          destReq: { ccy: 'BTC', method: 'servicepay' },
        });
      }
      const second = await get('/transaction?page=2&limit=20');
      expect(second.json.pagination).toEqual({ page: 2, limit: 20, total: 23 });
      const ids = [...first.json.data, ...second.json.data].map(({ txnId }) => txnId);
      expect(new Set(ids).size).toBe(23);
      expect((await get('/transaction?page=9')).json.data).toEqual([]);
      for (const query of [
        'limit=0',
        'limit=-1',
        'limit=x',
        'page=0',
        'page=1.5',
        'time=2d',
        'txnStatuses=paid',
        'time=other&startTime=yesterday',
      ]) {
        expect.soft([query, (await get(`/transaction?${query}`)).status]).toEqual([query, 400]);
      }
    }));

  test('returns the rows of the requested period with both ends included', () =>
    withSandbox({}, async ({ sandbox, quote, get, renew }) => {
      await sandbox.clock.freeze();
      const old = await quote(bodies.swap());
      await sandbox.clock.advance('36h');
      const recent = await quote(bodies.swap()).catch(
        async () => (await renew(), quote(bodies.swap())),
      );
      const both = [old.txnId, recent.txnId].toSorted();
      // Omits the transactions that fund a new sandbox.
      const idsOf = async (query: string) =>
        (await get(`/transaction${query}`)).json.data
          .map(({ txnId }: { txnId: string }) => txnId)
          .filter((txnId: string) => both.includes(txnId))
          .toSorted();
      const at = (epochMs: number) => encodeURIComponent(new Date(epochMs).toISOString());
      expect(await idsOf('?time=1d')).toEqual([recent.txnId]);
      for (const time of ['7d', '30d', '3m', '6m', '1y'])
        expect(await idsOf(`?time=${time}`)).toEqual(both);
      expect(
        await idsOf(`?time=other&startTime=${at(old.createdAt)}&endTime=${at(recent.createdAt)}`),
      ).toEqual(both);
      expect(await idsOf(`?time=other&startTime=${at(old.createdAt + 1)}`)).toEqual([recent.txnId]);
      expect(await idsOf(`?time=other&endTime=${at(recent.createdAt - 1)}`)).toEqual([old.txnId]);
      expect(await idsOf(`?startTime=${at(recent.createdAt)}`)).toEqual(both);
      await sandbox.clock.advance('8d');
      await renew();
      expect(await idsOf('')).toEqual([]);
      expect(await idsOf('?time=30d')).toEqual(both);
    }));

  test('filters the list by state and by method', () =>
    withSandbox({}, async ({ run, quote, get, call }) => {
      const swap = (await run(bodies.swap())).txnId;
      const canceled = (await quote(bodies.sendOnchain())).txnId;
      await call('PUT', `/transaction/${canceled}/cancel`);
      const receive = (await run(bodies.receiveLightning())).txnId;
      const usdt = (await quote(bodies.sendUsdt())).txnId;
      const expectIds = async (query: string, ids: string[]) => {
        const { json } = await get(`/transaction?${query}`);
        expect
          .soft([
            query,
            json.data?.map(({ txnId }: { txnId: string }) => txnId).toSorted(),
            json.pagination?.total,
          ])
          .toEqual([query, ids.toSorted(), ids.length]);
      };
      await expectIds('txnStatuses=completed', [swap]);
      await expectIds('txnStatuses=completed,usercanceled', [swap, canceled]);
      await expectIds('txnStatuses=completed&txnStatuses=usercanceled', [swap, canceled]);
      await expectIds('srcMethods=lightning', [receive]);
      await expectIds('destMethods=tron', [usdt]);
      await expectIds('destMethods=tron,on-chain', [usdt, canceled]);
      await expectIds('excludedSrcMethods=servicepay', [receive]);
      await expectIds('excludedDestMethods=servicepay', [usdt, canceled]);
      await expectIds('srcMethods=servicepay&excludedDestMethods=tron&txnStatuses=quoted', []);
    }));
});

describe('sandbox with a webhook', () => {
  const url = 'https://shop.example/hooks';

  test('keeps at most one webhook and never shows its secret', () =>
    withSandbox({}, async ({ call, get }) => {
      expect(await get('/webhook')).toMatchObject({ status: 200, json: { data: [] } });
      const first = await call('POST', '/webhook', { callback: url, secret: 'hush-1' });
      expect(first).toMatchObject({ status: 200 });
      expect(first.json).toEqual({ id: text, callback: url, createdAt: epoch });
      const { json: second } = await call('POST', '/webhook', {
        callback: `${url}/2`,
        secret: 'hush-2',
      });
      expect((await get('/webhook')).json).toEqual({ data: [second] });
      expect(second.id).not.toBe(first.json.id);
      expect(await call('PUT', `/webhook/${first.json.id}`, { secret: 'a' })).toMatchObject(
        error(404, 'not found'),
      );
      const answers = [
        await call('PUT', `/webhook/${second.id}`, { callback: `${url}/3` }),
        await call('PUT', `/webhook/${second.id}`, { secret: 'hush-3' }),
        await call('PUT', `/webhook/${second.id}`, { callback: `${url}/4`, secret: 'hush-4' }),
        await get('/webhook'),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(answers.every((answer) => !answer.text.includes('hush'))).toBe(true);
      expect(answers[3]?.json).toEqual({ data: [{ ...second, callback: `${url}/4` }] });
      expect((await call('DELETE', `/webhook/${second.id}`)).status).toBe(200);
      expect((await get('/webhook')).json).toEqual({ data: [] });
      for (const body of [
        { callback: url },
        { secret: 'a' },
        { callback: 'http://shop.example', secret: 'a' },
        { callback: 'nonsense', secret: 'a' },
        { callback: url, secret: '' },
      ]) {
        expect.soft([body, (await call('POST', '/webhook', body)).status]).toEqual([body, 400]);
      }
    }));

  test('sends every change of state signed with the current secret', async () => {
    const got: { signature: unknown; type: unknown; raw: string }[] = [];
    const receiver = createServer((incoming, outgoing) => {
      void (async () => {
        const raw = (await buffer(incoming)).toString();
        got.push({
          signature: incoming.headers['x-servicepay-signature'],
          type: incoming.headers['content-type'],
          raw,
        });
        outgoing.end('ok');
      })();
    });
    await new Promise<void>((ready) => receiver.listen(0, '127.0.0.1', ready));
    const address = receiver.address();
    const callback = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
    await withSandbox({ allowHttpCallbacks: true }, async ({ sandbox, call, run }) => {
      const { id } = (await call('POST', '/webhook', { callback, secret: 'one' })).json;
      const txn = await run({ ...bodies.swap(), extRefId: 'order-1' });
      await sandbox.webhooks.settled();
      await call('PUT', `/webhook/${id}`, { secret: 'two' });
      const receive = await run(bodies.receiveLightning());
      await sandbox.pay(receive.sourceReq.reqDetails.paymentRequest);
      await sandbox.webhooks.settled();
      await call('DELETE', `/webhook/${id}`);
      await run(bodies.swap());
      await sandbox.webhooks.settled();
      const events = got.map(({ raw }) => JSON.parse(raw));
      expect(events.map(({ txnId, txnState }) => [txnId, txnState])).toEqual([
        [txn.txnId, 'quoted'],
        [txn.txnId, 'completed'],
        [receive.txnId, 'quoted'],
        [receive.txnId, 'srccreated'],
        [receive.txnId, 'completed'],
      ]);
      expect(events[1]).toEqual({
        txnId: txn.txnId,
        extRefId: 'order-1',
        txnState: 'completed',
        msg: text,
        updatedAt: epoch,
      });
      expect(events[2].extRefId ?? null).toBeNull();
      got.forEach(({ signature, raw, type }, n) => {
        expect(signature).toBe(hmac(n < 2 ? 'one' : 'two', raw));
        expect(type).toMatch(/^application\/json/);
      });
    });
    receiver.close();
  });
});

test('sandbox lists banks and mobile wallets only for countries with payouts', () =>
  withSandbox({}, async ({ get }) => {
    const countries = [
      'CA',
      'IN',
      'ID',
      'KE',
      'MY',
      'NG',
      'PH',
      'RW',
      'SG',
      'KR',
      'TH',
      'VN',
      'BJ',
      'CI',
      'GH',
      'SN',
      'TW',
      'KH',
    ];
    for (const country of countries) {
      const { status, json } = await get(`/reference/fiat-institution/by-country/${country}`);
      expect(status).toBe(200);
      expect(Object.keys(json).toSorted()).toEqual(['banks', 'mobiles']);
      for (const bank of json.banks)
        expect(bank).toEqual({
          institutionCode: text,
          institutionType: 'bank',
          institutionName: text,
        });
      for (const mobile of json.mobiles)
        expect(mobile).toEqual({
          institutionCode: text,
          institutionType: 'mobile',
          institutionName: text,
        });
    }
    const none = await get('/reference/fiat-institution/by-country/FR');
    expect(none).toMatchObject({ status: 200, json: { banks: [], mobiles: [] } });
  }));
