// Tests injected faults: the requests that they match, the client's result, and the effect of the
// request.
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { NewFault, Sandbox } from '../../../src/sandbox.js';
import { startReceiver } from '../../support/receiver.js';
import {
  connect,
  fresh,
  lightningReceive,
  lightningSend,
  onchainSend,
  payout,
  serve,
  swap,
  type Client,
} from '../support.js';

const transaction = '/api/v2/transaction';
const cleanups: (() => Promise<void>)[] = [];
let sandbox: Sandbox;
let client: Client;

beforeEach(async () => {
  ({ sandbox } = await serve({ allowHttpCallbacks: true }));
  cleanups.push(() => sandbox.stop());
  // This client does not check responses, because the OpenAPI description omits the responses that
  // faults cause.
  client = await connect(fetch, sandbox.url, sandbox, () => undefined);
  await sandbox.clock.freeze();
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const create = () => client.create(swap(10, 'USDT', 'USD'));
const total = async (): Promise<number> =>
  (await client.call('GET', '/transaction')).body.pagination.total;

describe('the sandbox with a fault', () => {
  const answers: readonly {
    what: string;
    fault: NewFault;
    status: number;
    body: unknown;
    retryAfter: string | null;
    carriedOut: number;
  }[] = [
    {
      what: '500',
      fault: { kind: 'status', status: 500 },
      status: 500,
      body: { error: 'internal server error' },
      retryAfter: null,
      carriedOut: 0,
    },
    {
      what: '429 with Retry-After',
      fault: { kind: 'status', status: 429, retryAfter: 7 },
      status: 429,
      body: { error: 'too many requests' },
      retryAfter: '7',
      carriedOut: 0,
    },
    {
      what: '503 after it executed the request',
      fault: { kind: 'status', status: 503, commit: true },
      status: 503,
      body: { error: 'service unavailable' },
      retryAfter: null,
      carriedOut: 1,
    },
    {
      what: '400 with the configured error and message',
      fault: { kind: 'status', status: 400, error: 'bad request', message: 'for testing' },
      status: 400,
      body: { error: 'bad request', message: 'for testing' },
      retryAfter: null,
      carriedOut: 0,
    },
    {
      what: '200 with the configured body',
      fault: { kind: 'status', status: 200, body: { txnId: null, amounts: [0.00000001] } },
      status: 200,
      body: { txnId: null, amounts: [0.00000001] },
      retryAfter: null,
      carriedOut: 0,
    },
    {
      what: '403',
      fault: { kind: 'status', status: 403 },
      status: 403,
      body: { error: 'forbidden' },
      retryAfter: null,
      carriedOut: 0,
    },
  ];
  test.for(answers.map((each) => [each.what, each] as const))(
    'answers %s on a status fault',
    async ([, { fault, status, body, retryAfter, carriedOut }]) => {
      await sandbox.faults.add(fault);
      const answer = await create();
      expect([answer.status, answer.body, answer.headers.get('retry-after')]).toEqual([
        status,
        body,
        retryAfter,
      ]);
      expect(await total()).toBe(carriedOut);
    },
  );

  test.for<{ kind: 'drop-before-commit' | 'drop-after-commit' | 'truncate'; carriedOut: number }>([
    { kind: 'drop-before-commit', carriedOut: 0 },
    { kind: 'drop-after-commit', carriedOut: 1 },
    { kind: 'truncate', carriedOut: 1 },
  ])('closes the connection on a $kind fault', async ({ kind, carriedOut }) => {
    await sandbox.faults.add({ kind });
    await expect(create()).rejects.toThrow(/fetch failed|terminated/);
    expect(await total()).toBe(carriedOut);
  });

  test('truncates an answer after its headers on a truncate fault', async () => {
    await sandbox.faults.add({ kind: 'truncate' });
    const answer = await fetch(`${sandbox.url}${transaction}`);
    expect(answer.status).toBe(401);
    await expect(answer.text()).rejects.toThrow('terminated');
  });

  test('answers with the HTML page of a proxy on an html fault', async () => {
    await sandbox.faults.add({ kind: 'html' });
    const answer = await fetch(`${sandbox.url}${transaction}`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      502,
      'text/html; charset=utf-8',
    ]);
    expect(await answer.text()).toContain('<h1>502 Bad Gateway</h1>');
  });

  test('delays an answer on a latency fault', async () => {
    await sandbox.faults.add({ kind: 'latency', delay: '60ms' });
    const begun = performance.now();
    expect((await create()).status).toBe(200);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(59);
  });

  test.for(
    [
      { what: 'takes effect', commit: true, carriedOut: 1 },
      { what: 'has no effect', commit: false, carriedOut: 0 },
    ].map((each) => [each.what, each] as const),
  )(
    'never answers on a no-answer fault, even if the request %s',
    async ([, { commit, carriedOut }]) => {
      await sandbox.faults.add({ kind: 'no-answer', method: 'POST', times: 'always', commit });
      const timeout = AbortSignal.timeout(50);
      const given = fetch(`${sandbox.url}${transaction}`, { method: 'POST', signal: timeout });
      await expect(given).rejects.toThrow('timeout');
      const waiting = create().catch((error: unknown) => String(error));
      await expect.poll(total).toBe(carriedOut);
      await sandbox.stop();
      cleanups.splice(0);
      expect(await waiting).toContain('fetch failed');
    },
  );

  test.for(
    [
      { what: 'create requests only', pattern: { method: 'post' }, strikes: [true, false, false] },
      {
        what: 'create requests and lists',
        pattern: { path: transaction },
        strikes: [true, true, false],
      },
      {
        what: 'lists only',
        pattern: { method: 'GET', path: transaction },
        strikes: [false, true, false],
      },
      {
        what: 'create requests and lists',
        pattern: { path: '/api/v2/*' },
        strikes: [true, true, false],
      },
      {
        what: 'confirmations only',
        pattern: { path: '/api/v2/*/*/confirm' },
        strikes: [false, false, true],
      },
      {
        what: 'confirmations only',
        pattern: { path: '**/confirm' },
        strikes: [false, false, true],
      },
      { what: 'every request', pattern: { path: '**' }, strikes: [true, true, true] },
      {
        what: 'no request',
        pattern: { path: '/api/v2/transactio.' },
        strikes: [false, false, false],
      },
      { what: 'every request', pattern: {}, strikes: [true, true, true] },
    ].map((each) => [each.pattern, each.what, each] as const),
  )('applies a fault with the pattern %s to %s', async ([, , { pattern, strikes }]) => {
    await sandbox.faults.add({ kind: 'status', status: 500, times: 'always', ...pattern });
    const answers = [
      await client.create({}),
      await client.call('GET', '/transaction?limit=1'),
      await client.confirm('none'),
    ];
    expect(answers.map(({ status }) => status === 500)).toEqual(strikes);
  });

  test('applies a fault to its nth match and later matches up to `times`, and counts each use', async () => {
    const { id } = await sandbox.faults.add({ kind: 'status', status: 500, nth: 2, times: 2 });
    const statuses = [];
    for (let call = 0; call < 5; call += 1) statuses.push((await create()).status);
    expect(statuses).toEqual([200, 500, 500, 200, 200]);
    expect(sandbox.faults.list()).toMatchObject([
      { id, kind: 'status', seen: 3, applied: 2, spent: true },
    ]);
  });

  test('applies faults with the same pattern one after the other', async () => {
    await sandbox.faults.add({ kind: 'status', status: 500 });
    await sandbox.faults.add({ kind: 'status', status: 503, times: 2 });
    await sandbox.faults.add({ kind: 'status', status: 429 });
    const statuses = [];
    for (let call = 0; call < 5; call += 1) statuses.push((await create()).status);
    expect(statuses).toEqual([500, 503, 503, 429, 200]);
  });

  test('removes one fault or all faults', async () => {
    const { id } = await sandbox.faults.add({ kind: 'status', status: 500, times: 'always' });
    await sandbox.faults.add({ kind: 'status', status: 503, times: 'always' });
    await sandbox.faults.clear(id);
    expect((await create()).status).toBe(503);
    await sandbox.faults.clear();
    expect((await create()).status).toBe(200);
    expect(sandbox.faults.list()).toEqual([]);
    await expect(sandbox.faults.clear(id)).rejects.toThrow('not found');
  });

  test('shows faults in the request log', async () => {
    await sandbox.faults.add({ kind: 'drop-before-commit', method: 'POST' });
    await sandbox.faults.add({ kind: 'drop-after-commit', method: 'POST' });
    await expect(create()).rejects.toThrow();
    await expect(create()).rejects.toThrow();
    await create();
    expect(
      sandbox.requests('POST', transaction).map(({ status, fault }) => [status, fault]),
    ).toEqual([
      [0, 'drop-before-commit'],
      [200, 'drop-after-commit'],
      [200, null],
    ]);
  });

  test('applies no fault to the control endpoints', async () => {
    await sandbox.faults.add({ kind: 'drop-before-commit', times: 'always' });
    expect((await client.control('GET', 'faults')).body.data).toHaveLength(1);
    expect((await client.control('DELETE', 'faults')).body).toEqual({ data: [] });
  });

  test.for([
    {},
    { kind: 'fire' },
    { kind: 'status' },
    { kind: 'status', status: 99 },
    { kind: 'latency' },
    { kind: 'latency', delay: '2' },
    { kind: 'truncate', times: 0 },
    { kind: 'truncate', nth: 'first' },
    { kind: 'payment' },
    { kind: 'payment', outcome: 'lost' },
    { kind: 'late-effect' },
    { kind: 'false-state' },
    { kind: 'false-state', state: 'paid' },
    { kind: 'stale', ago: 'long' },
    { kind: 'double-payment', path: '**' },
    { kind: 'webhook-duplicate', state: 'paid' },
    { kind: 'settled-amount', side: 'dest' },
    { kind: 'settled-amount', side: 'both', factor: 0.9 },
    { kind: 'settled-amount', side: 'dest', factor: 0 },
    { kind: 'settled-amount', side: 'dest', factor: 'nine' },
    { kind: 'returned', state: 'completed' },
  ])('refuses the fault %j', async (body) => {
    const answer = await client.control('POST', 'faults', body);
    expect([answer.status, answer.body.error]).toEqual([400, 'bad request']);
  });
});

describe('the sandbox with a fault that has an effect', () => {
  const quote = async (): Promise<string> => (await create()).body.txnId;
  const states = async (txnId: string): Promise<string[]> => [
    (await client.get(txnId)).body.txnState,
    (await client.call('GET', '/transaction')).body.data.find(
      (each: { txnId: string }) => each.txnId === txnId,
    )?.txnState,
  ];

  test.for<{ fault: NewFault; status: number }>([
    { fault: { kind: 'late-effect', delay: '5s' }, status: 200 },
    { fault: { kind: 'html', method: 'PUT', status: 504, commitAfter: '5s' }, status: 504 },
    { fault: { kind: 'status', method: 'PUT', status: 409, commitAfter: '5s' }, status: 409 },
  ])(
    'answers a confirmation at once but executes it later if a fault of kind $fault.kind applies',
    async ({ fault, status }) => {
      const txnId = await quote();
      await sandbox.faults.add(fault);
      const answer = await fetch(`${sandbox.url}${transaction}/${txnId}/confirm`, {
        method: 'PUT',
        headers: client.headers(),
      });
      expect(answer.status).toBe(status);
      if (status === 200) expect(await answer.json()).toMatchObject({ txnId, txnState: 'quoted' });
      await sandbox.clock.advance('4s');
      expect(await states(txnId)).toEqual(['quoted', 'quoted']);
      await sandbox.clock.advance('1s');
      expect(await states(txnId)).toEqual(['completed', 'completed']);
      expect(sandbox.requests('PUT').map((each) => [each.status, each.fault])).toEqual([
        [status, fault.kind],
        [200, 'late-effect'],
      ]);
    },
  );

  test.for([408, 409, 423, 425, 499])(
    'answers %i in HTML if an html fault applies, whether or not the sandbox executes the request',
    async (status) => {
      for (const commit of [false, true]) {
        await sandbox.faults.add({ kind: 'html', method: 'POST', status, commit });
        const answer = await fetch(`${sandbox.url}${transaction}`, {
          method: 'POST',
          headers: client.headers(),
          body: JSON.stringify(swap(1, 'USDT', 'USD')),
        });
        expect([answer.status, answer.headers.get('content-type')]).toEqual([
          status,
          'text/html; charset=utf-8',
        ]);
        expect(await total()).toBe(commit ? 1 : 0);
      }
    },
  );
});

describe('the sandbox with a read fault', () => {
  const send = async () => client.run(lightningSend(await sandbox.invoice('1000sat')));
  const listed = async (): Promise<string[]> =>
    (await client.call('GET', '/transaction')).body.data.map(
      ({ txnState }: { txnState: string }) => txnState,
    );

  test('shows transactions as of an earlier time, and hides newer transactions', async () => {
    const { txnId } = await send();
    await sandbox.clock.advance('5s');
    await sandbox.faults.add({ kind: 'stale', ago: '6s', times: 'always' });
    expect([(await client.get(txnId)).status, await listed()]).toEqual([404, []]);
    await sandbox.clock.advance('1s');
    expect([(await client.get(txnId)).body.txnState, await listed()]).toEqual([
      'srccreated',
      ['srccreated'],
    ]);
    expect(
      (await client.call('GET', '/transaction?txnStatuses=completed')).body.pagination.total,
    ).toBe(0);
    await sandbox.clock.advance('6s');
    expect([(await client.get(txnId)).body.txnState, await listed()]).toEqual([
      'completed',
      ['completed'],
    ]);
  });

  test('shows the details of an old state if a stale fault applies', async () => {
    const { txnId } = await client.run(lightningReceive(0.001));
    await sandbox.faults.add({ kind: 'stale', steps: 1 });
    const { txnState, sourceReq } = (await client.get(txnId)).body;
    expect([txnState, sourceReq.reqDetails.paymentRequest]).toEqual(['quoted', null]);
  });

  test('shows states that go back and forth if a stale fault applies', async () => {
    const { txnId } = await send();
    await sandbox.clock.advance('5s');
    await sandbox.faults.add({ kind: 'stale', steps: 2, nth: 2, path: '**/transaction/*' });
    const seen = [];
    for (let read = 0; read < 3; read += 1) seen.push((await client.get(txnId)).body.txnState);
    expect(seen).toEqual(['completed', 'srccreated', 'completed']);
    expect(await listed()).toEqual(['completed']);
  });

  test('applies a false-state fault and a latency fault to the same answer', async () => {
    const { txnId } = await send();
    await sandbox.faults.add({ kind: 'false-state', state: 'expired' });
    await sandbox.faults.add({ kind: 'latency', delay: '1ms' });
    expect((await client.get(txnId)).body.txnState).toBe('expired');
    expect((await client.get(txnId)).body.txnState).toBe('srccreated');
    expect(sandbox.faults.list().map(({ applied }) => applied)).toEqual([1, 1]);
  });
});

describe('the sandbox with a switch', () => {
  test('accepts a used reference once if the switch reference-reuse is set', async () => {
    const again = () => client.create(swap(1, 'USDT', 'USD', { extRefId: 'order-1' }));
    expect([(await again()).status, (await again()).status]).toEqual([200, 400]);
    await sandbox.faults.add({ kind: 'reference-reuse' });
    expect([(await again()).status, (await again()).status]).toEqual([200, 400]);
  });

  test('pays any invoice twice if the switch double-payment is set', async () => {
    const before = (await client.wallet('BTC')).amount;
    await sandbox.faults.add({ kind: 'double-payment', times: 'always' });
    const invoice = await sandbox.invoice('1000sat');
    const sent = [
      await client.run(lightningSend(invoice)),
      await client.run(lightningSend(invoice)),
    ];
    await sandbox.clock.advance('5s');
    for (const { txnId } of sent) expect((await client.get(txnId)).body.txnState).toBe('completed');
    expect((before - (await client.wallet('BTC')).amount).toFixed(8)).toBe('0.00002006');
  });

  test('lists the start options allowReferenceReuse and allowDoublePayment as faults', async () => {
    const other = await fresh({ allowReferenceReuse: true, allowDoublePayment: true });
    const { data } = (await other.control('GET', 'faults')).body;
    expect(data).toMatchObject([
      { kind: 'reference-reuse', times: 'always' },
      { kind: 'double-payment', times: 'always' },
    ]);
    await other.close();
  });
});

describe('the embedded sandbox', () => {
  const url = `http://sandbox.localhost${transaction}`;

  test('rejects a request if a fault breaks the connection', async () => {
    const embedded = await fresh();
    for (const kind of ['drop-before-commit', 'drop-after-commit', 'truncate']) {
      await embedded.control('POST', 'faults', { kind, method: 'POST' });
      await expect(embedded.create(swap(1, 'USDT', 'USD'))).rejects.toThrow('cut the connection');
    }
    expect((await embedded.call('GET', '/transaction')).body.pagination.total).toBe(2);
    await embedded.close();
  });

  test('ends an unanswered request if the signal of the request aborts', async () => {
    const embedded = await fresh();
    await embedded.control('POST', 'faults', { kind: 'no-answer' });
    await expect(
      embedded.send(new Request(url, { signal: AbortSignal.timeout(20) })),
    ).rejects.toThrow();
    await embedded.control('POST', 'faults', { kind: 'latency', delay: '30ms' });
    const begun = performance.now();
    await embedded.send(new Request(url));
    expect(performance.now() - begun).toBeGreaterThanOrEqual(29);
    await embedded.close();
  });

  test('shares its faults with all processes that use its file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
    cleanups.push(() => rm(folder, { recursive: true }));
    const file = join(folder, 'sandbox.db');
    const [one, other] = [await fresh({ file }), await fresh({ file })];
    await one.control('POST', 'faults', { kind: 'drop-before-commit', method: 'POST' });
    await expect(other.create(swap(1, 'USDT', 'USD'))).rejects.toThrow('cut the connection');
    expect((await one.create(swap(1, 'USDT', 'USD'))).status).toBe(200);
    await one.close();
    await other.close();
  });
});

