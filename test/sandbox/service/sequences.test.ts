// After random sequences of calls, clock steps, blocks and faults, the books balance and the states
// follow the table. All randomness comes from a seed, which fast-check prints on a failure so that
// anyone can replay the sequence.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { openService, type Service } from '../../../src/sandbox/service.js';
import {
  clientOf,
  lightningReceive,
  lightningSend,
  lnurlSend,
  onchainReceive,
  onchainSend,
  payout,
  swap,
  usdtSend,
  type Client,
} from '../support.js';
import { countOf } from '../../support/part.js';

const url = 'http://sandbox.localhost';

const createKinds = [
  'receive',
  'send',
  'send to oneself',
  'lnurl',
  'lnurl to oneself',
  'receive on-chain',
  'send on-chain',
  'send on-chain to oneself',
  'usdt',
  'usdt to oneself',
  'payout',
  'slow payout',
  'swap',
] as const;
const actions = ['confirm', 'cancel', 'pay', 'pay less'] as const;
const outcomes = ['no-route', 'rejected', 'error'] as const;

interface CreateAction {
  readonly do: (typeof createKinds)[number];
  readonly size: number;
  readonly ref: number;
  /** Whether the destination cannot be reached. */
  readonly doomed: boolean;
  /** How a fault ends the next confirmed payment. */
  readonly outcome: (typeof outcomes)[number] | null;
  readonly deduct: boolean;
  /** Whether the sequence confirms the quote at once. */
  readonly confirmed: boolean;
}

type Step =
  | CreateAction
  | { do: (typeof actions)[number]; which: number }
  | { do: 'advance'; ms: number }
  | { do: 'mine' | 'deposit'; n: number }
  | { do: 'together'; which: number[] };

const which = fc.nat(30);
const minute = 60_000;
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom(...createKinds),
      size: fc.integer({ min: 1, max: 60 }),
      ref: fc.nat(30),
      doomed: fc.boolean(),
      outcome: fc.option(fc.constantFrom(...outcomes), { freq: 3 }),
      deduct: fc.boolean(),
      confirmed: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom(...actions), which }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      ms: fc.constantFrom(1, 200, 800, 5_000, minute, 10 * minute, 60 * minute),
    }),
  },
  fc.record({
    do: fc.constantFrom('mine' as const, 'deposit' as const),
    n: fc.integer({ min: 1, max: 7 }),
  }),
  fc.record({ do: fc.constant('together' as const), which: fc.array(which, { maxLength: 6 }) }),
);

const quoted = ['quoted>expired', 'quoted>usercanceled'];
const send = [
  ...quoted,
  'quoted>srccreated',
  'quoted>failed',
  'srccreated>destsent',
  'srccreated>failed',
  'destsent>completed',
  'destsent>failed',
  'destsent>rejected',
  'destsent>error',
];
/**
 * A deliberate copy of the state table in the specification; only faults lead to `rejected` and
 * `error`.
 */
const allowed: Readonly<Record<string, readonly string[]>> = {
  'lightning-receive': [
    ...quoted,
    'quoted>srccreated',
    'srccreated>completed',
    'srccreated>expired',
  ],
  'onchain-receive': [
    ...quoted,
    'quoted>srcintent',
    'srcintent>srccreated',
    'srcintent>expired',
    'srccreated>completed',
  ],
  'lightning-send': send,
  'lnurl-send': send,
  'onchain-send': send,
  'usdt-send': send,
  payout: send,
  swap: [...quoted, 'quoted>completed', 'quoted>failed', 'quoted>rejected', 'quoted>error'],
};

describe('the sandbox under random sequences of calls', () => {
  test('keeps the books balanced, the states valid, and every reference and movement unique', async () => {
    const seen = new Set<string>();
    const whole = fc.tuple(fc.nat(), fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }));
    await fc.assert(
      fc.asyncProperty(whole, async ([seed, steps]) => {
        const world = await openWorld(seed);
        for (const each of steps) {
          await take(world, each);
          assertBooks(world.service);
        }
        await world.client.control('POST', 'clock/advance', { by: '2d' });
        assertBooks(world.service);
        for (const change of assertHistory(world.service)) seen.add(change);
        assertMovements(world);
        await assertDeliveries(world);
        expect((await world.client.control('POST', 'reset')).body.transactions).toEqual({
          completed: 5,
        });
        expect(world.errors).toEqual([]);
        await world.service.close();
      }),
      { numRuns: countOf({ part: 10, all: 20 }) },
    );
    // The sequences must reach every state, because a state that was never reached was never
    // tested.
    const reached = new Set([...seen].map((change) => change.split('>')[1]));
    expect([...reached].toSorted()).toEqual([
      'completed',
      'destsent',
      'error',
      'expired',
      'failed',
      'rejected',
      'srccreated',
      'srcintent',
      'usercanceled',
    ]);
  }, 180_000);
});

interface World {
  readonly service: Service;
  readonly client: Client;
  readonly errors: unknown[];
  /** The bodies of the webhook deliveries, in order of arrival. */
  readonly posted: string[];
  /** The ids of all transactions, with the newest last. */
  readonly ids: string[];
  /** The references that the sequence has used. */
  readonly refs: Set<string>;
  /** The BTC and USDT addresses of the account. */
  readonly own: { readonly bitcoin: string; readonly tron: string };
}

