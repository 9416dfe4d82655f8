// Poses one prompt on the terminal and tells apart how it can end: an answer, a step back, Ctrl-C, the end of input.
import { createInterface, type Key } from 'node:readline';
import { StringDecoder } from 'node:string_decoder';
import { inputEnded, interrupted } from './read-line.js';
import { back, type Back } from './wizard.js';
import { isPaste, markNoPastes, markPastes, pasteReader } from './paste.js';
import type { InputStream, OutputStream, Terminal } from '../terminal.js';

/** What a prompt is handed besides its question. */
interface Context {
  readonly input: InputStream;
  readonly output: OutputStream;
  readonly signal: AbortSignal;
  clearPromptOnDone: boolean;
}

/** How long a lone ESC byte is waited on to become an arrow key; readline's own half second feels broken. */
const escapeMs = 60;

/** What a question is, besides its words. */
interface Pose {
  readonly canGoBack: boolean;
  /** A line of text, into which something can be pasted. */
  readonly takesPaste?: boolean;
  /** The answer that stands there was refused: what is pasted takes its place. */
  readonly isRefused?: () => boolean;
  /** Nothing of it stays on the screen once it is answered: the answer is shown elsewhere. */
  readonly isWiped?: boolean;
  /** A list that is narrowed as one types. */
  readonly narrows?: boolean;
  /** Only what is typed once the question is seen answers it. */
  readonly isFresh?: boolean;
}

/** Throws Failure `interrupted` for Ctrl-C and `declined` for the end of input; with `canGoBack` Esc answers `back`. */
export async function runPrompt<T>(
  terminal: Terminal,
  prompt: (context: Context) => Promise<T>,
  { canGoBack, takesPaste = false, isRefused = () => false, isWiped = false, narrows = false, isFresh = false }: Pose,
): Promise<T | Back> {
  terminal.stdin.echo?.(true);
  const stdin = terminal.stdin.open();
  if (isFresh) await discardTyped(stdin);
  const aborter = new AbortController();
  const context = { input: stdin, output: terminal.stderr, signal: aborter.signal, clearPromptOnDone: isWiped };
  let lastKey: Key = {};
  let isPosed = true;

  const onKey = (_: unknown, key: Key): void => {
    lastKey = key;
    // Whoever interrupts sees what was there.
    if (key.ctrl === true && key.name === 'c') context.clearPromptOnDone = false;
    if (key.name !== 'escape' || !canGoBack) return;
    // The question left behind is no record: it is wiped from the screen.
    context.clearPromptOnDone = true;
    aborter.abort(back);
  };
  const onEnd = (): void => aborter.abort();
  // Ctrl-D makes readline pause its input for good, and the prompt would wait for ever. So does coming back after
  // Ctrl-Z, but then the question still stands; after an answer it no longer does a moment later.
  const onPause = (): void => {
    if (lastKey.ctrl === true && lastKey.name === 'd') onEnd();
    else setImmediate(() => isPosed && stdin.resume());
  };

  hastenEscape(stdin);
  stdin.on('keypress', onKey).on('pause', onPause).on('end', onEnd).on('close', onEnd);
  const stopReading = takesPaste ? readPastes(stdin, terminal.stderr, isRefused) : narrows ? holdEnter(stdin) : () => undefined;
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

/** What comes in is seen before readline takes it apart into keys: an Enter within a paste would answer the question. */
function readPastes(stdin: InputStream, output: OutputStream, isRefused: () => boolean): () => void {
  const read = pasteReader();
  const decoder = new StringDecoder('utf8');
  const emit = stdin.emit.bind(stdin);
  stdin.emit = (event: string | symbol, ...given: unknown[]): boolean => {
    const [piece] = given;
    if (event !== 'data' || !(piece instanceof Uint8Array)) return emit(event, ...given);
    const raw = decoder.write(Buffer.from(piece));
    const text = read(raw);
    return emit(event, Buffer.from(isRefused() && isPaste(raw) ? `${endOfLine}${killLine}${text}` : text));
  };
  output.write(markPastes);
  return () => {
    output.write(markNoPastes);
    stdin.emit = emit;
  };
}

const endOfLine = '\u0005';
const killLine = '\u0015';

/** What was typed has to narrow the list before an Enter that comes with it can choose from it. */
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

/** Turns of the event loop in which a terminal hands over all that waits in it. */
const turnsToRead = 6;

/** Takes away what was typed during a wait. Throws Failure `interrupted` where Ctrl-C was among it. */
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

/** Readline keeps the time that it was given when it first listened to the keys of a stream. */
function hastenEscape(stdin: InputStream): void {
  createInterface({ input: stdin, terminal: true, escapeCodeTimeout: escapeMs }).close();
}

function failureOf(error: unknown, hasEnded: boolean): unknown {
  if (hasEnded) return inputEnded();
  const isExit = error instanceof Error && error.name === 'ExitPromptError';
  return isExit ? interrupted() : error;
}
