// Tests ServiceClient against the sandbox over HTTP: each implements the specification
// independently.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ServiceClient, type ClientOptions } from '../../src/api/client.js';
import type { Token } from '../../src/api/types.js';
import { networkTransport } from '../../src/api/network.js';
import type { Sandbox } from '../../src/sandbox/server.js';
import { startCheckedSandbox } from '../support/openapi.js';

function clientOf(sandbox: Sandbox, options: Partial<ClientOptions> = {}): ServiceClient {
  const transport = networkTransport({ env: {}, timeoutMs: 10_000 });
  onTestFinished(() => transport.close());
  let kept: Token | undefined;
  return new ServiceClient({
    baseUrl: sandbox.url,
    credentials: { apiKey: sandbox.apiKey, apiSecret: sandbox.apiSecret },
    transport,
    tokens: {
      load: async () => kept,
      save: async (token) => void (kept = token),
    },
    maker: 'service',
    clock: Date.now,
    sleep: () => Promise.resolve(),
    random: Math.random,
    timeoutMs: 10_000,
    ...options,
  });
}

describe.for(['service', 'acme'])('ServiceClient with the service name %s', (maker) => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startCheckedSandbox({ maker });
    return () => sandbox.stop();
  });

  test('completes a swap in the sandbox and changes the wallets', async () => {
    const client = clientOf(sandbox, { maker });
    await sandbox.fund('BTC', '0.5');
    const before = await client.wallets();
    const quote = await client.createTransaction({
      sourceReq: { ccy: 'BTC', method: 'servicepay', amtRequested: 0.0001 },
      destReq: { ccy: 'USDT', method: 'servicepay' },
      extRefId: `swap-${maker}`,
    });
    expect(quote).toMatchObject({
      txnState: 'quoted',
      extRefId: `swap-${maker}`,
      sourceReq: { method: 'servicepay', amtRequested: 0.0001, servicepayFees: expect.any(Number) },
    });
    expect(await client.confirmTransaction(quote.txnId)).toMatchObject({
      txnId: quote.txnId,
      txnState: 'completed',
    });
    expect(await client.transaction(quote.txnId)).toMatchObject({ txnState: 'completed' });

    const listed: string[] = [];
    const swaps = client.eachTransaction({
      txnStatuses: ['failed', 'completed'],
      srcMethods: 'servicepay',
    });
    for await (const { txnId } of swaps) listed.push(txnId);
    expect(listed).toContain(quote.txnId);
    const btc = (wallets: typeof before): number =>
      Number(wallets.find(({ ccy }) => ccy === 'BTC')?.availableBalance);
    expect(btc(await client.wallets())).toBeLessThan(btc(before));
  });

  test.for([
    ['deductNetworkFeesFromDest', 98.8],
    ['deductServicepayFees', 99.8],
    ['deductNetworkFees', 99],
  ] as const)(
    'deducts fees with the flag %s so that %d of 100 USDT arrive',
    async ([flag, arrives]) => {
      const client = clientOf(sandbox, { maker });
      await sandbox.fund('USDT', '500');
      const { txnId } = await client.createTransaction({
        sourceReq: { ccy: 'USDT', method: 'servicepay', reqDetails: {} },
        destReq: {
          ccy: 'USDT',
          method: 'tron',
          amtRequested: 100,
          reqDetails: { address: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8' },
        },
        [flag]: true,
      });
      await client.confirmTransaction(txnId);
      await sandbox.mine(1);
      expect((await client.transaction(txnId)).destReq?.amtSettled).toBe(arrives);
    },
  );

  test('reports code 2005 and the transaction id if a quote is confirmed twice', async () => {
    const client = clientOf(sandbox, { maker });
    await sandbox.fund('BTC', '0.5');
    const { txnId } = await client.createTransaction({
      sourceReq: { ccy: 'BTC', method: 'servicepay', amtRequested: 0.0001 },
      destReq: { ccy: 'USDT', method: 'servicepay' },
    });
    await client.confirmTransaction(txnId);
    await expect(client.confirmTransaction(txnId)).rejects.toMatchObject({
      kind: 'refused',
      status: 400,
      code: '2005',
      params: { State: 'completed', TxnID: txnId },
    });
  });
});

describe('ServiceClient sign-in', () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startCheckedSandbox();
    return () => sandbox.stop();
  });

  test('fails with `authentication` if the secret is wrong', async () => {
    const client = clientOf(sandbox, {
      credentials: { apiKey: sandbox.apiKey, apiSecret: 'wrong' },
    });
    await expect(client.authenticate()).rejects.toMatchObject({
      kind: 'authentication',
      next: { do: 'sign-in' },
    });
  });

  test('signs in again once after the service rejects the token as expired', async () => {
    const client = clientOf(sandbox);
    const signIns = (): number =>
      sandbox.requests('POST', '/api/v2/authentication/token-signature').length;
    await client.wallets();
    const before = signIns();
    await sandbox.clock.advance('30d');
    await client.wallets();
    await client.wallets();
    expect(signIns() - before).toBe(1);
  });

  test('reads the clock of the service at sign-in', async () => {
    const client = clientOf(sandbox);
    await client.authenticate();
    expect(Math.abs(client.serviceNow() - (await sandbox.clock.now()))).toBeLessThan(1_500);
  });
});

test('ServiceClient fails with `not-found` if it reads an unknown transaction id', async () => {
  const sandbox = await startCheckedSandbox();
  onTestFinished(() => sandbox.stop());
  const client = clientOf(sandbox);
  await expect(client.transaction('no-such-id')).rejects.toMatchObject({
    kind: 'not-found',
    reason: 'not found',
  });
});
