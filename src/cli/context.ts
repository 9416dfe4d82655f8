// The context of a command: terminal, service, journal. Expensive parts are opened on first use.
import { fieldFromMaker } from '../api/maker.js';
import { ServiceClient } from '../api/client.js';
import type { OpeningTransport } from '../api/network/exchange.js';
import { networkTransport } from '../api/network/network.js';
import type { LogFacts } from '../api/options.js';
import type { Transport } from '../api/transport.js';
import type { Credentials, TokenStore } from '../api/types.js';
import { Failure } from '../formats/failure.js';
import { messageOf } from '../formats/unknown.js';
import type { Document } from '../store/files/document.js';
import { findHome, type Home } from '../store/files/home.js';
import { seenPageSize } from '../store/files/seen.js';
import { openConfig, type Config } from '../store/profile/profiles.js';
import { openSecrets, systemKeyring, type SecretStore } from '../store/profile/secrets.js';
import { embeddedUrl, resolveSettings, type Settings } from '../store/profile/settings.js';
import { credentialName, openTokens, type KeptTokens } from '../store/profile/tokens.js';
import { shellWord } from '../terminal/next-step.js';
import { createAsk, type Ask } from '../terminal/ask/ask.js';
import { createLive, type Live } from '../terminal/live.js';
import { createOutput, type Output } from '../terminal/output.js';
import {
  isLog,
  openTerminal,
  type Input,
  type OutputStream,
  type Terminal,
} from '../terminal/terminal.js';
import { clientReports, showingSlowRequests, timingCommand } from './client-reports.js';
import type { EmbeddedService } from './sandbox/embedded.js';
import type { Globals } from './globals.js';
import type { Journal } from '../store/journal/journal.js';
import type { PaymentDeps } from '../wallet/payment/contract.js';
import { ownerOf } from '../store/journal/owner.js';
import { rateKeeper } from './rate-keeper.js';
import { lazily, openStores, type Stores } from './stores.js';

/** stdout for one whole text, without loading the rest of the terminal code. */
export interface Page {
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  print(text: string): void;
}

/** The process, which tests replace. */
export interface Process {
  readonly stdin: Input;
  /** The terminal itself, for questions while stdin is read by the command. */
  readonly tty?: Input;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly page: Page;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  /** See `PaymentDeps.refuse`. */
  readonly refusePayment?: PaymentDeps['refuse'];
  /** Owner of this process in the journal; nested command lines use their parent's. */
  readonly owner?: string;
  readonly version: string;
  /** Aborted on Ctrl-C. */
  readonly signal: AbortSignal;
  /** As Ctrl-C does, where the terminal hands it over as a key. */
  readonly interrupt: () => void;
  /** From now on, a forced exit cannot report that nothing moved. */
  readonly onSubmit: () => void;
  /** Passes termination signals to `taker` until the returned function is called. */
  readonly takeSignals: (taker: (signal: NodeJS.Signals) => void) => () => void;
  readonly now: () => number;
  /** Monotonic milliseconds. */
  readonly elapsed: () => number;
  readonly random: () => number;
  readonly newId: () => string;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly every: (ms: number, action: () => void) => () => void;
}

/** Runs another command line in this process, with changed variables, streams or signal; resolves with its exit code. */
export type RunLine = (argv: readonly string[], changes?: Partial<Process>) => Promise<number>;

export interface Line {
  readonly argv: readonly string[];
  readonly runLine: RunLine;
  /** The command may create the named profile. */
  readonly createsProfile?: boolean;
  /** Has open connections to the service. */
  readonly early?: OpeningTransport | undefined;
}

export interface OwnAccount {
  readonly client: ServiceClient;
  readonly id: string;
  /** References are unique within an account, under any hostname; the embedded sandbox has its own scope. */
  readonly scope: string;
  journal(): Promise<Journal>;
}

export interface Context extends Process, Line, Stores {
  readonly globals: Globals;
  readonly terminal: Terminal;
  readonly out: Output;
  readonly ask: Ask;
  readonly live: Live;
  readonly home: Home;
  readonly config: Document<Config>;
  readonly secrets: SecretStore;
  /** Flags, environment and profile combined; throws Failure `usage` for an invalid value. */
  readonly settings: Settings;
  /** Owner of this process in the journal. */
  readonly owner: string;
  /**
   * The client of the chosen service. With `--account` it serves only that subaccount's wallets and record, because every
   * other endpoint acts for the account of the API key. Throws Failure `authentication` if no service is configured.
   */
  client(): Promise<ServiceClient>;
  /**
   * The API key's own account, the only one for transactions, addresses and webhooks. Throws Failure `usage` when `--account`
   * names another.
   */
  account(): Promise<OwnAccount>;
  /** A client of any service, with unsaved credentials. */
  clientOf(baseUrl: string, credentials: Credentials, tokens: TokenStore): Promise<ServiceClient>;
  /** The stored token of the chosen service and key. */
  tokens(): KeptTokens | undefined;
  transport(): Promise<Transport>;
  embedded(): Promise<EmbeddedService>;
  /** Registers a function to call when the command ends. */
  onClose(close: () => void | Promise<void>): void;
  close(): Promise<void>;
}

const defaultTimeoutMs = 30_000;
/** Services count their requests by the minute. */
const defaultRateLimitWaitMs = 120_000;

