// Opens the service of a context on first use: its transport, its client and the account of the API
// key. Reports rate-limit waits, unrecognized fields, slow requests and timings on stderr.
import { ServiceClient } from '../api/client.js';
import { networkTransport, type OpeningTransport } from '../api/network.js';
import type {
  LogFacts,
  ClientOptions,
  Credentials,
  TokenStore,
  Rates,
  Transaction,
} from '../api/types.js';
import type { Transport } from '../api/errors.js';
import { Failure, ifAvailable, invalid } from '../formats/failure.js';
import { seenPageSize } from '../store/files/seen.js';
import type { Journal } from '../store/journal/journal.js';
import {
  credentialName,
  openTokens,
  type KeptTokens,
  embeddedUrl,
} from '../store/profile/settings.js';
import type { Live } from '../terminal/live.js';
import type { Output } from '../terminal/output.js';
import type { Whereabouts } from '../terminal/views/wallet-view.js';
import { isLog, type Terminal } from '../terminal/terminal.js';
import type { Globals } from './values.js';
import type { EmbeddedService } from './sandbox/embedded.js';
import { lazily, type Foundation, type Stores } from './stores.js';
import { describeDuration } from '../formats/calendar.js';
import { fixed } from '../formats/amount.js';
import { isFinal, isQuoted } from '../formats/states.js';
import type { KeptRate, SettlementRates } from '../store/journal/records.js';
import { settledAt } from '../wallet/history/moved-amounts.js';
import { findRate } from '../wallet/quote/quote.js';

interface OwnAccount {
  readonly client: ServiceClient;
  readonly id: string;
  /**
   * The scope within which references are unique: an account of a service, or the embedded sandbox.
   */
  readonly scope: string;
  journal(): Promise<Journal>;
}

export interface Service {
  /**
   * Opens the client of the chosen service. With `--account`, the client reads the wallets and the
   * record of the chosen account. Every other endpoint acts for the account of the API key. Throws
   * Failure `authentication` if no service is configured.
   */
  client(): Promise<ServiceClient>;
  /**
   * Opens the account of the API key. Transactions, addresses and webhooks always belong to the
   * account of the API key. Throws Failure `usage` if `--account` names an account other than the
   * account of the API key.
   */
  account(): Promise<OwnAccount>;
  /** Creates a client of a service from credentials that svcpay has not saved. */
  clientOf(baseUrl: string, credentials: Credentials, tokens: TokenStore): Promise<ServiceClient>;
  /** Opens the token store of the chosen service and API key, or undefined if either is unknown. */
  tokens(): Promise<KeptTokens | undefined>;
  transport(): Promise<Transport>;
  embedded(): Promise<EmbeddedService>;
  /**
   * The clock by which screens show ages: the service's clock, or this machine's clock before the
   * first response.
   */
  present(): number;
  /** Resolves when svcpay has stored the rates of settled transactions. */
  ratesKept(): Promise<unknown>;
}

/** What the service needs: the foundation, the stores and the screen of a command. */
export interface ServiceDeps extends Foundation, Stores {
  readonly globals: Globals;
  /** The transport whose connections to the service are already open. */
  readonly early?: OpeningTransport | undefined;
  readonly terminal: Terminal;
  readonly out: Output;
  readonly live: Live;
}

type Log = ((line: string, facts?: LogFacts) => void) | undefined;

export function openService(deps: ServiceDeps): Service {
  const { globals, stderr } = deps;
  const logs = isLog(stderr) ? stderr : undefined;
  const log: Log = globals.debug
    ? (line, facts) =>
        void (logs === undefined ? stderr.write(`${line}\n`) : logs.entry('debug', line, facts))
    : undefined;
  const { transportTo, embedded } = openTransports(deps, log);
  const clientOf = clientsOf(deps, transportTo, log, () => keeper());
  const tokensOf = (baseUrl: string, apiKey: string): KeptTokens =>
    openTokens(deps.home.config, credentialName(baseUrl, apiKey), log);
  const openClient = async (): Promise<ServiceClient> => {
    if (deps.settings.embedded) {
      const { credentials, tokens } = await embedded();
      return clientOf(embeddedUrl, credentials, tokens);
    }
    const { baseUrl, credentials } = await findCredentials(deps);
    return clientOf(baseUrl, credentials, tokensOf(baseUrl, credentials.apiKey));
  };
  let opened: ServiceClient | undefined;
  const client = lazily(async () => (opened = await openClient()));
  const account = lazily(async () => ownAccount(await client(), deps));
  const keeper = lazily((): RateKeeper | undefined => {
    const { fiat } = deps.settings.profile;
    return fiat === undefined ? undefined : rateKeeper({ ...stored, fiat, account });
  });
  const stored = { rates: deps.rates, onClose: deps.onClose };
  return {
    client,
    account,
    clientOf,
    async tokens() {
      const { embedded: isEmbedded, baseUrl, apiKey } = deps.settings;
      if (isEmbedded) return (await embedded()).tokens;
      return baseUrl === undefined || apiKey === undefined ? undefined : tokensOf(baseUrl, apiKey);
    },
    transport: () => transportTo(deps.settings.baseUrl),
    embedded,
    present: () => opened?.serviceNow() ?? deps.now(),
    ratesKept: async () => keeper()?.kept(),
  };
}

