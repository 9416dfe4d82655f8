// Opens the streams of one prompt: a keyboard that delivers Enter as a separate piece, and a screen
// that records its content.
import { createInterface } from 'node:readline';
import { PassThrough, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { InputStream, OutputStream } from '../terminal.js';
import { widthOf } from '../layout.js';

/**
 * The time after which an ESC byte counts as the Esc key instead of the start of an arrow key.
 * Readline's default timeout of half a second would noticeably delay the Esc key.
 */
const escapeMs = 60;

export interface Keyboard {
  readonly input: PassThrough;
  /**
   * Stops reading the keyboard. svcpay keeps the keys that were typed after the answer for the next
   * question.
   */
  readonly release: () => void;
}

/**
 * Reads the keyboard for one prompt.
 * @param change converts each piece of input before readline splits it into keys
 */
export function openKeyboard(stdin: InputStream, change: (piece: string) => string): Keyboard {
  const input = Object.assign(new PassThrough(), {
    // If `isTTY` is true, the prompt library discards the keys that arrive in the first event-loop
    // turn of a prompt, because the person may have typed these keys before the prompt appeared.
    isTTY: true,
    setRawMode: (isRaw: boolean) => stdin.setRawMode?.(isRaw),
  });
  // Opens and closes Readline first, because Readline applies the escape timeout only at the first
  // use of a stream.
  createInterface({ input, terminal: true, escapeCodeTimeout: escapeMs }).close();
  const decoder = new StringDecoder('utf8');
  let waiting = '';
  let next: NodeJS.Immediate | undefined;
  // Delivers Enter in a later event-loop turn than the text before Enter, because a search must
  // filter its list before Enter chooses from the list.
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

/**
 * The escape sequence with which the prompt library ends its erasing, just before the library
 * redraws a prompt.
 */
const erased = '\u001B[2K\u001B[G';

export interface Screen {
  readonly output: Writable;
  /**
   * Erases the prompt and the lines above the prompt, including all rows into which the window
   * wraps these lines. The cursor must be on the last line of the prompt. After `erase`, the screen
   * ignores what the prompt writes.
   */
  readonly erase: (above: readonly string[]) => void;
  /** Keeps the current content on the screen, and ignores what the prompt writes later. */
  readonly abandon: () => void;
}

export function openScreen(stream: OutputStream): Screen {
  let shown = '';
  let isOpen = true;
  const output = new Writable({
    decodeStrings: false,
    write(text: string | Buffer, _encoding, done) {
      const drawn = String(text).split(erased).at(-1) ?? '';
      // A write without visible text only moves the cursor.
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
      // Writes a blank before erasing the lines, because tmux keeps erased lines in its history if
      // the first cell of the window is erased too.
      stream.write(`${rows > 0 ? `\u001B[${rows}A` : ''}\r \u001B[J\r\u001B[K`);
    },
  };
}
