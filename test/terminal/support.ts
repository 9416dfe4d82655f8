// Emulates terminals in memory, with readable output, and with the size and kind that a test sets.
import { Readable, Writable } from 'node:stream';
import { openTerminal, type Terminal, type TerminalSource } from '../../src/terminal/terminal.js';

type Stream = 'stdin' | 'stdout' | 'stderr';

export interface Screen {
  readonly terminal: Terminal;
  readonly stdout: () => string;
  readonly stderr: () => string;
}

export interface ScreenOptions {
  /** Which streams are terminals: all, none, or the listed streams. */
  readonly tty?: boolean | readonly Stream[];
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: TerminalSource['env'];
  readonly flags?: TerminalSource['flags'];
}

export const memoryStream = (
  properties: object = {},
): Writable & { readonly written: () => string } => {
  const chunks: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk: unknown, _encoding, done) => {
      chunks.push(String(chunk));
      done();
    },
  });
  return Object.assign(stream, properties, { written: () => chunks.join('') });
};

export function openScreen({
  tty = true,
  columns = 80,
  rows = 24,
  env = {},
  flags = {},
}: ScreenOptions = {}): Screen {
  const isTty = (stream: Stream): boolean =>
    typeof tty === 'boolean' ? tty : tty.includes(stream);
  const output = (stream: Stream) =>
    memoryStream(isTty(stream) ? { isTTY: true, columns, rows } : {});
  const stdin = { isTTY: isTty('stdin'), open: () => new Readable({ read: () => undefined }) };
  const stdout = output('stdout');
  const stderr = output('stderr');
  const terminal = openTerminal({ stdin, stdout, stderr, env, flags });
  return { terminal, stdout: stdout.written, stderr: stderr.written };
}

/** Opens a terminal without colours, on which tests compare words and positions. */
export const openPlainScreen = (options: ScreenOptions = {}): Screen =>
  openScreen({ ...options, flags: { noColor: true, ...options.flags } });
