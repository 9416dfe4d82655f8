// The sandbox without a port. Requests go directly to its handler, and time passes only while the
// sandbox is open. Several processes may share its file.
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { timerMs } from '../formats/duration.js';
import type { Incoming, Outgoing } from './http/routing.js';
import { openService, type ServiceOptions } from './service.js';

const embeddedUrl = 'http://sandbox.localhost';

export type EmbeddedSandbox = ReturnType<typeof openSandbox>;

/** Opens the sandbox on its file. Actions that became due while the file was closed run at once. */
export function openSandbox(options: ServiceOptions) {
  const service = openService(options, () => embeddedUrl);
  const closing = new AbortController();
  const ticking = service.keepTime(closing.signal);
  return {
    ...service.credentials,
    /**
     * Resolves after the commit. Rejects if a fault cuts the connection. If a fault leaves the
     * request unanswered, it rejects when the signal is aborted.
     */
    async handle(incoming: Incoming, signal: AbortSignal): Promise<Outgoing> {
      const outgoing = await service.handle(incoming);
      const { delay = 0, connectionFault } = outgoing;
      if (delay > 0) await pause(timerMs(delay), undefined, { signal });
      if (connectionFault === 'silence' && !signal.aborted) await once(signal, 'abort');
      if (connectionFault !== undefined)
        throw new Error('a fault of the sandbox cut the connection');
      return outgoing;
    },
    /** Waits briefly for webhook posts. The other posts follow after the next request. */
    async close(): Promise<void> {
      closing.abort();
      await ticking;
      await service.close();
    },
  };
}
