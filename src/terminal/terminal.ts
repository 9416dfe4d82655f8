// Describes the terminal: which streams are terminals, the width, the colours, and whether svcpay
// can ask questions.
import type { Readable, Writable } from 'node:stream';
import type { LogFacts } from '../api/types.js';
import { Chalk, type ChalkInstance } from 'chalk';

/** An input stream. Only a terminal has `setRawMode`, which hides typed input. */
export type InputStream = Readable & {
  readonly isTTY?: boolean;
  setRawMode?(isRaw: boolean): unknown;
};
/**
 * An input that svcpay opens on the first read, because opening an input loads a large part of
 * Node.
 */
export interface Input {
  readonly isTTY: boolean;
  open(): InputStream;
  /**
   * Returns typed keys that svcpay has not read yet. In raw mode, the returned keys include the
   * keys of an unfinished line.
   */
  typed?(): string;
  /**
   * Sets whether the terminal echoes typed keys. Keys that are typed while the echo is off stay
   * available to the next question.
   */
  echo?(isOn: boolean): void;
  /**
   * Returns whether svcpay runs in the foreground. If svcpay read keys in the background, the
   * operating system would suspend svcpay.
   */
  isForeground?(): boolean;
  /**
   * Stops svcpay, as Ctrl-Z does, and calls `onForeground` when svcpay runs in the foreground
   * again. The returned function ends the wait for the foreground, so that svcpay does not call
   * `onForeground`.
   */
  suspend?(onForeground: () => void): () => void;
}

/**
 * A stream that writes log lines. `entry` writes a log line with data. Each line of plain text that
 * svcpay writes to the stream becomes a separate log line.
 */
export type LogStream = OutputStream & {
  entry(
    level: 'debug' | 'info' | 'warning' | 'error',
    message: string,
    facts?: LogFacts & { readonly error?: object },
  ): void;
  /** Sets the payment and the request that later log lines name. */
  note(facts: LogFacts): void;
};

export const isLog = (stream: OutputStream): stream is LogStream => 'entry' in stream;

export type OutputStream = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  /** Node's method that reads the window size, which Node itself calls after a resize signal. */
  _refreshSize?(): void;
};

/**
 * The properties of the output that a view uses. A view is a pure function of the canvas and the
 * view's data.
 */
export interface Canvas {
  /**
   * The functions that colour text. For a stream without colours, these functions write no escape
   * sequences.
   */
  readonly style: ChalkInstance;
  /** The width of the window in cells, or 80 if the width is unknown. */
  readonly columns: number;
  readonly rows: number;
  /**
   * The smallest coloured blocks with which the terminal can draw a QR code, or false if the
   * terminal cannot draw coloured blocks.
   */
  readonly blocks: false | 'half' | 'sextants';
  /**
   * The block explorer to which addresses link (OSC 8), or undefined without an explorer or without
   * a terminal.
   */
  readonly explorer?: string | undefined;
}

/** The terminal. The properties that `Terminal` inherits from `Canvas` describe stdout. */
export interface Terminal extends Canvas {
  readonly stdin: Input;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly stdoutIsTty: boolean;
  readonly stderrIsTty: boolean;
  /** The canvas of stderr, for questions, their cards, and errors. */
  readonly stderrCanvas: Canvas;
  /**
   * Whether the terminal shows Unicode. For a terminal without Unicode, `text.ts` replaces
   * svcpay's symbols with ASCII.
   */
  readonly unicode: boolean;
  readonly canPrompt: boolean;
  /**
   * Whether the terminal does not support escape sequences. Without escape sequences, questions are
   * plain lines.
   */
  readonly isDumb: boolean;
  /**
   * The reason why svcpay cannot ask questions, such as `stdin is not a terminal`, or undefined if
   * svcpay can ask.
   */
  readonly whyNoPrompt: string | undefined;
  /** Whether svcpay can redraw a line on stderr in place. */
  readonly canAnimate: boolean;
  /**
   * Whether the terminal shows progress in the task bar (OSC 9;4). On a terminal without task bar
   * progress, the escape sequence OSC 9;4 could show a notification.
   */
  readonly hasTaskbar: boolean;
  /** Reads the size of the window, because the resize signal may arrive after the next key. */
  measure(): void;
  /**
   * Returns whether stdout accepts no more output, because the reader closed stdout (`| head`) or a
   * write failed.
   */
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
  // A pseudo-terminal without a size reports 0 columns. svcpay treats 0 as an unknown width.
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
      // The Terminal app of macOS cannot draw sextants.
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
  // With ACCESSIBLE, a screen reader reads numbered menus and new lines, as on a dumb terminal.
  const isDumb = env['TERM'] === 'dumb' || isOn(env['ACCESSIBLE']);
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
    isDumb,
    whyNoPrompt,
    canAnimate: isTty(stderr) && (stderr.columns ?? 0) > 0 && !isDumb && !isOn(env['CI']),
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
  // svcpay uses only the sixteen basic colours, so that the theme of the terminal applies.
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
 * Whether the locale uses UTF-8, according to the first locale variable that is set. Without a
 * locale variable, the process probably runs in a container, whose terminal supports UTF-8.
 */
function speaksUnicode(env: Env): boolean {
  if (env['TERM'] === 'linux' || env['TERM'] === 'dumb') return false;
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find(isSet);
  return locale === undefined || /utf-?8/i.test(locale);
}

/**
 * Watches for a closed pipe (`| head`) or a full disk, which end the output but not the command.
 */
function watchForClosedReader(stream: OutputStream): () => boolean {
  let closed = false;
  stream.on('error', () => (closed = true));
  return () => closed;
}
