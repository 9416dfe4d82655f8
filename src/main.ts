// The only file that touches the process: argv, streams, signals and the exit code.
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  writeSync,
} from 'node:fs';
import packageJson from '../package.json' with { type: 'json' };
import { every, sleep } from './api/timers.js';
import { readCommandLine, runCommandLine, showLost, showUnexpected } from './cli/program.js';
import type { Process } from './cli/process.js';
import { exitCodes } from './formats/failure.js';
import type { Input, InputStream, OutputStream } from './terminal/terminal.js';

/** Loads a module of Node on use, because few commands need the module. */
const { getBuiltinModule } = process;

// Hides the deprecation warnings of libraries, which would appear before svcpay's own errors.
process.noDeprecation = true;
// If the process ends before the command has ended, this exit code reports that the command failed.
process.exitCode = exitCodes.unexpected;
void main();

async function main(): Promise<void> {
  const line = readCommandLine(process.argv.slice(2));
  const outputs = openOutputs();
  const money: MoneyState = { isSubmitted: false };
  const proc = openProcess(outputs, money);
  // If the terminal closes during a question, restoring the terminal may throw before SIGHUP
  // arrives.
  const isHangUp = (error: object): boolean => 'syscall' in error && error.syscall === 'setRawMode';
  process.on(
    'uncaughtException',
    (error) => void (isHangUp(error) ? process.emit('SIGHUP') : crash(error)),
  );

  const exitCode = await runCommandLine(line, proc);
  await reportUpgrade(proc);
  await outputs.flushed();
  const reason = outputs.whyLost();
  await end(
    exitCode !== 0 || reason === undefined
      ? exitCode
      : await showLost(reason, money.isSubmitted, line, proc),
  );

  async function crash(error: unknown): Promise<void> {
    const exitCode = money.isSubmitted ? exitCodes.pending : exitCodes.unexpected;
    try {
      await showUnexpected(error, line, proc);
    } catch {
      // svcpay could not load the code that formats a failure, for example because too many files
      // are open.
      tryWrite(bareText(error, exitCode, line.has('json')));
    }
    await end(exitCode);
  }

  async function end(code: number): Promise<void> {
    await outputs.flushed();
    // Ends the process at once, because a second signal could otherwise change the exit code.
    leave(code);
  }
}

/** Loads the code of the notice only at a terminal. */
async function reportUpgrade(proc: Process): Promise<void> {
  const isDevice = (fd: number): boolean => fstatSync(fd).isCharacterDevice();
  if (!isDevice(1) || !isDevice(2) || proc.stdout.isTTY !== true || proc.stderr.isTTY !== true)
    return;
  const { upgradeNotice } = await import('./cli/upgrade.js');
  const script = realpathSync(process.argv[1] ?? '');
  const notice = upgradeNotice(proc, script, startVersionCheck);
  if (notice !== undefined) proc.stderr.write(`${notice}\n`);
}

/** Starts npm in the background, which writes the newest version to the file. */
function startVersionCheck(file: string): void {
  try {
    const output = openSync(file, 'w', 0o600);
    getBuiltinModule('node:child_process')
      .spawn('npm', ['view', 'svcpay', 'version'], {
        detached: true,
        shell: process.platform === 'win32',
        stdio: ['ignore', output, 'ignore'],
      })
      .on('error', () => undefined)
      .unref();
    closeSync(output);
  } catch {
    // Without a writable folder, svcpay reports no new version.
  }
}

/**
 * Writes a text to stderr and ignores a failed write, because a report of the failed write would
 * fail too.
 */
function tryWrite(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // If stderr is closed, svcpay cannot report the error.
  }
}

/** Returns the text of a system error, formatted by code that is already loaded. */
function bareText(error: unknown, exitCode: number, isJson: boolean): string {
  const what = error instanceof Error ? error.message : String(error);
  const [kind, opening] =
    exitCode === exitCodes.pending
      ? ['pending', 'Outcome unknown']
      : ['unexpected', 'Something unexpected went wrong'];
  const message = `${opening}: ${what}`;
  const hint =
    what.includes('EMFILE') || what.includes('open files')
      ? 'Allow more open files with ulimit -n 1024, then run: svcpay tx resume'
      : 'svcpay tx resume';
  return isJson
    ? `${JSON.stringify({ error: { kind, message, hint, exitCode } })}\n`
    : `${message}\n  ${hint}\n`;
}

