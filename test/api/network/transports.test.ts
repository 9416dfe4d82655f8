// The network transport, on real sockets, returns complete answers, and reports whether it sent a
// failed request.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { HttpRequest } from '../../../src/api/errors.js';
import { networkTransport, type OpeningTransport } from '../../../src/api/network.js';

async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('the server listens on no port');
  return address.port;
}

interface Options {
  readonly env?: Record<string, string>;
  readonly timeoutMs?: number;
}

function transport({ env = {}, timeoutMs = 5_000 }: Options = {}): OpeningTransport {
  const made = networkTransport({ env, timeoutMs });
  onTestFinished(() => made.close());
  return made;
}

const get = (url: string, more: Partial<HttpRequest> = {}): HttpRequest => ({
  method: 'GET',
  url,
  headers: {},
  ...more,
});

async function served(listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listening(createServer(listener))}`;
}

/**
 * Starts a server that answers each connection with `text` and closes it; resolves with the URL.
 */
async function sends(text: string): Promise<string> {
  const server = createTcpServer((socket) =>
    socket.on('error', () => {}).once('data', () => socket.end(text)),
  );
  return `http://127.0.0.1:${await listening(server)}`;
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
};

describe('network transport', () => {
  describe('complete answer', () => {
    test('sends a request unchanged and returns status, headers and text', async () => {
      const seen: Record<string, unknown>[] = [];
      const url = await served(async (request, response) => {
        const { method, url: target, headers } = request;
        seen.push({
          method,
          url: target,
          type: headers['content-type'],
          body: await bodyOf(request),
        });
        response
          .writeHead(418, { 'Content-Type': 'text/plain', 'X-Two': ['a', 'b'] })
          .end('Sờ mó — ₫');
      });
      const answer = await transport()({
        method: 'POST',
        url: `${url}/api/v2/x?a=1&b=%20`,
        headers: { 'content-type': 'application/json' },
        body: '{"note":"Lê — ₫"}',
      });
      expect(answer).toMatchObject({ status: 418, body: 'Sờ mó — ₫' });
      expect(answer.headers).toMatchObject({ 'content-type': 'text/plain', 'x-two': 'a, b' });
      expect(seen).toEqual([
        {
          method: 'POST',
          url: '/api/v2/x?a=1&b=%20',
          type: 'application/json',
          body: '{"note":"Lê — ₫"}',
        },
      ]);
    });

    test('accepts an empty answer to a PUT request without a body', async () => {
      const lengths: (string | undefined)[] = [];
      const url = await served((request, response) => {
        lengths.push(request.headers['content-length']);
        response.writeHead(204).end();
      });
      expect(await transport()({ method: 'PUT', url, headers: {} })).toMatchObject({
        status: 204,
        body: '',
      });
      expect(lengths).toEqual(['0']);
    });

    const packed: [string, (text: string) => Buffer][] = [
      ['gzip', gzipSync],
      ['deflate', deflateSync],
      ['br', brotliCompressSync],
      ['identity', Buffer.from],
      ['br, x-gzip', (text) => gzipSync(brotliCompressSync(text))],
    ];
    test.for(packed)('decompresses an answer with the encoding "%s"', async ([coding, pack]) => {
      const url = await served((_, response) =>
        response.writeHead(200, { 'content-encoding': coding }).end(pack('{"note":"Lê"}')),
      );
      expect((await transport()(get(url))).body).toBe('{"note":"Lê"}');
    });

    test.for([
      ['plain text labelled as gzip', 'gzip', '{}'],
      ['the unknown encoding zstd', 'zstd', '{}'],
      ['a truncated gzip body', 'gzip', gzipSync('{}').subarray(0, 12)],
    ] as const)('reports a decompression error for %s', async ([, coding, body]) => {
      const url = await served((_, response) =>
        response.writeHead(200, { 'content-encoding': coding }).end(body),
      );
      await expect(transport()(get(url))).rejects.toMatchObject({
        message: 'the response could not be decompressed',
        requestSent: true,
      });
    });

    test('returns a redirect without following it', async () => {
      const paths: (string | undefined)[] = [];
      const url = await served((request, response) => {
        paths.push(request.url);
        response.writeHead(302, { location: '/elsewhere' }).end();
      });
      expect(await transport()(get(`${url}/here`))).toMatchObject({
        status: 302,
        headers: { location: '/elsewhere' },
      });
      expect(paths).toEqual(['/here']);
    });

    test('reuses the connection for the next request', async () => {
      const ports = new Set<number | undefined>();
      const url = await served((request, response) => {
        ports.add(request.socket.remotePort);
        response.end('{}');
      });
      const send = transport();
      for (let count = 0; count < 3; count += 1) await send(get(url));
      expect(ports.size).toBe(1);
    });
  });

  test('reports the connect time only for a new connection', async () => {
    const url = await served((_request, response) => response.end('{}'));
    const send = transport();
    const [first, second] = [await send(get(url)), await send(get(url))];
    expect(first.timing).toEqual({
      connect: expect.any(Number),
      firstByte: expect.any(Number),
      total: expect.any(Number),
    });
    expect(Object.keys(second.timing ?? {})).toEqual(['firstByte', 'total']);
  });

  test('sends a binary request body unchanged', async () => {
    const bodies: Buffer[] = [];
    const url = await served((request, response) => {
      request.on('data', (chunk: Buffer) => bodies.push(chunk));
      request.on('end', () => response.end());
    });
    const bytes = Buffer.from([0x7b, 0xff, 0x00, 0x7d]);
    await transport()({ method: 'POST', url, headers: {}, body: bytes });
    expect(Buffer.concat(bodies)).toEqual(bytes);
  });

  test('stops using an idle connection before the service closes it', async () => {
    const ports = new Set<number | undefined>();
    const server = createServer((request, response) => {
      ports.add(request.socket.remotePort);
      response.end('{}');
    });
    server.keepAliveTimeout = 2_000;
    const url = `http://127.0.0.1:${await listening(server)}`;
    const send = transport();
    await send(get(url));
    await new Promise((resolve) => setTimeout(resolve, 1_300));
    await send(get(url));
    expect(ports.size).toBe(2);
  });

  test('opens a connection per request after a request was lost on a reused connection', async () => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\n{}');
        socket.once('data', () => socket.destroy());
      });
    });
    const url = `http://127.0.0.1:${await listening(server)}`;
    const send = transport();
    await send(get(url));
    await expect(send(get(url))).rejects.toMatchObject({ requestSent: true, wasClosed: true });
    for (let count = 0; count < 3; count += 1)
      await expect(send(get(url))).resolves.toMatchObject({ status: 200 });
  });

  describe('incomplete answer', () => {
    const broken: [string, string, string][] = [
      ['an empty answer', '', 'the connection closed'],
      ['half of the header', 'HTTP/1.1 200 OK\r\nContent-Le', 'the connection closed'],
      [
        'less than the announced length',
        'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"txnId":',
        'the connection closed',
      ],
      [
        'a chunk without its end',
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{"txnId":',
        'the connection closed',
      ],
      [
        'a switch to another protocol',
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n',
        'the connection closed',
      ],
      ['a protocol other than HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', 'the host does not use HTTP'],
    ];
    test.for(broken)(
      'reports a failed request as sent if the server answers with %s',
      async ([, text, why]) => {
        const failure = transport()(get(await sends(text)));
        await expect(failure).rejects.toMatchObject({
          name: 'NetworkError',
          message: expect.stringContaining(why),
          requestSent: true,
        });
      },
    );

    test('reports a request as not sent after a refused connection', async () => {
      const server = createTcpServer();
      const port = await listening(server);
      server.close();
      await once(server, 'close');
      await expect(transport()(get(`http://127.0.0.1:${port}`))).rejects.toMatchObject({
        message: 'the connection was refused (ECONNREFUSED)',
        code: 'ECONNREFUSED',
        requestSent: false,
      });
    });

    test('reports a request as not sent if the host is unknown', async () => {
      await expect(transport()(get('https://no-such-host.invalid'))).rejects.toMatchObject({
        requestSent: false,
      });
    });

    test('reports a request as not sent if the port does not support TLS', async () => {
      const url = (await sends('HTTP/1.1 400 Bad Request\r\n\r\n')).replace('http:', 'https:');
      await expect(transport()(get(url))).rejects.toMatchObject({ requestSent: false });
    });

    const slow: [string, (response: ServerResponse) => void][] = [
      ['no header', () => {}],
      [
        'an endless body of spaces',
        (response) => {
          response.writeHead(200);
          const drip = setInterval(() => response.write(' '), 20);
          response.on('close', () => clearInterval(drip));
        },
      ],
    ];
    test.for(slow)('reports a timeout if the server sends %s', async ([, answerSlowly]) => {
      const url = await served((_request, response) => answerSlowly(response));
      await expect(transport({ timeoutMs: 150 })(get(url))).rejects.toMatchObject({
        message: 'no data within 0.15 s',
        requestSent: true,
      });
      await expect(transport()(get(url, { timeoutMs: 100 }))).rejects.toMatchObject({
        code: 'TIMEOUT',
      });
    });

    test.for([25 * 86_400_000, Infinity])(
      'waits for an answer even if the timeout of %d ms exceeds the maximum of a timer',
      async (timeoutMs) => {
        const url = await served(
          (_request, response) => void setTimeout(() => response.end('{}'), 50),
        );
        expect(await transport({ timeoutMs })(get(url, { timeoutMs }))).toMatchObject({
          status: 200,
        });
      },
    );

    test('refuses an answer above the size limit', async () => {
      const url = await served((_request, response) => {
        response.on('error', () => {});
        response.writeHead(200, { 'content-length': 33 * 1024 * 1024 });
        response.end(Buffer.alloc(33 * 1024 * 1024, ' '));
      });
      await expect(transport()(get(url))).rejects.toMatchObject({
        message: expect.stringContaining('the response is larger than 32 MB'),
      });
    });
  });

  describe('interrupt', () => {
    test('reports that a request was sent if an interrupt stops the wait for the answer', async () => {
      const interruption = new AbortController();
      const url = await served(() => interruption.abort());
      await expect(transport()(get(url, { signal: interruption.signal }))).rejects.toMatchObject({
        code: 'ABORT_ERR',
        requestSent: true,
      });
    });

    test('sends no request after an interrupt', async () => {
      const requests: unknown[] = [];
      const url = await served((request, response) => {
        requests.push(request.url);
        response.end();
      });
      const send = transport();
      const signal = AbortSignal.abort();
      await expect(send(get(`${url}/one`, { signal }))).rejects.toMatchObject({
        requestSent: false,
      });
      await send(get(`${url}/two`));
      expect(requests).toEqual(['/two']);
    });

    test('sends no request after an interrupt during the connection set-up', async () => {
      const requests: unknown[] = [];
      const url = await served((request, response) => {
        requests.push(request.url);
        response.end();
      });
      const interruption = new AbortController();
      const send = transport();
      await send(get(`${url}/first`));
      const other = transport();
      const failure = other(get(`${url}/one`, { signal: interruption.signal }));
      interruption.abort();
      await expect(failure).rejects.toMatchObject({ requestSent: false });
      await other(get(`${url}/two`));
      expect(requests).toEqual(['/first', '/two']);
    });
  });

  test('ends open exchanges if the transport is closed', async () => {
    const send = transport();
    await send.close();
    const url = await served(() => void send.close());
    const other = send(get(url));
    await expect(other).rejects.toMatchObject({ name: 'NetworkError' });
  });

  test('refuses an invalid header before any request', async () => {
    const failure = transport()(get('http://127.0.0.1:9', { headers: { 'x-api-key': 'a\nb' } }));
    await expect(failure).rejects.toMatchObject({ name: 'NetworkError', requestSent: false });
  });
});

