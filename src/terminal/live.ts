// The live line: one line on stderr, redrawn in place while something is awaited; what stays is the record.
import type { Terminal } from './terminal.js';

export interface LiveOptions {
  readonly quiet: boolean;
  /** Milliseconds, from any fixed point. */
  readonly now: () => number;
  /** Calls `fn` every `ms` until the returned function is called. */
  readonly every: (ms: number, fn: () => void) => () => void;
}

export interface Live {
  /** Shows what `render` says, again every second; it is handed the milliseconds since the start. */
  start(render: (elapsedMs: number) => string): void;
  /** Draws anew at once, after something changed. */
  update(): void;
  /** Ends with a tick and this text. */
  succeed(text: string): void;
  /** Ends with a cross and this text. */
  fail(text: string): void;
  /** Ends and leaves nothing. */
  stop(): void;
}

export function createLive(terminal: Terminal, options: LiveOptions): Live {
  throw new Error(`not there yet: ${terminal.columns} ${options.quiet}`);
}