describe('the sandbox with a payment fault', () => {
  const ends = async (body: object): Promise<unknown[]> => {
    const { txnId } = await client.run(body);
    await sandbox.clock.advance('1m');
    const { txnState } = (await client.get(txnId)).body;
    const { amount, availableBalance } = await client.wallet('BTC');
    return [txnState, amount, availableBalance];
  };

  test.for<[outcome: 'no-route' | 'rejected' | 'error', state: string]>([
    ['no-route', 'failed'],
    ['rejected', 'rejected'],
    ['error', 'error'],
  ])(
    'applies the outcome %s: the payment ends in state %s, and no money is deducted',
    async ([outcome, state]) => {
      await sandbox.faults.add({ kind: 'payment', outcome });
      expect(await ends(lightningSend(await sandbox.invoice('1000sat')))).toEqual([state, 1, 1]);
      expect(await ends(lightningSend(await sandbox.invoice('1000sat')))).toEqual([
        'completed',
        0.99998997,
        0.99998997,
      ]);
    },
  );

  test('applies a payment fault only to a matching destination', async () => {
    const [bad, good] = [await sandbox.invoice('1000sat'), await sandbox.invoice('1000sat')];
    await sandbox.faults.add({
      kind: 'payment',
      outcome: 'no-route',
      destination: bad,
      times: 'always',
    });
    expect(await ends(lightningSend(good))).toContain('completed');
    expect(await ends(lightningSend(bad))).toContain('failed');
    expect(await ends(lightningSend(bad))).toContain('failed');
  });

  test('applies a payment fault to a matching account number or address', async () => {
    await sandbox.faults.add({ kind: 'payment', outcome: 'rejected', destination: '01234*' });
    await sandbox.faults.add({ kind: 'payment', outcome: 'error', destination: 'tb1q*' });
    const address = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
    const paid = await client.run(payout(100_000));
    const sent = await client.run(onchainSend(address, 0.001));
    await sandbox.mine();
    await sandbox.clock.advance('10m');
    expect((await client.get(paid.txnId)).body.txnState).toBe('rejected');
    expect((await client.get(sent.txnId)).body.txnState).toBe('error');
  });

  test('applies no payment fault to a receive', async () => {
    await sandbox.faults.add({ kind: 'payment', outcome: 'rejected', times: 'always' });
    const { txnId } = await client.run(lightningReceive(0.001));
    await sandbox.pay(txnId);
    expect((await client.get(txnId)).body.txnState).toBe('completed');
    expect((await client.run(swap(1, 'USDT', 'USD'))).txnState).toBe('rejected');
  });
});

