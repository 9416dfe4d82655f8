// Runs one prompt on the terminal and distinguishes its ends: an answer, a step back, Ctrl-C, the end of input.
import { createInterface, type Key } from 'node:readline';
import { StringDecoder } from 'node:string_decoder';
import { inputEnded, interrupted } from './read-line.js';
import { back, type Back } from './wizard.js';
import { isPaste, markNoPastes, markPastes, pasteReader } from './paste.js';
import type { InputStream, OutputStream, Terminal } from '../terminal.js';

/** The environment of a prompt. */
interface Context {
  readonly input: InputStream;
  readonly output: OutputStream;
  readonly signal: AbortSignal;
  clearPromptOnDone: boolean;
}

/** The time for an ESC byte to become an arrow key; readline's half second is noticeable. */
const escapeMs = 60;

/** The behaviour of a question. */
interface Pose {
  readonly canGoBack: boolean;
  /** A line of text, which accepts a paste. */
  readonly takesPaste?: boolean;
  /** The current answer was refused: a paste replaces it. */
  readonly isRefused?: () => boolean;
  /** It is erased after the answer, which is shown elsewhere. */
  readonly isWiped?: boolean;
  /** A list with a search. */
  readonly narrows?: boolean;
  /** Earlier input does not answer it. */
  readonly isFresh?: boolean;
}

/** Throws Failure `interrupted` for Ctrl-C and `declined` for the end of input; with `canGoBack` Esc answers `back`. */
export async function runPrompt<T>(
  terminal: Terminal,
  prompt: (context: Context) => Promise<T>,
  {
    canGoBack,
    takesPaste = false,
    isRefused = () => false,
    isWiped = false,
    narrows = false,
    isFresh = false,
  }: Pose,
): Promise<T | Back> {
  terminal.stdin.echo?.(true);
  const stdin = terminal.stdin.open();
  if (isFresh) await discardTyped(stdin);
  const aborter = new AbortController();
  const context = {
    input: stdin,
    output: terminal.stderr,
    signal: aborter.signal,
    clearPromptOnDone: isWiped,
  };
  let lastKey: Key = {};
  let isPosed = true;

  const onKey = (_: unknown, key: Key): void => {
    lastKey = key;
    // After an interruption the question stays visible.
    if (key.ctrl === true && key.name === 'c') context.clearPromptOnDone = false;
    if (key.name !== 'escape' || !canGoBack) return;
    // An abandoned question is erased.
    context.clearPromptOnDone = true;
    aborter.abort(back);
  };
  const onEnd = (): void => aborter.abort();
  // After Ctrl-D readline pauses its input permanently, and the prompt would wait forever. So does returning after
  // Ctrl-Z, but then the question is still open; after an answer it closes a moment later.
  const onPause = (): void => {
    if (lastKey.ctrl === true && lastKey.name === 'd') onEnd();
    else setImmediate(() => isPosed && stdin.resume());
  };

  hastenEscape(stdin);
  stdin.on('keypress', onKey).on('pause', onPause).on('end', onEnd).on('close', onEnd);
  const stopReading = takesPaste
    ? readPastes(stdin, terminal.stderr, isRefused)
    : narrows
      ? holdEnter(stdin)
      : () => undefined;
  const release = (): void => {
    isPosed = false;
    stopReading();
    stdin.off('keypress', onKey).off('pause', onPause).off('end', onEnd).off('close', onEnd);
  };
  try {
    return await prompt(context).finally(release);
  } catch (error) {
    if (aborter.signal.reason === back) return back;
    throw failureOf(error, aborter.signal.aborted);
  }
}

/** Input is processed before readline splits it into keys: an Enter within a paste would answer the question. */
function readPastes(
  stdin: InputStream,
  output: OutputStream,
  isRefused: () => boolean,
): () => void {
  const read = pasteReader();
  const decoder = new StringDecoder('utf8');
  const emit = stdin.emit.bind(stdin);
  stdin.emit = (event: string | symbol, ...given: unknown[]): boolean => {
    const [piece] = given;
    if (event !== 'data' || !(piece instanceof Uint8Array)) return emit(event, ...given);
    const raw = decoder.write(Buffer.from(piece));
    const text = read(raw);
    return emit(
      event,
      Buffer.from(isRefused() && isPaste(raw) ? `${endOfLine}${killLine}${text}` : text),
    );
  };
  output.write(markPastes);
  return () => {
    output.write(markNoPastes);
    stdin.emit = emit;
  };
}

const endOfLine = '\u0005';
const killLine = '\u0015';

/** The search must filter the list before an Enter in the same input can select from it. */
function holdEnter(stdin: InputStream): () => void {
  const emit = stdin.emit.bind(stdin);
  stdin.emit = (event: string | symbol, ...given: unknown[]): boolean => {
    const [piece] = given;
    const typed = event === 'data' && piece instanceof Uint8Array ? Buffer.from(piece) : undefined;
    const at = typed?.indexOf('\r') ?? -1;
    if (typed === undefined || at < 1) return emit(event, ...given);
    setImmediate(() => emit('data', typed.subarray(at)));
    return emit('data', typed.subarray(0, at));
  };
  return () => void (stdin.emit = emit);
}

/** Turns of the event loop in which a terminal delivers its waiting input. */
const turnsToRead = 6;

/** Discards input typed during a wait. Throws Failure `interrupted` for Ctrl-C in it. */
async function discardTyped(stdin: InputStream): Promise<void> {
  let isInterrupted = false;
  const drop = (piece: Buffer | string): void => void (isInterrupted ||= piece.includes('\u0003'));
  stdin.setRawMode?.(true);
  stdin.on('data', drop).resume();
  for (let turn = 0; turn < turnsToRead; turn += 1) await new Promise((next) => setImmediate(next));
  stdin.off('data', drop).pause();
  stdin.setRawMode?.(false);
  if (isInterrupted) throw interrupted();
}

/** Readline keeps the escape timeout of its first use of a stream. */
function hastenEscape(stdin: InputStream): void {
  createInterface({ input: stdin, terminal: true, escapeCodeTimeout: escapeMs }).close();
}

function failureOf(error: unknown, hasEnded: boolean): unknown {
  if (hasEnded) return inputEnded();
  const isExit = error instanceof Error && error.name === 'ExitPromptError';
  return isExit ? interrupted() : error;
}
