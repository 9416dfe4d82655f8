// JSON-RPC 2.0 over lines, as the Model Context Protocol uses it on stdio: one message a line, answers in any order.
import * as v from 'valibot';
import { toJson } from '../../terminal/rows/json.js';
import { readLines } from './lines.js';

/** Answers one request. Throws RpcError for what the protocol calls an error. */
export type Method = (params: unknown, signal: AbortSignal) => Promise<object>;

export interface RpcDeps {
  readonly input: AsyncIterable<Uint8Array | string>;
  readonly write: (line: string) => void;
  readonly methods: ReadonlyMap<string, Method>;
  /** Told of what went wrong inside, of which the client learns only that it did. */
  readonly report: (error: unknown) => void;
  /** Ends all that is under way. */
  readonly signal: AbortSignal;
}

const codes = {
  parse: -32_700,
  request: -32_600,
  method: -32_601,
  params: -32_602,
  internal: -32_603,
} as const;

export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;

  constructor(code: keyof typeof codes, message: string) {
    super(message);
    this.code = codes[code];
  }
}

/** Larger than any invoice or note; a stranger's text cannot fill the memory. */
const longestLine = 1024 * 1024;
/** Requests beyond these wait until one is answered. */
const mostAtOnce = 8;

type Id = string | number;

const idSchema = v.union([v.pipe(v.string(), v.maxLength(256)), v.pipe(v.number(), v.safeInteger())]);
/** A JSON object, and no list. */
export const objectSchema = v.custom<Readonly<Record<string, unknown>>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);
const requestSchema = v.object({
  jsonrpc: v.literal('2.0'),
  id: v.exactOptional(idSchema),
  method: v.string(),
  params: v.exactOptional(objectSchema),
});
type Request = v.InferOutput<typeof requestSchema>;
const responseSchema = v.variant('jsonrpc', [
  v.looseObject({ jsonrpc: v.literal('2.0'), result: v.unknown() }),
  v.looseObject({ jsonrpc: v.literal('2.0'), error: v.unknown() }),
]);
const cancellationSchema = v.object({ requestId: idSchema });

/** Resolves when the input has ended and everything is answered. Never rejects for what a message says. */
export async function serveRpc({ input, write, methods, report, signal }: RpcDeps): Promise<void> {
  const running = new Map<Id, AbortController>();
  const pending = new Set<Promise<void>>();
  const send = (message: object): void => write(`${toJson({ jsonrpc: '2.0', ...message })}\n`);
  const refuse = (id: Id | null, { code, message }: RpcError): void => send({ id, error: { code, message } });

  for await (const line of readLines(input, longestLine)) {
    const message = 'text' in line ? readMessage(line.text) : new RpcError('request', 'The message is too long.');
    if (message === undefined) continue;
    if (message instanceof RpcError) refuse(null, message);
    else if (message.id === undefined) notify(message);
    else if (running.has(message.id)) refuse(message.id, new RpcError('request', 'This id is in use.'));
    else {
      const work = answer(message.id, message).finally(() => pending.delete(work));
      pending.add(work);
      if (pending.size >= mostAtOnce) await Promise.race(pending);
    }
  }
  await Promise.all(pending);

  async function answer(id: Id, { method, params }: Request): Promise<void> {
    const cancel = new AbortController();
    running.set(id, cancel);
    try {
      const found = methods.get(method);
      if (found === undefined) throw new RpcError('method', `There is no method ${method}.`);
      const result = await found(params, AbortSignal.any([signal, cancel.signal]));
      if (!cancel.signal.aborted) send({ id, result });
    } catch (error) {
      if (cancel.signal.aborted) return;
      if (error instanceof RpcError) return refuse(id, error);
      report(error);
      refuse(id, new RpcError('internal', 'Something unexpected went wrong.'));
    } finally {
      running.delete(id);
    }
  }

  /** What a client has given up is not answered; a payment that was let go goes on all the same. */
  function notify({ method, params }: Request): void {
    if (method !== 'notifications/cancelled') return;
    const read = v.safeParse(cancellationSchema, params);
    if (read.success) running.get(read.output.requestId)?.abort();
  }
}

/** Undefined for an answer, since nothing was asked. */
function readMessage(text: string): Request | RpcError | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return new RpcError('parse', 'The message is not JSON.');
  }
  const read = v.safeParse(requestSchema, json);
  if (read.success) return read.output;
  return v.is(responseSchema, json) ? undefined : new RpcError('request', 'The message is no request of JSON-RPC 2.0.');
}
