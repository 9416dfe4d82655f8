// Compares the speed of `webhook listen` with that of a bare Node server, and counts the events
// that never reach a target with outages.
import { createHmac, randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { median } from './support/process.mjs';

const secret = 'bench-secret';
const connections = 64;
const atLeast = 5_000;
const program = resolve(import.meta.dirname, '../bin/svcpay.js');

function deliveries(count) {
  return Array.from({ length: count }, (_, n) => {
    const body = JSON.stringify({
      txnId: randomUUID(),
      extRefId: `order-${n}`,
      txnState: 'completed',
      msg: '',
      updatedAt: 1_790_000_000_000 + n,
    });
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    return Buffer.from(
      `POST /hooks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
        `X-Servicepay-Signature: ${signature}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  });
}

/**
 * Sends all deliveries over kept-alive connections. Each connection sends its next delivery after
 * the response to its previous delivery.
 */
async function deliver(port, requests, { retry = false } = {}) {
  let next = 0;
  const statuses = new Map();
  const startedAt = performance.now();
  const run = async () => {
    let socket;
    while (next < requests.length) {
      const request = requests[next++];
      for (;;) {
        const status = await exchange((socket ??= open(port)), request).catch(() => 0);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status === 0) socket = undefined;
        if (status === 200 || !retry) break;
        await delay(20);
      }
    }
    socket?.destroy();
  };
  await Promise.all(Array.from({ length: connections }, run));
  return {
    seconds: (performance.now() - startedAt) / 1000,
    statuses: Object.fromEntries(statuses),
  };
}

function open(port) {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  socket.on('error', () => undefined);
  return socket;
}

function exchange(socket, request) {
  return new Promise((done, fail) => {
    const onData = (chunk) => settle(() => done(Number(chunk.toString('latin1', 9, 12))));
    const onClose = () => settle(() => fail(new Error('closed')));
    const settle = (action) => {
      socket.off('data', onData).off('close', onClose);
      action();
    };
    if (socket.destroyed) return fail(new Error('closed'));
    socket.on('data', onData).on('close', onClose);
    socket.write(request);
  });
}

const bareSource = `
  import { createHmac, timingSafeEqual } from 'node:crypto';
  import { open } from 'node:fs/promises';
  import { createServer } from 'node:http';
  const file = await open(process.argv[1], 'a');
  createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', async () => {
      const body = Buffer.concat(chunks);
      const digest = createHmac('sha256', ${JSON.stringify(secret)}).update(body).digest();
      if (!timingSafeEqual(digest, Buffer.from(request.headers['x-servicepay-signature'], 'hex'))) {
        return response.writeHead(401).end();
      }
      await file.appendFile(body + '\\n');
      response.writeHead(200, { 'content-length': 0 }).end();
    });
  }).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
`;

async function startBare(folder) {
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', bareSource, join(folder, 'bare.log')],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [line] = await once(child.stdout, 'data');
  return { child, port: Number(line) };
}

async function startListen(folder, ...args) {
  const ready = join(folder, 'ready.json');
  rmSync(ready, { force: true });
  const env = { PATH: process.env.PATH, SVCPAY_HOME: folder, SVCPAY_WEBHOOK_SECRET: secret };
  const command = [
    program,
    'webhook',
    'listen',
    '--port',
    '0',
    '--ready-file',
    ready,
    '-o',
    'jsonl',
    ...args,
  ];
  const child = spawn(process.execPath, command, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  let lines = 0;
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
  });
  child.stderr.on('data', (chunk) => (stderr += chunk));
  while (!existsSync(ready)) {
    if (child.exitCode !== null) throw new Error(`listen ended: ${stderr}`);
    await delay(10);
  }
  return {
    child,
    exited,
    lines: () => lines,
    stderr: () => stderr,
    port: Number(new URL(JSON.parse(readFileSync(ready, 'utf8')).url).port),
  };
}

