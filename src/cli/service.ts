// Opens the service of a context on first use: its transport, its client and the account of the API
// key. Reports rate-limit waits, unrecognized fields, slow requests and timings on stderr.
import { ServiceClient } from '../api/client.js';
import { networkTransport, type OpeningTransport } from '../api/network/network.js';
import type { LogFacts, ClientOptions } from '../api/options.js';
import type { Transport } from '../api/transport.js';
import type { Credentials, TokenStore } from '../api/types.js';
import { Failure } from '../formats/failure.js';
import type { Home } from '../store/files/home.js';
import { keepSeenPageSize, seenPageSize } from '../store/files/document.js';
import type { Journal } from '../store/journal/journal.js';
import {
  credentialName,
  openTokens,
  type KeptTokens,
  type SecretStore,
} from '../store/profile/secrets.js';
import { embeddedUrl, type Settings } from '../store/profile/settings.js';
import type { Live, LiveOptions } from '../terminal/live.js';
import type { Output } from '../terminal/output.js';
import { isLog, type OutputStream, type Terminal } from '../terminal/terminal.js';
import type { Globals } from './globals.js';
import type { Process } from './process.js';
import { rateKeeper, type RateKeeper } from './rate-keeper.js';
import type { EmbeddedService } from './sandbox/embedded.js';
import { lazily, type Stores } from './stores.js';
import { describeDuration } from '../formats/calendar.js';

