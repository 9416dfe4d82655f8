// Tests the authentication of the sandbox: signatures, tokens, access to accounts, and the exact
// text of each refusal.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { authenticate, fresh, lightningReceive, sign, type Fresh } from '../support.js';

let sandbox: Fresh;

beforeEach(async () => {
  sandbox = await fresh();
});

afterEach(() => sandbox.close());

const decodePart = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());
const zeros = '0'.repeat(64);
const wrongKeyOrSignature = { error: 'invalid API key or signature' };
const wrongSignature = { error: 'invalid api signature' };

describe('the token endpoint of the sandbox', () => {
  test('returns a JWT, its expiry by the service clock, and the account', async () => {
    const { status, body } = await authenticate(sandbox.send, sandbox.url, sandbox);
    const { now } = (await sandbox.control('GET', 'clock')).body;
    expect(status).toBe(200);
    const expiredAt = Math.floor(now / 1000) * 1000 + 3_600_000;
    expect(body).toEqual({
      accessToken: expect.any(String),
      expiredAt,
      accountId: sandbox.accountId,
    });
    const [header, payload] = body.accessToken.split('.').slice(0, 2).map(decodePart);
    expect(header).toEqual({ alg: 'HS256', typ: 'JWT' });
    expect(payload).toMatchObject({
      sub: sandbox.accountId,
      iat: expiredAt / 1000 - 3_600,
      exp: expiredAt / 1000,
    });
  });

  test.for(
    [
      { what: 'no key', headers: { 'x-api-key': undefined }, body: wrongKeyOrSignature },
      { what: 'an unknown key', headers: { 'x-api-key': 'nobody' }, body: wrongKeyOrSignature },
      {
        what: 'no signature',
        headers: { 'x-api-signature': undefined },
        body: wrongKeyOrSignature,
      },
      { what: 'a wrong signature', headers: { 'x-api-signature': zeros }, body: wrongSignature },
      { what: 'a short signature', headers: { 'x-api-signature': 'ab' }, body: wrongSignature },
    ].map((each) => [each.what, each] as const),
  )('refuses a sign-in with %s', async ([, { headers, body }]) => {
    const answer = await authenticate(sandbox.send, sandbox.url, sandbox, '{}', headers);
    expect([answer.status, answer.body]).toEqual([401, body]);
  });

  test('verifies the signature over the exact text of the body', async () => {
    const signature = sign(sandbox.apiKey, sandbox.apiSecret, '{"a":1}');
    const answer = await authenticate(sandbox.send, sandbox.url, sandbox, '{"a": 1}', {
      'x-api-signature': signature,
    });
    expect([answer.status, answer.body]).toEqual([401, wrongSignature]);
  });

  test('refuses a signature in upper-case hexadecimal', async () => {
    const signature = sign(sandbox.apiKey, sandbox.apiSecret, '{}').toUpperCase();
    const answer = await authenticate(sandbox.send, sandbox.url, sandbox, '{}', {
      'x-api-signature': signature,
    });
    expect([answer.status, answer.body]).toEqual([401, wrongSignature]);
  });

  test('accepts a signature only once', async () => {
    expect((await authenticate(sandbox.send, sandbox.url, sandbox, '{"n":1}')).status).toBe(200);
    const again = await authenticate(sandbox.send, sandbox.url, sandbox, '{"n":1}');
    expect([again.status, again.body]).toEqual([
      401,
      { ...wrongSignature, message: expect.stringContaining('used before') },
    ]);
    expect((await sandbox.control('GET', 'log?limit=1')).body.data[0].fault).toBe(
      'repeated signature',
    );
  });

  test('accepts a signature again if allowSignatureReuse is set', async () => {
    const tolerant = await fresh({ allowSignatureReuse: true });
    expect((await authenticate(tolerant.send, tolerant.url, tolerant, '{}')).status).toBe(200);
    expect((await authenticate(tolerant.send, tolerant.url, tolerant, '{}')).status).toBe(200);
    await tolerant.close();
  });

  test.for(['{', '', 'hello'])('refuses the malformed body %j, even if signed', async (body) => {
    const answer = await authenticate(sandbox.send, sandbox.url, sandbox, body);
    expect([answer.status, answer.body.error]).toEqual([400, 'bad request']);
  });

  test('requires a JSON content type', async () => {
    const answer = await authenticate(sandbox.send, sandbox.url, sandbox, '{}', {
      'content-type': 'text/plain',
    });
    expect([answer.status, answer.body.error]).toEqual([400, 'bad request']);
  });
});

