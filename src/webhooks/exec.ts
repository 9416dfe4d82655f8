// Runs a command for each event: the body on its stdin, its fields in the environment, never in a command line.
import { spawn } from 'node:child_process';
import type { StoredEvent } from '../store/events/event-store.js';
import type { Deliver, Verdict } from './dispatch.js';
import { readPayload } from './events.js';

export interface ExecOptions {
  readonly command: string;
  readonly env: NodeJS.ProcessEnv;
  /** Its output goes to stderr: stdout belongs to the events. */
  readonly onOutput: (chunk: Buffer) => void;
  /** The exit code, or the signal. */
  readonly onExit: (code: string) => void;
}

/** A command that exits with this code is retried (EX_TEMPFAIL of sysexits). */
const retryCode = 75;

/** A command that is interrupted may take this long before it is killed. */
const insistAfterMs = 1_000;
/** After its exit, output is read for this long: processes that it left running may hold it open forever. */
const lastWordsMs = 500;

/** A command that fails is not retried, unless its exit code is 75. */
export function runFor({ command, env, onOutput, onExit }: ExecOptions): Deliver {
  return (event, signal) =>
    new Promise<Verdict>((resolve) => {
      const child = spawn(command, { shell: true, env: environmentOf(event, env), stdio: ['pipe', 'pipe', 'pipe'] });
      let timer: NodeJS.Timeout | undefined;
      const interrupt = (): void => {
        child.kill('SIGTERM');
        timer = setTimeout(() => child.kill('SIGKILL'), insistAfterMs);
      };
      signal.addEventListener('abort', interrupt, { once: true });
      const end = (verdict: Verdict): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', interrupt);
        resolve(verdict);
      };
      child.on('error', (error) => end({ kind: 'retry', scope: 'consumer', reason: error.message }));
      // If it could not be started, it has no streams.
      if (child.pid === undefined) return;
      child.stdout.on('data', onOutput);
      child.stderr.on('data', onOutput);
      // A command need not read its stdin.
      child.stdin.on('error', () => undefined).end(event.body);
      child.on('exit', (code, killer) => {
        onExit(killer ?? String(code));
        const verdict = verdictOf(code, killer, signal.aborted);
        clearTimeout(timer);
        timer = setTimeout(() => end(verdict), lastWordsMs);
        child.on('close', () => end(verdict));
      });
    });
}

function verdictOf(code: number | null, killer: NodeJS.Signals | null, isStopping: boolean): Verdict {
  if (code === 0) return { kind: 'delivered' };
  if (code === retryCode || isStopping) return { kind: 'retry', scope: 'transaction', reason: `exit code ${retryCode} asks for a retry` };
  return { kind: 'failed', reason: killer === null ? `exit code ${code}` : `ended by ${killer}` };
}

/** Systems refuse longer variables; the whole body is on stdin. */
const longestText = 30_000;

/** The environment of svcpay without its secrets, and the event. An environment cannot hold a NUL. */
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
  const inherited = Object.fromEntries(Object.entries(env).filter(([name, value = '']) => !isSecret(name, value)));
  const texts = Object.entries(facts).map(([name, value]) => [name, `${value ?? ''}`.replaceAll('\0', '').slice(0, longestText)]);
  return { ...inherited, ...Object.fromEntries(texts) };
}

/** A command that needs a secret must be given it on purpose. The address of a database may contain a password. */
const isSecret = (name: string, value: string): boolean =>
  /^(SVCPAY_.*(SECRET|TOKEN|PASSWORD)|PGPASSWORD$)/i.test(name) || /^\w+:\/\/[^/@\s]*:[^/@\s]+@/.test(value);
