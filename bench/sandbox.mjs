// The sandbox: how soon it is ready, how many transactions a second it makes durable, how long a page of a list takes.
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { Agent, createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import Database from 'libsql';
import { median } from './support/process.mjs';

const program = resolve(import.meta.dirname, '../bin/svcpay.js');
const connections = 16;
const stored = 100_000;
/** A page, wherever it lies. */
const pageMs = 50;

export async function measure() {
  const folder = await mkdtemp(join(tmpdir(), 'svcpay-bench-'));
  try {
    return [...await readiness(folder), ...await throughput(folder), ...await lists(folder)];
  } finally {
    await rm(folder, { recursive: true });
  }
}

const round = (value, digits = 1) => Number(value.toFixed(digits));

/** Starts the sandbox; resolves at its ready line with how long that took. */
async function start(file, ...more) {
  const begun = performance.now();
  const args = ['sandbox', 'start', '--port', '0', '--json', '--auto-pay', 'off', '--file', file, ...more];
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, SVCPAY_HOME: join(file, '..') },
  });
  const line = await new Promise((ready, failed) => {
    createInterface(child.stdout).once('line', ready);
    child.once('exit', (code) => failed(new Error(`The sandbox ended with ${code}.`)));
  });
  const readyMs = performance.now() - begun;
  const stop = () => new Promise((done) => {
    child.removeAllListeners('exit').once('exit', done);
    child.kill('SIGINT');
  });
  return { ...JSON.parse(line), readyMs, stop };
}

async function readiness(folder) {
  const [bare, fresh, existing] = [[], [], []];
  for (let i = 0; i < 11; i += 1) {
    bare.push(await bareStart());
    const file = join(folder, `start-${i}.db`);
    for (const times of [fresh, existing]) {
      const sandbox = await start(file);
      times.push(sandbox.readyMs);
      await sandbox.stop();
    }
  }
  const node = median(bare);
  return [['fresh file', fresh], ['existing file', existing]].map(([name, times]) => {
    const ms = median(times);
    return {
      name: `ready, ${name}`, measured: `${round(ms)} ms`, bare: `${round(node)} ms, node -e 0`,
      ratio: round(ms / node, 2), target: '<= 150 ms', met: ms <= 150,
    };
  });
}

function bareStart() {
  const begun = performance.now();
  const child = spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' });
  return new Promise((done) => child.once('exit', () => done(performance.now() - begun)));
}

const agent = new Agent({ keepAlive: true, maxSockets: connections });

function call(url, method, path, headers = {}, body = '') {
  return new Promise((answered, failed) => {
    const outgoing = request(url + path, {
      agent, method,
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers },
    }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part) => (text += part)).on('end', () => {
        if (answer.statusCode === 200) answered(text === '' ? undefined : JSON.parse(text));
        else failed(new Error(`${method} ${path}: ${answer.statusCode} ${text}`));
      });
    });
    outgoing.on('error', failed).end(body);
  });
}

async function login({ url, apiKey, apiSecret }) {
  const body = JSON.stringify({ at: performance.now() });
  const signature = createHmac('sha256', apiSecret).update(`${apiKey}&payload=${body}`).digest('hex');
  const headers = { 'x-api-key': apiKey, 'x-api-signature': signature };
  const { accessToken } = await call(url, 'POST', '/api/v2/authentication/token-signature', headers, body);
  return { authorization: `Bearer ${accessToken}` };
}

const swap = JSON.stringify({
  sourceReq: { ccy: 'USDT', method: 'servicepay', amtRequested: 0.01 }, destReq: { ccy: 'USD', method: 'servicepay' },
});
const receive = JSON.stringify({
  sourceReq: { ccy: 'BTC', method: 'lightning', reqDetails: {} },
  destReq: { ccy: 'BTC', method: 'servicepay', amtRequested: 0.00001, reqDetails: {} },
});

/** Units of work a second with all connections busy. */
async function perSecond(count, work) {
  let left = count;
  // What idled meanwhile the server may be about to close.
  agent.destroy();
  const begun = performance.now();
  await Promise.all(Array.from({ length: connections }, async () => {
    while (left-- > 0) await work();
  }));
  return count / ((performance.now() - begun) / 1000);
}

