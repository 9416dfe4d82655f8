// Messages of the protocol as lines on a stream: one a line, answers in any order, and all answered before the end.
import {
  isJSONRPCNotification, isJSONRPCRequest, isJSONRPCResponse, parseJSONRPCMessage, ProtocolErrorCode,
  type JSONRPCMessage, type Transport,
} from '@modelcontextprotocol/server';
import { toJson } from '../../terminal/rows/json.js';
import { readLines, type Line } from './lines.js';

export interface LineTransport extends Transport {
  /** Resolves when the input has ended and everything is answered; rejects when it cannot be read. */
  readonly ended: Promise<void>;
}

/** Larger than any invoice or note; a stranger's text cannot fill the memory. */
const longestLine = 1024 * 1024;
/** Requests beyond these wait until one is answered. */
const mostAtOnce = 8;

type Id = string | number;

export function lineTransport(input: AsyncIterable<Uint8Array | string>, write: (line: string) => void): LineTransport {
  const unanswered = new Set<Id>();
  let onAnswer = (): void => undefined;
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));

  const forget = (id: Id | undefined): void => {
    if (id !== undefined) unanswered.delete(id);
    onAnswer();
  };
  const fewerThan = async (most: number): Promise<void> => {
    while (unanswered.size >= most) await new Promise<void>((resolve) => (onAnswer = resolve));
  };
  const refuse = (id: Id | null, error: Refusal): void => write(`${toJson({ jsonrpc: '2.0', id, error })}\n`);
  const take = (line: Line): void => {
    const message = 'text' in line ? readMessage(line.text) : invalid('The message is too long.');
    if ('code' in message) return refuse(null, message);
    if (isJSONRPCRequest(message)) {
      if (unanswered.has(message.id)) return refuse(message.id, invalid('This id is in use.'));
      unanswered.add(message.id);
    }
    transport.onmessage?.(message);
    // What a client has given up is not answered.
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') forget(givenUp(message.params));
  };
  const send = (message: JSONRPCMessage): void => {
    write(`${toJson(message)}\n`);
    if (isJSONRPCResponse(message) && message.id !== undefined) forget(message.id);
  };
  const serve = async (): Promise<void> => {
    await begun;
    for await (const line of readLines(input, longestLine)) {
      take(line);
      await fewerThan(mostAtOnce);
    }
    await fewerThan(1);
  };

  const transport: LineTransport = {
    ended: serve(),
    start: async () => begin(),
    send: async (message) => send(message),
    close: async () => transport.onclose?.(),
  };
  return transport;
}

interface Refusal {
  readonly code: ProtocolErrorCode;
  readonly message: string;
}

const invalid = (message: string): Refusal => ({ code: ProtocolErrorCode.InvalidRequest, message });

function readMessage(text: string): JSONRPCMessage | Refusal {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { code: ProtocolErrorCode.ParseError, message: 'The message is not JSON.' };
  }
  try {
    return parseJSONRPCMessage(json);
  } catch {
    return invalid('The message is no request of JSON-RPC 2.0.');
  }
}

const givenUp = (params: unknown): Id | undefined => {
  const id = typeof params === 'object' && params !== null && 'requestId' in params ? params.requestId : undefined;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
};
