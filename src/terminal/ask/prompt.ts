// Runs one prompt on the terminal, and distinguishes how the prompt ends: an answer, a step back,
// Ctrl-C, or the end of input.
import type { Key } from 'node:readline';
import type { Input, Terminal } from '../terminal.js';
import { inputEnded, interrupted } from './read-line.js';
import { openKeyboard, openScreen } from './streams.js';
import { back, type Back } from './wizard.js';

/** The options for a prompt of the inquirer library. */
export interface PromptContext {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly signal: AbortSignal;
  clearPromptOnDone: boolean;
}

export interface PromptBehaviour {
  readonly canGoBack: boolean;
  /**
   * Returns whether svcpay has refused the answer that the person typed last. If svcpay has refused
   * the answer, a pasted text replaces the answer. Otherwise svcpay inserts the pasted text.
   */
  readonly isRefused?: () => boolean;
  /** Whether svcpay erases the question after the answer, because the answer is shown elsewhere. */
  readonly isWiped?: boolean;
  /** Whether svcpay discards keys that were typed before the question. */
  readonly isFresh?: boolean;
  /**
   * The lines above the question, which svcpay redraws together with the question after a change of
   * the window size. Before a redraw, the cursor is on the last line of the question.
   */
  readonly above?: () => readonly string[];
  /**
   * Called for Ctrl-Z, which the inquirer library would read as a letter that moves the cursor of a
   * list.
   */
  readonly onSuspend?: () => void;
}

/** A key that answers a prompt. */
interface KeyAnswer<T> {
  readonly key: string;
  readonly value: T;
}

/** The abort reason for a prompt that svcpay redraws after a change of the window size. */
const resized = Symbol('resized');

/**
 * Runs a prompt. Throws Failure `interrupted` for Ctrl-C, and `declined` for the end of input. With
 * `canGoBack`, Esc answers `back`.
 */
export async function runPrompt<T>(
  terminal: Terminal,
  prompt: (context: PromptContext) => Promise<T>,
  pose: PromptBehaviour & { readonly shortcut?: KeyAnswer<T> | undefined },
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
  {
    canGoBack,
    isRefused = () => false,
    isWiped = false,
    above,
    onSuspend,
    shortcut,
  }: PromptBehaviour & { readonly shortcut?: KeyAnswer<T> | undefined },
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
    // A question that Ctrl-C interrupts stays visible.
    if (key.ctrl === true && key.name === 'c') context.clearPromptOnDone = false;
    if (key.ctrl === true && key.name === 'z') onSuspend?.();
    const isShortcut = shortcut !== undefined && key.sequence === shortcut.key;
    if (!isShortcut && (key.name !== 'escape' || !canGoBack)) return;
    // Erases a question that Esc or a shortcut ends without a choice from its list.
    context.clearPromptOnDone = true;
    aborter.abort(isShortcut ? shortcut : back);
  };
  // Readline pauses its input after Ctrl-D, and when the process continues after Ctrl-Z while a
  // question is open. Readline never resumes a paused input itself.
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
    if (shortcut !== undefined && reason === shortcut) return shortcut.value;
    throw failureOf(error, aborter.signal.aborted);
  } finally {
    stderr.off('resize', onResize);
    stderr.write(markNoPastes);
    keyboard.release();
  }
}

/**
 * Returns a function that converts a paste to one line. If svcpay has refused the current answer,
 * the pasted line replaces the answer.
 */
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
 * Discards input that was typed before the question. Throws Failure `interrupted` if the discarded
 * input contains Ctrl-C.
 */
function discardTyped({ open, typed }: Input): void {
  const stdin = open();
  // svcpay can read an unfinished line only in raw mode.
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
/** Escape sequences that switch the bracketed paste mode of the terminal on and off. */
const markPastes = '\u001B[?2004h';
const markNoPastes = '\u001B[?2004l';

/** The smallest number of characters in one piece of input that counts as a paste. */
const leastPasted = 8;

/**
 * Returns a function that reads keyboard input piece by piece, and replaces line breaks within a
 * paste with blanks. A piece of input is a paste if the terminal marks it, or if it is too long for
 * typed keys. A line break at the end of an unmarked piece counts as the Enter key.
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

/** Matches arrows, deletions and other keys that do not occur in text. */
const controlKeys = /[^\P{Cc}\r\n\t]/u;

/** Whether a piece of input is a paste: marked by the terminal, or too long for typed keys. */
const isPaste = (piece: string): boolean =>
  piece.includes(pasteStart) || (piece.length >= leastPasted && !controlKeys.test(piece));

const onOneLine = (text: string): string => text.replace(/[\r\n\t]+ */g, ' ');

function unmarked(piece: string): string {
  let at = piece.length;
  while (at > 0 && /[\r\n]/.test(piece.charAt(at - 1))) at -= 1;
  const [text, enter] = [piece.slice(0, at), piece.slice(at)];
  return text.length < leastPasted || controlKeys.test(text) ? piece : onOneLine(text) + enter;
}
