// Defines what a command gets from the process, and tests replace: streams, signals, time. Reads
// the input that a command asks for, and ends a command without a message.
import type { Transport } from '../api/errors.js';
import type { Output } from '../terminal/output.js';
import type { Input, OutputStream } from '../terminal/terminal.js';
import type { PaymentRules } from './payment/payment-options.js';
import { exitCodes, invalid } from '../formats/failure.js';
import { readFile } from 'node:fs/promises';

export interface Process {
  readonly stdin: Input;
  /**
   * The terminal itself, from which svcpay reads answers while the command reads data from stdin.
   */
  readonly tty?: Input;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
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

export class Ended extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`ended with ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/**
 * Prints one line if the person goes back from the first question, because going back is not an
 * error.
 */
export function leftAtOnce(
  { out }: { readonly out: Pick<Output, 'say'> },
  what = 'Nothing was sent',
): Ended {
  out.say(`  ${what}: you went back.`);
  return new Ended(exitCodes.declined);
}

export async function within<T>(
  ms: number,
  work: Promise<T>,
  { sleep }: Pick<Process, 'sleep'>,
): Promise<T | undefined> {
  const ended = new AbortController();
  const late = sleep(ms, ended.signal).then(
    () => undefined,
    () => undefined,
  );
  work.catch(() => undefined);
  // Stops the timer after the wait, because a running timer would keep the process alive.
  return Promise.race([work, late]).finally(() => ended.abort());
}

const longest = 16 * 1024 * 1024;

export const readStdin = async (deps: Pick<Process, 'stdin'>): Promise<string> =>
  (await readStdinBytes(deps)).toString('utf8');

/**
 * Reads stdin to the end. Throws Failure `usage` if stdin is a terminal, because svcpay would
 * otherwise wait silently.
 */
export async function readStdinBytes({ stdin }: Pick<Process, 'stdin'>): Promise<Buffer> {
  if (stdin.isTTY)
    throw invalid('Nothing is piped into svcpay.', {
      hint: 'Pipe the input: … | svcpay …',
    });
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin.open()) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > longest) throw invalid('The input on stdin is larger than 16 MiB.');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** Reads a file. Throws Failure `usage` if svcpay cannot read the file. */
export const readGivenFile = (file: string): Promise<Buffer> =>
  readFile(file).catch((cause: unknown) => {
    throw invalid(`The file ${file} cannot be read.`, { cause });
  });

/** Reads the text of a file, or the text on stdin for `-`. */
export const readGivenText = async (
  file: string,
  context: Pick<Process, 'stdin'>,
): Promise<string> =>
  file === '-' ? readStdin(context) : (await readGivenFile(file)).toString('utf8');
