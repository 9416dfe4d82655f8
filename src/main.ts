// The only file that touches the process: argv, streams, signals and the exit code.
import { closeSync, fstatSync, openSync, readFileSync, writeSync } from 'node:fs';
import packageJson from '../package.json' with { type: 'json' };
import type { Process } from './cli/context.js';
import { runCli, showLost, showUnexpected } from './cli/run.js';
import { timerMs } from './formats/duration.js';
import { exitCodes } from './formats/failure.js';
import type { Input, InputStream, OutputStream } from './terminal/terminal.js';

// What a library will do some day is not for the person to read; it would stand before the error of a script.
process.noDeprecation = true;
// Stands if the program should end before the command has: what came to no end is no success.
process.exitCode = exitCodes.unexpected;
void main();

async function main(): Promise<void> {
  const argv = process.argv.slice(2);
  const outputs = openOutputs();
  const fate: Fate = { isSubmitted: false };
  const proc = openProcess(outputs, fate);
  // A question whose terminal is closed cannot give it back as it was, and may throw so before the signal arrives.
  const isHangUp = (error: object): boolean => 'syscall' in error && error.syscall === 'setRawMode';
  process.on('uncaughtException', (error) => void (isHangUp(error) ? process.emit('SIGHUP') : crash(error)));

  const exitCode = await runCli(argv, proc);
  await outputs.flushed();
  const reason = outputs.whyLost();
  await end(exitCode !== 0 || reason === undefined ? exitCode : await showLost(reason, fate.isSubmitted, argv, proc));

  async function crash(error: unknown): Promise<void> {
    const exitCode = fate.isSubmitted ? exitCodes.pending : exitCodes.unexpected;
    try {
      await showUnexpected(error, argv, proc);
    } catch {
      // The code that words a failure could not be loaded, such as when no more files can be opened.
      tryWrite(bareText(error, exitCode, argv));
    }
    await end(exitCode);
  }

  async function end(code: number): Promise<void> {
    await outputs.flushed();
    // To run out of work would take longer, and give a second signal the time to end the process with a code of its own.
    leave(code);
  }
}

/** An error here would be reported like the first one, again and again. */
function tryWrite(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // stderr is closed.
  }
}

/** An error in the words of the system, by code that is loaded already. */
function bareText(error: unknown, exitCode: number, argv: readonly string[]): string {
  const what = error instanceof Error ? error.message : String(error);
  const message = `${exitCode === exitCodes.pending ? 'Not known yet' : 'Something unexpected went wrong'}: ${what}`;
  const hint = what.includes('EMFILE') || what.includes('open files') ? 'Let the process open more files: ulimit -n 1024. Then: svcpay tx resume' : 'svcpay tx resume';
  const kind = exitCode === exitCodes.pending ? 'pending' : 'unexpected';
  return argv.includes('--json') ? `${JSON.stringify({ error: { kind, message, hint, exitCode } })}\n` : `${message}\n  ${hint}\n`;
}

/** What can be said of the money when the command itself does not come to say it. */
interface Fate {
  isSubmitted: boolean;
}

/** Node gives a terminal its modes back at the end, and aborts where that was closed: so nothing of it may be open then. */
function leave(code: number): never {
  const isGone = (fd: number): boolean => fstatSync(fd).isCharacterDevice() && !process.getBuiltinModule('node:tty').isatty(fd);
  for (const fd of [0, 1, 2, ttyFd ?? -1]) {
    try {
      if (isGone(fd)) closeSync(fd);
    } catch {
      // One that cannot be looked at is none.
    }
  }
  process.exit(code);
}

interface Outputs extends Pick<Process, 'stdout' | 'stderr' | 'page'> {
  /** Why stdout could not be written; undefined if the reader closed it. */
  whyLost(): string | undefined;
  flushed(): Promise<void>;
}

/** Opened when first used. A full disk or a reader who has gone (`| head`) must not end a payment half-way. */
function openOutputs(): Outputs {
  const opened: { stdout?: OutputStream; stderr?: OutputStream } = {};
  let reason: string | undefined;
  const watched = (stream: OutputStream, onLoss: (reason: string) => void): OutputStream =>
    stream.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (code !== 'EPIPE' && code !== 'ERR_STREAM_DESTROYED') onLoss(code ?? message);
    });
  const warn = (why: string): void =>
    void (outputs.stdout.isTTY === true && outputs.stdout.write(`Warning: stderr cannot be written (${why}).\n`));
  const outputs: Outputs = {
    get stdout() {
      return (opened.stdout ??= watched(process.stdout, (why) => (reason ??= why)));
    },
    get stderr() {
      return (opened.stderr ??= watched(process.stderr, warn));
    },
    page: openPage(() => opened.stdout !== undefined, () => outputs.stdout),
    whyLost: () => reason,
    flushed: async () => void (await Promise.all(Object.values(opened).map(flushed))),
  };
  return outputs;
}

