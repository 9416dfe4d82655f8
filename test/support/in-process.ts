// Runs commands in the process of the test: all code from argv to the exit code, without starting a
// process for each command.
import { PassThrough, Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { inject } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import type { Branch } from '../../src/cli/tree.js';
import type { Process } from '../../src/cli/process.js';
import type { runCli as RunCli } from '../../src/cli/program.js';
import { followPrinted, remember } from './followed-commands.js';
import type { printedCommands as PrintedCommands } from './printed-commands.js';
import { openScreen, type PtyRun } from './pty.js';
import {
  afterwards,
  environment,
  readTty,
  runOf,
  type Environment,
  type Run,
  type TtyRun,
} from './svcpay.js';
import { openTerminalHere } from './terminal-here.js';

const bundle = inject('commandLine');
const { runCli }: { readonly runCli: typeof RunCli } = await import(bundle);
const { printedCommands }: { readonly printedCommands: typeof PrintedCommands } = await import(
  inject('printedCommands')
);

export type Time = Pick<Process, 'now' | 'sleep' | 'elapsed'>;

export interface Here extends Environment, Partial<Time> {
  /** Aborting this signal has the effect of Ctrl-C. */
  readonly signal?: AbortSignal;
  /**
   * The owner name of a simulated process on another machine, so that two commands can use one
   * database at the same time.
   */
  readonly owner?: string;
  /** The commands of the program, by default all commands of svcpay. */
  readonly commands?: Branch;
}

const realTime: Time = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
};

/** Returns a clock on which pauses take a tenth of their real time, for fast tests. */
export function quickTime(): Time {
  const start = Date.now();
  let slept = 0;
  return {
    now: () => Math.round(start + slept + (Date.now() - start) / 3),
    elapsed: () => performance.now() + slept,
    async sleep(ms, signal) {
      await realTime.sleep(ms / 10, signal);
      slept += ms;
    },
  };
}

/** The homes for which a command is running in this process. */
const busy = new Set<string>();

/**
 * Runs a command to its end, and checks the commands that it prints as next steps. Two commands that
 * use one journal at the same time need different values of `owner`.
 */
export async function svcpay(args: readonly string[], around: Here): Promise<Run> {
  const run = await withoutCheck(args, around);
  await checkPrinted(args, around, `${run.stdout}\n${run.stderr}`);
  return run;
}

async function withoutCheck(args: readonly string[], around: Here): Promise<Run> {
  const [stdout, stderr] = [collect(), collect()];
  const input = Readable.from([Buffer.from(around.input ?? '')]);
  const exitCode = await inPipe(args, around, { input, stdout, stderr });
  return runOf({ exitCode, stdout: stdout.text(), stderr: stderr.text() });
}

/** Checks the printed commands, and runs them after the test. */
async function checkPrinted(args: readonly string[], around: Here, output: string): Promise<void> {
  if (around.commands !== undefined || /^(?:help|schema|recipe|--help|-h)$/m.test(args.join('\n')))
    return;
  await remember(args, around, await printedCommands(output));
  const world = around.sandbox?.url ?? around.home;
  afterwards.set(world, () => followPrinted(world, withoutCheck));
}

/** Starts a command that reads and writes streams until its input ends. */
export function startOnStreams(args: readonly string[], around: Here) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const pipes = { input, stdout: output, stderr: collect() };
  const ended = inPipe(args, around, pipes).finally(() => output.end());
  return { input, output, ended };
}

interface Pipes {
  readonly input: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
}

function inPipe(
  args: readonly string[],
  around: Here,
  { input, stdout, stderr }: Pipes,
): Promise<number> {
  return runHere(args, around, {
    ...processOf(around),
    stdout,
    stderr,
    stdin: { isTTY: false, open: () => input },
    signal: around.signal ?? new AbortController().signal,
    interrupt: () => undefined,
  });
}

export interface HereOnTerminal extends Here {
  readonly columns?: number;
  readonly rows?: number;
}

/** Runs a command on a terminal. If `input` is set, a pipe sends this text to stdin. */
export function svcpayTty(args: readonly string[], around: HereOnTerminal): TtyRun {
  const { onText, onEnd, ...run } = readTty();
  const { ended, ...terminal } = onTerminal(args, { rows: 50, ...around }, onText);
  const checked = async (exitCode: number): Promise<void> => {
    await checkPrinted(args, around, run.text());
    onEnd(exitCode);
  };
  void ended.then(checked).catch((error: unknown) => {
    onText(String(error));
    onEnd(-1);
  });
  return { ...run, ...terminal };
}

/** Runs a command on a screen of the given size, as `startInPty` runs a program. */
export function startOnScreen(args: readonly string[], around: HereOnTerminal): PtyRun {
  const screen = openScreen(around.columns ?? 80, around.rows ?? 24);
  const { ended, type, resize } = onTerminal(args, { rows: 24, ...around }, screen.write);
  return {
    ...screen,
    type,
    resize(columns, rows) {
      screen.resize(columns, rows);
      resize(columns, rows);
    },
    exit: ended.then(async (exitCode) => {
      await screen.drawn();
      await checkPrinted(args, around, screen.screen().join('\n'));
      return exitCode;
    }),
  };
}

function onTerminal(
  args: readonly string[],
  { columns = 80, rows = 24, ...around }: HereOnTerminal,
  show: (text: string) => void,
) {
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort();
  const { type, resize, stdin, stdout, stderr } = openTerminalHere({
    columns,
    rows,
    show,
    interrupt,
  });
  const { input } = around;
  const ended = runHere(args, around, {
    ...processOf({ ...around, env: { TERM: 'xterm-256color', ...around.env } }),
    stdout,
    stderr,
    interrupt,
    signal: interruption.signal,
    tty: stdin,
    stdin:
      input === undefined
        ? stdin
        : { isTTY: false, open: () => Readable.from([Buffer.from(input)]) },
  });
  return { type, resize, ended };
}

async function runHere(
  args: readonly string[],
  { home, redirect, env, commands }: Here,
  proc: Process,
): Promise<number> {
  if (redirect !== undefined || env?.['NODE_OPTIONS'] !== undefined)
    throw new Error('That takes a process.');
  if (busy.has(home)) throw new Error('Two at once at one home are processes.');
  busy.add(home);
  try {
    return await runCli(args, proc, commands);
  } finally {
    busy.delete(home);
  }
}

/** Returns the properties of a process except the streams and the interrupt signal. */
function processOf(
  around: Here,
): Omit<Process, 'stdout' | 'stderr' | 'stdin' | 'page' | 'signal' | 'interrupt'> {
  return {
    env: environment(around),
    pid: process.pid,
    ...(around.owner !== undefined && { owner: around.owner }),
    version: packageJson.version,
    onSubmit: () => undefined,
    takeSignals: () => () => undefined,
    now: around.now ?? realTime.now,
    sleep: around.sleep ?? realTime.sleep,
    elapsed: around.elapsed ?? realTime.elapsed,
    random: () => Math.random(),
    newId: () => crypto.randomUUID(),
    every: (ms, action) => {
      const timer = setInterval(action, ms);
      return () => clearInterval(timer);
    },
  };
}

function collect(): Writable & { text(): string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(chunk);
      done();
    },
  });
  return Object.assign(stream, { text: () => Buffer.concat(chunks).toString() });
}
