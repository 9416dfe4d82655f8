// Tests the sandbox as a server and as a fixture, with real ports.
import { request } from 'node:http';
import { connect as open } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connect, lightningReceive, lightningSend, serve, swap } from '../support.js';

const cleanups: (() => Promise<void>)[] = [];
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandbox-'));
  cleanups.push(() => rm(folder, { recursive: true }));
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const start = async (options: Parameters<typeof serve>[0] = {}) => {
  const started = await serve(options);
  cleanups.push(started.sandbox.stop);
  return started;
};

describe('the sandbox server', () => {
  test('listens on the loopback interface at a free port', async () => {
    const { sandbox } = await start();
    expect(sandbox.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  test.for([
    ['localhost:PORT', 200],
    ['127.0.0.1:PORT', 200],
    ['shop.localhost:PORT', 200],
    ['[::1]:PORT', 200],
    ['rebound.example:PORT', 421],
    ['127.0.0.1.example:PORT', 421],
    ['localhost', 421],
    ['localhost:1', 421],
  ] as const)('answers a request for the Host %s with %i', async ([host, status]) => {
    const { sandbox } = await start();
    const { port } = new URL(sandbox.url);
    const answered = await new Promise((resolve, reject) => {
      const headers = { host: host.replace('PORT', port) };
      request(`${sandbox.url}/_sandbox/status`, { headers }, (answer) =>
        resolve(answer.resume().statusCode),
      )
        .on('error', reject)
        .end();
    });
    expect(answered).toBe(status);
  });

  test('answers HTTP/1.0 without a Host header', async () => {
    const { sandbox } = await start();
    const socket = open(Number(new URL(sandbox.url).port), '127.0.0.1');
    socket.write('GET /_sandbox/status HTTP/1.0\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('answers a request for an absolute URL, as through a proxy', async () => {
    const { sandbox } = await start();
    const { port } = new URL(sandbox.url);
    const answered = await new Promise((resolve, reject) => {
      request({ port, path: `${sandbox.url}/_sandbox/status?x=1` }, (answer) =>
        resolve(answer.resume().statusCode),
      )
        .on('error', reject)
        .end();
    });
    expect(answered).toBe(200);
  });

  test('reports that its port is in use', async () => {
    const { sandbox } = await start();
    await expect(serve({ port: Number(new URL(sandbox.url).port) })).rejects.toThrow('EADDRINUSE');
  });

  test('executes due work without waiting for a request', async () => {
    const { sandbox, client } = await start({ autoPay: 20 });
    const txn = await client.run(lightningReceive(0.0005));
    const settled = async (): Promise<boolean> => {
      const { accounts } = (await client.control('GET', 'status')).body;
      return accounts[0].wallets[0].amount === 1.0005;
    };
    await expect.poll(settled).toBe(true);
    expect(sandbox.requests('GET', `/api/v2/transaction/${txn.txnId}`)).toEqual([]);
  });

  test('sends the time of its own clock in the Date header', async () => {
    const { sandbox, client } = await start();
    await sandbox.clock.freeze();
    const now = await sandbox.clock.advance('30m');
    const { headers } = await client.call('GET', '/transaction');
    expect(Date.parse(headers.get('date') ?? '')).toBe(Math.floor(now / 1000) * 1000);
  });

  test('keeps its data after a restart', async () => {
    const file = join(folder, 'sandbox.db');
    const first = await serve({ file });
    await first.sandbox.fund('BTC', '0.5');
    const send = await first.client.run(lightningSend(await first.sandbox.invoice('1000sat')));
    await first.sandbox.clock.freeze();
    await first.sandbox.stop();

    const { sandbox, client } = await start({ file });
    expect([sandbox.apiKey, sandbox.accountId]).toEqual([
      first.sandbox.apiKey,
      first.sandbox.accountId,
    ]);
    await sandbox.clock.advance('1s');
    expect((await client.get(send.txnId)).body.txnState).toBe('completed');
    expect((await client.wallet('BTC')).amount).toBe(1.49998997);
  });

  test('accepts credentials from its options', async () => {
    const own = { apiKey: 'my-key', apiSecret: 'my-secret' };
    const { sandbox } = await start(own);
    expect(sandbox).toMatchObject(own);
    const client = await connect(fetch, sandbox.url, { ...own, accountId: sandbox.accountId });
    expect((await client.call('GET', '/transaction')).status).toBe(200);
  });

  test('refuses a body of ten megabytes and keeps running', async () => {
    const { client } = await start();
    const answer = await client.call('POST', '/transaction', `"${'x'.repeat(10 * 1024 * 1024)}"`);
    expect([answer.status, answer.body.error]).toEqual([400, 'bad request']);
    expect((await client.call('GET', '/transaction')).status).toBe(200);
  });

  test('keeps running if a client disconnects during its request', async () => {
    const { sandbox, client } = await start();
    const target = `${sandbox.url}/api/v2/transaction`;
    await new Promise<void>((resolve) => {
      const half = request(target, { method: 'POST', headers: { 'content-length': 100 } });
      half.on('error', () => resolve());
      half.write('{"sourceReq":', () => half.destroy());
      half.on('close', () => resolve());
    });
    expect((await client.call('GET', '/transaction')).status).toBe(200);
  });

  test('refuses a body that is not UTF-8', async () => {
    const { sandbox, client } = await start();
    const token = sandbox.requests('POST').at(-1)?.responseBody ?? '';
    const response = await fetch(`${sandbox.url}/api/v2/transaction`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${JSON.parse(token).accessToken}`,
      },
      body: Buffer.from([0x22, 0xff, 0x22]),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: 'bad request',
      message: 'the body is not UTF-8',
    });
    expect((await client.call('GET', '/transaction')).status).toBe(200);
  });
});

describe('the sandbox fixture', () => {
  test('funds wallets, creates and pays invoices, and lists the requests to the service', async () => {
    const { sandbox, client } = await start({ seed: 'empty' });
    await sandbox.fund('BTC', '1000sat');
    await sandbox.fund('VND', '500000');
    expect((await client.wallet('BTC')).amount).toBe(0.00001);
    expect((await client.wallet('VND')).amount).toBe(500_000);
    const txn = await client.run(lightningReceive(0.0001));
    expect(await sandbox.pay(txn.sourceReq.reqDetails.paymentRequest)).toBe(txn.txnId);
    expect((await client.create(lightningSend(await sandbox.invoice('2500sat')))).status).toBe(200);
    const created = sandbox.requests('POST', '/api/v2/transaction');
    expect(created.map(({ status }) => status)).toEqual([200, 200]);
    expect(JSON.parse(created[0]?.requestBody ?? '')).toEqual(lightningReceive(0.0001));
    expect(sandbox.requests('PUT')).toHaveLength(1);
    expect(await sandbox.status()).toMatchObject({
      baseUrl: sandbox.url,
      accountId: sandbox.accountId,
      // Two of the three completed transactions credited the money that the test added.
      transactions: { completed: 3, quoted: 1 },
      faults: 0,
    });
    await sandbox.reset();
    expect(sandbox.requests()).toEqual([]);
  });

  test('explains why it refuses a control request', async () => {
    const { sandbox } = await start();
    await expect(sandbox.pay('00000000-0000-4000-8000-000000000000')).rejects.toThrow('not found');
    await expect(sandbox.fund('BTC', '0.123456789')).rejects.toThrow('bad request');
    await expect(sandbox.fund('BTC', '-1')).rejects.toThrow('not an amount');
    await expect(sandbox.invoice('many')).rejects.toThrow('not an amount');
    await expect(sandbox.clock.advance('2200y')).rejects.toThrow('duration');
    await expect(sandbox.clock.advance('36500d')).resolves.toBeGreaterThan(0);
    await expect(sandbox.clock.advance('36500d')).rejects.toThrow('2200');
  });

  test('continues the clock from the time at which it was frozen', async () => {
    const { sandbox } = await start();
    const frozen = await sandbox.clock.freeze();
    expect(await sandbox.clock.now()).toBe(frozen);
    const advanced = await sandbox.clock.advance(1000);
    expect(advanced).toBe(frozen + 1000);
    expect((await sandbox.clock.thaw()) - advanced).toBeLessThan(1000);
    await expect.poll(() => sandbox.clock.now()).toBeGreaterThan(advanced);
  });

  test('answers 60 concurrent clients, and books each movement exactly once', async () => {
    const { client } = await start({ file: join(folder, 'many.db') });
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => client.run(swap(1, 'USDT', 'USD'))),
    );
    expect(answers.every(({ txnState }) => txnState === 'completed')).toBe(true);
    expect((await client.wallet('USD')).amount).toBe(5_060);
    expect((await client.wallet('USDT')).amount).toBe(9_939.85);
  });
});