describe('the sandbox with a settled-amount fault', () => {
  const money = async (ccy: string): Promise<number> => (await client.wallet(ccy)).amount;
  const settledOf = async (txnId: string): Promise<unknown[]> => {
    const { txnState, sourceReq, destReq } = (await client.get(txnId)).body;
    return [txnState, sourceReq.amtSettled, destReq.amtSettled];
  };

  test('delivers less for the same cost if a settled-amount fault changes the destination side', async () => {
    await sandbox.faults.add({ kind: 'settled-amount', side: 'dest', factor: 0.9 });
    const { txnId } = await client.run(payout(500_000));
    await sandbox.clock.advance('10m');
    expect(await settledOf(txnId)).toEqual(['completed', 0.0002, 450_000]);
    expect(await money('BTC')).toBe(0.999799);
    expect(await settledOf((await client.run(swap(10, 'USDT', 'USD'))).txnId)).toEqual([
      'completed',
      10,
      10,
    ]);
  });

  test('debits more but delivers the same amount if a settled-amount fault changes the source side', async () => {
    await sandbox.faults.add({ kind: 'settled-amount', side: 'source', factor: 1.5 });
    const { txnId } = await client.run(lightningSend(await sandbox.invoice('1000sat')));
    await sandbox.clock.advance('2s');
    expect(await settledOf(txnId)).toEqual(['completed', 0.000015, 0.00001]);
    expect(await money('BTC')).toBe(0.99998497);
  });

  test('changes the amount that a swap delivers if a settled-amount fault applies', async () => {
    await sandbox.faults.add({ kind: 'settled-amount', side: 'dest', factor: 0.5 });
    const txn = await client.run(swap(10, 'USDT', 'USD'));
    expect([txn.destReq.amtRequested, txn.destReq.amtSettled]).toEqual([10, 5]);
    expect([await money('USDT'), await money('USD')]).toEqual([9_989.975, 5_005]);
  });

  test.for([
    ['source', 0.0008, 0.001],
    ['dest', 0.001, 0.0008],
  ] as const)(
    'keeps the invoice of a receive request if a settled-amount fault changes the %s side',
    async ([side, paid, credited]) => {
      await sandbox.faults.add({ kind: 'settled-amount', side, factor: 0.8 });
      const { txnId, sourceReq } = await client.run(lightningReceive(0.001));
      expect(sourceReq.reqDetails.paymentRequest).toMatch(/^lntb1m1/);
      await sandbox.pay(txnId);
      expect(await settledOf(txnId)).toEqual(['completed', paid, credited]);
      expect(await money('BTC')).toBe(1 + credited);
    },
  );

  test('applies a settled-amount fault only to a matching invoice', async () => {
    const [one, other] = [await sandbox.invoice('1000sat'), await sandbox.invoice('1000sat')];
    const fault = {
      kind: 'settled-amount',
      side: 'dest',
      factor: 0.5,
      destination: other,
    } as const;
    await sandbox.faults.add(fault);
    const ids = [];
    for (const each of [one, other]) ids.push((await client.run(lightningSend(each))).txnId);
    await sandbox.clock.advance('2s');
    expect(await Promise.all(ids.map(settledOf))).toEqual([
      ['completed', 0.00001, 0.00001],
      ['completed', 0.00001, 0.000005],
    ]);
  });
});

