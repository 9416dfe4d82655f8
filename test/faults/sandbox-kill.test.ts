// A sandbox that is killed at random under load keeps every change that it acknowledged, and
// continues due work.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import fc from 'fast-check';
import * as v from 'valibot';
import { expect } from 'vitest';
import { connect, lightningReceive, lightningSend, swap, type Client } from '../sandbox/support.js';
import { test } from '../support/svcpay.js';

const program = resolve(import.meta.dirname, '../../bin/svcpay.js');
const rounds = 5;
const clients = 6;

const ready = v.object({
  url: v.string(),
  apiKey: v.string(),
  apiSecret: v.string(),
  accountId: v.string(),
});

interface Running {
  readonly child: ChildProcess;
  readonly client: Client;
}

async function start(home: string): Promise<Running> {
  const args = [
    'sandbox',
    'start',
    '--port',
    '0',
    '--json',
    '--file',
    join(home, 'sandbox.db'),
    '--auto-pay',
    '1s',
  ];
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, SVCPAY_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface(child.stdout), 'line');
  const { url, ...credentials } = v.parse(ready, JSON.parse(String(line)));
  return { child, client: await connect(fetch, url, credentials) };
}

async function kill(child: ChildProcess): Promise<void> {
  const closed = once(child, 'close');
  child.kill('SIGKILL');
  await closed;
}

/** For each transaction, the last state that a client received. */
type Answered = Map<string, string>;
type Kind = 'receive' | 'send' | 'swap';

const bodies: Record<Kind, (client: Client) => Promise<object>> = {
  receive: async () => lightningReceive(0.00001),
  swap: async () => swap(1, 'USDT', 'USD'),
  send: async (client) =>
    lightningSend((await client.control('POST', 'invoice', { amount: '1000sat' })).body.invoice),
};

/** Creates and confirms transactions until the sandbox no longer answers. */
async function load(client: Client, kinds: readonly Kind[], answered: Answered): Promise<void> {
  try {
    for (let i = 0; ; i += 1) {
      const kind = kinds[i % kinds.length] ?? 'swap';
      const quote = (await client.create(await bodies[kind](client))).body;
      answered.set(quote.txnId, quote.txnState);
      answered.set(quote.txnId, (await client.confirm(quote.txnId)).body.txnState);
    }
  } catch (error) {
    // The kill of the sandbox closes the connection, which `fetch` reports as a TypeError. Any
    // other error fails the test.
    if (!(error instanceof TypeError)) throw error;
  }
}

/**
 * For each state that an answer may report, the states that the transaction may have afterwards.
 */
const onwards: Record<string, readonly string[]> = {
  quoted: ['quoted', 'srccreated', 'destsent', 'completed', 'expired'],
  srccreated: ['srccreated', 'destsent', 'completed'],
  completed: ['completed'],
};

test('svcpay sandbox keeps every answered transaction and completes due work if it is killed under load', async ({
  home,
}) => {
  const [delays = []] = fc.sample(
    fc.array(fc.noBias(fc.integer({ min: 0, max: 200 })), { minLength: rounds, maxLength: rounds }),
    1,
  );
  console.info(`killed after ${delays.join(', ')} ms of load`);
  const answered: Answered = new Map();
  for (const delay of delays) {
    const { child, client } = await start(home);
    await assertKept(client, answered);
    const before = answered.size;
    const kinds: readonly Kind[] = ['send', 'swap', 'receive'];
    const working = Array.from({ length: clients }, (_, i) =>
      load(client, [...kinds.slice(i % 3), ...kinds], answered),
    );
    await expect.poll(() => answered.size, { interval: 1 }).toBeGreaterThan(before);
    await new Promise((resolve) => setTimeout(resolve, delay));
    await kill(child);
    await Promise.all(working);
  }
  expect(answered.size).toBeGreaterThan(rounds);

  const { child, client } = await start(home);
  await assertKept(client, answered);
  await client.control('POST', 'clock/advance', { by: '10m' });
  await assertFinished(client, answered);
  await kill(child);
}, 60_000);

/** Checks that each transaction still has the state of its last answer or a later state. */
async function assertKept(client: Client, answered: Answered): Promise<void> {
  for (const [txnId, state] of answered) {
    const { status, body } = await client.get(txnId);
    expect(status).toBe(200);
    expect(onwards[state], `${txnId} was answered as ${state}`).toContain(body.txnState);
  }
}

/**
 * Checks that every confirmed transaction has ended, and that the balances are the sum of these
 * transactions.
 */
async function assertFinished(client: Client, answered: Answered): Promise<void> {
  for (const [txnId, state] of answered) {
    const { txnState } = (await client.get(txnId)).body;
    expect(state === 'quoted' ? ['completed', 'expired'] : ['completed']).toContain(txnState);
  }
  const completed = async (query: string): Promise<number> =>
    (await client.call('GET', `/transaction?txnStatuses=completed&${query}`)).body.pagination.total;
  const received = await completed('srcMethods=lightning');
  const sent = await completed('destMethods=lightning');
  const swapped = await completed('srcMethods=servicepay&destMethods=servicepay');
  const sats = Math.round((await client.wallet('BTC')).amount * 1e8);
  // The sandbox charges a service fee of 2 sat and a network fee of 1 sat for a send of 1000 sat.
  expect(sats).toBe(1e8 + 1000 * received - 1003 * sent);
  expect(await client.wallet('USD')).toMatchObject({
    amount: 5000 + swapped,
    availableBalance: 5000 + swapped,
  });
  const { due, transactions } = (await client.control('GET', 'status')).body;
  expect(due).toBe(0);
  expect(
    Object.keys(transactions).filter((state) => !['completed', 'expired'].includes(state)),
  ).toEqual([]);
}