const defaultTimeoutMs = 30_000;
/**
 * The longest wait for a rate limit in ms, longer than the minute in which services count requests.
 */
const defaultRateLimitWaitMs = 120_000;

function openTransports(deps: ServiceDeps, log: Log) {
  const { globals, env, onClose } = deps;
  const reported = (transport: Transport): Transport => {
    if (log !== undefined) return timingCommand(transport, deps.elapsed, log, onClose);
    return deps.terminal.canAnimate ? showingSlowRequests(transport, deps) : transport;
  };
  const embedded = lazily(async () => {
    const { openEmbedded } = await import('./sandbox/embedded.js');
    const service = await openEmbedded(deps.home, deps.settings.maker);
    onClose(() => service.close());
    return { ...service, transport: reported(service.transport) };
  });
  const network = lazily((): Transport => {
    if (deps.network !== undefined) return reported(deps.network);
    const { timeout: timeoutMs = defaultTimeoutMs, insecure } = globals;
    const transport = deps.early ?? networkTransport({ env, timeoutMs, insecure, endsSoon: true });
    onClose(() => transport.close());
    return reported(transport);
  });
  return {
    embedded,
    transportTo: async (baseUrl: string | undefined): Promise<Transport> =>
      baseUrl === embeddedUrl ? (await embedded()).transport : network(),
  };
}

function clientsOf(
  deps: ServiceDeps,
  transportTo: (baseUrl: string) => Promise<Transport>,
  log: Log,
  keeper: () => RateKeeper | undefined,
): Service['clientOf'] {
  const { stderr, globals, now: clock, sleep, random, signal } = deps;
  const reports = clientReports(deps);
  return async (baseUrl, credentials, tokens) => {
    const { maker, accountId } = deps.settings;
    return new ServiceClient({
      baseUrl,
      credentials,
      tokens,
      transport: await transportTo(baseUrl),
      maker,
      accountId,
      clock,
      sleep,
      random,
      signal,
      log,
      ...(isLog(stderr) && { onFacts: stderr.note }),
      timeoutMs: globals.timeout ?? defaultTimeoutMs,
      rateLimitWaitMs: globals.timeout ?? defaultRateLimitWaitMs,
      pageSizes: {
        load: async () => seenPageSize(deps.home, baseUrl).load(),
        save: (size) => seenPageSize(deps.home, baseUrl).update(() => size),
      },
      ...reports,
      onTransaction: keeper()?.see,
      userAgent: `svcpay/${deps.version}`,
    });
  };
}

async function ownAccount(
  client: ServiceClient,
  { settings: { accountId, embedded }, journal }: ServiceDeps,
): Promise<OwnAccount> {
  const id = await client.ownAccountId();
  if (accountId !== undefined && accountId !== id) throw notItsOwn(accountId);
  return { client, id, scope: embedded ? `${embeddedUrl} ${id}` : id, journal };
}

async function findCredentials({
  settings: { baseUrl, apiKey, apiSecret, profileName },
  secrets,
}: ServiceDeps): Promise<{ baseUrl: string; credentials: Credentials }> {
  if (baseUrl === undefined || apiKey === undefined) {
    throw new Failure('authentication', `You are not logged in (profile ${profileName}).`, {
      hint: 'To try the sandbox without an account, add --sandbox. To log in',
      next: { do: 'sign-in' },
    });
  }
  const secret = apiSecret ?? (await secrets.load(credentialName(baseUrl, apiKey)))?.secret;
  if (secret === undefined) {
    throw new Failure('authentication', `No API secret is stored for ${baseUrl} and this key.`, {
      next: { do: 'sign-in' },
    });
  }
  return { baseUrl, credentials: { apiKey, apiSecret: secret } };
}

