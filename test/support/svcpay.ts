// Runs the built program as a process, in a pipe or in a pseudo-terminal.
import { spawn } from 'node:child_process';
import { closeSync, constants as openFlags, mkdtempSync, openSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Duplex } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { spawn as spawnPty, type IPty } from '@lydell/node-pty';
import { test as base } from 'vitest';
import type { Sandbox } from '../../src/sandbox/server.js';
import { startCheckedSandbox } from './openapi.js';
import type { ShapedOptions } from './live-shapes/apply.js';
import { testedShapes } from './shapes.js';

/**
 * The program under test. SVCPAY_TEST_PROGRAM selects another build, for example a defective build,
 * to check that the tests detect the defect.
 */
const programUnderTest =
  process.env['SVCPAY_TEST_PROGRAM'] ?? resolve(import.meta.dirname, '../../bin/svcpay.js');

export interface Environment {
  /** The value of SVCPAY_HOME for the process. */
  readonly home: string;
  /** The service of the process; its address and credentials go into the environment. */
  readonly sandbox?: Pick<Sandbox, 'url' | 'apiKey' | 'apiSecret'>;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** A redirection of the output by a shell, such as `2>/dev/full`. */
  readonly redirect?: string;
  /** The program to run, by default the program under test. */
  readonly program?: string;
  /** The longest time for which the process may run; slow tests set a longer time. */
  readonly deadlineMs?: number;
}

export interface Run {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Parses the last line of stderr as JSON, the form of a failure with `--json`. */
  readonly error: () => {
    kind: string;
    message: string;
    hint?: string;
    exitCode: number;
    txnId?: string;
  };
  /** Parses stdout as one JSON document. */
  readonly json: () => unknown;
}

export function environment({ home, sandbox, env }: Environment): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    LANG: 'C.UTF-8',
    SVCPAY_HOME: home,
    ...(sandbox && {
      SVCPAY_BASE_URL: sandbox.url,
      SVCPAY_API_KEY: sandbox.apiKey,
      SVCPAY_API_SECRET: sandbox.apiSecret,
    }),
    ...env,
  };
}

/**
 * The time in ms for which a process may run: shorter than the timeout of a test, so that a failure
 * shows the output.
 */
const deadlineMs = 50_000;

/** Starts the program in a pipe, for tests that kill or interrupt the program. */
export function startSvcpay(args: readonly string[], around: Environment) {
  const env = environment(around);
  const { program = programUnderTest } = around;
  const child =
    around.redirect === undefined
      ? spawn(process.execPath, [program, ...args], { env, stdio: 'pipe' })
      : spawn(
          'sh',
          ['-c', `exec "$0" "$@" ${around.redirect}`, process.execPath, program, ...args],
          { env, stdio: 'pipe' },
        );
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.on('error', () => undefined).end(around.input ?? '');
  const ended = new Promise<Run>((done, fail) => {
    const deadline = setTimeout(() => {
      child.kill('SIGKILL');
      fail(
        new Error(
          `svcpay ${args.join(' ')} did not end within ${deadlineMs} ms:\n${stdout}\n${stderr}`,
        ),
      );
    }, around.deadlineMs ?? deadlineMs);
    child.on('error', fail);
    child.on('close', (code, signal) => {
      clearTimeout(deadline);
      const exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
      done(runOf({ exitCode, stdout, stderr }));
    });
  });
  return { child, ended, stdout: () => stdout, stderr: () => stderr };
}

/** Runs the program in a pipe, until the program ends. */
export const svcpay = (args: readonly string[], around: Environment): Promise<Run> =>
  startSvcpay(args, around).ended;

export const runOf = (run: Pick<Run, 'exitCode' | 'stdout' | 'stderr'>): Run => ({
  ...run,
  error: () => errorOf(run.stderr),
  json: () => JSON.parse(run.stdout),
});

function errorOf(stderr: string): ReturnType<Run['error']> {
  const parsed: { error: ReturnType<Run['error']> } = JSON.parse(
    stderr.trim().split('\n').at(-1) ?? '',
  );
  return parsed.error;
}

export interface TtyRun {
  /** Returns all output so far, without escape sequences. */
  readonly text: () => string;
  /** Returns all output so far, including escape sequences. */
  readonly raw: () => string;
  /**
   * Resolves when the output after the last match contains this pattern; rejects if the program
   * ends or hangs first.
   */
  readonly waitFor: (pattern: RegExp | string) => Promise<void>;
  readonly type: (keys: string) => void;
  readonly resize: (columns: number, rows: number) => void;
  readonly ended: Promise<number>;
}

export interface TtyProcess extends TtyRun {
  readonly kill: (signal: string) => void;
  /** Closes the terminal, as a user closes the window. */
  readonly close: () => void;
}

const settleMs = 80;
const waitMs = 30_000;

/**
 * Runs the program in a pseudo-terminal. If `input` is set, a pipe sends this text to stdin. `job`
 * is a shell script that runs the program as a job, such as `"$@" & wait $!` for a background job.
 */
