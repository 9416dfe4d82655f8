// A request to the service, and the steps that it passes: each wraps the next one.
import type { Answer, Expectation } from '../answer.js';

/** How long a call takes with its retries, and how many it has. */
export interface CallLimits {
  readonly timeoutMs?: number | undefined;
  readonly retries?: number | undefined;
}

/** The path begins with `/`; ids in it are encoded. */
export interface Call extends Expectation {
  readonly method: string;
  readonly path: string;
  readonly query?: readonly [string, string][] | undefined;
  /** JSON text. */
  readonly body?: string | undefined;
  /** Those of authentication. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Milliseconds left for the exchange. */
  readonly timeoutMs?: number | undefined;
  /** The limits of this call, instead of the client's. */
  readonly limits?: CallLimits | undefined;
  /** When a read is repeated; by default also after an answer that cannot be read. */
  readonly repeatAfter?: 'nothing' | 'failures' | undefined;
}

export type Send = (call: Call) => Promise<Answer>;

export type Step = (next: Send) => Send;
