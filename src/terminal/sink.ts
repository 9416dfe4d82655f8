// Writes to a stream in few large pieces, with all rows of one event-loop turn together, at the
// pace of the reader.
import type { OutputStream } from './terminal.js';

const fullAt = 65_536;

export interface Sink {
  /** Adds a text. Resolves when the stream accepts more text. */
  push(text: string): Promise<void>;
  /** Resolves when the stream has written every text. */
  end(): Promise<void>;
}

export function createSink(stream: OutputStream): Sink {
  let waiting = '';
  let scheduled: NodeJS.Immediate | undefined;
  let written: Promise<void> = Promise.resolve();

  const flush = (): Promise<void> => {
    clearImmediate(scheduled);
    scheduled = undefined;
    const text = waiting;
    waiting = '';
    // The callback of `write` runs after a failed write too. If the reader has closed the stream,
    // the promise of the write resolves all the same, and terminal.ts handles the error of the
    // stream.
    if (text !== '') written = new Promise((resolve) => stream.write(text, () => resolve()));
    return written;
  };

  return {
    async push(text) {
      waiting += text;
      if (waiting.length >= fullAt) await flush();
      else scheduled ??= setImmediate(() => void flush());
    },
    end: flush,
  };
}