export function openContext(proc: Process, globals: Globals, line: Line): Context {
  const { env } = proc;
  const closers: (() => void | Promise<void>)[] = [];
  const owner = lazily(() => proc.owner ?? ownerOf(proc.pid, proc.newId()));
  const home = lazily(() => findHome(env));
  const config = lazily(() => openConfig(home().config));
  const explorerOf = (): string | undefined => settings().profile.explorer;
  const terminal = openTerminal({
    ...proc,
    stdin: keyboardOf(proc, line),
    explorerOf,
    flags: { noColor: !globals.color, noInput: !globals.input, json: globals.json },
  });
  const settings = lazily(() => {
    if (globals.sandbox && globals.baseUrl !== undefined) {
      throw new Failure(
        'usage',
        '--sandbox and --base-url exclude each other. Remove one of them.',
      );
    }
    return resolveSettings(globals, env, config().read(), line.createsProfile);
  });
  const fields = globals.fields?.map((field) => fieldFromMaker(field, settings().maker));
  const out = createOutput(terminal, { ...globals, fields, format: globals.output });
  const live = createLive(terminal, {
    quiet: globals.quiet,
    now: proc.now,
    every: proc.every,
    signal: proc.signal,
  });
  const reports = clientReports(out, proc.now);
  closers.push(reports.close);
  const secrets = lazily(() => openSecrets(home(), systemKeyring));

  const embedded = lazily(async () => {
    const { openEmbedded } = await import('./sandbox/embedded.js');
    const service = await openEmbedded(home(), settings().maker, env);
    closers.push(() => service.close());
    return service;
  });

  const network = lazily((): Transport => {
    const transport =
      line.early ??
      networkTransport({
        env,
        timeoutMs: globals.timeout ?? defaultTimeoutMs,
        insecure: globals.insecure,
      });
    closers.push(() => transport.close());
    if (log !== undefined) return timingCommand(transport, proc.elapsed, log, onClose);
    return terminal.canAnimate ? showingSlowRequests(transport, proc, live) : transport;
  });

  const transportTo = async (baseUrl: string | undefined): Promise<Transport> =>
    baseUrl === embeddedUrl ? (await embedded()).transport : network();

  const logs = isLog(proc.stderr) ? proc.stderr : undefined;
  const log = globals.debug ? debugLog(proc.stderr) : undefined;
  const clientOf = async (
    baseUrl: string,
    credentials: Credentials,
    tokens: TokenStore,
  ): Promise<ServiceClient> =>
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
      pageSizes: seenPageSize(home(), baseUrl),
      ...reports.hooks,
      onTransaction: keeper(),
      userAgent: `svcpay/${proc.version}`,
    });

  const tokens = lazily(() => {
    const { baseUrl, apiKey } = settings();
    return baseUrl === undefined || apiKey === undefined
      ? undefined
      : openTokens(home().config, credentialName(baseUrl, apiKey), log);
  });

  const client = lazily(async () => {
    if (settings().embedded) {
      const { credentials, tokens: own } = await embedded();
      return clientOf(settings().baseUrl ?? '', credentials, own);
    }
    const { baseUrl, credentials } = await findCredentials(settings(), secrets());
    return clientOf(baseUrl, credentials, tokens() ?? openTokens(home().config, baseUrl));
  });

  const onClose = (close: () => void | Promise<void>): void => void closers.push(close);
  const stores = openStores({
    home,
    config,
    settings,
    secrets,
    env,
    now: proc.now,
    owner,
    onClose,
  });

  const keeper = lazily(() =>
    rateKeeper({ fiat: settings().profile.fiat, account, rates: stores.rates, onClose }),
  );
  const account = lazily(async () => ownAccount(await client(), settings(), stores.journal));

  return {
    ...proc,
    ...line,
    globals,
    terminal,
    out,
    ask: createAsk(terminal, {
      yes: globals.yes,
      signal: proc.signal,
      around: live.silent,
      onKey: () => line.early?.open(settings().baseUrl ?? '', 1),
    }),
    live,
    get home() {
      return home();
    },
    get config() {
      return config();
    },
    get secrets() {
      return secrets();
    },
    get settings() {
      return settings();
    },
    get owner() {
      return owner();
    },
    client,
    account,
    clientOf,
    tokens,
    transport: () => transportTo(settings().baseUrl),
    embedded,
    ...stores,
    onClose,
    close: () => closeAll(closers, out),
  };
}

/** Where answers come from: the terminal itself, if the command reads stdin as data. */
const keyboardOf = ({ stdin, tty }: Process, { argv }: Line): Input =>
  argv.includes('-') && !stdin.isTTY && tty?.isTTY === true ? tty : stdin;

async function closeAll(
  closers: readonly (() => void | Promise<void>)[],
  out: Output,
): Promise<void> {
  for (const close of closers.toReversed()) {
    await Promise.resolve()
      .then(close)
      .catch((error: unknown) => out.warn(`Closing failed: ${messageOf(error)}`));
  }
}

function debugLog(stderr: Process['stderr']) {
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
      hint: 'svcpay login, or try it without an account: svcpay --sandbox wallets',
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

/** Prevents a payment meant for a subaccount from leaving the parent's wallet. */
function notItsOwn(accountId: string): Failure {
  return new Failure(
    'usage',
    `The service acts for ${accountId} only with an API key of that account.`,
    {
      hint: `With this key --account shows its wallets and its record: svcpay wallets --account ${shellWord(accountId)}`,
    },
  );
}
