// Snapshots save and restore the whole state of a sandbox. Seeds are the states in which a sandbox
// can start.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStore } from '../../../src/sandbox/database.js';
import type { Sandbox } from '../../../src/sandbox/server.js';
import { openSqlite } from '../../../src/store/files/sqlite-file.js';
import {
  connect,
  fresh,
  lightningReceive,
  lightningSend,
  serve,
  swap,
  type Client,
} from '../support.js';

const cleanups: (() => Promise<void> | void)[] = [];
let sandbox: Sandbox;
let client: Client;

beforeEach(async () => {
  ({ sandbox, client } = await serve());
  cleanups.push(() => sandbox.stop());
  await sandbox.clock.freeze();
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const list = async (): Promise<string> =>
  (await client.call('GET', '/transaction?time=other')).text;

describe('the sandbox with snapshots', () => {
  test('restores money, transactions, accounts, webhooks and time from a snapshot', async () => {
    const shop = await sandbox.account('Shop');
    await client.call('POST', '/webhook', { callback: 'https://example.com/', secret: 'secret' });
    const txn = await client.run(lightningReceive(0.001));
    const [before, time] = [await list(), await sandbox.clock.now()];
    const wallets = (await client.control('GET', 'status')).body.accounts;
    await sandbox.snapshots.save('before');

    await sandbox.pay(txn.txnId);
    await sandbox.clock.advance('1m');
    await client.run(swap(10, 'USDT', 'USD'));
    await client.call('POST', '/webhook', {
      callback: 'https://example.com/other',
      secret: 'secret',
    });
    await sandbox.account('Another shop');
    await sandbox.snapshots.load('before');

    expect(await list()).toBe(before);
    expect(await sandbox.clock.now()).toBe(time);
    expect((await client.control('GET', 'status')).body.accounts).toEqual(wallets);
    expect((await client.call('GET', '/webhook')).body.data).toMatchObject([
      { callback: 'https://example.com/' },
    ]);
    expect((await connect(fetch, sandbox.url, shop)).accountId).toBe(shop.accountId);
  });

  test('restores due work from a snapshot, and runs it once', async () => {
    const txn = await client.run(lightningSend(await sandbox.invoice('1000sat')));
    await sandbox.snapshots.save('in-flight');
    for (const round of [1, 2]) {
      await sandbox.snapshots.load('in-flight');
      expect([round, (await client.get(txn.txnId)).body.txnState]).toEqual([round, 'srccreated']);
      await sandbox.clock.advance('1s');
      expect((await client.get(txn.txnId)).body.txnState).toBe('completed');
      expect((await client.wallet('BTC')).amount).toBe(0.99998997);
    }
    await client.run(swap(10, 'USDT', 'USD'));
    expect(
      (await client.call('GET', '/transaction?txnStatuses=completed')).body.pagination.total,
    ).toBe(2);
  });

  test('replaces a snapshot of the same name, and removes a snapshot', async () => {
    await sandbox.snapshots.save('a');
    await client.run(swap(10, 'USDT', 'USD'));
    await sandbox.snapshots.save('b');
    await sandbox.snapshots.save('a');
    expect(sandbox.snapshots.list()).toMatchObject([
      { name: 'b', transactions: 6 },
      { name: 'a', transactions: 6 },
    ]);
    await sandbox.reset();
    await sandbox.snapshots.load('a');
    expect((await client.wallet('USD')).amount).toBe(5_010);
    await sandbox.snapshots.remove('b');
    expect(sandbox.snapshots.list().map(({ name }) => name)).toEqual(['a']);
    await expect(sandbox.snapshots.load('b')).rejects.toThrow('not found');
    await expect(sandbox.snapshots.save('../b')).rejects.toThrow('must have 1 to 64 letters');
  });

  test('keeps its credentials, faults and request log when it loads a snapshot', async () => {
    await sandbox.snapshots.save('before');
    await sandbox.faults.add({ kind: 'status', status: 500 });
    const asked = sandbox.requests().length;
    await sandbox.snapshots.load('before');
    expect(sandbox.requests()).toHaveLength(asked);
    expect((await client.create(swap(1, 'USDT', 'USD'))).status).toBe(500);
    expect((await client.create(swap(1, 'USDT', 'USD'))).status).toBe(200);
  });

  test('loads a snapshot for every process that shares the sandbox file, and after a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
    cleanups.push(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'sandbox.db');
    const [one, other] = [await fresh({ file }), await fresh({ file })];
    await other.create(swap(10, 'USDT', 'USD'));
    await one.control('POST', 'snapshots', { name: 'kept' });
    await other.run(swap(10, 'USDT', 'USD'));
    await one.control('POST', 'snapshots/kept/load');
    expect((await other.wallet('USD')).amount).toBe(5_000);
    await one.close();
    await other.close();
    const later = await fresh({ file });
    await later.run(swap(10, 'USDT', 'USD'));
    expect((await later.control('POST', 'snapshots/kept/load')).status).toBe(200);
    expect((await later.call('GET', '/transaction')).body.pagination.total).toBe(1);
    await later.close();
    const store = openStore({
      file,
      openFile: openSqlite,
      now: Date.now,
      verify: () => undefined,
      initialise: () => undefined,
    });
    expect(store.all(v.unknown(), 'PRAGMA foreign_key_check')).toEqual([]);
    store.close();
  });
});

describe('the sandbox with a seed', () => {
  test('creates a month of transactions of every kind and outcome from the seed "history"', async () => {
    await sandbox.seed('history');
    const { body } = await client.call('GET', '/transaction?time=other&limit=100');
    expect(body.pagination.total).toBe(35);
    const seen = (field: (txn: Record<string, Record<string, string>>) => unknown) =>
      new Set(body.data.map(field));
    expect(seen(({ txnState }) => txnState)).toEqual(
      new Set(['completed', 'failed', 'expired', 'usercanceled']),
    );
    expect(seen(({ destReq }) => destReq?.['method'])).toEqual(
      new Set(['servicepay', 'lightning', 'on-chain', 'tron', 'vnd-instant']),
    );
    const now = await sandbox.clock.now();
    const daysAgo = body.data.map(({ createdAt }: { createdAt: number }) =>
      Math.floor((now - createdAt) / 86_400_000),
    );
    expect(new Set(daysAgo).size).toBe(32);
    expect((await client.wallet('BTC')).availableBalance).toBe((await client.wallet('BTC')).amount);
    expect((await client.control('GET', 'status')).body.autoPay).toBe('off');
  });

  test('applies its seed again after a reset', async () => {
    await sandbox.seed('empty');
    expect((await client.wallet('BTC')).amount).toBe(0);
    await sandbox.fund('BTC', '1');
    await sandbox.reset();
    expect((await client.wallet('BTC')).amount).toBe(0);
    await sandbox.seed('demo');
    expect((await client.wallet('BTC')).amount).toBe(1);
    expect((await client.control('POST', 'seed', { seed: 'rich' })).status).toBe(400);
  });

  test('fills a new sandbox from its seed', async () => {
    const old = await fresh({ seed: 'history' });
    expect(
      (await old.call('GET', '/transaction?time=30d&limit=1')).body.pagination.total,
    ).toBeGreaterThan(25);
    await old.close();
  });
});

describe('the sandbox with initial and added money', () => {
  /** For each wallet, the sum of the completed receives in the list. */
  const received = async (): Promise<Record<string, number>> => {
    const sums: Record<string, number> = {};
    for (const { txnState, destReq } of (await client.call('GET', '/transaction?time=other')).body
      .data) {
      expect(txnState).toBe('completed');
      sums[destReq.ccy] = (sums[destReq.ccy] ?? 0) + destReq.amtSettled;
    }
    return sums;
  };
  const wallets = async (): Promise<Record<string, number>> => {
    const [account] = (await sandbox.status()).accounts;
    return Object.fromEntries((account?.wallets ?? []).map(({ ccy, amount }) => [ccy, amount]));
  };

  test('lists the initial balances as receives', async () => {
    expect(await wallets()).toEqual({
      BTC: 1,
      USDT: 10_000,
      USD: 5_000,
      CAD: 5_000,
      VND: 50_000_000,
    });
    expect(await received()).toEqual(await wallets());
  });

  test('lists added money as a receive in any currency', async () => {
    await sandbox.fund('BTC', '1sat');
    await sandbox.fund('VND', '1');
    await sandbox.fund('KES', '1000.5');
    expect(await received()).toEqual(await wallets());
    expect(await wallets()).toMatchObject({ BTC: 1.00000001, VND: 50_000_001, KES: 1000.5 });
    const { data } = (await client.call('GET', '/transaction?limit=3')).body;
    const [newest] = data;
    expect(newest).toMatchObject({
      txnState: 'completed',
      sourceReq: { ccy: 'BTC', method: 'on-chain' },
      destReq: { ccy: 'KES', method: 'servicepay', amtSettled: 1000.5 },
    });
    expect((await client.get(newest.txnId)).body.sourceReq.reqDetails.address).toMatch(/^tb1/);
  });

  test('credits a payment to a permanent address but lists no transaction for the payment', async () => {
    const { staticOnchainAddress } = (await client.call('GET', '/account/onchain-address')).body;
    await sandbox.pay(staticOnchainAddress, '0.25');
    await sandbox.mine(6);
    expect([(await received())['BTC'], (await wallets())['BTC']]).toEqual([1, 1.25]);
  });
});