/** Describes the profile, the service and the account of a command. */
export async function whereaboutsOf({
  settings: { profileName, embedded, baseUrl },
  client,
}: ServiceDeps & Service): Promise<Whereabouts> {
  return {
    profile: profileName,
    service: embedded ? 'embedded sandbox' : new URL(baseUrl ?? '').host,
    accountId: (await ifAvailable((await client()).accountId())) ?? 'not signed in',
  };
}

/**
 * Describes where svcpay stores the API secret, or returns undefined if no API secret is stored.
 */
export async function secretPlace({
  settings: { embedded, apiSecret, baseUrl, apiKey },
  secrets,
}: ServiceDeps): Promise<string | undefined> {
  if (embedded) return 'the sandbox itself';
  if (apiSecret !== undefined) return 'the environment';
  const kept = await secrets.load(credentialName(baseUrl ?? '', apiKey ?? ''));
  return kept === undefined ? undefined : secrets.where(kept.place);
}

/**
 * Returns the failure for a payment with a subaccount in `--account`, which would debit the wallet
 * of the parent account.
 */
function notItsOwn(accountId: string): Failure {
  return invalid(`The service acts for ${accountId} only with an API key of that account.`, {
    hint: `This API key can show only the wallets and the account record of ${accountId}`,
    next: { do: 'see-wallets' },
  });
}

const shortestWaitMs = 1_000;

const mostReported = 5;

/** Reports what the client meets on its way, a few times at most. */
function clientReports({
  out,
  now,
  onClose,
}: ServiceDeps): Pick<ClientOptions, 'onWait' | 'onUnrecognized'> {
  const reported = new Set<string>();
  let more = 0;
  let reportedUntil = 0;
  onClose(() => {
    if (more > 0) out.warn(`svcpay could not read ${more} more parts of responses.`);
  });
  return {
    onWait(ms) {
      const until = now() + ms;
      // Concurrent requests wait until the same time, so svcpay reports the wait of the requests
      // only once.
      if (ms < shortestWaitMs || until < reportedUntil + 1_000) return;
      reportedUntil = until;
      out.say(
        `Waiting ${describeDuration(Math.ceil(ms / 1_000) * 1_000)}, ` +
          `because the service limits requests.`,
      );
    },
    onUnrecognized(words) {
      if (reported.has(words)) return;
      if (reported.size === mostReported) return void (more += 1);
      reported.add(words);
      out.warn(`svcpay could not read part of a response: ${words}.`);
    },
  };
}

const slowMs = 500;

/** Shows the host of a slow response if the live line shows no other text. */
const showingSlowRequests =
  (transport: Transport, { every, live }: ServiceDeps): Transport =>
  async (request) => {
    let end: (() => void) | undefined;
    const stopTicking = every(
      slowMs,
      () => void (end ??= live.fill(`Waiting for ${awaited(request.url)}`)),
    );
    try {
      return await transport(request);
    } finally {
      stopTicking();
      end?.();
    }
  };

const awaited = (url: string): string =>
  url.startsWith(embeddedUrl) ? 'the embedded sandbox' : new URL(url).host;

/** Logs how long the command took, and how much of that time svcpay waited for the service. */
function timingCommand(
  transport: Transport,
  elapsed: () => number,
  log: (line: string) => void,
  onClose: (close: () => void) => void,
): Transport {
  const counted = { requests: 0, underway: 0, since: 0, waitedMs: 0 };
  onClose(() => {
    const [whole, waited] = [elapsed(), counted.waitedMs].map((ms) => ms.toFixed(0));
    log(
      `command ${whole} ms, of which ${waited} ms waiting for ${counted.requests} ` +
        `${counted.requests === 1 ? 'request' : 'requests'}`,
    );
  });
  return async (request) => {
    if (counted.underway === 0) counted.since = elapsed();
    counted.requests += 1;
    counted.underway += 1;
    try {
      return await transport(request);
    } finally {
      counted.underway -= 1;
      if (counted.underway === 0) counted.waitedMs += elapsed() - counted.since;
    }
  };
}