async function throughput(folder) {
  const sandbox = await start(join(folder, 'speed.db'));
  const bare = await bareServer(join(folder, 'bare.log'));
  const auth = await login(sandbox);
  const transact = (body) => async () => {
    const { txnId } = await call(sandbox.url, 'POST', '/api/v2/transaction', auth, body);
    await call(sandbox.url, 'PUT', `/api/v2/transaction/${txnId}/confirm`, auth);
  };
  const twice = async () => {
    await call(bare.url, 'POST', '/', {}, swap);
    await call(bare.url, 'PUT', '/');
  };
  const rows = [];
  for (const [name, body] of [['swap', swap], ['Lightning receive', receive]]) {
    await perSecond(1000, transact(body));
    const [rates, bareRates] = [[], []];
    for (let i = 0; i < 3; i += 1) {
      bareRates.push(await perSecond(2000, twice));
      rates.push(await perSecond(2000, transact(body)));
    }
    const [rate, bareRate] = [median(rates), median(bareRates)];
    rows.push({
      name: `create + confirm, ${name}`, measured: `${round(rate, 0)}/s`, bare: `${round(bareRate, 0)}/s, echo + fsync`,
      ratio: round(rate / bareRate, 2), target: '>= 1000/s', met: rate >= 1000,
    });
  }
  await sandbox.stop();
  await bare.stop();
  return rows;
}

/** As little as a durable service can do: takes the body, appends it to a file, waits for the disk, answers. */
async function bareServer(file) {
  const log = await open(file, 'a');
  const server = createServer(async (incoming, answer) => {
    const parts = [];
    for await (const part of incoming) parts.push(part);
    await log.write(`${Buffer.concat(parts)}\n`);
    await log.datasync();
    answer.setHeader('content-type', 'application/json').end('{"data":[]}');
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await log.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, stop };
}

async function lists(folder) {
  const [small, large] = [join(folder, 'small.db'), join(folder, 'large.db')];
  const results = [];
  for (const [file, count] of [[small, 20_000], [large, stored]]) {
    const sandbox = await start(file);
    const auth = await login(sandbox);
    for (const body of [swap, receive]) await call(sandbox.url, 'POST', '/api/v2/transaction', auth, body);
    await sandbox.stop();
    multiply(file, count);
    results.push(await timePages(file, count));
  }
  const [short, long] = results;
  return Object.keys(short).map((name) => ({
    name: `page of 20, ${name}`,
    measured: `${round(long[name], 2)} ms of ${stored}`,
    bare: `${round(short[name], 2)} ms of 20000`,
    ratio: round(long[name] / short[name], 2), target: `<= ${pageMs} ms`, met: long[name] <= pageMs,
  }));
}

/** Copies the two transactions of the file until there are many, in several states, a second apart. */
function multiply(file, count) {
  const db = new Database(file);
  const changed = {
    id: `id || '-' || n`, number: '2 + n', created_at: `created_at + 1000 * n`,
    state: `CASE WHEN n % 1000 = 0 THEN 'failed' WHEN n % 7 = 0 THEN 'expired' ELSE 'completed' END`,
  };
  const columns = db.prepare('PRAGMA table_info(txn)').all().map(({ name }) => name);
  db.exec(`PRAGMA synchronous = OFF; BEGIN; UPDATE txn SET created_at = created_at - ${1000 * count}`);
  db.prepare(
    `WITH RECURSIVE series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < ?)
     INSERT INTO txn (${columns}) SELECT ${columns.map((name) => changed[name] ?? name)}
     FROM series JOIN txn ON number = 1 + n % 2`,
  ).run([count]);
  db.exec('COMMIT');
  db.close();
}

async function timePages(file, count) {
  const sandbox = await start(file);
  const auth = await login(sandbox);
  const middle = new Date(Date.now() - 500 * count).toISOString();
  const last = (share) => Math.max(1, Math.floor(count * share / 20));
  const queries = {
    'first': 'time=other',
    'last': `time=other&page=${last(1)}`,
    'last, state and method': `time=other&txnStatuses=completed&srcMethods=lightning&page=${last(0.4)}`,
    'rare state': `time=other&txnStatuses=failed&page=${last(0.001)}`,
    'excluded method, half the time': `time=other&endTime=${middle}&excludedSrcMethods=lightning&page=${last(0.2)}`,
  };
  const times = {};
  for (const [name, query] of Object.entries(queries)) {
    const one = async () => {
      const begun = performance.now();
      await call(sandbox.url, 'GET', `/api/v2/transaction?${query}`, auth);
      return performance.now() - begun;
    };
    const measured = [];
    for (let i = 0; i < 40; i += 1) measured.push(await one());
    times[name] = median(measured.slice(10));
  }
  await sandbox.stop();
  return times;
}
