// The sandbox as a fixture of tests: the whole service on a free port, with every control as a typed function.
import * as v from 'valibot';
import { listDeliveries, type Delivery, type DeliveryFilter } from './deliveries/deliveries.js';
import { listFaults, type Fault, type NewFault } from './world/faults.js';
import type { Outgoing } from './http/routing.js';
import { readLog, type LoggedRequest } from './http/request-log.js';
import { startServer } from './server.js';
import type { Credentials, Seed } from './control/seed.js';
import type { Service, ServiceOptions } from './service.js';
import { listSnapshots, type Snapshot } from './control/snapshots.js';
import type { State } from './wire/states.js';


/** Those of the public fixture, and what tests hand in. */
export type { ServiceOptions as SandboxOptions } from './service.js';

/** The service's own clock, which settles, expires and retries by it. */
export interface SandboxClock {
  /** Epoch ms. */
  now(): Promise<number>;
  /** Moves the clock by a duration (`2h`) or milliseconds and carries out all that becomes due. Gives the new time. */
  advance(by: string | number): Promise<number>;
  freeze(): Promise<number>;
  thaw(): Promise<number>;
}

/** Trouble on demand. */
export interface SandboxFaults {
  /** `add({ kind: 'drop-after-commit', method: 'PUT' })`: strikes the next such request, once. */
  add(fault: NewFault): Promise<Fault>;
  /** All that were added, with how often each has struck. */
  list(): Fault[];
  /** Takes back one, or all. */
  clear(id?: number): Promise<void>;
}

/** What an event for testing says. */
export interface TestEvent {
  readonly state: State;
  /** A transaction of the service; without one the event is about a transaction that does not exist. */
  readonly txnId?: string;
  readonly extRefId?: string;
  readonly msg?: string;
  readonly accountId?: string;
}

/** Deliveries to the account's webhook. */
export interface SandboxWebhooks {
  /** What was, is or will be posted, oldest first, each with its attempts. */
  deliveries(filter?: DeliveryFilter): Delivery[];
  /** Resolves once everything that is due has been posted. */
  settled(): Promise<void>;
  /** Posts a delivery once more. */
  replay(id: number): Promise<void>;
  /** Sends an event for testing; no transaction changes. Gives the delivery's id. */
  trigger(event: TestEvent): Promise<number>;
}

/** Whole states of the sandbox under names. */
export interface SandboxSnapshots {
  /** Keeps the whole state under a name: money, transactions, webhooks, time. */
  save(name: string): Promise<void>;
  /** Puts it back, its time too; credentials, faults and the log of requests stay as they are. */
  load(name: string): Promise<void>;
  list(): Snapshot[];
  remove(name: string): Promise<void>;
}

/** What the sandbox holds and what it is about to do. */
export interface SandboxStatus {
  baseUrl: string;
  accountId: string;
  clock: { now: number; frozen: boolean };
  /** Ms until a payment request is paid by itself. */
  autoPay: number | 'off';
  accounts: {
    accountId: string;
    accountDisplayName: string;
    parentAccountId: string | null;
    wallets: { ccy: string; amount: number; availableBalance: number }[];
  }[];
  /** How many there are, by state. */
  transactions: Record<string, number>;
  /** Faults that have not struck as often as they are to. */
  faults: number;
  /** Webhook deliveries, by status. */
  deliveries: Record<string, number>;
  /** How much is to happen later. */
  due: number;
}

const status: v.GenericSchema<unknown, SandboxStatus> = v.object({
  baseUrl: v.string(),
  accountId: v.string(),
  clock: v.object({ now: v.number(), frozen: v.boolean() }),
  autoPay: v.union([v.number(), v.literal('off')]),
  accounts: v.array(v.object({
    accountId: v.string(),
    accountDisplayName: v.string(),
    parentAccountId: v.nullable(v.string()),
    wallets: v.array(v.object({ ccy: v.string(), amount: v.number(), availableBalance: v.number() })),
  })),
  transactions: v.record(v.string(), v.number()),
  faults: v.number(),
  deliveries: v.record(v.string(), v.number()),
  due: v.number(),
});

