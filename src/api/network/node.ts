// The transport for a few requests, by Node's own HTTP: it is there already, and starts in a third of the time of undici.
import type { Agent, ClientRequest } from 'node:http';
import type { RequestOptions } from 'node:https';
import { isIP } from 'node:net';
import { timerMs } from '../../formats/duration.js';
import { codeOf } from '../../formats/unknown.js';
import type { HttpRequest, HttpResponse } from '../transport.js';
import { resolvable } from './address.js';
import { exchange, type Course, type NetworkTransport } from './exchange.js';

/** As much as is used of `node:http` or `node:https`. */
interface Http {
  readonly Agent: new (options: { keepAlive: boolean; timeout: number }) => Agent;
  readonly request: (options: RequestOptions) => ClientRequest;
}

interface Way extends Pick<Http, 'request'> {
  readonly agent: Agent;
  /** The service closes connections that it calls open: what is sent on one that was used before would be lost. */
  closesUnsaid: boolean;
}

/** @param timeoutMs for a whole exchange, from the first byte out to the last byte in; a request may allow itself less */
export function nodeTransport(timeoutMs: number): NetworkTransport {
  const ways = new Map<string, Promise<Way>>();
  const wayOf = (protocol: string): Promise<Way> => {
    const way = ways.get(protocol) ?? open(protocol, timeoutMs);
    ways.set(protocol, way);
    return way;
  };
  const send = async (request: HttpRequest): Promise<HttpResponse> => {
    const url = new URL(request.url);
    const way = await wayOf(url.protocol);
    return exchange(request, timeoutMs, (course) => carry(way, url, request, course));
  };
  const close = async (): Promise<void> => {
    for (const { agent } of await Promise.all(ways.values())) agent.destroy();
  };
  return Object.assign(send, { close });
}

/** With a time limit of its own an agent heeds the service's: it leaves a connection a second before the service does. */
async function open(protocol: string, timeout: number): Promise<Way> {
  const { Agent, request }: Http = protocol === 'https:' ? await import('node:https') : await import('node:http');
  return { request, agent: new Agent({ keepAlive: true, timeout: timerMs(timeout) }), closesUnsaid: false };
}

function carry(way: Way, url: URL, { method, headers, body }: HttpRequest, course: Course): void {
  const { protocol, port, pathname, search } = url;
  const name = url.hostname.replace(/^\[|\]$/g, '');
  const outgoing = way.request({
    protocol,
    host: resolvable(name),
    port,
    path: pathname + search,
    method,
    headers: { host: url.host, ...headers },
    agent: !way.closesUnsaid && way.agent,
    ...(protocol === 'https:' && isIP(name) === 0 && { servername: name }),
  });
  course.begins((reason) => outgoing.destroy(reason));
  outgoing.once('socket', (socket) => {
    if (!socket.connecting) course.leaves();
    else socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', () => course.leaves());
  });
  outgoing.on('error', (error) => {
    const isClosed = outgoing.reusedSocket && wasClosed(error);
    way.closesUnsaid ||= isClosed;
    course.fail(error, isClosed);
  });
  // Such as by a switch to another protocol.
  const endUnanswered = (): void => course.fail(new Error('the connection broke off without an answer'));
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

const wasClosed = (error: Error): boolean => /^(?:ECONNRESET|EPIPE)$/.test(codeOf(error));
