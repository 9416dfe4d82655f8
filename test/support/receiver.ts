// A webhook receiver for tests: records requests, with configurable answers.
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';

export interface Received {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** The received body as text. */
  readonly raw: string;
  readonly event: {
    txnId: string;
    extRefId?: string;
    txnState: string;
    msg: string;
    updatedAt: number;
  };
}

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** Returns the states of all received events, in order of arrival. */
  states(): string[];
  /**
   * Sets the statuses of the next answers, where null means that the receiver never answers; later
   * answers have status 200.
   */
  answer(...statuses: (number | null)[]): void;
  close(): Promise<void>;
}

export const hmac = (secret: string, raw: string): string =>
  createHmac('sha256', secret).update(raw).digest('hex');

/** Starts a receiver with plain http, or with https if a certificate is given. */
export async function startReceiver(tls?: { key: string; cert: string }): Promise<Receiver> {
  const received: Received[] = [];
  const statuses: (number | null)[] = [];
  const take: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        const raw = Buffer.concat(chunks).toString();
        received.push({
          method: request.method ?? '',
          headers: request.headers,
          raw,
          event: JSON.parse(raw),
        });
        const status = statuses.length === 0 ? 200 : statuses.shift();
        if (status != null) response.writeHead(status).end('ok');
      });
  };
  const server = tls === undefined ? createServer(take) : createSecureServer(tls, take);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port.');
  return {
    url: `${tls === undefined ? 'http' : 'https'}://localhost:${address.port}/hook`,
    received,
    states: () => received.map(({ event }) => event.txnState),
    answer: (...next) => void statuses.push(...next),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
