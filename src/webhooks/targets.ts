// Delivers an event to a target: forwards it to a URL with the bytes and the signature that the
// service sent, or runs a command, which gets the body on stdin and the fields in its environment,
// never in its command line.
import { networkTransport } from '../api/network.js';
import { basicAuth, messageOf } from '../formats/text.js';
import { invalid } from '../formats/failure.js';
import type { StoredEvent } from '../store/events/event-store.js';
import { longestAnswerMs, type Deliver, type Verdict } from './dispatch.js';
import { eventIdOf, readPayload } from './events.js';
import { spawn } from 'node:child_process';

type Delivery = Pick<StoredEvent, 'body' | 'signature'>;

export type Forwarder = ReturnType<typeof openForwarder>;

interface ForwardOptions {
  readonly target: URL;
  readonly signatureHeader: string;
}

/**
 * The name of the header that carries the event's id. Each repetition of a delivery has the same
 * event id, so that an application can drop repetitions.
 */
const eventIdHeader = 'Svcpay-Event-Id';

/** Reads the URL of a target. Throws Failure `usage` if the text is not an http or https URL. */
export function parseTarget(text: string): URL {
  const given = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw invalid(
      `"${text}" is not an http or https URL. Write a URL such as ` +
        'http://localhost:3000/hooks.',
    );
  }
  return url;
}

/**
 * Returns the name under which svcpay shows and stores a target: the target's URL without user name
 * and password.
 */
export const nameOf = ({ origin, pathname, search }: URL): string =>
  `${origin}${pathname}${search}`;

/**
 * Opens a forwarder to a target. The forwarder connects directly, even if the environment names a
 * proxy.
 */
export function openForwarder({ target, signatureHeader }: ForwardOptions) {
  const { origin, pathname, search } = target;
  const send = networkTransport({ env: {}, timeoutMs: longestAnswerMs, endsSoon: true });
  const headers = { 'content-type': 'application/json', ...basicAuth(target) };
  return {
    /**
     * Posts an event to the target, and resolves with the status of the response. Rejects if the
     * target does not respond in time.
     */
    async post({ body, signature }: Delivery, signal?: AbortSignal): Promise<number> {
      const { status } = await send({
        method: 'POST',
        url: origin + pathname + search,
        headers: { ...headers, [signatureHeader]: signature, [eventIdHeader]: eventIdOf(body) },
        body,
        signal,
      });
      return status;
    },
    close: send.close,
  };
}

/**
 * Whether the status of a response shows that the target refuses only this event. If an error
 * status does not concern this event alone, the target counts as down, and all events wait.
 */
const aboutEvent = (status: number): boolean =>
  status >= 400 && status < 500 && status !== 408 && status !== 429;

/** @param onAnswer reports the status and the duration of each response */
export function forwardTo(
  forwarder: Forwarder,
  elapsed: () => number,
  onAnswer: (event: StoredEvent, status: number, ms: number) => void,
): Deliver {
  return async (event, signal): Promise<Verdict> => {
    const startedAt = elapsed();
    try {
      const status = await forwarder.post(event, signal);
      onAnswer(event, status, elapsed() - startedAt);
      if (status >= 200 && status < 300) return { kind: 'delivered' };
      return {
        kind: 'retry',
        scope: aboutEvent(status) ? 'transaction' : 'consumer',
        reason: `it answers ${status}`,
      };
    } catch (error) {
      return { kind: 'retry', scope: 'consumer', reason: messageOf(error) };
    }
  };
}

interface ExecOptions {
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
