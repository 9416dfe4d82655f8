// The sandbox as an HTTP server on the loopback interface, and as a test fixture with a typed
// function for each control endpoint.
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { timerMs } from '../formats/calendar.js';
import { controlPrefix, jsonAnswer, type Outgoing, readLog } from './routing.js';
import { isLoopback, type State } from './wire.js';
import { openService, type Service, type ServiceOptions } from './service.js';
import * as v from 'valibot';
import {
  clockAnswer,
  credentialsAnswer,
  deliveryAnswer,
  faultAnswer,
  invoiceAnswer,
  paidAnswer,
  statusAnswer,
  type Credentials,
  type Delivery,
  type Fault,
  type LoggedRequest,
  type SandboxStatus,
  type Snapshot,
} from '../formats/sandbox/answers.js';
import { listDeliveries, type DeliveryFilter } from './deliveries.js';
import { listFaults, type NewFault } from './faults.js';
import type { Seed } from './seed.js';
import { listSnapshots } from './control.js';

const host = '127.0.0.1';

export async function startServer(options: ServiceOptions) {
  let url = `http://${host}`;
  const service = openService(options, () => url);
  const stopping = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  const server = createServer((request, response) => {
    const closed = new Promise((resolve) => response.once('close', resolve));
    underWay.add(closed);
    void closed.then(() => underWay.delete(closed));
    void serve(service, request, response, stopping.signal);
  });
  try {
    await once(server.listen(options.port ?? 0, host), 'listening');
  } catch (error) {
    await service.close();
    throw error;
  }
  const address = server.address();
  if (address !== null && typeof address === 'object') url = `http://${host}:${address.port}`;
  const ticking = service.keepTime(stopping.signal);
  return {
    /** The URL of the server, without a trailing slash. */
    url,
    service,
    /** Stops the server: answers requests in flight, then closes the port and the file. */
    async stop(): Promise<void> {
      stopping.abort();
      await ticking;
      const closed = once(server.close(), 'close');
      while (underWay.size > 0) await Promise.all(underWay);
      // A client may keep a connection open without sending a request.
      server.closeAllConnections();
      await closed;
      await service.close();
    },
  };
}

async function serve(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
  stopping: AbortSignal,
): Promise<void> {
  try {
    // Reads the complete body first, so that the client can finish sending.
    const body = await buffer(request);
    const { method = 'GET', url = '/', headers } = request;
    const outgoing = isMeant(request)
      ? await service.handle({ method, target: pathOf(url), headers: textsOf(headers), body })
      : misdirected;
    await send(response, outgoing, stopping);
  } catch {
    // Reading the request or sending the response fails if the client disconnects, or if a fault or
    // shutdown cuts the connection.
    response.destroy();
  }
}

/**
 * Checks the Host header to prevent DNS rebinding. With DNS rebinding, a foreign web page points
 * its own host name at this machine and then reads every response.
 */
function isMeant({ headers, socket }: IncomingMessage): boolean {
  // A browser always sends the Host header, but an HTTP/1.0 client may omit the header.
  if (headers.host === undefined) return true;
  const [, name = '', port = '80'] = /^(.+?)(?::(\d+))?$/.exec(headers.host.toLowerCase()) ?? [];
  return isLoopback(name) && Number(port) === socket.localPort;
}

/** Returns the path of the request target, which is a complete URL if the client uses a proxy. */
const pathOf = (target: string): string => target.replace(/^http:\/\/[^/?]+\/?/i, '/');

const misdirected = jsonAnswer(421, {
  error: 'misdirected request',
  message: 'the Host header must name this machine and this port',
});

/**
 * Sends the response, or only the first half if a fault cuts the response. Throws an error if a
 * fault cuts the connection.
 */