export interface OwnAccount {
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
  /** Returns the stored token of the chosen service and API key. */
  tokens(): KeptTokens | undefined;
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

export interface ServiceOptions {
  readonly proc: Process;
  readonly globals: Globals;
  /** The transport whose connections to the service are already open. */
  readonly early: OpeningTransport | undefined;
  readonly home: () => Home;
  readonly settings: () => Settings;
  readonly secrets: () => SecretStore;
  readonly screen: { readonly terminal: Terminal; readonly out: Output; readonly live: Live };
  readonly stores: Pick<Stores, 'journal' | 'rates'>;
  readonly onClose: (close: () => void | Promise<void>) => void;
}

export function openService(options: ServiceOptions): Service {
  const { proc, globals, home, settings, secrets, stores, onClose } = options;
  const log = globals.debug ? debugLog(proc.stderr) : undefined;
  const { transportTo, embedded } = openTransports(options, log);
  const clientOf = clientsOf(options, transportTo, log, () => keeper());
  const tokens = lazily(() => {
    const { baseUrl, apiKey } = settings();
    return baseUrl === undefined || apiKey === undefined
      ? undefined
      : openTokens(home().config, credentialName(baseUrl, apiKey), log);
  });
  const openClient = async (): Promise<ServiceClient> => {
    if (settings().embedded) {
      const { credentials, tokens: own } = await embedded();
      return clientOf(settings().baseUrl ?? '', credentials, own);
    }
    const { baseUrl, credentials } = await findCredentials(settings(), secrets());
    return clientOf(baseUrl, credentials, tokens() ?? openTokens(home().config, baseUrl));
  };
  let opened: ServiceClient | undefined;
  const client = lazily(async () => (opened = await openClient()));
  const account = lazily(async () => ownAccount(await client(), settings(), stores.journal));
  const keeper = lazily((): RateKeeper | undefined => {
    const { fiat } = settings().profile;
    return fiat === undefined
      ? undefined
      : rateKeeper({ fiat, account, rates: stores.rates, onClose });
  });
  return {
    client,
    account,
    clientOf,
    tokens,
    transport: () => transportTo(settings().baseUrl),
    embedded,
    present: () => opened?.serviceNow() ?? proc.now(),
    ratesKept: async () => keeper()?.kept(),
  };
}

type Log = ReturnType<typeof debugLog> | undefined;

const defaultTimeoutMs = 30_000;
/**
 * The longest wait for a rate limit in ms, longer than the minute in which services count requests.
 */
const defaultRateLimitWaitMs = 120_000;

function openTransports(
  { proc, globals, early, home, settings, screen, onClose }: ServiceOptions,
  log: Log,
) {
  const reported = (transport: Transport): Transport => {
    if (log !== undefined) return timingCommand(transport, proc.elapsed, log, onClose);
    const { terminal, live } = screen;
    return terminal.canAnimate ? showingSlowRequests(transport, proc, live) : transport;
  };
  const embedded = lazily(async () => {
    const { openEmbedded } = await import('./sandbox/embedded.js');
    const service = await openEmbedded(home(), settings().maker);
    onClose(() => service.close());
    return { ...service, transport: reported(service.transport) };
  });
  const network = lazily((): Transport => {
    if (proc.network !== undefined) return reported(proc.network);
    const transport =
      early ??
      networkTransport({
        env: proc.env,
        timeoutMs: globals.timeout ?? defaultTimeoutMs,
        insecure: globals.insecure,
        endsSoon: true,
      });
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
  { proc, globals, home, settings, screen, onClose }: ServiceOptions,
  transportTo: (baseUrl: string) => Promise<Transport>,
  log: Log,
  keeper: () => RateKeeper | undefined,
): Service['clientOf'] {
  const logs = isLog(proc.stderr) ? proc.stderr : undefined;
  const reports = clientReports(screen.out, proc.now);
  onClose(reports.close);
  return async (baseUrl, credentials, tokens) =>
    new ServiceClient({
      baseUrl,
      credentials,
      tokens,
      transport: await transportTo(baseUrl),
      maker: settings().maker,
      accountId: settings().accountId,
      clock: proc.now,
      sleep: proc.sleep,
      random: proc.random,
      signal: proc.signal,
      log,
      ...(logs !== undefined && { onFacts: logs.note }),
      timeoutMs: globals.timeout ?? defaultTimeoutMs,
      rateLimitWaitMs: globals.timeout ?? defaultRateLimitWaitMs,
      pageSizes: {
        load: async () => seenPageSize(home(), baseUrl),
        save: (size) => keepSeenPageSize(home(), baseUrl, size),
      },
      ...reports.hooks,
      onTransaction: keeper()?.see,
      userAgent: `svcpay/${proc.version}`,
    });
}

function debugLog(stderr: OutputStream) {
  const logs = isLog(stderr) ? stderr : undefined;
  return (line: string, facts?: LogFacts): void =>
    void (logs === undefined ? stderr.write(`${line}\n`) : logs.entry('debug', line, facts));
}

async function ownAccount(
  client: ServiceClient,
  { accountId, baseUrl = '' }: Settings,
  journal: Stores['journal'],
): Promise<OwnAccount> {
  const id = await client.ownAccountId();
  if (accountId !== undefined && accountId !== id) throw notItsOwn(accountId);
  return { client, id, scope: baseUrl === embeddedUrl ? `${embeddedUrl} ${id}` : id, journal };
}

async function findCredentials(
  { baseUrl, apiKey, apiSecret, profileName }: Settings,
  secrets: SecretStore,
): Promise<{ baseUrl: string; credentials: Credentials }> {
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

/**
 * Returns the failure for a payment with a subaccount in `--account`, which would debit the wallet
 * of the parent account.
 */
function notItsOwn(accountId: string): Failure {
  return new Failure(
    'usage',
    `The service acts for ${accountId} only with an API key of that account.`,
    {
      hint: `This API key can show only the wallets and the account record of ${accountId}`,
      next: { do: 'see-wallets' },
    },
  );
}

const shortestWaitMs = 1_000;

const mostReported = 5;

function clientReports(out: Pick<Output, 'warn' | 'say'>, now: () => number) {
  const reported = new Set<string>();
  let more = 0;
  let reportedUntil = 0;

  function onWait(ms: number): void {
    if (ms < shortestWaitMs) return;
    const until = now() + ms;
    // Concurrent requests wait until the same time, so svcpay reports the wait of the requests only
    // once.
    if (until < reportedUntil + 1_000) return;
    reportedUntil = until;
    out.say(
      `Waiting ${describeDuration(Math.ceil(ms / 1_000) * 1_000)}, ` +
        `because the service limits requests.`,
    );
  }

  function onUnrecognized(words: string): void {
    if (reported.has(words)) return;
    if (reported.size === mostReported) {
      more += 1;
      return;
    }
    reported.add(words);
    out.warn(`svcpay could not read part of a response: ${words}.`);
  }

  return {
    hooks: { onWait, onUnrecognized } satisfies Pick<ClientOptions, 'onWait' | 'onUnrecognized'>,
    close: (): void => {
      if (more > 0) out.warn(`svcpay could not read ${more} more parts of responses.`);
    },
  };
}

const slowMs = 500;

/** Shows the host of a slow response if the live line shows no other text. */
const showingSlowRequests =
  (
    transport: Transport,
    { every }: Pick<LiveOptions, 'every'>,
    live: Pick<Live, 'fill'>,
  ): Transport =>
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