/**
 * Starts a server to which the receiver forwards events. The server alternates between periods in
 * which it accepts all events and periods in which it answers only 503. Counts how often each event
 * was accepted.
 */
async function startTarget(periodMs) {
  const seen = new Map();
  let isDown = false;
  const timer = setInterval(() => (isDown = !isDown), periodMs);
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      if (isDown) return response.writeHead(503).end();
      const { txnId } = JSON.parse(Buffer.concat(chunks).toString());
      seen.set(txnId, (seen.get(txnId) ?? 0) + 1);
      response.writeHead(200, { 'content-length': 0 }).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    seen,
    url: `http://127.0.0.1:${server.address().port}/`,
    stop: () => (clearInterval(timer), server.closeAllConnections(), server.close()),
  };
}

const inFolder = async (action) => {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-bench-'));
  try {
    return await action(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/**
 * Measures the events per second of `webhook listen` and of the bare server alternately, so that
 * other load on the machine affects both.
 */
async function speed(events, rounds) {
  const requests = deliveries(events);
  const rates = { bare: [], listen: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const kind of ['bare', 'listen']) {
      await inFolder(async (folder) => {
        const server = kind === 'bare' ? await startBare(folder) : await startListen(folder);
        const { seconds, statuses } = await deliver(server.port, requests);
        if (statuses[200] !== events) throw new Error(`${kind}: ${JSON.stringify(statuses)}`);
        rates[kind].push(events / seconds);
        server.child.kill('SIGINT');
        if (kind === 'bare') return server.child.kill('SIGKILL');
        await server.exited;
        if (server.lines() !== events)
          throw new Error(`listen printed ${server.lines()} of ${events} events`);
      });
    }
  }
  const [bare, listen] = [median(rates.bare), median(rates.listen)];
  return {
    name: `webhook listen, ${events} events`,
    measured: `${Math.round(listen)} a second`,
    bare: `${Math.round(bare)} a second, a bare server`,
    ratio: Number((listen / bare).toFixed(2)),
    target: `>= ${atLeast} a second`,
    met: listen >= atLeast,
  };
}

/**
 * Sends all events while the target is down half of the time and the listener is killed repeatedly,
 * and counts the events that never reach the target.
 */
async function losses(events, kills) {
  return inFolder(async (folder) => {
    const target = await startTarget(400);
    const requests = deliveries(events);
    const part = Math.ceil(events / (kills + 1));
    const startedAt = performance.now();
    for (let at = 0; at < events; at += part) {
      const listener = await startListen(folder, '--forward-to', target.url);
      const half = requests.slice(at, at + part);
      const isLast = at + part >= events;
      if (!isLast) {
        const sent = deliver(listener.port, half.slice(0, Math.floor(half.length * 0.9)));
        await sent;
        const rest = half.slice(Math.floor(half.length * 0.9));
        // The bench kills the listener while the listener receives the last tenth of its events.
        // Like the service, the bench sends an event again if the response is not 200.
        const interrupted = deliver(listener.port, rest);
        setTimeout(() => listener.child.kill('SIGKILL'), 30);
        await Promise.all([interrupted, listener.exited]);
        requests.push(...rest);
        continue;
      }
      await deliver(listener.port, requests.slice(at));
      while (
        target.seen.size < events &&
        listener.child.exitCode === null &&
        performance.now() - startedAt < 600_000
      )
        await delay(100);
      listener.child.kill('SIGINT');
      await listener.exited;
    }
    target.stop();
    const copies = [...target.seen.values()].reduce((sum, each) => sum + each, 0);
    const seconds = +((performance.now() - startedAt) / 1000).toFixed(1);
    const lost = events - target.seen.size;
    return {
      name: `lost of ${events} forwarded, killed ${kills} times`,
      measured: `${lost}, after ${seconds} s`,
      bare: `${copies} sent on`,
      ratio: lost / events,
      target: '0',
      met: lost === 0,
    };
  });
}

export const measure = async () => [await speed(20_000, 3), await losses(20_000, 3)];