/**
 * The time of the clock at the start of a sequence, later than the transactions that fund a new
 * sandbox.
 */
const start = Date.UTC(2026, 0, 5);

/** Creates a sandbox whose time and randomness depend only on the seed. */
async function openWorld(seed: number): Promise<World> {
  const errors: unknown[] = [];
  let drawn = 0;
  const random = (length: number): Uint8Array =>
    createHash('shake256', { outputLength: length })
      .update(`${seed}/${(drawn += 1)}`)
      .digest();
  const options = { autoPay: seed % 2 === 0 ? 1_000 : ('off' as const), random, now: () => start };
  const posted: string[] = [];
  const service = openService(
    {
      ...options,
      onError: (error) => errors.push(error),
      async post({ body }) {
        posted.push(body);
        return { status: 200, error: null };
      },
    },
    () => url,
  );
  const client = await clientOf(service);
  await client.control('POST', 'clock/freeze');
  await client.call('POST', '/webhook', { callback: 'https://example.com/', secret: 'secret' });
  const bitcoin = (await client.call('GET', '/account/onchain-address')).body.staticOnchainAddress;
  const tron = (
    await client.call('GET', '/account/stablecoin-onchain-address?walletCcy=USDT&chainId=TRON')
  ).body;
  const own = { bitcoin, tron: tron.data.staticOnchainAddress };
  return { service, client, errors, posted, ids: [], refs: new Set(), own };
}

async function take(world: World, step: Step): Promise<void> {
  const { client, ids } = world;
  const id = (index: number): string => ids.at(-1 - (index % Math.max(ids.length, 1))) ?? 'none';
  switch (step.do) {
    case 'advance':
      await client.control('POST', 'clock/advance', { by: step.ms });
      await client.renew();
      return;
    case 'mine':
      await client.control('POST', 'mine', { n: step.n });
      return;
    case 'deposit':
      await client.control('POST', 'pay', { target: world.own.bitcoin, amount: `${step.n}00sat` });
      return;
    case 'together':
      await Promise.all(step.which.map((index) => client.confirm(id(index))));
      return;
    case 'confirm':
    case 'cancel':
      await client[step.do](id(step.which));
      return;
    case 'pay':
      await client.control('POST', 'pay', { target: id(step.which) });
      return;
    case 'pay less':
      await payLess(client, id(step.which));
      return;
    default:
      await create(world, step);
  }
}

async function create(world: World, order: CreateAction): Promise<void> {
  const { client, ids, refs } = world;
  const { do: kind, ref, deduct, outcome } = order;
  const extRefId = `r${ref}`;
  const flags =
    kind === 'send' || kind === 'send to oneself' ? {} : { deductNetworkFeesFromDest: deduct };
  const wanted = await createRequest(world, order);
  const { status, body } = await client.create({ ...wanted, ...flags, extRefId });
  if (status === 200) {
    expect(refs.has(extRefId)).toBe(false);
    refs.add(extRefId);
    ids.push(body.txnId);
    if (outcome !== null) await client.control('POST', 'faults', { kind: 'payment', outcome });
    if (order.confirmed) await client.confirm(body.txnId);
  } else {
    expect([status, body.error]).toEqual([
      400,
      expect.stringMatching(/^(bad request|insufficient balance)$/),
    ]);
  }
}

async function createRequest(
  { client, own }: World,
  { do: kind, size, doomed }: CreateAction,
): Promise<object> {
  const btc = size / 100;
  switch (kind) {
    case 'receive':
      return lightningReceive(btc);
    case 'send':
      return lightningSend(
        (
          await client.control('POST', 'invoice', {
            amount: String(btc),
            description: doomed ? 'no route' : 'Coffee',
          })
        ).body.invoice,
      );
    case 'send to oneself': {
      const receive = await client.run(lightningReceive(btc));
      return lightningSend(receive.sourceReq.reqDetails.paymentRequest);
    }
    case 'lnurl':
      return lnurlSend(doomed ? 'no-route@pay.example' : 'alice@pay.example', btc);
    case 'lnurl to oneself':
      return lnurlSend(`${client.accountId}@sandbox.localhost`, size * 10, {}, 'USDT');
    case 'receive on-chain':
      return onchainReceive(btc);
    case 'send on-chain':
      return onchainSend(
        doomed
          ? 'tb1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq0l98cr'
          : 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
        btc,
      );
    case 'send on-chain to oneself': {
      const receive = doomed ? undefined : await client.run(onchainReceive(btc));
      return onchainSend(receive?.sourceReq.reqDetails.address ?? own.bitcoin, btc);
    }
    case 'usdt':
      return usdtSend(
        doomed ? 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb' : 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
        size * 100,
        {},
        'BTC',
      );
    case 'usdt to oneself':
      return usdtSend(own.tron, size * 100);
    case 'payout':
      return payout(
        size * 10_000_000,
        doomed
          ? {
              reqDetails: { bankAcctNum: '0000', institutionCode: '970436' },
            }
          : {},
      );
    case 'slow payout':
      return payout(
        size * 1000,
        {
          ccy: 'SGD',
          method: 'sg-sgd-bank',
          reqDetails: { bankAcctNum: '123', institutionCode: '7171' },
        },
        {},
        { sourceOfFunds: { purpose: 1, source: 1, relationship: 1 } },
      );
    case 'swap':
      return swap(btc, 'BTC', doomed ? 'EUR' : 'USDT');
  }
}

