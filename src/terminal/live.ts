// Draws the live line, one line on stderr that svcpay redraws in place during a wait. The final
// text of the live line stays on the screen.
import type { Ora } from 'ora';
import { asciiGlyphs, truncate } from './text.js';
import type { OutputStream, Terminal } from './terminal.js';

export interface LiveOptions {
  readonly quiet: boolean;
  /** The abort signal that Ctrl-C triggers. After Ctrl-C, svcpay sends no notification. */
  readonly signal?: AbortSignal;
  /** Returns the milliseconds since a fixed instant. */
  readonly now: () => number;
  /** Calls `action` every `ms` until the caller runs the returned function. */
  readonly every: (ms: number, action: () => void) => () => void;
}

/**
 * The live line shows progress on stderr. Callers must sanitize text from outside before they pass
 * the text to the live line.
 */
export interface Live {
  /**
   * Shows the text that `render` returns, and updates the text every second. `render` receives the
   * milliseconds since the start of the live line.
   */
  start(render: (elapsedMs: number) => string): void;
  /**
   * Shows a text on the live line, and returns a function that removes the text. Returns undefined,
   * without showing the text, if the live line is off, hidden or in use.
   */
  fill(text: string): (() => void) | undefined;
  /** Shows a line while `work` runs, if svcpay can redraw the line. */
  during<T>(line: () => string, work: () => Promise<T>): Promise<T>;
  /** Hides the live line during a question, while requests continue. */
  silent<T>(question: () => Promise<T>): Promise<T>;
  /** Hides the live line until the caller runs the returned function. */
  aside(): () => void;
  /** Redraws the live line at once after a change. */
  update(): void;
  /** Shows the progress in the task bar if the terminal supports task bar progress. */
  progress(done: number, total: number): void;
  /** Ends the live line with a tick and the given text. */
  succeed(text: string): void;
  /** Removes the live line, unless the line has already ended. */
  stop(): void;
}

const bell = '\u0007';
const osc = '\u001B]';
const endOfOsc = '\u001B\\';
/** The shortest wait whose end svcpay announces with a bell and a desktop notification (OSC 9). */
const longMs = 10_000;

const tickMs = 1000;
const repeatMs = 30_000;
const frameMs = 80;
const margin = '  ';
/**
 * The width of the live line besides its text: margin, spinner frame, one space, and the last cell,
 * at which some terminals wrap.
 */
const overhead = margin.length + 3;

export function createLive(terminal: Terminal, { quiet, now, every, signal }: LiveOptions): Live {
  const { stderr, stderrCanvas, unicode } = terminal;
  const print = (line: string): void => {
    if (!quiet) stderr.write(`${margin}${unicode ? line : asciiGlyphs(line)}\n`);
  };
  const open = (line: () => string): Display =>
    terminal.canAnimate
      ? animate(terminal, every, line)
      : printChanges(print, line, terminal.isDumb ? every : undefined);
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
      escape(`${bell}${osc}9;svcpay: finished waiting${endOfOsc}`);
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

/**
 * Prints a line for each change if svcpay cannot redraw the live line. A tick of a countdown does
 * not count as a change. At a terminal, also prints a line every 30 s.
 */
function printChanges(
  print: (line: string) => void,
  line: () => string,
  every: LiveOptions['every'] | undefined,
): Display {
  let shown: readonly string[] = [];
  const update = (): void => {
    const lines = line().split('\n');
    lines.filter((each) => !shown.includes(each)).forEach(print);
    shown = lines;
  };
  update();
  const stop = every?.(repeatMs, () => line().split('\n').slice(0, 1).forEach(print));
  return { update, close: () => stop?.() };
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
    // ora divides by the width of the window, which can be 0.
    if ((stderr.columns ?? 0) < 1) spinner.stop();
    else {
      spinner.text = fitted();
      if (spinner.isSpinning) spinner.render();
      else spinner.start();
    }
  };
  const stopTicking = every(tickMs, update);
  stderr.on('resize', update);
  // Switches the echo off, because echoed keys would appear within the live line. The next question
  // or the end of the program switches the echo on again.
  terminal.stdin.echo?.(false);

  const spin = async (): Promise<void> => {
    const { default: ora } = await import('ora');
    if (!isOpen) return;
    const { cyan } = terminal.stderrCanvas.style;
    // Switches off ora's colours, which depend on the environment of the process, and ora's
    // handling of stdin, which would suppress Ctrl-C.
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

const dots = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const dashes = ['-', '\\', '|', '/'];

/** Returns the frames that every spinner uses. */
export const spinnerFrames = (unicode: boolean): string[] => (unicode ? [...dots] : [...dashes]);

const wrapOff = '\u001B[?7l';
const wrapOn = '\u001B[?7h';
const eraseBelow = '\u001B[J';
const eraseLine = '\u001B[K';

/**
 * Returns a stream for ora whose redraw stays correct in a window that has become narrower. The
 * stream makes the terminal truncate long lines, and leaves the cursor at the start of the line. If
 * a narrower window wraps the drawn line, the cursor is on the first part of the line, so that
 * erasing from the cursor removes the whole line.
 */
function steadied(stream: OutputStream): OutputStream {
  const itself: OutputStream = Object.create(stream);
  return Object.assign(itself, {
    write: (text: string) => stream.write(`${wrapOff}${text}${wrapOn}\r`),
    // tmux keeps erased lines in its history if the first cell of the window is erased too. If
    // svcpay did not write a blank before erasing, tmux would add every frame of the spinner to its
    // history.
    clearLine: () => stream.write(` ${eraseBelow}\r${eraseLine}`),
  });
}
