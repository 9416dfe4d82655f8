// The process as commands see it. Tests replace it.
import type { Failure } from '../formats/failure.js';
import type { Input, OutputStream } from '../terminal/terminal.js';
import type { PaymentDeps } from '../wallet/payment/contract.js';

/** stdout for one whole text, which works without the rest of the terminal code. */
export interface Page {
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  print(text: string): void;
}

export interface Process {
  readonly stdin: Input;
  /** The terminal itself, for questions while the command reads stdin. */
  readonly tty?: Input;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly page: Page;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  /** See `PaymentDeps.refuse`. */
  readonly refusePayment?: PaymentDeps['refuse'];
  /** Called with the failure of the command line, before it is shown. */
  readonly onFailure?: (failure: Failure) => void;
  /** Without the live line: the caller of a nested command line reads only results and warnings. */
  readonly withoutProgress?: boolean;
  /** The name of this process in the journal. Nested command lines use the name of their parent. */
  readonly owner?: string;
  readonly version: string;
  /** Aborted on Ctrl-C. */
  readonly signal: AbortSignal;
  /** Interrupts like Ctrl-C, if the terminal delivers Ctrl-C as a key. */
  readonly interrupt: () => void;
  /**
   * Called at the submission. After a submission, a forced exit cannot report that nothing moved.
   */
  readonly onSubmit: () => void;
  /** Passes termination signals to `taker` until the returned function is called. */
  readonly takeSignals: (taker: (signal: NodeJS.Signals) => void) => () => void;
  readonly now: () => number;
  /** Monotonic milliseconds. */
  readonly elapsed: () => number;
  readonly random: () => number;
  readonly newId: () => string;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly every: (ms: number, action: () => void) => () => void;
}
