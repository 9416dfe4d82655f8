// The streams of one prompt: a keyboard that delivers Enter as a separate piece, and a screen that
// records what it shows.
import { createInterface } from 'node:readline';
import { PassThrough, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { InputStream, OutputStream } from '../terminal.js';
import { widthOf } from '../layout.js';

/** The time in which an ESC byte can become an arrow key. readline's half second is noticeable. */
const escapeMs = 60;

export interface Keyboard {
  readonly input: PassThrough;
  /** Ends the reading. Keys after the answer stay for the next question. */
  readonly release: () => void;
}

/**
 * Reads the terminal for one prompt.
 *
 * @param change of each piece of input, before it is split into keys
 */
export function openKeyboard(stdin: InputStream, change: (piece: string) => string): Keyboard {
  const input = Object.assign(new PassThrough(), {
    // Prompts ignore the first turn of a terminal, and with it earlier keys.
    isTTY: true,
    setRawMode: (isRaw: boolean) => stdin.setRawMode?.(isRaw),
  });
  // Readline keeps the escape timeout of the first use of a stream.
  createInterface({ input, terminal: true, escapeCodeTimeout: escapeMs }).close();
  const decoder = new StringDecoder('utf8');
  let waiting = '';
  let next: NodeJS.Immediate | undefined;
  // A search filters its list after the text. Only then may an Enter choose from the list.
  const deliver = (): void => {
    const [piece = ''] = /^[^\r]+|^\r/.exec(waiting) ?? [];
    waiting = waiting.slice(piece.length);
    if (piece !== '') input.write(piece);
    next = waiting === '' ? undefined : setImmediate(deliver);
  };
  const onData = (data: Buffer | string): void => {
    waiting += change(typeof data === 'string' ? data : decoder.write(data));
    if (next === undefined) deliver();
  };
  const onEnd = (): void => void input.end();
  stdin.on('data', onData).on('end', onEnd).on('close', onEnd).resume();
  return {
    input,
    release: () => {
      stdin.off('data', onData).off('end', onEnd).off('close', onEnd).pause();
      clearImmediate(next);
      if (waiting !== '') stdin.unshift(Buffer.from(waiting));
    },
  };
}

/** The end of the erasure before a prompt is drawn again. */
const erased = '\u001B[2K\u001B[G';

export interface Screen {
  readonly output: Writable;
  /**
   * Erases the prompt, whose cursor is on its last line, and the lines above it, in their current
   * wrapping. Later writes of the prompt are ignored.
   */
  readonly erase: (above: readonly string[]) => void;
  /** Ignores further drawings. The old ones stay where they are. */
  readonly abandon: () => void;
}

export function openScreen(stream: OutputStream): Screen {
  let shown = '';
  let isOpen = true;
  const output = new Writable({
    decodeStrings: false,
    write(text: string | Buffer, _encoding, done) {
      const drawn = String(text).split(erased).at(-1) ?? '';
      // The cursor also moves without a drawing.
      if (widthOf(drawn) > 0) shown = drawn;
      if (isOpen) stream.write(text);
      done();
    },
  });
  const size = { isTTY: { value: true }, columns: { get: () => stream.columns } };
  return {
    output: Object.defineProperties(output, size),
    abandon: () => void (isOpen = false),
    erase: (above) => {
      isOpen = false;
      const rowsOf = (line: string): number =>
        Math.max(Math.ceil(widthOf(line) / (stream.columns ?? Infinity)), 1);
      const rows = [...above, ...shown.split('\n')].reduce((sum, line) => sum + rowsOf(line), -1);
      // If erased lines start at the first cell of the window, tmux keeps them in its history.
      stream.write(`${rows > 0 ? `\u001B[${rows}A` : ''}\r \u001B[J\r\u001B[K`);
    },
  };
}