describe('the sandbox with a returned fault', () => {
  test.for(['failed', 'rejected'] as const)(
    'changes a completed payment to %s after a delay, and returns the money',
    async (state) => {
      const receiver = await startReceiver();
      cleanups.push(() => receiver.close());
      await client.call('POST', '/webhook', { callback: receiver.url, secret: 's' });
      await sandbox.faults.add({ kind: 'returned', state, delay: '2h' });
      const { txnId } = await client.run(lightningSend(await sandbox.invoice('1000sat')));
      await sandbox.clock.advance('2s');
      expect((await client.get(txnId)).body.txnState).toBe('completed');
      expect((await client.wallet('BTC')).amount).toBe(0.99998997);
      await sandbox.clock.advance('2h');
      await client.renew();
      expect((await client.get(txnId)).body).toMatchObject({
        txnState: state,
        sourceReq: { amtSettled: null, reqStatus: '0' },
        destReq: { amtSettled: null, reqStatus: '0' },
      });
      expect((await client.wallet('BTC')).amount).toBe(1);
      await sandbox.webhooks.settled();
      expect(receiver.states()).toEqual(['quoted', 'srccreated', 'destsent', 'completed', state]);
      expect((await client.confirm(txnId)).body).toMatchObject({ code: '2005' });
    },
  );

  test('changes a completed payout and a completed on-chain send to failed, and refunds the money', async () => {
    await sandbox.faults.add({ kind: 'returned', times: 'always' });
    const sends = [
      payout(500_000),
      onchainSend('tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', 0.01),
    ];
    const ids: string[] = [];
    for (const body of sends) ids.push((await client.run(body)).txnId);
    await sandbox.clock.advance('2d');
    await client.renew();
    for (const txnId of ids) expect((await client.get(txnId)).body.txnState).toBe('failed');
    const { amount, availableBalance } = await client.wallet('BTC');
    expect([amount, availableBalance]).toEqual([1, 1]);
  });
});

