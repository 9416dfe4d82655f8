// A service that is far away: behind a proxy that delays every byte, with TLS or without, and a
// count of the round trips that a client waited for.
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

/** Since the last {@link FarService.reset}. */
export interface Trips {
  /**
   * Each request with the number of round trips after which its answer arrived, handshakes of TCP
   * and TLS included.
   */
  readonly requests: readonly {
    readonly line: string;
    readonly body: string;
    readonly trip: number;
  }[];
  /** Round trips one after the other: each began because the one before had ended. */
  readonly sequential: number;
  /** Connections. */
  readonly handshakes: number;
}

export interface FarService {
  readonly url: string;
  /** The certificate that a client must trust, e.g. in NODE_EXTRA_CA_CERTS. */
  readonly certificate: string;
  trips(): Trips;
  reset(): void;
  /** From now on a byte takes so long to the service and its answer back. */
  moveTo(tripMs: number): void;
  /** Closes all connections, as services do with idle ones. */
  cut(): void;
  /** How many connections clients hold open. */
  connections(): number;
  stop(): Promise<void>;
}

/** @param tripMs how long a byte takes to the service and its answer back */
export async function startFarService(
  handle: RequestListener,
  tripMs: number,
  protocol: 'https' | 'http' = 'https',
): Promise<FarService> {
  const folder = mkdtempSync(join(tmpdir(), 'far-service-'));
  const { key, cert } = makeCertificate(folder);
  const handshakeTrips = protocol === 'https' ? 2 : 1;
  /**
   * The trip that each connection of the proxy has made once its handshakes are over, by the port
   * it has at the server.
   */
  const connections = new Map<number | undefined, number>();
  const open = new Set<Socket>();
  const counted = {
    handshakes: 0,
    requests: [] as { line: string; body: string; trip: number }[],
    arrived: [] as { at: number; trip: number }[],
  };
  /** The latest trip whose answer the client had at that moment. */
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
    // The kernel accepts at once; from far away the first byte leaves when that answer has come
    // back.
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

/** Hands every request on to another server. */
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

/** Hands bytes and the end on in their order, each at the moment that `arrival` gives it. */
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
