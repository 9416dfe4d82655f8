// Answers JSON-RPC batches, which the MCP library does not read: splits an array of messages into
// single messages, and joins the responses to its requests into one array.
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { isFields, jsonIn } from '../../formats/unknown.js';

interface Batch {
  /** The ids of the requests without a response. */
  readonly open: Set<unknown>;
  readonly responses: unknown[];
}

/** Returns the streams of a server that gets and sends single messages. */
export function withBatches(stdin: Readable, stdout: Writable): [Readable, Writable] {
  const batches = new Set<Batch>();
  async function* messages(): AsyncGenerator<string> {
    for await (const line of createInterface({ input: stdin })) {
      const parts = line.trimStart().startsWith('[') ? jsonIn(line) : undefined;
      if (!Array.isArray(parts)) {
        yield `${line}\n`;
        continue;
      }
      const requests = parts.filter((part) => isFields(part) && 'id' in part && 'method' in part);
      const batch = { open: new Set(requests.map(({ id }) => id)), responses: [] };
      if (batch.open.size > 0) batches.add(batch);
      for (const part of parts) yield `${JSON.stringify(part)}\n`;
    }
  }
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const message = batches.size === 0 ? undefined : jsonIn(chunk.toString('utf8'));
      const id = isFields(message) && !('method' in message) ? message['id'] : undefined;
      const batch = [...batches].find(({ open }) => open.has(id));
      if (batch === undefined) return void stdout.write(chunk, done);
      batch.open.delete(id);
      batch.responses.push(message);
      if (batch.open.size > 0) return done();
      batches.delete(batch);
      stdout.write(`${JSON.stringify(batch.responses)}\n`, done);
    },
  });
  return [Readable.from(messages(), { objectMode: false }), output];
}
