// The embedded sandbox, which needs no port because requests go directly to the service. Scheduled
// actions run only while a process has the embedded sandbox open. Several processes may share the
// file of an embedded sandbox.
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { timerMs } from '../formats/calendar.js';
import type { Incoming, Outgoing } from './http/routing.js';
import { openService, type ServiceOptions } from './service.js';

const embeddedUrl = 'http://sandbox.localhost';

export type EmbeddedSandbox = ReturnType<typeof openSandbox>;

/**
 * Opens the sandbox on its file. Scheduled actions that became due while the sandbox was closed run
 * immediately.
 */
export function openSandbox(options: ServiceOptions) {
  const service = openService(options, () => embeddedUrl);
  const closing = new AbortController();
  const ticking = service.keepTime(closing.signal);
  return {
    ...service.credentials,
    /**
     * Answers a request, and resolves after the commit. Rejects if a fault cuts the connection. If
     * a fault leaves the request unanswered, `handle` rejects when `signal` is aborted.
     */
    async handle(incoming: Incoming, signal: AbortSignal): Promise<Outgoing> {
      const outgoing = await service.handle(incoming);
      const { delay = 0, connectionFault } = outgoing;
      if (delay > 0) await pause(timerMs(delay), undefined, { signal });
      if (connectionFault === 'silence' && !signal.aborted) await once(signal, 'abort');
      if (connectionFault !== undefined)
        throw new Error('an injected fault cut the connection to the sandbox');
      return outgoing;
    },
    /**
     * Closes the sandbox after a brief wait for the webhook deliveries in flight. When a process
     * opens the sandbox again, the sandbox sends the events that were not delivered.
     */
    async close(): Promise<void> {
      closing.abort();
      await ticking;
      await service.close();
    },
  };
}
