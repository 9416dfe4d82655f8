// Defines the interface through which commands use the process, and which tests replace.
import type { Transport } from '../api/transport.js';
import type { Input, OutputStream } from '../terminal/terminal.js';
import type { PaymentRules } from './payment/payment-options.js';

/** Writes a complete text to stdout without loading the rest of the terminal code. */
export interface Page {
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  print(text: string): void;
}

export interface Process {
  readonly stdin: Input;
  /**
   * The terminal itself, from which svcpay reads answers while the command reads data from stdin.
   */
  readonly tty?: Input;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly page: Page;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Sends the requests instead of the network. */
  readonly network?: Transport;
  readonly pid: number;
  /** The rules for the payments of an agent, in addition to svcpay's own rules. */
  readonly agent?: PaymentRules | undefined;
  /**
   * Whether an agent reads the results and warnings of a nested command line, so that the live line
   * is off and svcpay advises no commands.
   */
  readonly isServed?: boolean;
  /**
   * The name of this process in the journal. A nested command line has the same name as the outer
   * command line.
   */
  readonly owner?: string;
  readonly version: string;
  /** The signal that Ctrl-C aborts. */
  readonly signal: AbortSignal;
  /** Whether SIGTERM interrupted svcpay. */
  readonly isTerminated?: () => boolean;
  /** Interrupts the command, for a terminal that delivers Ctrl-C as a key. */
  readonly interrupt: () => void;
  /**
   * Called when svcpay submits a payment. After svcpay has submitted a payment, a forced exit must
   * not report that no money moved.
   */
  readonly onSubmit: () => void;
  /** Passes termination signals to `taker` until the caller runs the returned function. */
  readonly takeSignals: (taker: (signal: NodeJS.Signals) => void) => () => void;
  readonly now: () => number;
  /** Returns monotonic time in milliseconds. */
  readonly elapsed: () => number;
  readonly random: () => number;
  readonly newId: () => string;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly every: (ms: number, action: () => void) => () => void;
}
