// Simulates the system's terminal in the process of the test, so that a program on a terminal needs
// no separate process.
import { clearLine, clearScreenDown, cursorTo, moveCursor, type Direction } from 'node:readline';
import { PassThrough, Writable } from 'node:stream';
import type { Input, OutputStream } from '../../src/terminal/terminal.js';

export interface TerminalHere {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly stdin: Input;
  readonly type: (keys: string) => void;
  readonly resize: (columns: number, rows: number) => void;
}

interface Around {
  readonly columns: number;
  readonly rows: number;
  /** Receives the text that appears in the window. */
  readonly show: (text: string) => void;
  /** Called on Ctrl-C, unless the program reads keys in raw mode. */
  readonly interrupt: () => void;
}

export function openTerminalHere({ columns, rows, show, interrupt }: Around): TerminalHere {
  let [isRaw, echoes] = [false, true];
  const output = (): OutputStream => {
    const stream = new Writable({
      decodeStrings: false,
      write(text: string | Buffer, _, done) {
        show(String(text).replaceAll(/\r?\n/g, '\r\n'));
        done();
      },
    });
    return Object.assign(stream, {
      isTTY: true,
      columns,
      rows,
      // Like Node's terminal streams, this stream has methods that move the cursor and clear text.
      cursorTo: (x: number, y?: number) => cursorTo(stream, x, y),
      moveCursor: (dx: number, dy: number) => moveCursor(stream, dx, dy),
      clearLine: (direction: Direction) => clearLine(stream, direction),
      clearScreenDown: () => clearScreenDown(stream),
    });
  };
  const outputs = [output(), output()] as const;
  const keyboard = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (raw: boolean) => (isRaw = raw),
  });
  const cooked = (keys: string): string => {
    const [line = '', ...others] = keys.replaceAll('\r', '\n').split('\u0003');
    if (echoes) show(line.replaceAll('\n', '\r\n'));
    others.forEach(interrupt);
    return line + others.join('');
  };
  return {
    stdout: outputs[0],
    stderr: outputs[1],
    stdin: {
      isTTY: true,
      open: () => keyboard,
      typed: () => String(keyboard.read() ?? ''),
      echo: (isOn) => void (echoes = isOn),
      isForeground: () => true,
    },
    type(keys) {
      const read = isRaw ? keys : cooked(keys);
      if (read !== '') keyboard.write(read);
    },
    resize(toColumns, toRows) {
      for (const each of outputs) {
        Object.assign(each, { columns: toColumns, rows: toRows });
        each.emit('resize');
      }
    },
  };
}
