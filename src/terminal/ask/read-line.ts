// Reads one line from the keyboard. Input after the line stays in the stream for the next question
// or command.
import { StringDecoder } from 'node:string_decoder';
import { Failure } from '../../formats/failure.js';
import type { InputStream } from '../terminal.js';

const ctrlC = '\u0003';
const ctrlD = '\u0004';

export const interrupted = (): Failure =>
  new Failure('interrupted', 'Interrupted during a question.');
export const inputEnded = (): Failure =>
  new Failure('declined', 'The input ended before the question was answered.');

/** Reads a line. Throws Failure `interrupted` for Ctrl-C, and `declined` for the end of input. */
export function readLine(stdin: InputStream, signal: AbortSignal | undefined): Promise<string> {
  return new Promise((resolve, reject) => {
    const decoder = new StringDecoder('utf8');
    let typed = '';
    const end = (settle: () => void): void => {
      stdin.off('data', onData).off('end', onEnd).off('close', onEnd).pause();
      signal?.removeEventListener('abort', onAbort);
      settle();
    };
    const onAbort = (): void => end(() => reject(interrupted()));
    const onEnd = (): void => end(() => reject(inputEnded()));
    const onData = (piece: Buffer | string): void => {
      typed += typeof piece === 'string' ? piece : decoder.write(piece);
      // In raw mode Ctrl-C and Ctrl-D arrive as characters.
      const found = /\r?\n|[\r\u0003\u0004]/.exec(typed);
      if (found === null) return;
      if (found[0] === ctrlC) return onAbort();
      if (found[0] === ctrlD) return onEnd();
      end(() => resolve(typed.slice(0, found.index)));
      const ahead = typed.slice(found.index + found[0].length);
      if (ahead !== '') stdin.unshift(ahead);
    };
    if (signal?.aborted === true) return onAbort();
    if (stdin.readableEnded) return onEnd();
    signal?.addEventListener('abort', onAbort);
    stdin.on('data', onData).on('end', onEnd).on('close', onEnd).resume();
  });
}

/** Reads a line without echo, and applies Backspace and Ctrl-U to the typed text. */
export async function readUnseen(
  stdin: InputStream,
  signal: AbortSignal | undefined,
): Promise<string> {
  if (stdin.setRawMode === undefined)
    throw new Failure('declined', 'The terminal cannot hide the input.');
  stdin.setRawMode(true);
  try {
    return withBackspaces(await readLine(stdin, signal));
  } finally {
    stdin.setRawMode(false);
  }
}

/** Applies Backspace, which deletes a character, and Ctrl-U, which deletes the line. */
function withBackspaces(typed: string): string {
  let line = '';
  for (const character of typed) {
    if (character === '\u0015') line = '';
    else line = /[\b\u007F]/.test(character) ? [...line].slice(0, -1).join('') : line + character;
  }
  return line;
}
