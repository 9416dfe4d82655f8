// A stream written to in few large pieces: rows that come in one turn leave together, a slow reader slows the writer.
import type { OutputStream } from './terminal.js';

const fullAt = 65_536;

export interface Sink {
  /** Resolves at once, or when the stream has room again. */
  push(text: string): Promise<void>;
  /** Resolves when everything is written. */
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
    // The callback comes also for a write that failed: a closed reader ends the wait and is the terminal's to notice.
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