/** The service of the specification on this machine, and all that happens outside of it. */
export interface Sandbox {
  /** Base URL, without a trailing slash. */
  readonly url: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly accountId: string;
  readonly clock: SandboxClock;
  status(): Promise<SandboxStatus>;
  /** Puts money from outside into a wallet: `fund('BTC', '0.5')` in whole units, or with a unit as in `'1000sat'`. */
  fund(ccy: string, amount: string, accountId?: string): Promise<void>;
  /**
   * Pays an invoice, a transaction or an address of the service from outside; permanent addresses need an
   * amount (`'0.5'` in whole units, or with a unit). Gives the txnId, for a permanent address the id of the deposit.
   */
  pay(target: string, amount?: string): Promise<string>;
  /** Mines this many blocks at once on every chain (default 1). */
  mine(blocks?: number): Promise<void>;
  /** An external BOLT11 invoice to pay: `invoice('1000sat')`; bare digits are BTC. */
  invoice(amount: string, terms?: { description?: string; expiry?: string | number }): Promise<string>;
  /** How long after its creation a payment request is paid by itself. */
  autoPay(after: string | number | 'off'): Promise<void>;
  readonly faults: SandboxFaults;
  readonly webhooks: SandboxWebhooks;
  readonly snapshots: SandboxSnapshots;
  /** Opens a subaccount of the main account, or of another; null opens an unrelated account. */
  account(displayName: string, parentAccountId?: string | null): Promise<Credentials>;
  /** The requests that the service has answered, oldest first; `path` with or without its query. */
  requests(method?: string, path?: string): LoggedRequest[];
  /** Back to a fresh sandbox with the same credentials. */
  reset(): Promise<void>;
  /** Back to a fresh sandbox that begins with something else: no money, demo money, or a month of transactions too. */
  seed(seed: Seed, months?: number): Promise<void>;
  stop(): Promise<void>;
}

const time = v.object({ now: v.number() });
const paid = v.union([
  v.pipe(v.object({ txnId: v.string() }), v.transform(({ txnId }) => txnId)),
  v.pipe(v.object({ depositId: v.string() }), v.transform(({ depositId }) => depositId)),
]);
const made = v.object({ invoice: v.string() });
const numbered = v.object({ id: v.number() });
const opened = v.object({ apiKey: v.string(), apiSecret: v.string(), accountId: v.string() });

/** Starts the sandbox on the loopback interface. */
export async function startSandbox(options: ServiceOptions = {}): Promise<Sandbox> {
  const server = await startServer(options);
  const control = controller(server.service);
  const tell = async (method: string, path: string, body?: object): Promise<void> => void (await control(method, path, body));
  const clock = async (method: string, path: string, body?: object): Promise<number> =>
    v.parse(time, await control(method, path, body)).now;
  return {
    ...server.service.credentials,
    url: server.url,
    clock: {
      now: () => clock('GET', 'clock'),
      advance: (by) => clock('POST', 'clock/advance', { by }),
      freeze: () => clock('POST', 'clock/freeze'),
      thaw: () => clock('POST', 'clock/thaw'),
    },
    status: async () => v.parse(status, await control('GET', 'status')),
    fund: (ccy, amount, accountId) => tell('POST', 'fund', { ccy, amount, accountId }),
    pay: async (target, amount) => v.parse(paid, await control('POST', 'pay', { target, amount })),
    mine: (blocks) => tell('POST', 'mine', { n: blocks }),
    invoice: async (amount, terms) => v.parse(made, await control('POST', 'invoice', { amount, ...terms })).invoice,
    autoPay: (after) => tell('PUT', 'auto-pay', { after }),
    faults: {
      async add(fault) {
        const { id } = v.parse(numbered, await control('POST', 'faults', fault));
        const added = listFaults(server.service.store).find((each) => each.id === id);
        if (added === undefined) throw new Error('The fault has been cleared already.');
        return added;
      },
      list: () => listFaults(server.service.store),
      clear: (id) => tell('DELETE', id === undefined ? 'faults' : `faults/${id}`),
    },
    webhooks: {
      deliveries: (filter) => listDeliveries(server.service.store, filter),
      settled: () => server.service.courier.settled(),
      replay: (id) => tell('POST', `deliveries/${id}/replay`),
      trigger: async (event) => v.parse(numbered, await control('POST', 'trigger', event)).id,
    },
    account: async (displayName, parentAccountId) =>
      v.parse(opened, await control('POST', 'accounts', { displayName, parentAccountId })),
    requests: (method, path) => readLog(server.service.store, { method, path }),
    snapshots: {
      save: (name) => tell('POST', 'snapshots', { name }),
      load: (name) => tell('POST', `snapshots/${encodeURIComponent(name)}/load`),
      list: () => listSnapshots(server.service.store),
      remove: (name) => tell('DELETE', `snapshots/${encodeURIComponent(name)}`),
    },
    seed: (seed, months) => tell('POST', 'seed', { seed, months }),
    reset: () => tell('POST', 'reset'),
    stop: () => server.stop(),
  };
}

/** Calls the control endpoints without the way over the network. */
function controller(service: Service) {
  return async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer: Outgoing = await service.handle({
      method,
      target: `/_sandbox/${path}`,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
    });
    if (answer.status !== 200) throw new Error(`The sandbox refused ${method} ${path}: ${answer.body}`);
    return JSON.parse(answer.body);
  };
}