describe('network transport with a proxy from the environment', () => {
  async function proxy(): Promise<{ address: string; asked: string[] }> {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.writeHead(502).end();
    });
    server.on('connect', (request, socket) => {
      asked.push(`CONNECT ${request.url}`);
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    });
    return { address: `127.0.0.1:${await listening(server)}`, asked };
  }

  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'];
  test.for(names)('tunnels https requests through the proxy in %s', async (name) => {
    const { address, asked } = await proxy();
    for (const value of [address, `http://${address}`]) {
      const failure = transport({ env: { [name]: value } })(get('https://pay.example.test/x'));
      const message = 'the proxy in the environment refused the connection (407)';
      await expect(failure).rejects.toMatchObject({
        name: 'NetworkError',
        requestSent: false,
        message,
      });
    }
    expect(asked).toEqual(Array(2).fill('CONNECT pay.example.test:443'));
  });

  test('skips the proxy for hosts in NO_PROXY', async () => {
    const { address, asked } = await proxy();
    const send = transport({ env: { HTTPS_PROXY: address, no_proxy: 'localhost,.invalid' } });
    await expect(send(get('https://pay.invalid/'))).rejects.toMatchObject({ requestSent: false });
    expect(asked).toEqual([]);
  });

  test('skips the proxy for hosts on this machine', async () => {
    const { address, asked } = await proxy();
    const url = await served((_request, response) => response.end('here'));
    const send = transport({
      env: { HTTP_PROXY: address, HTTPS_PROXY: address, ALL_PROXY: address },
    });
    expect(await send(get(url))).toMatchObject({ body: 'here' });
    expect(await send(get(url.replace('127.0.0.1', 'shop.localhost')))).toMatchObject({
      body: 'here',
    });
    expect(asked).toEqual([]);
  });

  test.for(['http://:::', 'not an address', 'ftp://proxy.example'])(
    'refuses the invalid proxy address "%s"',
    async (value) => {
      const send = transport({ env: { HTTPS_PROXY: value } });
      await expect(send(get('https://pay.invalid/'))).rejects.toMatchObject({
        kind: 'usage',
        message: expect.stringContaining('proxy'),
      });
    },
  );
});