interface RateKeeperDeps {
  readonly fiat: string;
  readonly account: () => Promise<{
    readonly client: { rates(): Promise<Rates>; serviceNow(): number };
    readonly scope: string;
  }>;
  readonly rates: () => Promise<SettlementRates>;
  readonly onClose: (close: () => Promise<void>) => void;
}

/** The maximum age in ms of exchange rates that svcpay stores as the rates of a settlement. */
const validMs = 60_000;
/**
 * The maximum age in ms of a settlement that svcpay detects late, and for which svcpay still stores
 * the current exchange rates.
 */
const lateMs = 3_600_000;
/** The largest number of transactions that the rate keeper remembers. */
const mostKnown = 1_000;

interface Read {
  readonly at: number;
  readonly rates: Rates;
}

interface RateKeeper {
  /** Called for every transaction that the service reports. */
  readonly see: (txn: Transaction) => void;
  /** Resolves when the rate keeper has stored the exchange rates of all settled transactions. */
  readonly kept: () => Promise<unknown>;
}

/**
 * Creates the rate keeper. If a read of the exchange rates fails, the payment has no stored rate.
 */
export function rateKeeper({ fiat, account, rates, onClose }: RateKeeperDeps): RateKeeper {
  const seen = new Map<string, 'in flight' | 'settled'>();
  let latest: Promise<Read> | undefined;
  let work: Promise<void> = Promise.resolve();
  let isBusy = false;
  const finish = (): Promise<void> => work;
  const store = lazily(async () => {
    const opened = await rates();
    // The functions that were passed to `onClose` run in reverse order, so `finish` runs before the
    // stores and connections close.
    onClose(finish);
    return opened;
  });

  const read = (): Promise<Read> => {
    latest = account().then(async ({ client }) => ({
      rates: await client.rates(),
      at: client.serviceNow(),
    }));
    latest.catch(() => undefined);
    return latest;
  };

  const keep = async (txn: Transaction, wasInFlight: boolean): Promise<void> => {
    const { client, scope } = await account();
    const now = client.serviceNow();
    const isDone = isFinal(txn.txnState);
    const updatedAt = settledAt(txn) ?? 0;
    const isNear = !isDone || wasInFlight || updatedAt >= now - validMs;
    if (!isNear && updatedAt < now - lateMs) return;
    const before = await latest?.catch(() => undefined);
    const snapshot = before !== undefined && before.at >= now - validMs ? before : await read();
    const found = ratesOf(txn, fiat, snapshot.rates);
    if (Object.keys(found).length === 0) return;
    const settled = isDone ? updatedAt || now : null;
    const rate = { keptAt: snapshot.at, settledAt: settled, fiat, rates: found };
    await (await store())[isNear ? 'keep' : 'keepLate'](scope, txn.txnId, rate);
  };

  const see = (txn: Transaction): void => {
    const { txnId, txnState, sourceReq } = txn;
    const before = seen.get(txnId);
    const isDone = isFinal(txnState);
    const isNews = isDone ? txnState === 'completed' && before !== 'settled' : before === undefined;
    if (isQuoted(txnState) || !isNews) return;
    seen.set(txnId, isDone ? 'settled' : 'in flight');
    const [oldest] = seen.keys();
    if (seen.size > mostKnown && oldest !== undefined) seen.delete(oldest);
    // For an outgoing payment, stores the exchange rates now. For an incoming payment, only reads
    // the exchange rates now, and stores them at the settlement.
    if (isDone || sourceReq.method === 'servicepay') {
      if (!isBusy) onClose(finish);
      isBusy = true;
      work = work.then(() => keep(txn, before === 'in flight')).catch(() => undefined);
    } else if (latest === undefined) void read();
  };
  return { see, kept: () => work };
}

/**
 * Returns the exchange rates of a transaction's two currencies, and omits the rates that the
 * service does not report.
 */
function ratesOf(
  { sourceReq, destReq }: Transaction,
  fiat: string,
  rates: Rates,
): KeptRate['rates'] {
  const currencies = new Set(
    [sourceReq.ccy, destReq.ccy].flatMap((ccy) => ccy?.toUpperCase() ?? []),
  );
  return Object.fromEntries(
    [...currencies].flatMap((ccy): [string, string][] => {
      if (ccy === fiat) return [[ccy, '1']];
      try {
        return [[ccy, fixed(findRate(rates, `${ccy}/${fiat}`).rate)]];
      } catch {
        return [];
      }
    }),
  );
}