describe('the sandbox with access tokens', () => {
  const invalid = { error: 'invalid token or token expired' };
  const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`;

  test.for(
    [
      { header: '', body: { error: 'unauthorized' } },
      { header: 'Basic abc', body: { error: 'unauthorized' } },
      { header: 'Bearer', body: { error: 'unauthorized' } },
      { header: 'Bearer abc', body: invalid },
      { header: 'Bearer a.b.c', body: invalid },
      { header: `Bearer ${unsigned}`, body: invalid },
    ].map((each) => [each.header, each] as const),
  )('refuses the authorization header "%s"', async ([, { header, body }]) => {
    const answer = await sandbox.call('GET', '/transaction', undefined, { authorization: header });
    expect([answer.status, answer.body]).toEqual([401, body]);
  });

  test('accepts a token until it expires', async () => {
    await sandbox.advance('59m');
    expect((await sandbox.call('GET', '/transaction')).status).toBe(200);
    await sandbox.advance('1m');
    const late = await sandbox.call('GET', '/transaction');
    expect([late.status, late.body]).toEqual([401, invalid]);
  });

  test('refuses a token that was altered to name another account', async () => {
    const child = (await sandbox.control('POST', 'accounts', { displayName: 'Shop' })).body;
    const { accessToken } = (await authenticate(sandbox.send, sandbox.url, child)).body;
    const [header, payload, signature] = accessToken.split('.');
    const claims = JSON.stringify({ ...Object(decodePart(payload)), sub: sandbox.accountId });
    const forged = [header, Buffer.from(claims).toString('base64url'), signature].join('.');
    const answer = await sandbox.call('GET', '/transaction', undefined, {
      authorization: `Bearer ${forged}`,
    });
    expect([answer.status, answer.body]).toEqual([401, invalid]);
  });
});

describe('the sandbox with several accounts', () => {
  const open = async (body: object) => {
    const credentials = (await sandbox.control('POST', 'accounts', body)).body;
    return { credentials, client: await sandbox.login(credentials) };
  };
  const receive = lightningReceive(0.1);
  const walletsOf = (accountId: string) => `/account/${accountId}/wallet/`;

  test('returns the wallets of an account only at the path with a trailing slash', async () => {
    const wallets = await sandbox.call('GET', walletsOf(sandbox.accountId));
    expect(
      wallets.body.data.map(({ ccy, amount }: { ccy: string; amount: number }) => [ccy, amount]),
    ).toEqual([
      ['BTC', 1],
      ['USDT', 10_000],
      ['USD', 5_000],
      ['CAD', 5_000],
      ['VND', 50_000_000],
    ]);
    expect(wallets.body.data[0]).toEqual({
      id: expect.any(String),
      ccy: 'BTC',
      amount: 1,
      availableBalance: 1,
      accountId: sandbox.accountId,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    expect((await sandbox.call('GET', `/account/${sandbox.accountId}/wallet`)).status).toBe(404);
  });

  test('returns the records of an account and of its subaccount', async () => {
    const { credentials: child, client } = await open({ displayName: 'Shop' });
    const own = await sandbox.call('GET', `/account/${sandbox.accountId}`);
    expect([own.status, own.body]).toEqual([
      200,
      {
        accountId: sandbox.accountId,
        accountDisplayName: 'Sandbox',
        parentAccountId: null,
        createdAt: expect.any(String),
        displayName: 'Sandbox',
        status: 'ACTIVE',
        country: 'CA',
        extId: expect.any(String),
      },
    ]);
    const { body } = await sandbox.call('GET', `/account/${child.accountId}`);
    expect(body).toMatchObject({ accountDisplayName: 'Shop', parentAccountId: sandbox.accountId });
    expect((await client.call('GET', `/account/${child.accountId}`)).body).toEqual(body);
  });

  test('lets an account read, confirm and cancel transactions of its subaccount', async () => {
    const { credentials, client } = await open({ displayName: 'Shop' });
    const [first, second] = [await client.create(receive), await client.create(receive)].map(
      ({ body }) => body.txnId,
    );
    expect((await sandbox.get(first)).body.accountId).toBe(credentials.accountId);
    expect((await sandbox.confirm(first)).body).toMatchObject({
      txnState: 'srccreated',
      accountDisplayName: 'Shop',
    });
    expect((await sandbox.cancel(second)).body.txnState).toBe('usercanceled');
    expect((await sandbox.call('GET', '/transaction')).body.pagination.total).toBe(0);
    expect((await client.call('GET', '/transaction')).body.pagination.total).toBe(2);
  });

  test('refuses access to a sister account and to a subaccount of a subaccount', async () => {
    const child = await open({ displayName: 'Shop' });
    const sister = await open({ displayName: 'Other shop' });
    const grandchild = await open({
      displayName: 'Stall',
      parentAccountId: child.credentials.accountId,
    });
    const { txnId } = (await grandchild.client.create(receive)).body;
    for (const stranger of [sandbox, sister.client]) {
      const answer = await stranger.confirm(txnId);
      expect([answer.status, answer.body]).toEqual([
        401,
        { error: 'you are not authorized to view this account' },
      ]);
    }
    expect((await child.client.confirm(txnId)).status).toBe(200);
  });

  test('returns the wallets of a subaccount to its parent account', async () => {
    const { credentials } = await open({ displayName: 'Shop' });
    await sandbox.control('POST', 'fund', {
      ccy: 'BTC',
      amount: '0.2',
      accountId: credentials.accountId,
    });
    const { body } = await sandbox.call('GET', walletsOf(credentials.accountId));
    expect(body.data).toMatchObject([
      { ccy: 'BTC', amount: 0.2, accountId: credentials.accountId },
    ]);
  });

  test('refuses access to an account from its subaccount and from another account', async () => {
    const child = await open({ displayName: 'Shop' });
    const stranger = await open({ displayName: 'Stranger', parentAccountId: null });
    const txn = (await sandbox.create(receive)).body.txnId;
    for (const path of [
      walletsOf(sandbox.accountId),
      `/account/${sandbox.accountId}`,
      `/transaction/${txn}`,
    ]) {
      const [fromChild, fromStranger] = [
        await child.client.call('GET', path),
        await stranger.client.call('GET', path),
      ];
      // The specification of the wallets endpoint defines only one refusal, with status 401.
      expect([fromChild.status, fromChild.body]).toEqual(
        path.endsWith('/wallet/')
          ? [401, { error: 'you are not authorized to view this account' }]
          : [403, { error: 'Permission denied' }],
      );
      expect([fromStranger.status, fromStranger.body]).toEqual([
        401,
        { error: 'you are not authorized to view this account' },
      ]);
    }
  });

  test.for(
    [
      { id: 'ne01-ffffffff', status: 401, error: 'you are not authorized to view this account' },
      { id: 'nobody', status: 400, error: 'failed to get account' },
      { id: '%00', status: 400, error: 'failed to get account' },
      { id: '%', status: 400, error: 'failed to get account' },
    ].map((each) => [each.status, each.id, each] as const),
  )('answers %s for the account id %s', async ([, , { id, status, error }]) => {
    const answer = await sandbox.call('GET', walletsOf(id));
    expect([answer.status, answer.body.error]).toEqual([status, error]);
  });
});
