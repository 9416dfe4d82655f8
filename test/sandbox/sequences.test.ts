// Random sequences of calls and clock steps: whatever happens, the books hold and the states follow the table.
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { openService, type Service } from '../../src/sandbox/service.js';
import { connect, lightningReceive, lightningSend, swap, type Client } from './support.js';

type Step =
  | { do: (typeof creations)[number]; size: number; ref: number }
  | { do: (typeof actions)[number]; which: number }
  | { do: 'advance'; ms: number }
  | { do: 'together'; which: number[] };

const url = 'http://sandbox.localhost';

const which = fc.nat(30);
const creations = ['receive', 'send', 'swap'] as const;
const actions = ['confirm', 'cancel', 'pay'] as const;
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom(...creations), size: fc.integer({ min: 1, max: 60 }), ref: fc.nat(8) }),
  { arbitrary: fc.record({ do: fc.constantFrom(...actions), which }), weight: 2 },
  fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(1, 200, 800, 5_000, 60_000, 3_600_000) }),
  fc.record({ do: fc.constant('together' as const), which: fc.array(which, { maxLength: 6 }) }),
);

/** The specification's table, for the kinds that are driven here; written down anew on purpose. */
const allowed: Record<string, readonly string[]> = {
  'lightning-receive': [
    'quoted>srccreated', 'quoted>expired', 'quoted>usercanceled', 'srccreated>completed', 'srccreated>expired',
  ],
  'lightning-send': [
    'quoted>srccreated', 'quoted>expired', 'quoted>usercanceled', 'quoted>failed',
    'srccreated>destsent', 'srccreated>failed', 'destsent>completed', 'destsent>failed',
  ],
  swap: ['quoted>completed', 'quoted>expired', 'quoted>usercanceled', 'quoted>failed'],
};

describe('any sequence of calls', () => {
  test('keeps the books in order, the states in the table, and every reference and movement single', async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const errors: unknown[] = [];
      const service = openService({ autoPay: 1_000, onError: (error) => errors.push(error) }, () => url);
      const client = await clientOf(service);
      await client.control('POST', 'clock/freeze');
      const ids: string[] = [];
      for (const each of steps) {
        await take(client, each, ids);
        assertBooks(service);
      }
      await client.control('POST', 'clock/advance', { by: '2h' });
      assertBooks(service);
      assertHistory(service);
      expect(errors).toEqual([]);
      await service.close();
    }), { numRuns: 60 });
  }, 60_000);
});

async function take(client: Client, step: Step, ids: string[]): Promise<void> {
  const id = (index: number): string => ids[index % Math.max(ids.length, 1)] ?? 'none';
  switch (step.do) {
    case 'advance':
      await client.control('POST', 'clock/advance', { by: step.ms });
      return;
    case 'together':
      await Promise.all(step.which.map((index) => client.confirm(id(index))));
      return;
    case 'confirm':
      await client.confirm(id(step.which));
      return;
    case 'cancel':
      await client.cancel(id(step.which));
      return;
    case 'pay':
      await client.control('POST', 'pay', { target: id(step.which) });
      return;
    default: {
      const wanted = await creation(client, step.do, step.size / 100);
      const { body } = await client.create({ ...wanted, extRefId: `r${step.ref}` });
      if (body.txnId !== undefined) ids.push(body.txnId);
    }
  }
}

async function creation(client: Client, kind: 'receive' | 'send' | 'swap', amount: number): Promise<object> {
  if (kind === 'receive') return lightningReceive(amount);
  if (kind === 'swap') return swap(amount, 'BTC', 'USDT');
  return lightningSend((await client.control('POST', 'invoice', { amount: String(amount) })).body.invoice);
}

function assertBooks({ store }: Service): void {
  const sums = store.all(v.object({ total: v.number() }), 'SELECT sum(balance) AS total FROM book GROUP BY ccy');
  expect(sums.every(({ total }) => total === 0)).toBe(true);
  const entries = store.all(
    v.object({ difference: v.number() }),
    'SELECT balance - (SELECT coalesce(sum(amount), 0) FROM entry WHERE book_id = book.id) AS difference FROM book',
  );
  expect(entries.every(({ difference }) => difference === 0)).toBe(true);
  const lowest = `SELECT min(balance) AS lowest FROM book WHERE owner <> 'house'`;
  expect(store.one(v.object({ lowest: v.number() }), lowest)?.lowest).toBeGreaterThanOrEqual(0);
}

function assertHistory({ store }: Service): void {
  const changes = store.all(
    v.object({ id: v.string(), kind: v.string(), current: v.string(), state: v.string() }),
    `SELECT txn.id, kind, txn.state AS current, state_change.state FROM state_change JOIN txn ON txn.id = txn_id
     ORDER BY state_change.id`,
  );
  const byId = new Map<string, { kind: string; current: string; states: string[] }>();
  for (const { id, kind, current, state } of changes) {
    byId.set(id, { kind, current, states: [...byId.get(id)?.states ?? [], state] });
  }
  for (const { kind, current, states } of byId.values()) {
    const moves = states.slice(1).map((state, index) => `${states[index]}>${state}`);
    expect([states[0], states.at(-1)]).toEqual(['quoted', current]);
    expect(moves.filter((move) => !allowed[kind]?.includes(move))).toEqual([]);
  }
  const reserved = `SELECT sum(balance) AS total FROM book WHERE role = 'reserved'`;
  expect(store.one(v.object({ total: v.nullable(v.number()) }), reserved)?.total ?? 0).toBe(0);
}

/** A client that reaches the service without a port. */
async function clientOf(service: Service): Promise<Client> {
  const send = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    const { status, headers, body } = await service.handle({
      method: request.method,
      target: pathname + search,
      headers: Object.fromEntries(request.headers),
      body: new Uint8Array(await request.arrayBuffer()),
    });
    return new Response(body, { status, headers: { ...headers } });
  };
  return connect(send, url, service.credentials);
}
