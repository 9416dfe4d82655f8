// All facts about the terminal: which streams are terminals, width, colours, whether questions are
// possible.
import type { Readable, Writable } from 'node:stream';
import type { LogFacts } from '../api/options.js';
import { Chalk, type ChalkInstance } from 'chalk';

/** `setRawMode(true)` hides typed input; only a terminal has it. */
export type InputStream = Readable & {
  readonly isTTY?: boolean;
  setRawMode?(isRaw: boolean): unknown;
};
/** Opened only for reading: opening it loads a large part of Node. */
export interface Input {
  readonly isTTY: boolean;
  open(): InputStream;
  /** What was typed and not read yet; in raw mode also an unfinished line. */
  typed?(): string;
  /** Whether the terminal echoes input; either way it stays available for the next read. */
  echo?(isOn: boolean): void;
  /** False for a background job, which is stopped if it reads keys. */
  isForeground?(): boolean;
}

/** Accepts lines with their data; plain text is split into lines. */
export type LogStream = OutputStream & {
  entry(
    level: 'debug' | 'info' | 'warning' | 'error',
    message: string,
    facts?: LogFacts & { readonly error?: object },
  ): void;
  /** Later lines belong to this payment and request by default. */
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

/** The properties of the output for a view; views are pure functions of this and their data. */
export interface Canvas {
  /** Colours of the stream; writes no escape where colours are off. */
  readonly style: ChalkInstance;
  /** Width in cells; 80 if unknown. */
  readonly columns: number;
  readonly rows: number;
  /**
   * The smallest coloured blocks that draw a QR code: false without a real terminal, and under
   * `--no-color`.
   */
  readonly blocks: false | 'half' | 'sextants';
  /** The block explorer of address links (OSC 8); undefined without one, or without a terminal. */
  readonly explorer?: string | undefined;
}

/** As a canvas it stands for stdout. */
export interface Terminal extends Canvas {
  readonly stdin: Input;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly stdoutIsTty: boolean;
  readonly stderrIsTty: boolean;
  /** The canvas of stderr: questions, the cards that belong to them, and errors. */
  readonly stderrCanvas: Canvas;
  /** False if only ASCII is safe; `glyphs` then writes our symbols in ASCII. */
  readonly unicode: boolean;
  readonly canPrompt: boolean;
  /** No escape sequences: questions are lines. */
  readonly isDumb: boolean;
  /**
   * Why a question cannot be asked, in words that fit after "no question can be asked: "; undefined
   * when it can.
   */
  readonly whyNoPrompt: string | undefined;
  /** Whether a line on stderr may be redrawn in place. */
  readonly canAnimate: boolean;
  /** Shows progress in the task bar (OSC 9;4); others would take it for a notice. */
  readonly hasTaskbar: boolean;
  /** Reads the size of the window. The resize signal may arrive after the next key. */
  measure(): void;
  /** True once the reader of stdout has closed (`| head`) or stdout cannot be written. */
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
  // A pseudo-terminal without a size reports 0 columns: width is then unknown, not zero.
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

/** The first set locale variable decides; without any it is a container, not an old terminal. */
function speaksUnicode(env: Env): boolean {
  if (env['TERM'] === 'linux' || env['TERM'] === 'dumb') return false;
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find(isSet);
  return locale === undefined || /utf-?8/i.test(locale);
}

/** A closed pipe (`| head`) or a full disk ends the output, but not the command. */
function watchForClosedReader(stream: OutputStream): () => boolean {
  let closed = false;
  stream.on('error', () => (closed = true));
  return () => closed;
}
