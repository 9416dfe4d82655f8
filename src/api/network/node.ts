// The transport by Node's own HTTP, which starts in a third of undici's time.
import type { Agent, ClientRequest } from 'node:http';
import type { AgentOptions, RequestOptions } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { timerMs } from '../../formats/duration.js';
import { codeOf } from '../../formats/unknown.js';
import type { HttpRequest, HttpResponse } from '../transport.js';
import { resolvable } from './address.js';
import { exchange, type Course, type OpeningTransport } from './exchange.js';

/** The used part of `node:http` or `node:https`. */
interface Http {
  readonly Agent: new (options: AgentOptions) => Agent;
  readonly request: (options: RequestOptions) => ClientRequest;
}

interface Way extends Pick<Http, 'request'> {
  readonly agent: Agent;
  readonly connect: Agent['createConnection'];
  /** Connections opened ahead and not used yet. */
  readonly ready: { readonly socket: Duplex; readonly openedAt: number }[];
  /** The service closes connections that it announced as kept alive, so requests on reused ones would be lost. */
  closesUnannounced: boolean;
}

/** @param timeoutMs for a whole exchange, from the first byte sent to the last byte received; a request may set a shorter one */
export function nodeTransport(timeoutMs: number): OpeningTransport {
  const ways = new Map<string, Promise<Way>>();
  const wayOf = (protocol: string): Promise<Way> => {
    const way = ways.get(protocol) ?? openWay(protocol, timeoutMs);
    ways.set(protocol, way);
    return way;
  };
  const send = async (request: HttpRequest): Promise<HttpResponse> => {
    const url = new URL(request.url);
    const way = await wayOf(url.protocol);
    return exchange(request, timeoutMs, (course) => carry(way, url, request, course));
  };
  const open = (address: string, connections: number): void => {
    const url = new URL(address);
    wayOf(url.protocol).then(
      (way) => openAhead(way, url, connections),
      () => undefined,
    );
  };
  const close = async (): Promise<void> => {
    for (const { agent, ready } of await Promise.all(ways.values())) {
      agent.destroy();
      for (const { socket } of ready) socket.destroy();
    }
  };
  return Object.assign(send, { open, close });
}

/** With `timeout` set, an agent respects the service's keep-alive limit and closes a connection one second earlier. */
const agentOptions = (timeoutMs: number): AgentOptions => ({
  keepAlive: true,
  timeout: timerMs(timeoutMs),
  ALPNProtocols: ['http/1.1'],
});

async function openWay(protocol: string, timeoutMs: number): Promise<Way> {
  const { Agent, request }: Http =
    protocol === 'https:' ? await import('node:https') : await import('node:http');
  const agent = new Agent(agentOptions(timeoutMs));
  const way: Way = {
    request,
    agent,
    connect: agent.createConnection.bind(agent),
    ready: [],
    closesUnannounced: false,
  };
  agent.createConnection = (options, callback) => takeReady(way) ?? way.connect(options, callback);
  return way;
}

/** Services may close connections that are idle for longer. */
const longestIdleMs = 4_000;

function takeReady({ ready }: Way): Duplex | undefined {
  for (let next = ready.shift(); next !== undefined; next = ready.shift()) {
    if (!next.socket.destroyed && performance.now() - next.openedAt < longestIdleMs)
      return next.socket;
    next.socket.destroy();
  }
  return undefined;
}

/** Opens connections until this many are idle. Errors surface in the request that needs one. */
function openAhead(way: Way, url: URL, connections: number): void {
  const { agent, ready } = way;
  const fresh = ready.filter(
    ({ socket, openedAt }) => !socket.destroyed && performance.now() - openedAt < longestIdleMs,
  );
  const idle = Object.values(agent.freeSockets).flat().length + fresh.length;
  for (let missing = connections - idle; missing > 0 && !way.closesUnannounced; missing -= 1) {
    const socket = way.connect({ ...agentOptions(Infinity), ...placeOf(url) });
    // Reading lets the socket notice that the service has closed it.
    socket?.on('error', () => undefined).resume();
    if (socket) ready.push({ socket, openedAt: performance.now() });
  }
}

function placeOf({ protocol, hostname, port }: URL) {
  const name = hostname.replace(/^\[|\]$/g, '');
  const isNamed = protocol === 'https:' && isIP(name) === 0;
  return {
    host: resolvable(name),
    port: port || (protocol === 'https:' ? 443 : 80),
    ...(isNamed && { servername: name }),
  };
}

function carry(way: Way, url: URL, { method, headers, body }: HttpRequest, course: Course): void {
  const { protocol, pathname, search } = url;
  const outgoing = way.request({
    protocol,
    ...placeOf(url),
    path: pathname + search,
    method,
    headers: { host: url.host, ...headers },
    agent: !way.closesUnannounced && !(resends && method !== 'GET') && way.agent,
  });
  course.begins((reason) => outgoing.destroy(reason));
  outgoing.once('socket', (socket) => {
    if (!isConnecting(socket)) return course.leaves();
    socket
      .once('connect', () => course.connects())
      .once(protocol === 'https:' ? 'secureConnect' : 'connect', () => course.leaves());
  });
  outgoing.on('error', (error) => {
    const isClosed = outgoing.reusedSocket && wasClosed(error);
    way.closesUnannounced ||= isClosed;
    course.fail(error, isClosed);
  });
  // Such as after a protocol upgrade.
  const endUnanswered = (): void =>
    course.fail(new Error('the connection broke off without an answer'));
  outgoing.once('response', (incoming) => {
    outgoing.off('close', endUnanswered);
    course.head(incoming.statusCode ?? 0, incoming.headers);
    incoming.on('data', (bytes: Buffer) => course.chunk(bytes));
    incoming.on('error', (error) => course.fail(error));
    incoming.once('end', () => course.end());
  });
  outgoing.once('close', endUnanswered);
  outgoing.end(body);
}

/** Deno resends a request, a confirmation too, when a reused connection breaks: there, only reads reuse connections. */
const resends = 'deno' in process.versions;

/** Includes the TLS handshake, before which no byte of a request leaves. */
const isConnecting = (socket: Socket): boolean =>
  socket.connecting || ('secureConnecting' in socket && socket.secureConnecting === true);

const wasClosed = (error: Error): boolean => /^(?:ECONNRESET|EPIPE)$/.test(codeOf(error));
