// Runs a command for each event. The command gets the event's body on its stdin, and the event's
// fields in its environment. The command line never contains data of the event.
import { spawn } from 'node:child_process';
import type { StoredEvent } from '../store/events/event-store.js';
import type { Deliver, Verdict } from './dispatch.js';
import { readPayload } from './events.js';

export interface ExecOptions {
  readonly command: string;
  readonly env: NodeJS.ProcessEnv;
  /**
   * The signal that is aborted when svcpay stops. If a person stops svcpay at a terminal, the
   * terminal itself interrupts the running commands too.
   */
  readonly stopping: AbortSignal;
  /**
   * Receives the output of the command. svcpay writes the output to stderr, because stdout is for
   * the events.
   */
  readonly onOutput: (chunk: Buffer) => void;
  /** Receives the exit code of the command, or the signal that ended the command. */
  readonly onExit: (code: string) => void;
}

/**
 * The exit code with which a command requests another delivery of the event (EX_TEMPFAIL of
 * sysexits).
 */
const retryCode = 75;
/**
 * The number that a shell adds to a signal: if a signal ended the command, the shell's exit code is
 * 128 plus the number of the signal.
 */
const killedFrom = 128;

/** The time from the interruption of a command until svcpay kills the command. */
const killAfterMs = 1_000;
/**
 * The longest time for which svcpay still reads output after a command has exited, because
 * processes that the command started may keep the output stream open.
 */
const lastOutputMs = 500;

export function runFor({ command, env, stopping, onOutput, onExit }: ExecOptions): Deliver {
  return (event, signal) =>
    new Promise<Verdict>((resolve) => {
      const isInterrupted = (code: number | null, killer: NodeJS.Signals | null): boolean =>
        signal.aborted || (stopping.aborted && (killer !== null || (code ?? 0) > killedFrom));
      const child = spawn(command, {
        shell: true,
        env: environmentOf(event, env),
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      let timer: NodeJS.Timeout | undefined;
      const interrupt = (): void => {
        child.kill('SIGTERM');
        timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
      };
      signal.addEventListener('abort', interrupt, { once: true });
      const end = (verdict: Verdict): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', interrupt);
        resolve(verdict);
      };
      child.on('error', (error) =>
        end({ kind: 'retry', scope: 'consumer', reason: error.message }),
      );
      // Returns early if the command did not start, because it then has no output streams.
      if (child.pid === undefined) return;
      child.stdout.on('data', onOutput);
      child.stderr.on('data', onOutput);
      // Ignores errors on stdin, because a command may exit without reading it.
      child.stdin.on('error', () => undefined).end(event.body);
      child.on('exit', (code, killer) => {
        onExit(killer ?? String(code));
        const ended = (): void => end(verdictOf(code, killer, isInterrupted(code, killer)));
        clearTimeout(timer);
        timer = setTimeout(ended, lastOutputMs);
        child.on('close', ended);
      });
    });
}

function verdictOf(
  code: number | null,
  killer: NodeJS.Signals | null,
  isInterrupted: boolean,
): Verdict {
  if (code === 0) return { kind: 'delivered' };
  if (code === retryCode || isInterrupted)
    return {
      kind: 'retry',
      scope: 'transaction',
      reason: `exit code ${retryCode} requests a retry`,
    };
  return { kind: 'failed', reason: killer === null ? `exit code ${code}` : `ended by ${killer}` };
}

/**
 * The maximum length of a value that svcpay passes in an environment variable. svcpay truncates
 * longer values, because operating systems refuse very long environment variables. The event's body
 * on stdin contains the complete values of the payload.
 */
const longestText = 30_000;

/**
 * The environment of the command: svcpay's environment without secrets, and the fields of the
 * event.
 */
export function environmentOf(event: StoredEvent, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const payload = readPayload(event.body);
  const facts: Record<string, string | number | null | undefined> = {
    SVCPAY_EVENT_ID: event.id,
    SVCPAY_TXN_ID: payload?.txnId,
    SVCPAY_EXT_REF_ID: payload?.extRefId,
    SVCPAY_TXN_STATE: payload?.txnState,
    SVCPAY_MSG: payload?.msg,
    SVCPAY_UPDATED_AT: payload?.updatedAt,
    SVCPAY_DUPLICATE: event.duplicateOf === null ? '0' : '1',
    SVCPAY_OUT_OF_ORDER: event.outOfOrder ? '1' : '0',
    SVCPAY_SIGNATURE: event.signature,
  };
  const inherited = Object.fromEntries(
    Object.entries(env).filter(([name, value = '']) => !isSecret(name, value)),
  );
  const texts = Object.entries(facts).map(([name, value]) => [
    name,
    `${value ?? ''}`.replaceAll('\0', '').slice(0, longestText),
  ]);
  return { ...inherited, ...Object.fromEntries(texts) };
}

/**
 * Whether an environment variable may contain a secret, such as the password in the URL of a
 * database.
 */
const isSecret = (name: string, value: string): boolean =>
  /^(SVCPAY_.*(SECRET|TOKEN|PASSWORD)|PGPASSWORD$)/i.test(name) ||
  /^\w+:\/\/[^/@\s]*:[^/@\s]+@/.test(value);