/**
 * Whether the command has submitted a payment. If the command ends before it can report a
 * submission, for example after a crash, the exit code shows whether money may have moved.
 */
interface MoneyState {
  isSubmitted: boolean;
}

/**
 * Ends the process. Closes the descriptors of a closed terminal first, because Node restores the
 * terminal's modes at exit, and aborts if the terminal is closed.
 */
function leave(code: number): never {
  const isGone = (fd: number): boolean =>
    fstatSync(fd).isCharacterDevice() && !getBuiltinModule('node:tty').isatty(fd);
  for (const fd of [0, 1, 2, ttyFd ?? -1]) {
    try {
      if (isGone(fd)) closeSync(fd);
    } catch {
      // A descriptor that svcpay cannot examine does not count as a terminal.
    }
  }
  process.exit(code);
}

interface Outputs extends Pick<Process, 'stdout' | 'stderr'> {
  /**
   * Returns the reason why svcpay could not write to stdout, or undefined if the reader closed
   * stdout.
   */
  whyLost(): string | undefined;
  flushed(): Promise<void>;
}

/**
 * Opens stdout and stderr on first use. A full disk or a closed reader (`| head`) must not end a
 * payment half-way.
 */
function openOutputs(): Outputs {
  const opened: { stdout?: OutputStream; stderr?: OutputStream } = {};
  let reason: string | undefined;
  const watched = (stream: OutputStream, onLoss: (reason: string) => void): OutputStream =>
    stream.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (code !== 'EPIPE' && code !== 'ERR_STREAM_DESTROYED') onLoss(code ?? message);
    });
  // Warns once, because a warning makes the live line write to stderr again.
  let isWarned = false;
  const warn = (why: string): void => {
    if (isWarned || outputs.stdout.isTTY !== true) return;
    isWarned = true;
    outputs.stdout.write(`Warning: svcpay cannot write to stderr (${why}).\n`);
  };
  const outputs: Outputs = {
    get stdout() {
      return (opened.stdout ??= watched(process.stdout, (why) => (reason ??= why)));
    },
    get stderr() {
      return (opened.stderr ??= watched(process.stderr, warn));
    },
    whyLost: () => reason,
    flushed: async () => void (await Promise.all(Object.values(opened).map(flushed))),
  };
  return outputs;
}

/**
 * Resolves when the stream has written all its data or a write has failed. If a write fails, the
 * stream reports the failure separately, in an `error` event.
 */
function flushed(stream: OutputStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.writableLength === 0 || stream.destroyed) setImmediate(resolve);
    else stream.write('', () => resolve());
  });
}

/** The time in ms in which svcpay can still report the outcome after a second Ctrl-C. */
const graceMs = 250;

function openProcess(outputs: Outputs, money: MoneyState): Process {
  const interruption = new AbortController();
  const interrupt = (): void => {
    if (!interruption.signal.aborted) interruption.abort();
    else
      setTimeout(
        () => leave(money.isSubmitted ? exitCodes.pending : exitCodes.interrupted),
        graceMs,
      );
  };
  // A closed terminal sends SIGHUP, which interrupts svcpay even under nohup, because Node resets
  // ignored signals at its start.
  const taken = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of taken) process.on(signal, interrupt);
  let isTerminated = false;
  process.once('SIGTERM', () => (isTerminated = true));
  return {
    get stdout() {
      return outputs.stdout;
    },
    get stderr() {
      return outputs.stderr;
    },
    stdin: openInput(
      () => 0,
      () => process.stdin,
    ),
    tty: openInput(openTty, (fd) => new (getBuiltinModule('node:tty').ReadStream)(fd)),
    env: process.env,
    pid: process.pid,
    version: packageJson.version,
    signal: interruption.signal,
    isTerminated: () => isTerminated,
    interrupt,
    onSubmit: () => void (money.isSubmitted = true),
    // Adds the new listener before removing the old listener, because a signal without a listener
    // ends the process.
    takeSignals(taker) {
      for (const signal of taken) process.on(signal, taker).off(signal, interrupt);
      return () => {
        for (const signal of taken) process.on(signal, interrupt).off(signal, taker);
      };
    },
    now: Date.now,
    elapsed: () => performance.now(),
    random: Math.random,
    // Uses `node:crypto`, because the global `crypto` would load all of Web Crypto.
    newId: () => getBuiltinModule('node:crypto').randomUUID(),
    sleep,
    every,
  };
}

