// Opens the context of a command: terminal, service and journal. svcpay opens the expensive parts
// on first use.
import { fieldFromWireName } from '../api/wire.js';
import { takesAnyCertificate } from '../api/network/connections.js';
import { networkTransport, type OpeningTransport } from '../api/network/network.js';
import { Failure } from '../formats/failure.js';
import { messageOf } from '../formats/text.js';
import type { Document } from '../store/files/document.js';
import { findHome, type Home } from '../store/files/home.js';
import { actorOf, ownerOf } from '../store/journal/steps.js';
import { openConfig, type Config } from '../store/profile/profiles.js';
import { openSecrets, systemKeyring, type SecretStore } from '../store/profile/secrets.js';
import { resolveSettings, type SettingFlags, type Settings } from '../store/profile/settings.js';
import { createAsk, type Ask } from '../terminal/ask/ask.js';
import { createLive, type Live } from '../terminal/live.js';
import { createOutput, type Output } from '../terminal/output.js';
import { openTerminal, type Input, type Terminal } from '../terminal/terminal.js';
import type { Globals } from './globals.js';
import type { Process } from './process.js';
import { openService, type Service } from './service.js';
import { lazily, openStores, type Stores } from './stores.js';

/**
 * Runs another command line in this process, with changed variables, streams or signal. Resolves
 * with the exit code of the other command line.
 */
export type RunLine = (argv: readonly string[], changes?: Partial<Process>) => Promise<number>;

export interface Line {
  readonly argv: readonly string[];
  /** The command that a person or a program started, such as `send lightning`. */
  readonly door: string;
  /** Whether the command reads stdin as data. */
  readonly readsStdin: boolean;
  readonly runLine: RunLine;
  /** Whether the command may create the profile that the command line names. */
  readonly createsProfile?: boolean;
  /** The transport whose connections to the service are already open. */
  readonly early?: OpeningTransport | undefined;
}

export interface Context extends Process, Line, Stores, Service {
  readonly globals: Globals;
  readonly terminal: Terminal;
  readonly out: Output;
  readonly ask: Ask;
  readonly live: Live;
  readonly home: Home;
  readonly config: Document<Config>;
  readonly secrets: SecretStore;
  /**
   * The settings, combined from flags, environment and profile. Throws Failure `usage` for an
   * invalid setting.
   */
  readonly settings: Settings;
  /** The name of this process in the journal. */
  readonly owner: string;
  /** Registers a function that runs when the command ends. */
  onClose(close: () => void | Promise<void>): void;
  close(): Promise<void>;
}

/**
 * Opens connections to the service while the command's code loads, which saves about one round
 * trip. Returns undefined if no service is configured or a setting is invalid. The command, not
 * `connectEarly`, reports an invalid setting.
 */
export function connectEarly(
  flags: SettingFlags,
  connections: number,
  { env, network }: Pick<Process, 'env' | 'network'>,
): OpeningTransport | undefined {
  try {
    const config = openConfig(findHome(env).config).read();
    const { baseUrl, embedded } = resolveSettings(flags, env, config);
    if (baseUrl === undefined || embedded || network !== undefined || takesAnyCertificate(env))
      return undefined;
    const transport = networkTransport({ env, timeoutMs: Infinity, endsSoon: true });
    transport.open(baseUrl, connections);
    return transport;
  } catch {
    return undefined;
  }
}

export function openContext(proc: Process, globals: Globals, line: Line): Context {
  const { env } = proc;
  const closers: (() => void | Promise<void>)[] = [];
  const onClose = (close: () => void | Promise<void>): void => void closers.push(close);
  const owner = lazily(() => proc.owner ?? ownerOf(proc.pid, proc.newId()));
  const home = lazily(() => findHome(env));
  const config = lazily(() => openConfig(home().config));
  const secrets = lazily(() => openSecrets(home(), systemKeyring(env)));
  const settings = lazily(() => {
    if (globals.sandbox && globals.baseUrl !== undefined) throw sandboxElsewhere();
    return resolveSettings(globals, env, config().read(), line.createsProfile);
  });
  const screen = openScreen(proc, globals, line, settings);
  const stores = openStores({
    home,
    config,
    settings,
    secrets,
    env,
    now: proc.now,
    elapsed: proc.elapsed,
    sleep: proc.sleep,
    owner,
    actor: () => {
      const { profileName, embedded, baseUrl, budget } = settings();
      const isSandbox = embedded || baseUrl?.startsWith('http:') === true;
      const given = { door: line.door, version: proc.version, profile: profileName, budget };
      return actorOf({ ...given, sandbox: isSandbox }, proc.pid);
    },
    onClose,
  });
  const ask = lazily(() =>
    createAsk(screen.terminal, {
      yes: globals.yes,
      signal: proc.signal,
      around: screen.live.silent,
      onKey: () => line.early?.open(settings().baseUrl ?? '', 1),
    }),
  );
  const service = openService({
    proc,
    globals,
    early: line.early,
    home,
    settings,
    secrets,
    screen,
    stores,
    onClose,
  });
  return {
    ...proc,
    ...line,
    globals,
    ...screen,
    get ask() {
      return ask();
    },
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
    ...service,
    ...stores,
    onClose,
    close: () => closeAll(closers, screen.out),
  };
}

/**
 * Opens a copy of `context` with changed streams or signal, such as for one payment of a batch or
 * for one call of an agent. The caller closes the copy.
 */
export function nestedContext(
  context: Context,
  changes: Partial<Process>,
  globals: Partial<Globals> = {},
): Context {
  const { argv, door, readsStdin, runLine } = context;
  return openContext(
    { ...context, ...changes },
    { ...context.globals, ...globals },
    { argv, door, readsStdin, runLine },
  );
}

function openScreen(
  proc: Process,
  globals: Globals,
  line: Line,
  settings: () => Settings,
): Pick<Context, 'terminal' | 'out' | 'live'> {
  const terminal = openTerminal({
    ...proc,
    stdin: keyboardOf(proc, line),
    explorerOf: () => settings().profile.explorer,
    flags: { noColor: !globals.color, noInput: !globals.input, json: globals.json },
  });
  const fields = globals.fields?.map((field) => fieldFromWireName(field, settings().maker));
  return {
    terminal,
    out: createOutput(terminal, {
      ...globals,
      fields,
      format: globals.output,
      hasShell: proc.isServed !== true,
    }),
    live: createLive(terminal, {
      quiet: globals.quiet || proc.isServed === true,
      now: proc.now,
      every: proc.every,
      signal: proc.signal,
    }),
  };
}

const sandboxElsewhere = (): Failure =>
  new Failure('usage', 'Use either --sandbox or --base-url, not both.');

/**
 * Returns the input from which svcpay reads answers: stdin, or the terminal itself if the command
 * reads stdin as data.
 */
const keyboardOf = ({ stdin, tty }: Process, { readsStdin }: Line): Input =>
  readsStdin && !stdin.isTTY && tty?.isTTY === true ? tty : stdin;

async function closeAll(closers: (() => void | Promise<void>)[], out: Output): Promise<void> {
  // Takes one closing function at a time, because a closing function may register another closing
  // function.
  for (let close = closers.pop(); close !== undefined; close = closers.pop()) {
    await Promise.resolve()
      .then(close)
      .catch((error: unknown) => out.warn(`Cleanup failed: ${messageOf(error)}`));
  }
}