/** Expects `send` to open a second connection in advance and to use it for the next request. */
async function expectReopened(
  send: ReturnType<typeof transport>,
  url: string,
  requests: ReadonlyMap<unknown, number>,
): Promise<void> {
  await expect
    .poll(() => {
      send.open(url, 1);
      return requests.size;
    })
    .toBe(2);
  expect(await send(get(url))).toMatchObject({ body: 'here' });
  expect(requests.size).toBe(2);
}

describe('network transport with pre-opened connections', () => {
  /** Starts a server that counts the requests on each connection. */
  async function countingServer(): Promise<{ url: string; requests: Map<Socket, number> }> {
    const requests = new Map<Socket, number>();
    const server = createServer((request, response) => {
      requests.set(request.socket, (requests.get(request.socket) ?? 0) + 1);
      response.end('here');
    });
    server.on('connection', (socket) => requests.set(socket, 0));
    return { url: `http://127.0.0.1:${await listening(server)}`, requests };
  }

  test('uses pre-opened connections for later requests', async () => {
    const { url, requests } = await countingServer();
    const send = transport();
    send.open(url, 2);
    await expect.poll(() => requests.size).toBe(2);
    await Promise.all([send(get(url)), send(get(url))]);
    send.open(url, 2);
    await Promise.all([send(get(url)), send(get(url))]);
    expect([...requests.values()]).toEqual([2, 2]);
  });

  test('opens a new connection in advance after the service closed a used connection', async () => {
    const { url, requests } = await countingServer();
    const send = transport();
    await send(get(url));
    send.open(url, 1);
    expect(requests.size).toBe(1);
    const [first] = requests.keys();
    await new Promise((closed) => first?.destroy().once('close', closed));
    await expectReopened(send, url, requests);
  });

  test('opens another connection in advance if the service closed the first connection before a request', async () => {
    const { url, requests } = await countingServer();
    const send = transport();
    send.open(url, 1);
    await expect.poll(() => requests.size).toBe(1);
    for (const socket of requests.keys()) socket.destroy();
    await expectReopened(send, url, requests);
  });

  test('reports a failed pre-opened connection on the request that needs it', async () => {
    const { url } = await countingServer();
    const send = transport();
    const port = await listening(createServer());
    send.open(`http://127.0.0.1:1`, 1);
    send.open(`https://127.0.0.1:${port}`, 1);
    await expect(send(get('http://127.0.0.1:1'))).rejects.toMatchObject({
      code: 'ECONNREFUSED',
      requestSent: false,
    });
    await expect(send(get(`https://127.0.0.1:${port}`))).rejects.toMatchObject({
      requestSent: false,
    });
    expect(await send(get(url))).toMatchObject({ body: 'here' });
  });
});