let ttyFd: number | undefined;

/**
 * Opens the terminal of the process, even if stdin is not a terminal. Returns the file descriptor
 * of the terminal, or -1 if the process has no terminal.
 */
function openTty(): number {
  try {
    return (ttyFd ??= openSync('/dev/tty', 'r+'));
  } catch {
    return (ttyFd = -1);
  }
}

/**
 * Whether this process may change the modes of the terminal. The system stops a background job that
 * changes the modes of the terminal.
 */
function isForeground(): boolean {
  try {
    const [, , group, , , foreground] = readFileSync('/proc/self/stat', 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ');
    return group === foreground;
  } catch {
    // On systems other than Linux, `ps` marks a foreground process with a plus.
    const { stdout } = getBuiltinModule('node:child_process').spawnSync(
      'ps',
      ['-o', 'stat=', '-p', String(process.pid)],
      { encoding: 'utf8' },
    );
    return !stdout || stdout.includes('+');
  }
}

/**
 * Stops the processes of this job, as Ctrl-Z does outside raw mode, and then polls until this job
 * is in the foreground. Without a shell, SIGTSTP does not stop the job and no SIGCONT follows, so
 * svcpay polls instead of waiting for SIGCONT.
 */
function suspend(onForeground: () => void): () => void {
  process.kill(0, 'SIGTSTP');
  const timer = setInterval(() => {
    if (!isForeground()) return;
    clearInterval(timer);
    onForeground();
  }, 100);
  return () => clearInterval(timer);
}

/**
 * Reads typed keys without waiting for further keys. Returns an empty string if the system cannot
 * read the terminal without waiting.
 */
function readTyped(): string {
  const buffer = Buffer.alloc(4_096);
  let typed = '';
  let tty: number | undefined;
  try {
    tty = openSync('/dev/tty', constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    for (let count = 1; count > 0;) {
      count = readSync(tty, buffer);
      typed += buffer.toString('latin1', 0, count);
    }
  } catch {
    // A failed read means that no typed key is left, or that the process has no terminal.
  }
  if (tty !== undefined) closeSync(tty);
  return typed;
}

function openInput(fd: () => number, open: (fd: number) => InputStream): Input {
  let opened: InputStream | undefined;
  let echoes = true;
  const echo = (isOn: boolean): void => {
    if (isOn === echoes || !getBuiltinModule('node:tty').isatty(fd()) || !isForeground()) return;
    echoes = isOn;
    // Turns the terminal's echo on or off with stty, because raw mode would also intercept Ctrl-C
    // and the keys that are meant for the shell. If the system has no stty, the echo stays on.
    getBuiltinModule('node:child_process').spawnSync('stty', [isOn ? 'echo' : '-echo'], {
      stdio: [fd(), 'ignore', 'ignore'],
    });
  };
  process.on('exit', () => echo(true));
  return {
    echo,
    isForeground,
    suspend: (onForeground) => {
      echo(true);
      return suspend(onForeground);
    },
    typed: readTyped,
    get isTTY() {
      // Few commands ask questions, so svcpay loads `node:tty` only on use.
      return getBuiltinModule('node:tty').isatty(fd());
    },
    // Ignores the error of a closed terminal, because svcpay also receives the end of the input.
    open: () => (opened ??= open(fd()).on('error', () => undefined)),
  };
}