/** Pays to the address of an on-chain receive an amount that differs from the requested amount. */
async function payLess(client: Client, txnId: string): Promise<void> {
  const address = (await client.get(txnId)).body.sourceReq?.reqDetails.address;
  if (typeof address === 'string')
    await client.control('POST', 'pay', { target: address, amount: '123456sat' });
}

function assertBooks({ store }: Service): void {
  const sums = store.all(
    v.object({ total: v.number() }),
    'SELECT sum(available + reserved) AS total FROM wallet GROUP BY ccy',
  );
  expect(sums.every(({ total }) => total === 0)).toBe(true);
  const entries = store.all(
    v.object({ difference: v.number() }),
    `SELECT available + reserved - (SELECT coalesce(sum(amount), 0) FROM entry
       WHERE entry.owner = wallet.owner AND entry.ccy = wallet.ccy) AS difference FROM wallet`,
  );
  expect(entries.every(({ difference }) => difference === 0)).toBe(true);
  const lowest = `SELECT min(min(available, reserved)) AS lowest FROM wallet WHERE owner LIKE 'ne01-%'`;
  expect(store.one(v.object({ lowest: v.number() }), lowest)?.lowest).toBeGreaterThanOrEqual(0);
}

/**
 * Checks that every transaction began as quoted, followed the state table and left no final state;
 * returns all state changes.
 */
function assertHistory({ store }: Service): string[] {
  const changes = store.all(
    v.object({ id: v.string(), kind: v.string(), current: v.string(), state: v.string() }),
    `SELECT txn.id, txn.document ->> 'kind' AS kind, txn.state AS current, state_change.state FROM state_change JOIN txn ON txn.id = txn_id
     ORDER BY state_change.id`,
  );
  const byId = new Map<string, { kind: string; current: string; states: string[] }>();
  for (const { id, kind, current, state } of changes) {
    byId.set(id, { kind, current, states: [...(byId.get(id)?.states ?? []), state] });
  }
  return [...byId.values()].flatMap(({ kind, current, states }) => {
    const moves = states.slice(1).map((state, index) => `${states[index]}>${state}`);
    expect([states[0], states.at(-1)]).toEqual(['quoted', current]);
    expect(moves.filter((move) => !allowed[kind]?.includes(move))).toEqual([]);
    return moves;
  });
}

/** Checks that every state change was posted once and in order. */
async function assertDeliveries({ service, posted }: World): Promise<void> {
  await service.delivered();
  const changes = service.store.all(
    v.object({ txnId: v.string(), state: v.string() }),
    'SELECT txn_id AS txnId, state FROM state_change WHERE at >= ? ORDER BY at, id',
    start,
  );
  const events = posted.map((body) =>
    v.parse(v.object({ txnId: v.string(), txnState: v.string() }), JSON.parse(body)),
  );
  expect(events.map(({ txnId, txnState }) => `${txnId} ${txnState}`)).toEqual(
    changes.map(({ txnId, state }) => `${txnId} ${state}`),
  );
}

/**
 * Checks that each transaction moved its money once, as its states require, that each deposit was
 * credited once, and that no money is reserved.
 */
function assertMovements({ service: { store } }: World): void {
  const moved = store.all(
    v.object({
      id: v.string(),
      reserved: v.number(),
      settled: v.number(),
      steps: v.nullable(v.string()),
    }),
    `SELECT txn.id, state = 'completed' AS settled,
       EXISTS (SELECT 1 FROM state_change WHERE txn_id = txn.id AND state = 'srccreated')
         AND source_method = 'servicepay' AS reserved,
       (SELECT group_concat(step) FROM (
         SELECT step FROM entry WHERE subject = txn.id GROUP BY step ORDER BY min(rowid))) AS steps
     FROM txn`,
  );
  for (const { id, reserved, settled, steps } of moved) {
    const ended = settled === 1 ? 'settle' : 'release';
    const expected = reserved === 1 ? `reserve,${ended}` : settled === 1 ? 'settle' : '';
    expect([id, steps ?? '']).toEqual([id, expected]);
  }
  const count = v.object({ count: v.number() });
  expect(
    store.all(
      count,
      `SELECT count(DISTINCT step) AS count FROM transfer LEFT JOIN entry ON subject = transfer.id
       WHERE account_id IS NOT NULL GROUP BY transfer.id HAVING count <> 1`,
    ),
  ).toEqual([]);
  for (const left of ['wallet WHERE reserved <> 0', 'transfer WHERE confirmations < needed']) {
    expect([left, store.one(count, `SELECT count(*) AS count FROM ${left}`)?.count]).toEqual([
      left,
      0,
    ]);
  }
}
