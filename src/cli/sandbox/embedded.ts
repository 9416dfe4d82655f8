// Runs the embedded sandbox as a transport, which passes requests directly to the sandbox's
// handler.
import { NetworkError, type Transport } from '../../api/errors.js';
import type { Credentials } from '../../api/types.js';
import { timerMs } from '../../formats/calendar.js';
import { openSandbox, type EmbeddedSandbox } from '../../sandbox/service.js';
import { sandboxFile, type Home } from '../../store/files/home.js';
import { openSqlite } from '../../store/files/sqlite-file.js';
import {
  embeddedUrl,
  credentialName,
  openTokens,
  type KeptTokens,
} from '../../store/profile/settings.js';

export interface EmbeddedService {
  readonly credentials: Credentials;
  readonly tokens: KeptTokens;
  readonly transport: Transport;
  close(): Promise<void>;
}

export async function openEmbedded(home: Home, serviceName: string): Promise<EmbeddedService> {
  const service = openSandbox({
    file: sandboxFile(home),
    openFile: openSqlite,
    maker: serviceName,
    // Allows http callbacks, because receivers of the embedded sandbox's webhooks, such as `webhook
    // listen`, run on this machine.
    allowHttpCallbacks: true,
  });
  const { apiKey, apiSecret } = service;
  return {
    credentials: { apiKey, apiSecret },
    tokens: openTokens(home.config, credentialName(embeddedUrl, apiKey)),
    transport: embeddedTransport(service),
    close: () => service.close(),
  };
}

/** The default timeout of a request to the embedded sandbox, in ms. */
const longestMs = 30_000;

function embeddedTransport(service: EmbeddedSandbox): Transport {
  return async ({ method, url, headers, body, signal, timeoutMs = longestMs }) => {
    if (signal?.aborted)
      throw new NetworkError('the request was interrupted', { requestSent: false });
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), timerMs(timeoutMs));
    const either =
      signal === undefined ? timeout.signal : AbortSignal.any([timeout.signal, signal]);
    try {
      const { pathname, search } = new URL(url);
      const incoming = {
        method,
        target: pathname + search,
        headers,
        body: Buffer.from(body ?? ''),
      };
      const answer = await service.handle(incoming, either);
      return { status: answer.status, headers: { ...answer.headers }, body: answer.body };
    } catch (cause) {
      const reason = timeout.signal.aborted
        ? 'the sandbox did not answer in time'
        : 'the connection was lost';
      throw new NetworkError(reason, { requestSent: true, cause });
    } finally {
      clearTimeout(timer);
    }
  };
}
