// Measures a batch against a service with a fixed response time, where each confirmation settles
// immediately. Compares the time of the batch with `rows x latency / concurrency`, and checks
// whether ten times as many rows take more memory.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { randomUUID } from 'node:crypto';

const program = resolve(import.meta.dirname, '../bin/svcpay.js');
const latencyMs = 200;
/** The number of sequential requests for one row: create and confirm. */
const requestsOfRow = 2;
const atLeast = 0.95;
/**
 * The largest allowed memory of a batch with ten times as many rows, as a multiple of the memory of
 * the smaller batch.
 */
const atMostMore = 1.5;

export async function measure() {
  const folder = await mkdtemp(join(tmpdir(), 'svcpay-bench-'));
  try {
    return [await pace(folder, 200, 4), await pace(folder, 1_000, 16), await memory(folder)];
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function pace(folder, rows, concurrency) {
  const service = await startService(latencyMs);
  const run = await runBatch(folder, rows, concurrency, service.url);
  service.stop();
  const bestMs = (rows * requestsOfRow * latencyMs) / concurrency;
  const ratio = bestMs / run.ms;
  return {
    name: `${rows} rows, ${concurrency} at a time`,
    measured: `${(run.ms / 1000).toFixed(1)} s`,
    bare: `${(bestMs / 1000).toFixed(1)} s, rows x latency / concurrency`,
    ratio: Number(ratio.toFixed(2)),
    target: `>= ${atLeast}`,
    met: ratio >= atLeast,
  };
}

async function memory(folder) {
  const [few, many] = [await highest(folder, 1_000), await highest(folder, 10_000)];
  const ratio = many.rss / few.rss;
  return {
    name: '10 000 rows, highest memory',
    measured: `${Math.round(many.rss / 1024)} MB, ${(many.ms / 1000).toFixed(1)} s`,
    bare: `${Math.round(few.rss / 1024)} MB with 1 000 rows`,
    ratio: Number(ratio.toFixed(2)),
    target: `<= ${atMostMore}`,
    met: ratio <= atMostMore,
  };
}

/** Each measurement starts its own service, so that every reference is unused. */
async function highest(folder, rows) {
  const service = await startService(0);
  const run = await runBatch(folder, rows, 16, service.url);
  service.stop();
  return run;
}

/**
 * Writes a batch file of `count` rows, and pays the rows with a new journal. Resolves with the
 * elapsed time and the peak memory in KiB.
 */
async function runBatch(folder, count, concurrency, url) {
  const home = await mkdtemp(join(folder, 'home-'));
  const lines = Array.from(
    { length: count },
    (_, n) => `row-${n},user${n}@example.com,${1000 + n}sat,order number ${n}`,
  );
  const file = join(home, 'rows.csv');
  await writeFile(file, ['ref,to,amount,note', ...lines, ''].join('\n'));
  const [probe, rssFile] = [join(home, 'probe.mjs'), join(home, 'rss')];
  await writeFile(probe, probeText);
  const args = [
    '--import',
    probe,
    program,
    'batch',
    file,
    '--yes',
    '--json',
    '--concurrency',
    String(concurrency),
  ];
  const env = {
    ...process.env,
    SVCPAY_HOME: home,
    SVCPAY_BASE_URL: url,
    SVCPAY_API_KEY: 'bench',
    SVCPAY_API_SECRET: 'bench',
    SVCPAY_BENCH_RSS: rssFile,
  };
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (said = (said + text).slice(-1000)));
  const code = await new Promise((done) => child.once('close', done));
  const ms = performance.now() - startedAt;
  if (code !== 0 || JSON.parse(stdout).paid !== count)
    throw new Error(`The batch ended with ${code}: ${stdout}${said}`);
  return { ms, rss: Number(await readFile(rssFile, 'utf8')) };
}

const probeText = `import { writeFileSync } from 'node:fs';
process.on('exit', () => writeFileSync(process.env.SVCPAY_BENCH_RSS, String(process.resourceUsage().maxRSS)));
`;

/**
 * Starts a service with the endpoints that a batch uses. The service completes each transaction
 * when it is confirmed.
 */
async function startService(delayMs) {
  /** The transactions in the order of their creation. */
  const transactions = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const answer = JSON.stringify(
      answerTo(request.method, new URL(request.url, 'http://localhost'), body, transactions),
    );
    const send = () => response.setHeader('Content-Type', 'application/json').end(answer);
    if (delayMs === 0) send();
    else setTimeout(send, delayMs);
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  return { url: `http://127.0.0.1:${server.address().port}`, stop: () => server.close() };
}

function answerTo(method, { pathname, searchParams }, body, transactions) {
  if (pathname.includes('/authentication/')) {
    return { accessToken: 'bench', expiredAt: Date.now() + 3_600_000, accountId: 'ne01-bench' };
  }
  if (pathname.endsWith('/wallet/')) {
    const at = new Date().toISOString();
    const wallet = {
      id: 'w',
      ccy: 'BTC',
      amount: 1000,
      availableBalance: 1000,
      accountId: 'ne01-bench',
    };
    return { data: [{ ...wallet, createdAt: at, updatedAt: at }] };
  }
  if (method === 'POST') return quote(JSON.parse(body), transactions);
  if (method === 'GET') return list(searchParams, transactions);
  const confirmed = transactions.find(({ txnId }) => txnId === pathname.split('/').at(-2));
  confirmed.txnState = 'completed';
  return confirmed;
}

/** Returns a page of transactions, newest first. */
function list(query, transactions) {
  const since = Date.parse(query.get('startTime') ?? '') || 0;
  const found = transactions.filter(({ createdAt }) => createdAt >= since).toReversed();
  const [page, limit] = [Number(query.get('page') ?? 1), Number(query.get('limit') ?? 20)];
  return {
    data: found.slice((page - 1) * limit, page * limit),
    pagination: { page, limit, total: found.length },
  };
}

function quote({ sourceReq, destReq, extRefId }, transactions) {
  const now = Date.now();
  const txn = {
    txnId: randomUUID(),
    accountId: 'ne01-bench',
    extRefId,
    txnState: 'quoted',
    fxRate: 1,
    createdAt: now,
    sourceReq: {
      ...sourceReq,
      servicepayFees: 0.00000001,
      networkFees: 0,
      expiresAt: now + 60_000,
      reqStatus: '0',
    },
    destReq: { ...destReq, amtRequested: sourceReq.amtRequested, reqStatus: '0' },
  };
  transactions.push(txn);
  return txn;
}
