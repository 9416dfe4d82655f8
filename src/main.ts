// The only file that touches the process: argv, streams, signals and the exit code.
import { setTimeout as delay } from 'node:timers/promises';
import packageJson from '../package.json' with { type: 'json' };
import type { Process } from './cli/context.js';
import { runCli } from './cli/run.js';
import { exitCodes } from './formats/failure.js';
import type { Input, InputStream } from './terminal/terminal.js';

// Stands if the program should end before the command has: what came to no end is no success.
process.exitCode = 1;
void main();

async function main(): Promise<void> {
  let opened: InputStream | undefined;
  const stdin: Input = {
    get isTTY() {
      // Not imported above, because few command lines ask.
      return process.getBuiltinModule('node:tty').isatty(0);
    },
    open: () => (opened ??= process.stdin),
  };
  process.exitCode = await runCli(process.argv.slice(2), openProcess(stdin));
  // A terminal that was read for an answer would keep the process waiting for more.
  opened?.pause();
}

function openProcess(stdin: Input): Process {
  const interruption = new AbortController();
  let whenForced: number = exitCodes.interrupted;
  const interrupt = (): void => {
    if (interruption.signal.aborted) process.exit(whenForced);
    interruption.abort();
  };
  const own = ['SIGINT', 'SIGTERM'] as const;
  const taken = [...own, 'SIGHUP'] as const;
  for (const signal of own) process.on(signal, interrupt);
  return {
    stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    pid: process.pid,
    version: packageJson.version,
    signal: interruption.signal,
    moneyIsLetGo: () => void (whenForced = exitCodes.pending),
    takeSignals(taker) {
      for (const signal of own) process.off(signal, interrupt);
      for (const signal of taken) process.on(signal, taker);
      return () => {
        for (const signal of taken) process.off(signal, taker);
        for (const signal of own) process.on(signal, interrupt);
      };
    },
    now: () => Date.now(),
    random: () => Math.random(),
    newId: () => crypto.randomUUID(),
    sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
    every: (ms, action) => {
      const timer = setInterval(action, ms);
      return () => clearInterval(timer);
    },
  };
}
