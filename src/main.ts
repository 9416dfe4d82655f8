// The only file that touches the process: argv, streams, signals and the exit code.
import packageJson from '../package.json' with { type: 'json' };
import type { Process } from './cli/context.js';
import { runCli, showLost, showUnexpected } from './cli/run.js';
import { exitCodes } from './formats/failure.js';
import type { Input, InputStream, OutputStream } from './terminal/terminal.js';

// Stands if the program should end before the command has: what came to no end is no success.
process.exitCode = exitCodes.unexpected;
void main();

async function main(): Promise<void> {
  const argv = process.argv.slice(2);
  const outputs = { stdout: process.stdout, stderr: process.stderr };
  const whyLost = watchOutputs(outputs);
  const fate: Fate = { isLetGo: false };
  const proc = openProcess(outputs, fate);
  process.on('uncaughtException', (error) => void crash(error));

  const exitCode = await runCli(argv, proc);
  await flushed(outputs.stdout);
  const reason = whyLost();
  await end(exitCode !== 0 || reason === undefined ? exitCode : await showLost(reason, argv, proc));

  async function crash(error: unknown): Promise<void> {
    await showUnexpected(error, argv, proc);
    await end(fate.isLetGo ? exitCodes.pending : exitCodes.unexpected);
  }

  async function end(code: number): Promise<void> {
    await Promise.all([flushed(outputs.stdout), flushed(outputs.stderr)]);
    // To run out of work would take longer, and give a second signal the time to end the process with a code of its own.
    process.exit(code);
  }
}

/** What can be said of the money when the command itself does not come to say it. */
interface Fate {
  isLetGo: boolean;
}

interface Outputs {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
}

/**
 * A full disk or a reader who has gone (`| head`) must not end a payment half-way. The returned function says why stdout
 * could not be written; where nobody reads any more, nothing is lost.
 */
function watchOutputs({ stdout, stderr }: Outputs): () => string | undefined {
  let reason: string | undefined;
  const watch = (stream: OutputStream, onLoss: (reason: string) => void): void => {
    stream.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (code !== 'EPIPE' && code !== 'ERR_STREAM_DESTROYED') onLoss(code ?? message);
    });
  };
  watch(stdout, (why) => (reason ??= why));
  watch(stderr, (why) => stdout.isTTY === true && stdout.write(`Warning: stderr cannot be written (${why}).\n`));
  return () => reason;
}

/** Resolves when all is written, or is known not to be: a stream says so a moment later. */
function flushed(stream: OutputStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.writableLength === 0 || stream.destroyed) setImmediate(resolve);
    else stream.write('', () => resolve());
  });
}

/** How long whoever insists waits for a command to say what became of the money. */
const graceMs = 250;

function openProcess(outputs: Outputs, fate: Fate): Process {
  const interruption = new AbortController();
  const interrupt = (): void => {
    if (!interruption.signal.aborted) interruption.abort();
    else setTimeout(() => process.exit(fate.isLetGo ? exitCodes.pending : exitCodes.interrupted), graceMs);
  };
  const own = ['SIGINT', 'SIGTERM'] as const;
  const taken = [...own, 'SIGHUP'] as const;
  for (const signal of own) process.on(signal, interrupt);
  return {
    ...outputs,
    stdin: openInput(),
    env: process.env,
    pid: process.pid,
    version: packageJson.version,
    signal: interruption.signal,
    moneyIsLetGo: () => void (fate.isLetGo = true),
    // Added before the others are removed: a signal that nobody listens to ends the process.
    takeSignals(taker) {
      for (const signal of taken) process.on(signal, taker);
      for (const signal of own) process.off(signal, interrupt);
      return () => {
        for (const signal of own) process.on(signal, interrupt);
        for (const signal of taken) process.off(signal, taker);
      };
    },
    now: () => Date.now(),
    random: () => Math.random(),
    newId: () => crypto.randomUUID(),
    sleep: (ms, signal) =>
      process.getBuiltinModule('node:timers/promises').setTimeout(ms, undefined, signal === undefined ? {} : { signal }),
    every: (ms, action) => {
      const timer = setInterval(action, ms);
      return () => clearInterval(timer);
    },
  };
}

function openInput(): Input {
  let opened: InputStream | undefined;
  return {
    get isTTY() {
      // Not imported above, because few command lines ask.
      return process.getBuiltinModule('node:tty').isatty(0);
    },
    open: () => (opened ??= process.stdin),
  };
}
