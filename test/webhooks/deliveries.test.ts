// Tests the three ways of delivering a webhook event: to a URL with unchanged bytes, to a command
// on stdin, and to a reader of the event stream in order.
import { createServer } from 'node:http';
import { describe, expect, onTestFinished } from 'vitest';
import type { StoredEvent } from '../../src/store/events/event-store.js';
import {
  environmentOf,
  runFor,
  forwardTo,
  openForwarder,
  parseTarget,
} from '../../src/webhooks/targets.js';
import { readPayload } from '../../src/webhooks/events.js';
import { createTail } from '../../src/webhooks/listen.js';
import { nowhere, payload, received, test } from './support.js';

const stored = (body: string): StoredEvent => ({
  ...received(payload('t1')),
  ...nowhere,
  id: 7,
  body: Buffer.from(body),
});
const never = new AbortController().signal;

async function target(
  answer: number | 'none',
): Promise<{ url: URL; seen: { headers: object; body: Buffer }[] }> {
  const seen: { headers: object; body: Buffer }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      seen.push({ headers: request.headers, body: Buffer.concat(chunks) });
      if (answer === 'none') request.socket.destroy();
      else response.writeHead(answer).end('whatever');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return {
    url: new URL(
      `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}/in`,
    ),
    seen,
  };
}

describe('webhook forwarder', () => {
  test('forwards the unchanged bytes and signature of an event', async () => {
    const { url, seen } = await target(204);
    const forwarder = openForwarder({
      target: url,
      signatureHeader: 'X-Acmepay-Signature',
    });
    onTestFinished(() => forwarder.close());
    const event = stored('{"txnId": "t1" , "odd":"\u00fc"}\r\n');
    expect(
      await forwardTo(
        forwarder,
        () => 0,
        () => undefined,
      )(event, never),
    ).toEqual({ kind: 'delivered' });
    expect(seen[0]?.body).toEqual(event.body);
    expect(seen[0]?.headers).toMatchObject({
      'x-acmepay-signature': event.signature,
      'content-type': 'application/json',
    });
  });

  test('sends the user name and password of the address in a header', async () => {
    const { url, seen } = await target(204);
    const named = new URL(url);
    [named.username, named.password] = ['shop', 'pass word'];
    const forwarder = openForwarder({ target: named, signatureHeader: 'X-Servicepay-Signature' });
    onTestFinished(() => forwarder.close());
    expect(await forwarder.post(stored('{}'))).toBe(204);
    const authorization = `Basic ${Buffer.from('shop:pass word').toString('base64')}`;
    expect(seen[0]?.headers).toMatchObject({ authorization });
  });

  test.for([
    ['status 400', 'for the transaction only', 400, 'transaction'],
    ['status 404', 'for the transaction only', 404, 'transaction'],
    ['status 429', 'for the whole consumer', 429, 'consumer'],
    ['status 500', 'for the whole consumer', 500, 'consumer'],
    ['status 302', 'for the whole consumer', 302, 'consumer'],
    ['a lost connection', 'for the whole consumer', 'none', 'consumer'],
  ] as const)('plans a retry after %s, %s', async ([, , answer, scope]) => {
    const { url } = await target(answer);
    const forwarder = openForwarder({
      target: url,
      signatureHeader: 'X-Servicepay-Signature',
    });
    onTestFinished(() => forwarder.close());
    expect(
      await forwardTo(
        forwarder,
        () => 0,
        () => undefined,
      )(stored('{}'), never),
    ).toMatchObject({ kind: 'retry', scope });
  });

  test('takes localhost:3000 as an http address', () => {
    expect(parseTarget('localhost:3000').href).toBe('http://localhost:3000/');
  });

  test.for(['ftp://x', 'not an address', ''])(
    'refuses "%s" as the address to forward events to',
    (text) => {
      expect(() => parseTarget(text)).toThrow(/is not an http or https URL/);
    },
  );
});

