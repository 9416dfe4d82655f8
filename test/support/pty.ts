// Runs a program in a real pseudo-terminal with a terminal emulator, which shows what a person
// would see.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { build } from 'esbuild';

export interface PtyOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
}

export interface PtyRun {
  /** Returns all output, including escape sequences. */
  readonly written: () => string;
  /** Returns the lines on the screen and in its history, without trailing blanks. */
  readonly screen: () => string[];
  readonly isCursorHidden: () => boolean;
  readonly type: (keys: string) => void;
  readonly resize: (columns: number, rows: number) => void;
  /** Resolves when the screen shows this text. */
  readonly shows: (text: string | RegExp) => Promise<void>;
  readonly exit: Promise<number>;
}

export interface PtyProcess extends PtyRun {
  readonly signal: (name: NodeJS.Signals) => void;
  readonly kill: () => void;
}

/**
 * The longest wait for a text on the screen, in ms, after which the test fails and shows the actual
 * screen.
 */
const screenTimeoutMs = 30_000;

export function startInPty(
  file: string,
  args: readonly string[],
  options: PtyOptions = {},
): PtyProcess {
  const { columns = 80, rows = 24, env = {} } = options;
  const { PATH = '', HOME = '' } = process.env;
  const pty = spawn(file, [...args], {
    name: env['TERM'] ?? 'xterm-256color',
    cols: columns,
    rows,
    env: { PATH, HOME, LANG: 'C.UTF-8', ...env },
  });
  const screen = openScreen(columns, rows);
  pty.onData(screen.write);
  const exit = new Promise<number>((resolve) => {
    pty.onExit(({ exitCode }) => void screen.drawn().then(() => resolve(exitCode)));
  });
  return {
    ...screen,
    type: (keys) => pty.write(keys),
    resize: (toColumns, toRows) => {
      screen.resize(toColumns, toRows);
      pty.resize(toColumns, toRows);
    },
    exit,
    signal: (name) => pty.kill(name),
    kill: () => pty.kill('SIGKILL'),
  };
}

/** Opens a terminal emulator for the output of a program. */
export function openScreen(columns: number, rows: number) {
  const emulator = new xterm.Terminal({
    cols: Math.max(columns, 1),
    rows: Math.max(rows, 1),
    allowProposedApi: true,
  });
  const watchers = new Set<() => void>();
  let written = '';
  const screen = (): string[] => {
    const { active } = emulator.buffer;
    const lines = Array.from(
      { length: active.length },
      (_, row) => active.getLine(row)?.translateToString(true) ?? '',
    );
    return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
  };
  const shows = async (text: string | RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const isThere = (): boolean => {
        const shown = screen().join('\n');
        return typeof text === 'string' ? shown.includes(text) : text.test(shown);
      };
      const finish = (end: () => void): void => {
        watchers.delete(watch);
        clearTimeout(deadline);
        end();
      };
      const watch = (): void => {
        if (isThere()) finish(resolve);
      };
      const complain = (): void =>
        reject(new Error(`The screen never showed ${text}. It shows:\n${screen().join('\n')}`));
      const deadline = setTimeout(() => finish(complain), screenTimeoutMs);
      watchers.add(watch);
      watch();
    });
  return {
    written: () => written,
    screen,
    shows,
    isCursorHidden: () => written.lastIndexOf('\u001B[?25l') > written.lastIndexOf('\u001B[?25h'),
    write(data: string): void {
      written += data;
      emulator.write(data, () => watchers.forEach((watch) => watch()));
    },
    resize: (toColumns: number, toRows: number): void =>
      emulator.resize(Math.max(toColumns, 1), Math.max(toRows, 1)),
    /** Resolves when all output is on the screen. */
    drawn: () => new Promise<void>((resolve) => emulator.write('', resolve)),
  };
}

/** Bundles a TypeScript program into one file that plain Node runs. */
export async function bundled(source: URL): Promise<string> {
  const outfile = join(await mkdtemp(join(tmpdir(), 'svcpay-pty-')), 'program.mjs');
  await build({
    entryPoints: [fileURLToPath(source)],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    banner: {
      js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);",
    },
    logLevel: 'silent',
  });
  return outfile;
}
