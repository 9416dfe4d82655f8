// The properties of the terminal: which streams are terminals, width, colours, and whether
// questions are possible.
import type { Readable, Writable } from 'node:stream';
import type { LogFacts } from '../api/options.js';
import { Chalk, type ChalkInstance } from 'chalk';

/** `setRawMode(true)` hides typed input. Only a terminal has this method. */
export type InputStream = Readable & {
  readonly isTTY?: boolean;
  setRawMode?(isRaw: boolean): unknown;
};
/** An input that is opened only for reading, because opening it loads a large part of Node. */
export interface Input {
  readonly isTTY: boolean;
  open(): InputStream;
  /** Typed keys that were not read yet. In raw mode also an unfinished line. */
  typed?(): string;
  /** Sets whether the terminal echoes input. In both cases the next read gets the input. */
  echo?(isOn: boolean): void;
  /** False for a background job. The system stops a background job that reads keys. */
  isForeground?(): boolean;
}

/** A stream of log lines with their data. Plain text is split into lines. */
export type LogStream = OutputStream & {
  entry(
    level: 'debug' | 'info' | 'warning' | 'error',
    message: string,
    facts?: LogFacts & { readonly error?: object },
  ): void;
  /** Sets the payment and request of later lines. */
  note(facts: LogFacts): void;
};

export const isLog = (stream: OutputStream): stream is LogStream => 'entry' in stream;

export type OutputStream = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  /** Node's method to read the window size, as after a resize signal. */
  _refreshSize?(): void;
};

/**
 * The properties of the output that a view needs. A view is a pure function of this canvas and its
 * data.
 */
export interface Canvas {
  /** The colours of the stream. Without colours, no escape is written. */
  readonly style: ChalkInstance;
  /** The width in cells, or 80 if the width is unknown. */
  readonly columns: number;
  readonly rows: number;
  /**
   * The smallest coloured blocks that draw a QR code. False without a real terminal, and under
   * `--no-color`.
   */
  readonly blocks: false | 'half' | 'sextants';
  /**
   * The block explorer of address links (OSC 8). Undefined without an explorer or without a
   * terminal.
   */
  readonly explorer?: string | undefined;
}

/** The terminal. As a canvas it stands for stdout. */
export interface Terminal extends Canvas {
  readonly stdin: Input;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly stdoutIsTty: boolean;
  readonly stderrIsTty: boolean;
  /** The canvas of stderr: questions, the cards that belong to questions, and errors. */
  readonly stderrCanvas: Canvas;
  /** False if only ASCII is safe. `glyphs` then writes svcpay's symbols in ASCII. */
  readonly unicode: boolean;
  readonly canPrompt: boolean;
  /** Without escape sequences, so questions are lines. */
  readonly isDumb: boolean;
  /**
   * The reason why a question cannot be asked, in words that fit after "no question can be asked:
   * ". Undefined if questions can be asked.
   */
  readonly whyNoPrompt: string | undefined;
  /** Whether a line on stderr may be redrawn in place. */
  readonly canAnimate: boolean;
  /**
   * Whether the terminal shows progress in the task bar (OSC 9;4). Other terminals would show a
   * notification.
   */
  readonly hasTaskbar: boolean;
  /** Reads the size of the window, because the resize signal may arrive after the next key. */
  measure(): void;
  /** True if the reader of stdout has closed it (`| head`), or if stdout cannot be written. */
  readonly stdoutClosed: () => boolean;
}

export interface TerminalSource {
  readonly stdin: Input;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly explorerOf?: () => string | undefined;
  readonly flags: {
    readonly noColor?: boolean | undefined;
    readonly noInput?: boolean | undefined;
    readonly json?: boolean | undefined;
  };
}

type Env = TerminalSource['env'];

