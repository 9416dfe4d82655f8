// The embedded sandbox as the client sees it: requests go straight to the service's handler, no port is opened.
import { NetworkError, type Transport } from '../api/transport.js';
import type { Credentials } from '../api/types.js';
import { openSandbox } from '../sandbox/embedded.js';
import { openFolder, sandboxFile, type Home } from '../store/home.js';
import { embeddedUrl } from '../store/settings.js';
import { credentialName, openTokens, type KeptTokens } from '../store/tokens.js';

export interface EmbeddedService {
  readonly credentials: Credentials;
  readonly tokens: KeptTokens;
  readonly transport: Transport;
  readonly handle: (request: Request) => Promise<Response>;
  close(): Promise<void>;
}

export async function openEmbedded(home: Home, maker: string): Promise<EmbeddedService> {
  openFolder(home.data);
  const service = openSandbox({ file: sandboxFile(home), maker });
  const { apiKey, apiSecret, handle } = service;
  return {
    credentials: { apiKey, apiSecret },
    tokens: openTokens(home.config, credentialName(embeddedUrl, apiKey)),
    transport: embeddedTransport(handle),
    handle,
    close: () => service.close(),
  };
}

function embeddedTransport(handle: EmbeddedService['handle']): Transport {
  return async ({ method, url, headers, body, signal }) => {
    if (signal?.aborted) throw new NetworkError('the request was interrupted', { requestSent: false });
    const response = await handle(new Request(url, { method, headers, ...(body !== undefined && { body }) }));
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: await response.text(),
    };
  };
}
