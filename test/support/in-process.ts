// Runs command lines in the process of the test: the code from argv to exit code, without a process for each.
import { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { inject } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import type { Process } from '../../src/cli/context.js';
import type { runCli as RunCli } from '../../src/cli/run.js';
import { environment, runOf, type Run, type Environment } from './svcpay.js';

const { runCli }: { readonly runCli: typeof RunCli } = await import(inject('commandLine'));

export type Time = Pick<Process, 'now' | 'sleep'>;

export interface Here extends Environment, Partial<Time> {
  /** Aborted, it is Ctrl-C. */
  readonly signal?: AbortSignal;
}

const realTime: Time = {
  now: () => Date.now(),
  sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
};

/** Pauses take a tenth of their time on the clock, for fast tests. */
export function quickTime(): Time {
  const start = Date.now();
  let slept = 0;
  return {
    now: () => Math.round(start + slept + (Date.now() - start) / 3),
    async sleep(ms, signal) {
      await realTime.sleep(ms / 10, signal);
      slept += ms;
    },
  };
}

/** Homes at which a command line is under way in this process. */
const busy = new Set<string>();

/** Runs a command line to its end. Not two on one journal: they need different process numbers. */
export async function svcpay(args: readonly string[], around: Here): Promise<Run> {
  if (around.redirect !== undefined || around.env?.['NODE_OPTIONS'] !== undefined)
    throw new Error('That takes a process.');
  if (busy.has(around.home)) throw new Error('Two at once at one home are processes.');
  busy.add(around.home);
  const [stdout, stderr] = [collect(), collect()];
  try {
    const exitCode = await runCli(args, processOf(around, stdout, stderr));
    return runOf({ exitCode, stdout: stdout.text(), stderr: stderr.text() });
  } finally {
    busy.delete(around.home);
  }
}

function processOf(around: Here, stdout: Writable, stderr: Writable): Process {
  return {
    stdout,
    stderr,
    page: { isTTY: false, columns: undefined, print: (text) => void stdout.write(text) },
    stdin: { isTTY: false, open: () => Readable.from([Buffer.from(around.input ?? '')]) },
    env: environment(around),
    pid: process.pid,
    version: packageJson.version,
    signal: around.signal ?? new AbortController().signal,
    interrupt: () => undefined,
    onSubmit: () => undefined,
    takeSignals: () => () => undefined,
    now: around.now ?? realTime.now,
    sleep: around.sleep ?? realTime.sleep,
    elapsed: () => performance.now(),
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