/** Where no terminal is, text is written past the stream: to open that takes as long as all the rest of a page of help. */
function openPage(isOpen: () => boolean, stdout: () => OutputStream): Process['page'] {
  const isPlain = (): boolean => !isOpen() && !fstatSync(1).isCharacterDevice();
  return {
    get isTTY() {
      return !isPlain() && stdout().isTTY === true;
    },
    get columns() {
      return isPlain() ? undefined : stdout().columns;
    },
    print(text) {
      let rest = Buffer.from(text);
      try {
        while (isPlain() && rest.length > 0) rest = rest.subarray(writeSync(1, rest));
      } catch {
        // The stream waits for a slow reader and reports errors.
      }
      if (rest.length > 0) stdout().write(rest);
    },
  };
}

/** Resolves when all is written, or is known not to be: a stream says so a moment later. */
function flushed(stream: OutputStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.writableLength === 0 || stream.destroyed) setImmediate(resolve);
    else stream.write('', () => resolve());
  });
}

/** After a second Ctrl-C, the time a command gets to report what happened to the money. */
const graceMs = 250;

function openProcess(outputs: Outputs, fate: Fate): Process {
  const interruption = new AbortController();
  const interrupt = (): void => {
    if (!interruption.signal.aborted) interruption.abort();
    else setTimeout(() => leave(fate.isSubmitted ? exitCodes.pending : exitCodes.interrupted), graceMs);
  };
  // SIGHUP comes from a terminal that is closed. It cannot be left ignored for nohup: Node has undone that already.
  const taken = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of taken) process.on(signal, interrupt);
  return {
    get stdout() {
      return outputs.stdout;
    },
    get stderr() {
      return outputs.stderr;
    },
    page: outputs.page,
    stdin: openInput(() => 0, () => process.stdin),
    tty: openInput(openTty, (fd) => new (process.getBuiltinModule('node:tty').ReadStream)(fd)),
    env: process.env,
    pid: process.pid,
    version: packageJson.version,
    signal: interruption.signal,
    interrupt,
    onSubmit: () => void (fate.isSubmitted = true),
    // Added before the others are removed, because a signal without a listener ends the process.
    takeSignals(taker) {
      for (const signal of taken) process.on(signal, taker).off(signal, interrupt);
      return () => {
        for (const signal of taken) process.on(signal, interrupt).off(signal, taker);
      };
    },
    now: () => Date.now(),
    elapsed: () => performance.now(),
    random: () => Math.random(),
    // The global `crypto` is the whole of Web Crypto.
    newId: () => process.getBuiltinModule('node:crypto').randomUUID(),
    sleep: (ms, signal) =>
      process.getBuiltinModule('node:timers/promises').setTimeout(timerMs(ms), undefined, signal === undefined ? {} : { signal }),
    every: (ms, action) => {
      const timer = setInterval(action, ms);
      return () => clearInterval(timer);
    },
  };
}

let ttyFd: number | undefined;

/** The terminal of the process, whatever stdin is; -1 where there is none. */
function openTty(): number {
  try {
    return (ttyFd ??= openSync('/dev/tty', 'r+'));
  } catch {
    return (ttyFd = -1);
  }
}

/** Whether this process may change the terminal: the system stops a background job that tries. */
function isForeground(): boolean {
  try {
    const [, , group, , , foreground] = readFileSync('/proc/self/stat', 'latin1').replace(/^.*\) /s, '').split(' ');
    return group === foreground;
  } catch {
    // Other systems than Linux mark it by a plus.
    const { stdout } = process.getBuiltinModule('node:child_process').spawnSync('ps', ['-o', 'stat=', '-p', String(process.pid)], { encoding: 'utf8' });
    return !stdout || stdout.includes('+');
  }
}

function openInput(fd: () => number, open: (fd: number) => InputStream): Input {
  let opened: InputStream | undefined;
  let echoes = true;
  const echo = (isOn: boolean): void => {
    if (isOn === echoes || !process.getBuiltinModule('node:tty').isatty(fd()) || !isForeground()) return;
    echoes = isOn;
    // Raw mode would do it as well, and take Ctrl-C and the keys meant for the shell. A system without stty goes on echoing.
    process.getBuiltinModule('node:child_process').spawnSync('stty', [isOn ? 'echo' : '-echo'], { stdio: [fd(), 'ignore', 'ignore'] });
  };
  process.on('exit', () => echo(true));
  return {
    echo,
    isForeground,
    get isTTY() {
      // Not imported above, because few command lines ask.
      return process.getBuiltinModule('node:tty').isatty(fd());
    },
    // A terminal that is closed is one at its end, and says why besides.
    open: () => (opened ??= open(fd()).on('error', () => undefined)),
  };
}