describe('the sandbox with a webhook fault', () => {
  const statesAfter = async (fault: NewFault): Promise<string[]> => {
    const receiver = await startReceiver();
    cleanups.push(() => receiver.close());
    await client.call('POST', '/webhook', { callback: receiver.url, secret: 'secret' });
    await sandbox.faults.add(fault);
    await client.run(lightningSend(await sandbox.invoice('1000sat')));
    await sandbox.webhooks.settled();
    await sandbox.clock.advance('1m');
    await sandbox.webhooks.settled();
    return receiver.states();
  };

  test('delivers an event twice if a webhook-duplicate fault applies', async () => {
    expect(await statesAfter({ kind: 'webhook-duplicate', state: 'destsent' })).toEqual([
      'quoted',
      'srccreated',
      'destsent',
      'destsent',
      'completed',
    ]);
  });

  test('delivers every event twice if a webhook-duplicate fault always applies', async () => {
    expect(await statesAfter({ kind: 'webhook-duplicate', times: 'always' })).toHaveLength(8);
  });

  test('delivers events out of order if a webhook-out-of-order fault applies', async () => {
    expect(await statesAfter({ kind: 'webhook-out-of-order', nth: 2 })).toEqual([
      'quoted',
      'destsent',
      'completed',
      'srccreated',
    ]);
  });
});