async function send(
  response: ServerResponse,
  outgoing: Outgoing,
  stopping: AbortSignal,
): Promise<void> {
  const { status, headers, body, delay = 0, connectionFault } = outgoing;
  if (delay > 0) await pause(timerMs(delay), undefined, { signal: stopping });
  if (connectionFault === 'silence' && !response.closed)
    await once(response, 'close', { signal: stopping });
  if (connectionFault === 'silence' || connectionFault === 'cut-before')
    throw new Error('An injected fault cut the connection to the sandbox.');
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  if (connectionFault === undefined) return void response.end(body);
  const bytes = Buffer.from(body);
  response.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => response.destroy());
}

const textsOf = (headers: IncomingMessage['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

export type { ServiceOptions as SandboxOptions } from './service.js';

/** The service's own clock, which determines settlement, expiry and retries. */
export interface SandboxClock {
  /** Resolves with the service's time in epoch ms. */
  now(): Promise<number>;
  /**
   * Moves the clock by a duration (`2h`) or by milliseconds, runs every action that becomes due,
   * and resolves with the new time.
   */
  advance(by: string | number): Promise<number>;
  freeze(): Promise<number>;
  thaw(): Promise<number>;
}

/** The faults that the sandbox injects. */
export interface SandboxFaults {
  /**
   * Adds a fault. For example, a fault with the kind `drop-after-commit` and the method `PUT`
   * applies once, to the next PUT request.
   */
  add(fault: NewFault): Promise<Fault>;
  /** Lists all faults, each with the number of times that the fault was applied. */
  list(): Fault[];
  /** Removes the fault with this id, or all faults if no id is given. */
  clear(id?: number): Promise<void>;
}

/** A test event for the webhook. */
export interface TestEvent {
  readonly state: State;
  /**
   * The id of the transaction that the test event names. Without an id, the test event names a
   * transaction that does not exist.
   */
  readonly txnId?: string;
  readonly extRefId?: string;
  readonly msg?: string;
  readonly accountId?: string;
}

/** The webhook deliveries of the sandbox. */
export interface SandboxWebhooks {
  /** Lists past and pending deliveries with their attempts, oldest first. */
  deliveries(filter?: DeliveryFilter): Delivery[];
  /** Resolves once the service has posted every due delivery. */
  settled(): Promise<void>;
  /** Posts a webhook delivery again. */
  replay(id: number): Promise<void>;
  /**
   * Sends a test event, and resolves with the id of the delivery. A test event changes no
   * transaction.
   */
  trigger(event: TestEvent): Promise<number>;
}

/** Named copies of the sandbox's state. */
export interface SandboxSnapshots {
  /** Saves the sandbox's money, transactions, webhooks and clock under a name. */
  save(name: string): Promise<void>;
  /**
   * Restores a snapshot, including its clock. Restoring a snapshot changes neither credentials nor
   * faults nor the request log.
   */
  load(name: string): Promise<void>;
  list(): Snapshot[];
  remove(name: string): Promise<void>;
}

/** The service from the specification, running on this machine with a simulated outside world. */
export interface Sandbox {
  /** The base URL of the service, without a trailing slash. */
  readonly url: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly accountId: string;
  readonly clock: SandboxClock;
  status(): Promise<SandboxStatus>;
  /**
   * Credits a wallet through a completed on-chain receive. The credited amount is in whole units
   * (`fund('BTC', '0.5')`) or has a unit (`'1000sat'`).
   */
  fund(ccy: string, amount: string, accountId?: string): Promise<void>;
  /**
   * Pays an invoice, a transaction or an address of the service, as an external wallet would. A
   * payment to a permanent address requires an amount, such as `'0.5'` in whole units or
   * `'1000sat'`. Resolves with the transaction id, or with the deposit id for a permanent address.
   */
  pay(target: string, amount?: string): Promise<string>;
  /** Mines this number of blocks on every chain (default 1). */
  mine(blocks?: number): Promise<void>;
  /**
   * Creates an external BOLT11 invoice to pay, such as `invoice('1000sat')`. An invoice amount
   * without a unit is in BTC.
   */
  invoice(
    amount: string,
    terms?: { description?: string; expiry?: string | number },
  ): Promise<string>;
  /** Sets the delay after which the automatic payer pays a new payment request. */
  autoPay(after: string | number | 'off'): Promise<void>;
  readonly faults: SandboxFaults;
  readonly webhooks: SandboxWebhooks;
  readonly snapshots: SandboxSnapshots;
  /**
   * Opens a subaccount of the main account or of the given parent. If the parent is null, opens an
   * account that is unrelated to other accounts.
   */
  account(displayName: string, parentAccountId?: string | null): Promise<Credentials>;
  /** Lists the answered requests, oldest first. The filter `path` may include the query. */
  requests(method?: string, path?: string): LoggedRequest[];
  /** Resets the sandbox to a fresh state with the same credentials. */
  reset(): Promise<void>;
  /** Resets the sandbox to an initial state: no money, demo money, or months of transactions. */
  seed(seed: Seed, months?: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the sandbox on the loopback interface. */
export async function startSandbox(options: ServiceOptions = {}): Promise<Sandbox> {
  const { service, url, stop } = await startServer(options);
  const { store } = service;
  const ask = askWith(service);
  const tell = async (request: string, body?: object): Promise<void> =>
    void (await ask(v.unknown(), request, body));
  const clock = async (request: string, body?: object): Promise<number> =>
    (await ask(clockAnswer, request, body)).now;
  return {
    ...service.credentials,
    url,
    clock: {
      now: () => clock('GET clock'),
      advance: (by) => clock('POST clock/advance', { by }),
      freeze: () => clock('POST clock/freeze'),
      thaw: () => clock('POST clock/thaw'),
    },
    status: () => ask(statusAnswer, 'GET status'),
    fund: (ccy, amount, accountId) => tell('POST fund', { ccy, amount, accountId }),
    async pay(target, amount) {
      const paid = await ask(paidAnswer, 'POST pay', { target, amount });
      return 'txnId' in paid ? paid.txnId : paid.depositId;
    },
    mine: (blocks) => tell('POST mine', { n: blocks }),
    invoice: async (amount, terms) =>
      (await ask(invoiceAnswer, 'POST invoice', { amount, ...terms })).invoice,
    autoPay: (after) => tell('PUT auto-pay', { after }),
    faults: {
      add: (fault) => ask(faultAnswer, 'POST faults', fault),
      list: () => listFaults(store),
      clear: (id) => tell(id === undefined ? 'DELETE faults' : `DELETE faults/${id}`),
    },
    webhooks: {
      deliveries: (filter) => listDeliveries(store, filter),
      settled: () => service.delivered(),
      replay: (id) => tell(`POST deliveries/${id}/replay`),
      trigger: async (event) => (await ask(deliveryAnswer, 'POST trigger', event)).id,
    },
    account: (displayName, parentAccountId) =>
      ask(credentialsAnswer, 'POST accounts', { displayName, parentAccountId }),
    requests: (method, path) => readLog(store, { method, path }),
    snapshots: {
      save: (name) => tell('POST snapshots', { name }),
      load: (name) => tell(`POST snapshots/${encodeURIComponent(name)}/load`),
      list: () => listSnapshots(store),
      remove: (name) => tell(`DELETE snapshots/${encodeURIComponent(name)}`),
    },
    seed: (seed, months) => tell('POST seed', { seed, months }),
    reset: () => tell('POST reset'),
    stop,
  };
}

/** Returns a function that calls the control endpoints without the network. */
const askWith =
  (service: Service) =>
  async <T>(shape: v.GenericSchema<unknown, T>, request: string, body?: object): Promise<T> => {
    const [method = '', path = ''] = request.split(' ');
    const answer = await service.handle({
      method,
      target: controlPrefix + path,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
    });
    if (answer.status !== 200) throw new Error(`The sandbox refused ${request}: ${answer.body}`);
    return v.parse(shape, JSON.parse(answer.body));
  };
