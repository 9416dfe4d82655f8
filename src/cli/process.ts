// The process as commands see it, which tests replace.
import type { Failure } from '../formats/failure.js';
import type { Input, OutputStream } from '../terminal/terminal.js';
import type { PaymentDeps } from '../wallet/payment/contract.js';

/** stdout for one whole text, without loading the rest of the terminal code. */
export interface Page {
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  print(text: string): void;
}

export interface Process {
  readonly stdin: Input;
  /** The terminal itself, for questions while stdin is read by the command. */
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
  /** Owner of this process in the journal; nested command lines use their parent's. */
  readonly owner?: string;
  readonly version: string;
  /** Aborted on Ctrl-C. */
  readonly signal: AbortSignal;
  /** As Ctrl-C does, where the terminal hands it over as a key. */
  readonly interrupt: () => void;
  /** From now on, a forced exit cannot report that nothing moved. */
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
