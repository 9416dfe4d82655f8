// One authenticated GET with the token in the store, and a whole payment, each against a bare script that makes the same
// requests with Node's own HTTP.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { against, inFolder, inTurns, program, run } from './support/process.mjs';
import { startService } from './support/service.mjs';
import { startSandboxServer } from './support/sandbox-server.mjs';

const rounds = 31;

const bareGet = `const { get } = require('node:http');
get(process.argv[2] + '/api/v2/account/ne01-bench/wallet/', { headers: { authorization: 'Bearer bench' } }, (response) => {
  let text = '';
  response.setEncoding('utf8').on('data', (chunk) => (text += chunk)).on('end', () => {
    console.log(JSON.stringify(JSON.parse(text).data));
    process.exit();
  });
});`;

/** The requests that svcpay was seen to make for a payment, one after the other. */
const barePayment = `const { Agent, request } = require('node:http');
const agent = new Agent({ keepAlive: true });
const [url, token, count, invoice] = process.argv.slice(2);
const call = (method, path, body) => new Promise((resolve, reject) => {
  const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' };
  request(url + path, { method, agent, headers }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk) => (text += chunk)).on('end', () => resolve(JSON.parse(text)));
  }).on('error', reject).end(body && JSON.stringify(body));
});
(async () => {
  for (let n = 0; n < Number(count) - 2; n += 1) await call('GET', '/api/v2/transaction?limit=100&page=1&time=other');
  const quote = await call('POST', '/api/v2/transaction', {
    sourceReq: { ccy: 'BTC', method: 'servicepay' },
    destReq: { ccy: 'BTC', method: 'lightning', amtRequested: 0.00001, reqDetails: { address: invoice } },
    extRefId: 'bench-' + process.pid + '-' + Date.now(),
  });
  const paid = await call('PUT', '/api/v2/transaction/' + quote.txnId + '/confirm');
  console.log(JSON.stringify(paid));
  process.exit();
})();`;

export function measure() {
  return inFolder(async (folder) => {
    const [get, payment] = [join(folder, 'get.cjs'), join(folder, 'payment.cjs')];
    await Promise.all([writeFile(get, bareGet), writeFile(payment, barePayment)]);
    return [await wallets(folder, get), await send(folder, payment)];
  });
}

async function wallets(folder, script) {
  const service = await startService();
  try {
    const { bare, get } = await inTurns(rounds, {
      bare: () => run(folder, [script, service.url]),
      get: () => run(folder, [program, 'wallets', '--json'], service.env),
    });
    return against('svcpay wallets --json', get, 'the same GET by node:http', bare, 1.6);
  } finally {
    service.stop();
  }
}

async function send(folder, script) {
  const sandbox = await startSandboxServer();
  try {
    const pay = async () =>
      run(folder, [program, 'send', 'lightning', await sandbox.invoice(), '--yes', '--no-wait', '--json'], sandbox.env);
    await pay();
    const before = sandbox.requests();
    await pay();
    const requests = sandbox.requests() - before;
    const token = await sandbox.token();
    const { bare, paid } = await inTurns(rounds, {
      bare: async () => run(folder, [script, sandbox.url, token, String(requests), await sandbox.invoice()]),
      paid: pay,
    });
    return against(`svcpay send lightning, ${requests} requests`, paid, 'the same requests by node:http', bare, 1.5);
  } finally {
    await sandbox.stop();
  }
}
