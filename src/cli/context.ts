// Opens the context of a command: terminal, service and journal. svcpay opens the expensive parts
// on first use.
import { fieldFromWireName } from '../api/wire.js';
import { takesAnyCertificate, networkTransport, type OpeningTransport } from '../api/network.js';
import { type Failure, invalid } from '../formats/failure.js';
import { messageOf } from '../formats/text.js';
import { findHome } from '../store/files/home.js';
import { actorOf, ownerOf } from '../store/journal/steps.js';
import { openConfig } from '../store/profile/profiles.js';
import {
  openSecrets,
  systemKeyring,
  resolveSettings,
  type SettingFlags,
} from '../store/profile/settings.js';
import { createAsk, type Ask } from '../terminal/ask/ask.js';
import { createLive } from '../terminal/live.js';
import { createOutput, type Output } from '../terminal/output.js';
import { openTerminal, type Input } from '../terminal/terminal.js';
import type { Globals } from './values.js';
import type { Process } from './process.js';
import { openService, type Service, type ServiceDeps } from './service.js';
import { lazily, openStores, type Foundation } from './stores.js';

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
  /** The screen of another context with the same streams, by default a new screen. */
  readonly screen?: Screen;
}

type Screen = Pick<Context, 'terminal' | 'out' | 'live'>;

export interface Context extends ServiceDeps, Service, Line {
  readonly ask: Ask;
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
  const onClose: Context['onClose'] = (close) => void closers.push(close);
  const parts = { ...proc, ...line, globals, early: line.early, onClose };
  const base: Foundation & typeof parts = withLazy(parts, {
    owner: () => proc.owner ?? ownerOf(proc.pid, proc.newId()),
    home: () => findHome(env),
    config: () => openConfig(base.home.config),
    secrets: () => openSecrets(base.home, systemKeyring(env)),
    settings() {
      if (globals.sandbox && globals.baseUrl !== undefined) throw sandboxElsewhere();
      return resolveSettings(globals, env, base.config.read(), line.createsProfile);
    },
    actor() {
      const { profileName: profile, embedded, baseUrl, budget } = base.settings;
      const sandbox = embedded || baseUrl?.startsWith('http:') === true;
      const { door } = line;
      return actorOf({ door, version: proc.version, profile, budget, sandbox }, proc.pid);
    },
  });
  const screen = line.screen ?? openScreen(proc, globals, line, base);
  const asking = withLazy(base, {
    ask: () =>
      createAsk(screen.terminal, {
        yes: globals.yes,
        signal: proc.signal,
        around: screen.live.silent,
        onKey: () => line.early?.open(base.settings.baseUrl ?? '', 1),
      }),
  });
  const ready = Object.assign(asking, screen, openStores(base));
  return Object.assign(ready, openService(ready), { close: () => closeAll(closers, screen.out) });
}

/** Adds properties to an object, each of which is computed at its first use. */
function withLazy<T extends object, L extends object>(
  to: T,
  made: { readonly [Name in keyof L]: () => L[Name] },
): T & L {
  for (const [name, make] of Object.entries<() => unknown>(made))
    Object.defineProperty(to, name, { get: lazily(make), configurable: true, enumerable: true });
  // The compiler does not see the properties that defineProperty adds.
  return to as T & L;
}

/**
 * Opens a copy of `context` with changed streams or signal, such as for the payments of a batch or
 * for one call of an agent. A copy with the same streams has the same screen and connections. The
 * caller closes the copy.
 */
export function nestedContext(
  context: Context,
  changes: Partial<Process>,
  globals: Partial<Globals> = {},
): Context {
  const { argv, door, readsStdin, runLine, early, terminal, out, live } = context;
  const shared = changes.stderr === undefined && { early, screen: { terminal, out, live } };
  return openContext(
    { ...context, ...changes },
    { ...context.globals, ...globals },
    { argv, door, readsStdin, runLine, ...shared },
  );
}

function openScreen(
  proc: Process,
  globals: Globals,
  line: Line,
  base: Pick<Foundation, 'settings'>,
): Screen {
  const isServed = proc.isServed === true;
  const terminal = openTerminal({
    ...proc,
    stdin: keyboardOf(proc, line),
    explorerOf: () => base.settings.profile.explorer,
    flags: { noColor: !globals.color, noInput: !globals.input, json: globals.json },
  });
  const fields = globals.fields?.map((field) => fieldFromWireName(field, base.settings.maker));
  const { output: format } = globals;
  return {
    terminal,
    out: createOutput(terminal, { ...globals, fields, format, hasShell: !isServed }),
    live: createLive(terminal, { ...proc, quiet: globals.quiet || isServed }),
  };
}

const sandboxElsewhere = (): Failure => invalid('Use either --sandbox or --base-url, not both.');

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

/**
 * Makes V8 free unused memory early until the command ends, because otherwise V8 keeps the garbage
 * of thousands of rows. Sets the flag back at the end, because V8 rejects a compile cache that was
 * written under different flags.
 */
export async function keepMemorySmall({ onClose }: Pick<Context, 'onClose'>): Promise<void> {
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--optimize-for-size');
  onClose(() => setFlagsFromString('--no-optimize-for-size'));
}
