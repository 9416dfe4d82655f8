// Handles Ctrl-C while several payments are in flight: svcpay starts no new payment, and lets the
// payments in flight finish.
import { nestedContext, type Context } from '../context.js';
import type { Process } from '../process.js';

const graceMs = 10_000;

export interface Drain {
  readonly stop: AbortSignal;
  /**
   * The signal that Ctrl-C aborts: immediately if no payment is in flight, otherwise after the
   * grace period.
   */
  readonly cut: AbortSignal;
  /** Called before the first payment of the batch. */
  begin(): void;
  /** Called when the batch has ended. */
  end(): void;
}

function openDrain({ signal, sleep }: Pick<Process, 'signal' | 'sleep'>): Drain {
  const cut = new AbortController();
  const over = new AbortController();
  let underWay = false;
  const interrupt = (): void => {
    if (!underWay) cut.abort();
    else
      sleep(graceMs, over.signal).then(
        () => cut.abort(),
        () => undefined,
      );
  };
  if (signal.aborted) interrupt();
  else signal.addEventListener('abort', interrupt, { once: true });
  return {
    stop: signal,
    cut: cut.signal,
    begin: () => void (underWay = true),
    end: () => {
      signal.removeEventListener('abort', interrupt);
      over.abort();
    },
  };
}

/** Runs a batch, whose signal is the signal that Ctrl-C aborts. */
export async function draining<T>(
  context: Context,
  work: (drain: Drain, context: Context) => Promise<T>,
): Promise<T> {
  const drain = openDrain(context);
  const nested = nestedContext(context, { signal: drain.cut });
  context.onClose(nested.close);
  try {
    return await work(drain, nested);
  } finally {
    drain.end();
  }
}