export function svcpayTty(
  args: readonly string[],
  around: Environment & {
    readonly columns?: number;
    readonly rows?: number;
    readonly job?: string;
  },
): TtyProcess {
  const piped =
    around.input === undefined ? [] : ['sh', '-c', 'printf %s "$0" | "$@"', around.input];
  const shell = around.job === undefined ? piped : ['sh', '-c', `set -m; ${around.job}`, 'sh'];
  const [file = '', ...words] = [...shell, process.execPath, programUnderTest, ...args];
  const pty = spawnPty(file, words, {
    name: 'xterm-256color',
    cols: around.columns ?? 80,
    rows: around.rows ?? 50,
    env: { ...environment(around), TERM: 'xterm-256color' },
  });
  readToTheEnd(pty);
  const { onText, onEnd, ...run } = readTty();
  pty.onData(onText);
  pty.onExit(({ exitCode }) => onEnd(exitCode));
  return {
    ...run,
    type: (keys) => pty.write(keys),
    resize: (columns, rows) => pty.resize(columns, rows),
    kill: (signal) => pty.kill(signal),
    close: () => {
      if (!('destroy' in pty) || typeof pty.destroy !== 'function')
        throw new Error('A terminal can no longer be closed.');
      pty.destroy();
    },
  };
}

/** Collects the output of a terminal, and waits for expected output. */
export function readTty() {
  let raw = '';
  let seen = 0;
  let exitCode: number | undefined;
  const watchers = new Set<() => void>();
  const notify = (): void => watchers.forEach((watch) => watch());
  let done: (code: number) => void = () => undefined;
  const ended = new Promise<number>((resolve) => (done = resolve));
  const text = (): string => stripVTControlCharacters(raw).replaceAll('\r', '');
  const waitFor = (pattern: RegExp | string): Promise<void> =>
    new Promise((found, missing) => {
      const giveUp = (why: string): void => {
        clearTimeout(deadline);
        watchers.delete(look);
        missing(new Error(`${why} without ${String(pattern)}:\n${text()}`));
      };
      const deadline = setTimeout(() => giveUp(`${waitMs} ms have passed`), waitMs);
      const look = (): void => {
        const fresh = text().slice(seen);
        const at = typeof pattern === 'string' ? fresh.indexOf(pattern) : fresh.search(pattern);
        if (at >= 0) {
          const length =
            typeof pattern === 'string' ? pattern.length : (pattern.exec(fresh)?.[0].length ?? 0);
          seen += at + length;
          clearTimeout(deadline);
          watchers.delete(look);
          // A prompt appears a moment before it reads keys, so the test waits as long as a fast
          // person would.
          setTimeout(found, settleMs);
        } else if (exitCode !== undefined) {
          giveUp(`The program ended (${exitCode})`);
        }
      };
      watchers.add(look);
      look();
    });
  return {
    text,
    raw: () => raw,
    waitFor,
    ended,
    onText(more: string): void {
      raw += more;
      notify();
    },
    onEnd(code: number): void {
      exitCode = code;
      done(code);
      notify();
    },
  };
}

const quietMs = 30;

/**
 * Keeps the terminal open until no output has arrived for `quietMs`, because node-pty loses output
 * that is unread when the last program leaves the terminal.
 */
function readToTheEnd(pty: IPty): void {
  const [socket, path]: unknown[] = [Reflect.get(pty, '_socket'), Reflect.get(pty, '_pty')];
  if (!(socket instanceof Duplex) || typeof path !== 'string')
    throw new Error('node-pty keeps its terminal elsewhere now.');
  const held = openSync(path, openFlags.O_RDWR | openFlags.O_NOCTTY);
  const destroy = socket.destroy.bind(socket);
  socket.destroy = () => {
    const close = (): void => {
      socket.destroy = destroy;
      closeSync(held);
      destroy();
    };
    let silence = setTimeout(close, quietMs);
    socket.on('data', () => {
      clearTimeout(silence);
      silence = setTimeout(close, quietMs);
    });
    return socket;
  };
}

interface Fixtures {
  /** An empty SVCPAY_HOME, which is removed after the test. */
  readonly home: string;
  readonly sandboxOptions: ShapedOptions;
  /**
   * A fresh sandbox in this process. A test fails if a response does not match the OpenAPI
   * description.
   */
  readonly sandbox: Sandbox;
  /** The home and the sandbox in one object, for tests that need both. */
  readonly around: Environment & { readonly sandbox: Sandbox };
}

/** Checks after a test, each for the service at a URL or for the embedded sandbox of a home. */
export const afterwards = new Map<string, () => Promise<void>>();

export const test = base.extend<Fixtures>({
  home: async ({}, use) => {
    const home = mkdtempSync(join(tmpdir(), 'svcpay-test-'));
    await use(home);
    await afterwards.get(home)?.();
    rmSync(home, { recursive: true, force: true });
  },
  sandboxOptions: { autoPay: 'off' },
  // Depends on `home`, which a check after the test still reads.
  sandbox: async ({ sandboxOptions, home: _home }, use) => {
    const liveShapes = testedShapes?.split(',');
    const sandbox = await startCheckedSandbox({ liveShapes, ...sandboxOptions });
    await use(sandbox);
    await afterwards.get(sandbox.url)?.();
    await sandbox.stop();
  },
  around: async ({ home, sandbox }, use) => {
    await use({ home, sandbox });
  },
});