export function openTerminal({
  stdin,
  stdout,
  stderr,
  env,
  flags,
  explorerOf,
}: TerminalSource): Terminal {
  const isTty = (stream: OutputStream): boolean => stream.isTTY === true;
  const ttys = [stdout, stderr].filter(isTty);
  // A pseudo-terminal without a size reports 0 columns. The width is then unknown, not zero.
  const widest = (side: 'columns' | 'rows', fallback: number): number =>
    ttys.map((stream) => stream[side]).find((cells) => cells !== undefined && cells > 0) ??
    fallback;
  const canvasOf = (stream: OutputStream): Canvas => ({
    style: new Chalk({ level: colorLevel(isTty(stream), env, flags.noColor === true) }),
    blocks:
      (isTty(stream) || isOn(env['FORCE_COLOR'])) &&
      unicode &&
      env['TERM'] !== 'dumb' &&
      flags.noColor !== true &&
      // The terminal of macOS has no sextants.
      (env['TERM_PROGRAM'] === 'Apple_Terminal' ? 'half' : 'sextants'),
    get explorer() {
      return isTty(stream) && env['TERM'] !== 'dumb' ? explorerOf?.() : undefined;
    },
    get columns() {
      return widest('columns', 80);
    },
    get rows() {
      return widest('rows', ttys.length === 0 ? Infinity : 24);
    },
  });
  const whyNoPrompt = reasonAgainstPrompt(stdin, isTty(stderr), env, flags);
  const unicode = speaksUnicode(env);
  watchForClosedReader(stderr);

  return Object.assign(canvasOf(stdout), {
    stdin,
    stdout,
    stderr,
    stdoutIsTty: isTty(stdout),
    stderrIsTty: isTty(stderr),
    stderrCanvas: canvasOf(stderr),
    unicode,
    canPrompt: whyNoPrompt === undefined,
    isDumb: env['TERM'] === 'dumb',
    whyNoPrompt,
    canAnimate:
      isTty(stderr) && (stderr.columns ?? 0) > 0 && env['TERM'] !== 'dumb' && !isOn(env['CI']),
    hasTaskbar:
      isTty(stderr) &&
      (isSet(env['WT_SESSION']) ||
        env['ConEmuANSI'] === 'ON' ||
        /^(?:WezTerm|ghostty)$/.test(env['TERM_PROGRAM'] ?? '')),
    measure: () =>
      // oxlint-disable-next-line no-underscore-dangle
      ttys.filter(({ destroyed }) => !destroyed).forEach((stream) => stream._refreshSize?.()),
    stdoutClosed: watchForClosedReader(stdout),
  });
}

const isOn = (value: string | undefined): boolean =>
  value !== undefined && !['', '0', 'false'].includes(value);

function colorLevel(isTty: boolean, env: Env, noColor: boolean): 0 | 1 | 2 | 3 {
  if (noColor || isSet(env['NO_COLOR'])) return 0;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) {
    if (forced === '0' || forced === 'false') return 0;
    return forced === '2' ? 2 : forced === '3' ? 3 : 1;
  }
  // Screens use only sixteen colours, so that the theme of the terminal applies.
  return isTty && env['TERM'] !== 'dumb' ? 1 : 0;
}

const isSet = (value: string | undefined): boolean => value !== undefined && value !== '';

function reasonAgainstPrompt(
  stdin: Input,
  stderrIsTty: boolean,
  env: Env,
  flags: TerminalSource['flags'],
): string | undefined {
  if (flags.noInput === true) return '--no-input was given';
  if (flags.json === true) return '--json was given';
  if (isOn(env['SVCPAY_NO_INPUT'])) return 'SVCPAY_NO_INPUT is set';
  if (!stdin.isTTY) return 'stdin is not a terminal';
  if (!stderrIsTty) return 'stderr is not a terminal';
  if (isOn(env['CI'])) return 'CI is set';
  return undefined;
}

/**
 * Whether the locale uses UTF-8. The first set locale variable decides. Without any, the process is
 * in a container, not on an old terminal.
 */
function speaksUnicode(env: Env): boolean {
  if (env['TERM'] === 'linux' || env['TERM'] === 'dumb') return false;
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find(isSet);
  return locale === undefined || /utf-?8/i.test(locale);
}

/** Notices a closed pipe (`| head`) or a full disk, which ends the output, but not the command. */
function watchForClosedReader(stream: OutputStream): () => boolean {
  let closed = false;
  stream.on('error', () => (closed = true));
  return () => closed;
}
