// Runs command lines of svcpay as processes of a simulated machine: all code from the words to the
// exit code, with the machine's files, and with the network and time of the schedule.
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { runCli } from '../../src/cli/program.js';
import { origin, type Network } from './network.js';
import { openGates, repeatedly, type Gated } from './process.js';
import { parent } from './real-journals.js';
import type { World } from './world.js';

/** A machine with files of its own, which outlive its processes. */
export interface Home {
  readonly name: string;
  readonly folder: string;
}

/** What a command printed, and its exit code, which a killed process lacks. */
export interface Typed {
  readonly process: string;
  readonly home: Home;
  readonly words: readonly string[];
  readonly startedAt: number;
  readonly exitCode: number | undefined;
  readonly printed: string;
}

export type Shell = (
  words: readonly string[],
  home: Home,
  faults: Omit<Gated, 'name'>,
) => Promise<Typed>;

const requestTimeoutMs = 3_000;

export function openShell(world: World, network: Network): Shell {
  const alive = new Set<string>();
  let count = 0;
  return async (words, home, faults) => {
    const name = `w${(count += 1)}@${home.name}`;
    const gates = openGates(world, alive, { name, ...faults });
    const { interruption, crash, gate, sleep, isAlive, isStalled } = gates;
    const send = network(name, requestTimeoutMs, interruption);
    const text = (): string => printed.join('');
    const printed: string[] = [];
    const stream = new Writable({
      write: (chunk: Buffer, _, done) => (printed.push(chunk.toString()), done()),
    });
    const { SVCPAY_HOME, ...env } = environment(home);
    const startedAt = world.now();
    world.note(() => `${name} $ svcpay ${words.join(' ')}`);
    const running = runCli(words, {
      env: { SVCPAY_HOME, ...env },
      stdin: { isTTY: false, open: () => Readable.from([]) },
      stdout: stream,
      stderr: stream,
      network: (request) => gate(() => send(request)),
      pid: process.pid,
      // Another place, so that a killed process counts as running until its lease expires.
      owner: `${name} 1 ${count}`,
      version: '0.0.0',
      signal: interruption.signal,
      interrupt: () => undefined,
      onSubmit: () => undefined,
      takeSignals: () => () => undefined,
      now: world.now,
      elapsed: world.now,
      random: world.chance.next,
      newId: () => idOf(world),
      sleep,
      every: (ms, action) =>
        repeatedly(world, ms, () => {
          if (isAlive() && !isStalled()) action();
          return isAlive();
        }),
    });
    const exitCode = await Promise.race([running, crash]);
    alive.delete(name);
    world.note(() => `${name} ends with ${exitCode ?? 'a kill'}: ${text().trim()}`);
    return { process: name, home, words, startedAt, exitCode, printed: text() };
  };
}

const environment = ({ folder }: Home) => ({
  HOME: folder,
  SVCPAY_HOME: folder,
  SVCPAY_BASE_URL: origin,
  SVCPAY_API_KEY: 'key',
  SVCPAY_API_SECRET: 'secret',
  SVCPAY_NETWORK: 'any',
});

function idOf({ chance }: World): string {
  const hex = (digits: number): string =>
    Array.from({ length: digits }, () => chance.below(16).toString(16)).join('');
  return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
}

/** Creates the folders of machines, and returns a function that deletes them. */
export function openFolders(count: number): { homes: readonly Home[]; remove: () => void } {
  const folder = mkdtempSync(join(parent(), 'svcpay-typed-'));
  const homes = Array.from({ length: count }, (_, number) => ({
    name: `home-${number}`,
    folder: join(folder, `${number}`),
  }));
  return { homes, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** The commands that svcpay printed, as words. */
export const printedCommands = (text: string): readonly (readonly string[])[] =>
  text
    .split('\n')
    .flatMap(
      (line) =>
        /(?:^|: |\s)svcpay ((?:send|pay|swap|payout|batch|proposals|tx) .*)$/.exec(line)?.[1] ?? [],
    )
    .map((command) => (command.match(/'(?:[^']|'\\'')*'|[^\s']+/g) ?? []).map(unquoted));

const unquoted = (word: string): string =>
  word.startsWith("'") ? word.slice(1, -1).replaceAll("'\\''", "'") : word;
