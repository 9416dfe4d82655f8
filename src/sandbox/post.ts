// Posts one delivery over http or https, optionally with an extra certificate authority.
import { rootCertificates } from 'node:tls';
import request from 'undici/lib/api/api-request.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import { basicAuth, messageOf } from '../formats/text.js';

export interface PostRequest {
  readonly method: 'POST' | 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /**
   * A certificate authority (PEM) that deliveries trust in addition to the well-known authorities.
   */
  readonly ca: string | null;
  readonly signal: AbortSignal;
}

/** The status of the response, or the reason why no response came. */
export type PostResult =
  | { readonly status: number; readonly error: null }
  | { readonly status: null; readonly error: string };

export interface Poster {
  /** Posts a delivery once and follows no redirects. The returned promise never rejects. */
  post(request: PostRequest): Promise<PostResult>;
  close(): void;
}

export function createPoster(): Poster {
  const agents = new Map<PostRequest['ca'], Agent>();

  function agentOf(ca: PostRequest['ca']): Agent {
    const agent =
      agents.get(ca) ??
      new Agent(ca === null ? {} : { connect: { ca: [...rootCertificates, ca] } });
    agents.set(ca, agent);
    return agent;
  }

  return {
    async post({ method, url, headers, body, ca, signal }) {
      try {
        const target = new URL(url);
        const response = await request.call(agentOf(ca), {
          origin: target.origin,
          path: target.pathname + target.search,
          method,
          headers: { ...headers, ...basicAuth(target) },
          body,
          signal,
        });
        // Reads the body of the response to the end, because otherwise Node does not reuse the
        // connection.
        response.body.on('error', () => undefined).resume();
        return { status: response.statusCode, error: null };
      } catch (error) {
        return {
          status: null,
          error: signal.aborted ? 'no answer in time' : messageOf(error) || String(error),
        };
      }
    },
    close() {
      for (const agent of agents.values()) void agent.destroy();
    },
  };
}
