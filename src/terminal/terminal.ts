// The one owner of every fact about the terminal: which streams are one, how wide, which colours, may one ask.
import type { Readable, Writable } from 'node:stream';
import type { LogFacts } from '../api/options.js';
import { Chalk, type ChalkInstance } from 'chalk';

/** `setRawMode(true)` keeps what is typed off the screen; only a terminal has it. */
export type InputStream = Readable & { readonly isTTY?: boolean; setRawMode?(isRaw: boolean): unknown };
/** Opened only by what reads it: merely to open it loads a good part of Node. */
export interface Input {
  readonly isTTY: boolean;
  open(): InputStream;
  /** Whether the terminal shows what is typed; either way the keys are kept for whoever reads next. */
  echo?(isOn: boolean): void;
  /** False for a background job, which is stopped when it takes keys. */
  isForeground?(): boolean;
}

/** Takes lines with what is known of them; plain text that is written to it becomes lines too. */
export type LogStream = OutputStream & {
  entry(level: 'debug' | 'info' | 'warning' | 'error', message: string, facts?: LogFacts & { readonly error?: object }): void;
  /** Later lines are about this payment and request, unless they say otherwise. */
  note(facts: LogFacts): void;
};

export const isLog = (stream: OutputStream): stream is LogStream => 'entry' in stream;

export type OutputStream = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  /** Node's own: reads the size of the window, as it does when a signal says that it changed. */
  _refreshSize?(): void;
};

/** What a view needs to know of the place that it draws on; views are pure functions of this and their data. */
export interface Canvas {
  /** Colours of the stream; writes no escape where colours are off. */
  readonly style: ChalkInstance;
  /** Width in cells; 80 where nothing says. */
  readonly columns: number;
  readonly rows: number;
  /** Whether a QR code can be drawn: coloured half blocks on a real terminal, and not under `--no-color`. */
  readonly blocks: boolean;
  /** The block explorer that addresses link to (OSC 8); undefined where none is named, or no terminal shows it. */
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
  /** False where only ASCII is safe; `glyphs` then writes our own signs in ASCII. */
  readonly unicode: boolean;
  readonly canPrompt: boolean;
  /** No escape is to be written at all: questions are lines. */
  readonly isDumb: boolean;
  /** Why a question cannot be asked, in words that fit after "no question can be asked: "; undefined when it can. */
  readonly whyNoPrompt: string | undefined;
  /** Whether a line on stderr may be redrawn in place. */
  readonly canAnimate: boolean;
  /** Shows progress in the task bar (OSC 9;4); others would take it for a notice. */
  readonly hasTaskbar: boolean;
  /** Reads the size of the window. The signal that tells of a new one may come later than the key that was typed after it. */
  measure(): void;
  /** True once the reader of stdout has gone (`| head`) or it cannot be written: nobody reads what is written from then on. */
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

export function openTerminal({ stdin, stdout, stderr, env, flags, explorerOf }: TerminalSource): Terminal {
  const isTty = (stream: OutputStream): boolean => stream.isTTY === true;
  const ttys = [stdout, stderr].filter(isTty);
  // A pseudo-terminal without a size reports 0 columns: width is then unknown, not zero.
  const widest = (side: 'columns' | 'rows', fallback: number): number =>
    ttys.map((stream) => stream[side]).find((cells) => cells !== undefined && cells > 0) ?? fallback;
  const canvasOf = (stream: OutputStream): Canvas => ({
    style: new Chalk({ level: colorLevel(isTty(stream), env, flags.noColor === true) }),
    blocks: (isTty(stream) || isOn(env['FORCE_COLOR'])) && unicode && env['TERM'] !== 'dumb' && flags.noColor !== true,
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
    canAnimate: isTty(stderr) && (stderr.columns ?? 0) > 0 && env['TERM'] !== 'dumb' && !isOn(env['CI']),
    hasTaskbar: isTty(stderr) && (isSet(env['WT_SESSION']) || env['ConEmuANSI'] === 'ON' || /^(?:WezTerm|ghostty)$/.test(env['TERM_PROGRAM'] ?? '')),
    // oxlint-disable-next-line no-underscore-dangle
    measure: () => ttys.filter(({ destroyed }) => !destroyed).forEach((stream) => stream._refreshSize?.()),
    stdoutClosed: watchForClosedReader(stdout),
  });
}

const isOn = (value: string | undefined): boolean => value !== undefined && !['', '0', 'false'].includes(value);

function colorLevel(isTty: boolean, env: Env, noColor: boolean): 0 | 1 | 2 | 3 {
  if (noColor || isSet(env['NO_COLOR'])) return 0;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) {
    if (forced === '0' || forced === 'false') return 0;
    return forced === '2' ? 2 : forced === '3' ? 3 : 1;
  }
  // Sixteen colours are all that the screens use, and the person's own theme then decides how they look.
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

/** The first of the locale variables that is set decides; none set means a bare container, not an old terminal. */
function speaksUnicode(env: Env): boolean {
  if (env['TERM'] === 'linux' || env['TERM'] === 'dumb') return false;
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find(isSet);
  return locale === undefined || /utf-?8/i.test(locale);
}

/** `| head` closes the pipe, or a disk is full: that ends the output, not what the command does. */
function watchForClosedReader(stream: OutputStream): () => boolean {
  let closed = false;
  stream.on('error', () => (closed = true));
  return () => closed;
}
