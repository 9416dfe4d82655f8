// A distant service: a proxy delays every byte, with or without TLS, and the service counts the
// round trips for which a client waited.
import { mkdtempSync, readFileSync } from 'node:fs';
import {
  createServer as createHttp,
  request as forwardRequest,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttps } from 'node:https';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from './certificate.js';

/** The requests and round trips that were counted since the last {@link FarService.reset}. */
export interface Trips {
  /**
   * Each request, with the number of round trips after which its response arrived, including TCP
   * and TLS handshakes.
   */
  readonly requests: readonly {
    readonly line: string;
    readonly body: string;
    readonly trip: number;
  }[];
  /**
   * The length of the longest chain of round trips, each of which waited for the previous round
   * trip.
   */
  readonly sequential: number;
  /** The number of opened connections. */
  readonly handshakes: number;
}

export interface FarService {
  readonly url: string;
  /** The certificate that a client must trust, e.g. in NODE_EXTRA_CA_CERTS. */
  readonly certificate: string;
  trips(): Trips;
  reset(): void;
  /** Changes the round-trip time. */
  moveTo(tripMs: number): void;
  /** Closes all connections, as a service does with idle connections. */
  cut(): void;
  /** Returns the number of open connections of clients. */
  connections(): number;
  stop(): Promise<void>;
}

/** @param tripMs the round-trip time in ms */
export async function startFarService(
  handle: RequestListener,
  tripMs: number,
  protocol: 'https' | 'http' = 'https',
): Promise<FarService> {
  const folder = mkdtempSync(join(tmpdir(), 'far-service-'));
  const { key, cert } = makeCertificate(folder);
  const handshakeTrips = protocol === 'https' ? 2 : 1;
  /**
   * Maps the client port of each connection to the number of the round trip that completes the
   * handshakes of the connection.
   */
  const connections = new Map<number | undefined, number>();
  const open = new Set<Socket>();
  const counted = {
    handshakes: 0,
    requests: [] as { line: string; body: string; trip: number }[],
    arrived: [] as { at: number; trip: number }[],
  };
  /**
   * Returns the number of the latest round trip whose response the client had received by the given
   * time.
   */
  const tripAt = (moment: number): number =>
    counted.arrived.reduce((most, { at, trip }) => (at <= moment ? Math.max(most, trip) : most), 0);

  const options = { keepAliveTimeout: 60_000 };
  const counting: RequestListener = (request, response) => {
    const sentAt = performance.now() - tripMs / 2;
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .once('end', () => {
        const trip = Math.max(connections.get(request.socket.remotePort) ?? 0, tripAt(sentAt)) + 1;
        counted.requests.push({
          line: `${request.method} ${request.url}`,
          body: Buffer.concat(chunks).toString(),
          trip,
        });
        response.once('finish', () =>
          counted.arrived.push({ at: performance.now() + tripMs / 2, trip }),
        );
      });
    handle(request, response);
  };
  const server =
    protocol === 'http'
      ? createHttp(options, counting)
      : createHttps({ ...options, key: readFileSync(key), cert: readFileSync(cert) }, counting);
  await listening(server);
  const proxy = createServer((near) => {
    const begun = performance.now();
    counted.handshakes += 1;
    open.add(near.once('close', () => open.delete(near)));
    const trip = tripAt(begun) + handshakeTrips;
    const far = connect(portOf(server), '127.0.0.1', () => connections.set(far.localPort, trip));
    // The local kernel accepts a connection immediately, but a distant client sends its first byte
    // only after one round trip.
    delay(near, far, () => Math.max(performance.now(), begun + tripMs) + tripMs / 2);
    delay(far, near, () => performance.now() + tripMs / 2);
  });
  await listening(proxy);
  return {
    url: `${protocol}://localhost:${portOf(proxy)}`,
    certificate: cert,
    trips: () => ({
      requests: [...counted.requests],
      sequential: Math.max(0, ...counted.requests.map(({ trip }) => trip)),
      handshakes: counted.handshakes,
    }),
    reset: () => Object.assign(counted, { handshakes: 0, requests: [], arrived: [] }),
    moveTo: (ms) => {
      tripMs = ms;
    },
    connections: () => open.size,
    cut: () => server.closeAllConnections(),
    async stop() {
      server.closeAllConnections();
      await Promise.all([server, proxy].map((each) => new Promise((closed) => each.close(closed))));
    },
  };
}

/** Returns a listener that forwards every request to another server. */
export const forwardTo =
  (url: string) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    const onward = forwardRequest(
      url + (request.url ?? ''),
      { method: request.method, headers: { ...request.headers, host: new URL(url).host } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.once('error', () => response.destroy());
    request.pipe(onward);
  };

const listening = (server: Server): Promise<void> =>
  new Promise((ready) => server.listen(0, '127.0.0.1', ready));

function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return address.port;
}

/** Forwards bytes and the end of a stream in order, each at the time that `arrival` returns. */
function delay(from: Socket, to: Socket, arrival: () => number): void {
  let latest = 0;
  const later = (action: () => void): void => {
    latest = Math.max(latest, arrival());
    setTimeout(action, latest - performance.now());
  };
  from.setNoDelay(true);
  from.on('data', (bytes) => later(() => to.writable && to.write(bytes)));
  from.on('end', () => later(() => to.end()));
  from.on('error', () => to.destroy());
  from.on('close', () => later(() => to.destroy()));
}
