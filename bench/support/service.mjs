// A service in a separate process, which only returns prepared responses, so that the bench
// measures the client.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { loadFar } from './far.mjs';

/**
 * Starts the service with the given number of transactions in its history. Resolves with the
 * settings of a client, and with `stop`.
 * @param tripMs the round-trip time over TLS, or 0 for plain HTTP without a delay
 */
export async function startService(transactions = 0, { pageSize = 100, tripMs = 0 } = {}) {
  const child = spawn(
    process.execPath,
    [fileURLToPath(import.meta.url), `${transactions}`, `${pageSize}`, `${tripMs}`],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [line] = await once(child.stdout, 'data');
  const { url, certificate } = JSON.parse(line);
  const env = {
    SVCPAY_BASE_URL: url,
    SVCPAY_API_KEY: 'bench',
    SVCPAY_API_SECRET: 'bench',
    ...(certificate !== undefined && { NODE_EXTRA_CA_CERTS: certificate }),
  };
  return { url, env, stop: () => child.kill() };
}

function transaction(n) {
  const createdAt = Date.UTC(2026, 0, 1) - n * 60_000;
  const side = {
    ccy: 'BTC',
    method: 'lightning',
    reqStatus: '2',
    createAt: createdAt,
    updatedAt: createdAt + 1000,
  };
  return {
    txnId: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    txnState: 'completed',
    accountId: 'ne01-bench',
    extRefId: `order-${n}`,
    note: 'coffee, and a cake',
    fxRate: 1,
    createdAt,
    sourceReq: {
      ...side,
      amtRequested: 0.0005,
      amtSettled: 0.0005,
      servicepayFees: 0.00000012,
      networkFees: 0.00000002,
    },
    destReq: { ...side, amtRequested: 0.0005, amtSettled: 0.0005 },
  };
}

async function serve(total, pageSize, tripMs) {
  const pages = Array.from({ length: Math.ceil(total / pageSize) }, (_, index) => {
    const count = Math.min(pageSize, total - index * pageSize);
    const data = Array.from({ length: count }, (_, n) => transaction(index * pageSize + n));
    return Buffer.from(
      JSON.stringify({ data, pagination: { page: index + 1, limit: pageSize, total } }),
    );
  });
  const beyond = JSON.stringify({
    data: [],
    pagination: { page: pages.length + 1, limit: pageSize, total },
  });
  const at = new Date(0).toISOString();
  const wallet = {
    id: 'w',
    ccy: 'BTC',
    amount: 1,
    availableBalance: 1,
    accountId: 'ne01-bench',
    createdAt: at,
    updatedAt: at,
  };
  const wallets = Buffer.from(JSON.stringify({ data: [wallet] }));
  const token = JSON.stringify({
    accessToken: 'bench',
    expiredAt: Date.now() + 86_400_000,
    accountId: 'ne01-bench',
  });
  const handle = (request, response) => {
    request.resume();
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    response.setHeader('content-type', 'application/json');
    if (request.method === 'POST') response.end(token);
    else if (pathname.endsWith('/transaction'))
      response.end(pages[Number(searchParams.get('page')) - 1] ?? beyond);
    else response.end(wallets);
  };
  if (tripMs > 0) {
    const { startFarService } = await loadFar();
    return console.log(JSON.stringify(await startFarService(handle, tripMs)));
  }
  const server = createServer(handle);
  server.listen(0, '127.0.0.1', () =>
    console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await serve(...process.argv.slice(2).map(Number));
