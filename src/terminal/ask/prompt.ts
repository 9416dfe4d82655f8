// Runs one prompt on the terminal, and distinguishes its ends: an answer, a step back, Ctrl-C, the
// end of input.
import type { Key } from 'node:readline';
import type { Input, Terminal } from '../terminal.js';
import { inputEnded, interrupted } from './read-line.js';
import { openKeyboard, openScreen } from './streams.js';
import { back, type Back } from './wizard.js';

/** The environment of a prompt. */
export interface PromptContext {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly signal: AbortSignal;
  clearPromptOnDone: boolean;
}

/** The behaviour of a question. */
export interface PromptBehaviour {
  readonly canGoBack: boolean;
  /** Whether the current answer was refused. A paste then replaces it. */
  readonly isRefused?: () => boolean;
  /** Whether the question is erased after the answer, because the answer is shown elsewhere. */
  readonly isWiped?: boolean;
  /** Whether earlier input cannot answer the question. */
  readonly isFresh?: boolean;
  /**
   * The lines printed above the question. If the window changes, the question, whose cursor is on
   * its last line, is drawn again together with these lines.
   */
  readonly above?: () => readonly string[];
  /** Ctrl-Z was pressed. To inquirer it is a letter, which moves the cursor of a list. */
  readonly onSuspend?: () => void;
}

/** The reason for a new drawing. */
const resized = Symbol('resized');

/**
 * Throws Failure `interrupted` for Ctrl-C, and `declined` for the end of input. With `canGoBack`,
 * Esc answers `back`.
 */
export async function runPrompt<T>(
  terminal: Terminal,
  prompt: (context: PromptContext) => Promise<T>,
  pose: PromptBehaviour,
  onFirstKey: () => void,
): Promise<T | Back> {
  terminal.stdin.echo?.(true);
  if (pose.isFresh === true) discardTyped(terminal.stdin);
  for (;;) {
    const answer = await runOnce(terminal, prompt, pose, onFirstKey);
    if (answer !== resized) return answer;
  }
}

async function runOnce<T>(
  { stdin, stderr }: Terminal,
  prompt: (context: PromptContext) => Promise<T>,
  { canGoBack, isRefused = () => false, isWiped = false, above, onSuspend }: PromptBehaviour,
  onFirstKey: () => void,
): Promise<T | Back | typeof resized> {
  const aborter = new AbortController();
  const screen = openScreen(stderr);
  const keyboard = openKeyboard(stdin.open(), pastesIn(isRefused));
  const { input } = keyboard;
  const { output } = screen;
  const context = { input, output, signal: aborter.signal, clearPromptOnDone: isWiped };
  let lastKey: Key = {};
  const onKey = (_: unknown, key: Key): void => {
    lastKey = key;
    // After an interruption the question stays visible.
    if (key.ctrl === true && key.name === 'c') context.clearPromptOnDone = false;
    if (key.ctrl === true && key.name === 'z') onSuspend?.();
    if (key.name !== 'escape' || !canGoBack) return;
    // An abandoned question is erased.
    context.clearPromptOnDone = true;
    aborter.abort(back);
  };
  // Readline pauses its input permanently after Ctrl-D, and also after a return from Ctrl-Z, while
  // the question is still open.
  const onPause = (): void => {
    if (lastKey.ctrl !== true) return;
    if (lastKey.name === 'd') aborter.abort();
    else if (lastKey.name === 'z') {
      input.resume();
      if (above === undefined) return;
      screen.abandon();
      drawAgain();
    }
  };
  const linesAbove = above?.() ?? [];
  const drawAgain = (): void => {
    aborter.abort(resized);
    stderr.write(
      above?.()
        .map((line) => `${line}\n`)
        .join('') ?? '',
    );
  };
  const onResize = (): void => {
    screen.erase(linesAbove);
    drawAgain();
  };
  input
    .once('keypress', onFirstKey)
    .on('keypress', onKey)
    .on('pause', onPause)
    .on('end', () => aborter.abort());
  if (above !== undefined) stderr.on('resize', onResize);
  stderr.write(markPastes);
  try {
    return await prompt(context);
  } catch (error) {
    const { reason } = aborter.signal;
    if (reason === back || reason === resized) return reason;
    throw failureOf(error, aborter.signal.aborted);
  } finally {
    stderr.off('resize', onResize);
    stderr.write(markNoPastes);
    keyboard.release();
  }
}

/** Makes a paste one line. A paste replaces a refused answer. */
function pastesIn(isRefused: () => boolean): (piece: string) => string {
  const read = pasteReader();
  return (piece) => {
    const text = read(piece);
    return isRefused() && isPaste(piece) ? `${endOfLine}${killLine}${text}` : text;
  };
}

const endOfLine = '\u0005';
const killLine = '\u0015';

/**
 * Discards input that was typed during a wait. Throws Failure `interrupted` if it contains Ctrl-C.
 */
function discardTyped({ open, typed }: Input): void {
  const stdin = open();
  // Without raw mode, an unfinished line could not be read.
  stdin.setRawMode?.(true);
  const read = stdin.readableLength > 0 ? String(stdin.read()) : '';
  const isInterrupted = `${read}${typed?.() ?? ''}`.includes('\u0003');
  stdin.setRawMode?.(false);
  if (isInterrupted) throw interrupted();
}

function failureOf(error: unknown, hasEnded: boolean): unknown {
  if (hasEnded) return inputEnded();
  const isExit = error instanceof Error && error.name === 'ExitPromptError';
  return isExit ? interrupted() : error;
}

const pasteStart = '\u001B[200~';
const pasteEnd = '\u001B[201~';
/** Starts and stops the marking of pasted text by the terminal. */
const markPastes = '\u001B[?2004h';
const markNoPastes = '\u001B[?2004l';

/** A piece of at least this many characters was pasted, not typed. */
const leastPasted = 8;

/**
 * Processes keyboard input in pieces. Line breaks within a paste become blanks. The terminal marks
 * a paste, or a line break with more text after it shows a paste. A final line break is the Enter
 * key.
 */
export function pasteReader(): (piece: string) => string {
  let isOpen = false;
  const read = (piece: string): string => {
    const at = piece.indexOf(isOpen ? pasteEnd : pasteStart);
    if (at < 0) return isOpen ? onOneLine(piece) : unmarked(piece);
    const before = piece.slice(0, at);
    const wasOpen = isOpen;
    isOpen = !isOpen;
    return (
      (wasOpen ? onOneLine(before).trimEnd() : before) + read(piece.slice(at + pasteStart.length))
    );
  };
  return read;
}

/** Arrows, deletions and other keys that do not occur in text. */
const controlKeys = /[^\P{Cc}\r\n\t]/u;

/** Whether a piece is marked as a paste, or is too long for typed keys. */
const isPaste = (piece: string): boolean =>
  piece.includes(pasteStart) || (piece.length >= leastPasted && !controlKeys.test(piece));

const onOneLine = (text: string): string => text.replace(/[\r\n\t]+ */g, ' ');

function unmarked(piece: string): string {
  let at = piece.length;
  while (at > 0 && /[\r\n]/.test(piece.charAt(at - 1))) at -= 1;
  const [text, enter] = [piece.slice(0, at), piece.slice(at)];
  return text.length < leastPasted || controlKeys.test(text) ? piece : onOneLine(text) + enter;
}