describe('webhook command', () => {
  const run = (
    command: string,
    event = stored('{"txnId":"t1","txnState":"completed","updatedAt":5}'),
    signal = never,
    stopping = never,
  ) => {
    const chunks: Buffer[] = [];
    const verdict = runFor({
      command,
      env: { PATH: process.env['PATH'] },
      stopping,
      onOutput: (chunk) => chunks.push(chunk),
      onExit: () => undefined,
    })(event, signal);
    return verdict.then((each) => ({ verdict: each, output: Buffer.concat(chunks).toString() }));
  };

  test('passes the body on stdin and the event in the environment of the command', async () => {
    const { verdict, output } = await run(
      'cat; echo " $SVCPAY_TXN_ID $SVCPAY_TXN_STATE $SVCPAY_EVENT_ID"',
    );
    expect(output).toBe('{"txnId":"t1","txnState":"completed","updatedAt":5} t1 completed 7\n');
    expect(verdict).toEqual({ kind: 'delivered' });
  });

  test.for([
    ['reports an event as failed', 'exit 3', { kind: 'failed', reason: 'exit code 3' }],
    ['plans a retry of an event', 'exit 75', { kind: 'retry', scope: 'transaction' }],
    ['reports an event as failed', 'kill -9 $$', { kind: 'failed', reason: 'ended by SIGKILL' }],
  ] as const)(
    'runFor derives the result of a delivery: it %s if the command ends with "%s"',
    async ([, command, verdict]) => {
      expect((await run(command)).verdict).toMatchObject(verdict);
    },
  );

  test('reports an event as delivered when its command exits, even if other processes of the command still run', async () => {
    const { verdict, output } = await run('sleep 60 & echo $!');
    process.kill(Number(output));
    expect(verdict).toEqual({ kind: 'delivered' });
  });

  test('kills a command that ignores SIGTERM and plans a retry of its event', async () => {
    const { verdict } = await run(
      'trap "" TERM; while :; do sleep 0.1; done',
      undefined,
      AbortSignal.timeout(200),
    );
    expect(verdict).toMatchObject({ kind: 'retry', scope: 'transaction' });
  });

  test.for(['kill -INT $$', 'exit 130'])(
    'plans a retry of an event if Ctrl-C ends the command (%s)',
    async (command) => {
      const { verdict } = await run(command, undefined, never, AbortSignal.abort());
      expect(verdict).toMatchObject({ kind: 'retry', scope: 'transaction' });
    },
  );

  test('keeps event fields out of the command line and secrets out of the environment', async () => {
    const hostile = stored(
      JSON.stringify({ txnId: '$(echo never)', txnState: '`id`', msg: 'a\0b', updatedAt: 1 }),
    );
    const { output } = await run('echo "$SVCPAY_TXN_ID $SVCPAY_TXN_STATE $SVCPAY_MSG"', hostile);
    expect(output).toBe('$(echo never) `id` ab\n');
    const env = environmentOf(hostile, {
      SVCPAY_WEBHOOK_SECRET: 's',
      SVCPAY_API_SECRET: 's',
      PGPASSWORD: 's',
      SVCPAY_DATABASE_URL: 'postgres://me:s@db/x',
      SVCPAY_HOME: 'h',
    });
    expect(env).toMatchObject({ SVCPAY_HOME: 'h' });
    expect(
      Object.entries(env).filter(([, value]) => value === 's' || value?.includes(':s@')),
    ).toEqual([]);
  });
});

describe('webhook event stream', () => {
  const read = (event: StoredEvent) => ({ event, payload: readPayload(event.body) });

  test('streams every event once and in order even to a slow reader', async ({ store }) => {
    const tail = createTail(store);
    const seen: number[] = [];
    const reading = (async () => {
      for await (const {
        event: { id },
        payload,
      } of tail.events()) {
        seen.push(payload === undefined ? NaN : id);
        if (id % 500 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      }
    })();
    for (let part = 0; part < 20; part += 1) {
      const events = Array.from({ length: 150 }, (_, n) => received(payload(`t${part}-${n}`)));
      tail.push((await store.append(events, [], () => nowhere)).map(read));
    }
    tail.close();
    await reading;
    expect(seen).toEqual(Array.from({ length: 3_000 }, (_, n) => n + 1));
  });

  test('skips events that were stored before the stream started', async ({ store }) => {
    await store.append([received(payload('old'))], [], () => nowhere);
    const tail = createTail(store);
    tail.push((await store.append([received(payload('new'))], [], () => nowhere)).map(read));
    tail.close();
    const seen: (string | null)[] = [];
    for await (const { payload: event } of tail.events()) seen.push(event?.txnId ?? null);
    expect(seen).toEqual(['new']);
  });
});
