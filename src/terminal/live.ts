// The live line: one line on stderr, redrawn in place during a wait. The final record stays.
import type { Ora } from 'ora';
import { asciiGlyphs } from './glyphs.js';
import { spinnerFrames } from './ask/theme.js';
import type { OutputStream, Terminal } from './terminal.js';
import { truncate } from './layout.js';

export interface LiveOptions {
  readonly quiet: boolean;
  /** Aborted by the user, who then needs no notification. */
  readonly signal?: AbortSignal;
  /** Milliseconds since a fixed instant. */
  readonly now: () => number;
  /** Calls `action` every `ms` until the returned function is called. */
  readonly every: (ms: number, action: () => void) => () => void;
}

/** The live line. Callers sanitize text from outside. */
export interface Live {
  /**
   * Shows the lines of `render`, and updates them every second. Its argument is the milliseconds
   * since the start.
   */
  start(render: (elapsedMs: number) => string): void;
  /**
   * Shows a line if nothing else is shown, and returns a function that removes the line. Otherwise
   * returns undefined.
   */
  fill(text: string): (() => void) | undefined;
  /** Shows a line during a wait, if the line can be redrawn, and removes it afterwards. */
  during<T>(line: () => string, work: () => Promise<T>): Promise<T>;
  /** Shows nothing during a question, while requests may continue. */
  silent<T>(question: () => Promise<T>): Promise<T>;
  /** Hides the line until the returned function is called. */
  aside(): () => void;
  /** Redraws at once after a change. */
  update(): void;
  /** Shows the progress in the task bar, if the terminal supports it. */
  progress(done: number, total: number): void;
  /** Ends with a tick and this text. */
  succeed(text: string): void;
  /** Ends without a trace. Has no effect on an ended line. */
  stop(): void;
}

const bell = '\u0007';
const osc = '\u001B]';
const endOfOsc = '\u001B\\';
/** After waits longer than this, a bell and a desktop notification (OSC 9) announce the end. */
const longMs = 10_000;

const tickMs = 1000;
const frameMs = 80;
const margin = '  ';
/** Margin, frame, the space after the frame, and the last cell, at which some terminals wrap. */
const overhead = margin.length + 3;

export function createLive(terminal: Terminal, { quiet, now, every, signal }: LiveOptions): Live {
  const { stderr, stderrCanvas, unicode } = terminal;
  const print = (line: string): void => {
    if (!quiet) stderr.write(`${margin}${unicode ? line : asciiGlyphs(line)}\n`);
  };
  const open = (line: () => string): Display =>
    terminal.canAnimate ? animate(terminal, every, line) : printChanges(print, line);
  let display: Display | undefined;
  let shown: (() => string) | undefined;
  let isAsking = false;
  let startedAt: number | undefined;
  let hasProgress = false;
  const escape = (text: string): void => {
    if (terminal.canAnimate && !quiet) stderr.write(text);
  };

  function stop(): void {
    display?.close();
    display = undefined;
    shown = undefined;
    if (hasProgress) escape(`${osc}9;4;0;0${endOfOsc}`);
    hasProgress = false;
    if (startedAt !== undefined && now() - startedAt > longMs && signal?.aborted !== true) {
      escape(`${bell}${osc}9;svcpay: the wait is over${endOfOsc}`);
    }
    startedAt = undefined;
  }

  function start(render: (elapsedMs: number) => string): void {
    stop();
    const since = now();
    startedAt = since;
    shown = () => render(now() - since);
    if (!quiet) display = open(shown);
  }

  return {
    start,
    async during(line, work) {
      if (terminal.canAnimate) start(line);
      return work().finally(stop);
    },
    fill(text) {
      if (quiet || display !== undefined || isAsking) return undefined;
      const own = open(() => text);
      display = own;
      return () => {
        if (display === own) stop();
      };
    },
    async silent(question) {
      stop();
      isAsking = true;
      return question().finally(() => (isAsking = false));
    },
    aside() {
      display?.close();
      display = undefined;
      isAsking = true;
      return () => {
        isAsking = false;
        if (shown !== undefined && !quiet) display = open(shown);
      };
    },
    progress(done, total) {
      if (!terminal.hasTaskbar || total <= 0) return;
      hasProgress = true;
      escape(`${osc}9;4;1;${Math.min(Math.floor((done * 100) / total), 100)}${endOfOsc}`);
    },
    update: () => display?.update(),
    succeed(text) {
      stop();
      print(`${stderrCanvas.style.green('✓')} ${text}`);
    },
    stop,
  };
}

interface Display {
  update(): void;
  close(): void;
}

/** Without redrawing, prints a line for each change, but not for each tick of a countdown. */
function printChanges(print: (line: string) => void, line: () => string): Display {
  let shown: readonly string[] = [];
  const update = (): void => {
    const lines = line().split('\n');
    lines.filter((each) => !shown.includes(each)).forEach(print);
    shown = lines;
  };
  update();
  return { update, close: () => undefined };
}

function animate(terminal: Terminal, every: LiveOptions['every'], line: () => string): Display {
  const { stderr, unicode } = terminal;
  let spinner: Ora | undefined;
  let isOpen = true;
  const fitted = (): string =>
    (unicode ? line() : asciiGlyphs(line()))
      .split('\n')
      .map((each) => truncate(each, (stderr.columns ?? 0) - overhead))
      .join(`\n${' '.repeat(overhead - 1)}`);

  const update = (): void => {
    if (spinner === undefined) return;
    // ora divides by the width, which can be 0.
    if ((stderr.columns ?? 0) < 1) spinner.stop();
    else {
      spinner.text = fitted();
      if (spinner.isSpinning) spinner.render();
      else spinner.start();
    }
  };
  const stopTicking = every(tickMs, update);
  stderr.on('resize', update);
  // Typed keys would appear within the line. The next question, or the end, shows them again.
  terminal.stdin.echo?.(false);

  const spin = async (): Promise<void> => {
    const { default: ora } = await import('ora');
    if (!isOpen) return;
    const { cyan } = terminal.stderrCanvas.style;
    // ora's colours depend on the environment of the process, and its handling of stdin would
    // suppress Ctrl-C.
    spinner = ora({
      stream: steadied(stderr),
      isEnabled: true,
      discardStdin: false,
      color: false,
      spinner: {
        interval: frameMs,
        frames: spinnerFrames(unicode).map((frame) => margin + cyan(frame)),
      },
    });
    update();
  };
  void spin();

  return {
    update,
    close: () => {
      isOpen = false;
      stopTicking();
      stderr.off('resize', update);
      spinner?.stop();
    },
  };
}

const wrapOff = '\u001B[?7l';
const wrapOn = '\u001B[?7h';
const eraseBelow = '\u001B[J';
const eraseLine = '\u001B[K';

/**
 * The stream for ora, safe for a window that becomes narrower before a redraw. The terminal
 * truncates long lines, and the cursor waits at the start of the line. If the terminal wraps the
 * old line, the cursor is on its first half, so erasing from there removes the whole line.
 */
function steadied(stream: OutputStream): OutputStream {
  const itself: OutputStream = Object.create(stream);
  return Object.assign(itself, {
    write: (text: string) => stream.write(`${wrapOff}${text}${wrapOn}\r`),
    // If erased lines start at the first cell of the window, tmux keeps them in its history: every
    // frame of the spinner.
    clearLine: () => stream.write(` ${eraseBelow}\r${eraseLine}`),
  });
}
