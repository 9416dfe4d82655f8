// Posts one delivery over http or https, optionally with an extra certificate authority.
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { createSecureContext, rootCertificates } from 'node:tls';
import { errorOf } from '../../formats/unknown.js';

export interface PostRequest {
  readonly method: 'POST' | 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Certificate authority to trust besides the well-known ones, PEM. */
  readonly ca: string | null;
  readonly signal: AbortSignal;
}

/** The status of the response, or the reason why there was none. */
export type PostResult =
  | { readonly status: number; readonly error: null }
  | { readonly status: null; readonly error: string };

export interface Poster {
  /** Posts once without following redirects. Never rejects. */
  post(request: PostRequest): Promise<PostResult>;
  close(): void;
}

export function createPoster(): Poster {
  const plain = new HttpAgent({ keepAlive: true });
  let secure: { readonly ca: string | null; readonly agent: HttpsAgent } | undefined;

  function secureAgent(ca: string | null): HttpsAgent {
    if (secure !== undefined && secure.ca === ca) return secure.agent;
    secure?.agent.destroy();
    secure = { ca, agent: new HttpsAgent({ keepAlive: true, ...trust(ca) }) };
    return secure.agent;
  }

  return {
    post({ method, url, headers, body, ca, signal }) {
      return new Promise((resolve) => {
        const isSecure = url.startsWith('https:');
        const options = {
          method,
          headers: { ...headers, 'content-length': Buffer.byteLength(body) },
          signal,
        };
        const fail = (error: Error): void =>
          resolve({
            status: null,
            error: signal.aborted ? 'no answer in time' : error.message || String(error),
          });
        try {
          const posted = isSecure
            ? httpsRequest(url, { ...options, agent: secureAgent(ca) })
            : httpRequest(url, { ...options, agent: plain });
          posted.on('error', fail);
          posted.on('response', (response) => {
            // The body is drained so that the connection can be reused.
            response.on('error', () => undefined).resume();
            resolve({ status: response.statusCode ?? 0, error: null });
          });
          posted.end(body);
        } catch (error) {
          fail(errorOf(error));
        }
      });
    },
    close() {
      plain.destroy();
      secure?.agent.destroy();
    },
  };
}

const trust = (ca: string | null) =>
  ca === null ? {} : { secureContext: createSecureContext({ ca: [...rootCertificates, ca] }) };
