// One authenticated GET with the token in the store, beside a bare script that makes the same request with Node's own HTTP.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { against, inFolder, inTurns, program, run } from './support/process.mjs';
import { startService } from './support/service.mjs';

const rounds = 31;

const bareGet = `const { get } = require('node:http');
get(process.argv[2] + '/api/v2/account/ne01-bench/wallet/', { headers: { authorization: 'Bearer bench' } }, (response) => {
  let text = '';
  response.setEncoding('utf8').on('data', (chunk) => (text += chunk)).on('end', () => {
    console.log(JSON.stringify(JSON.parse(text).data));
    process.exit();
  });
});`;

export function measure() {
  return inFolder(async (folder) => {
    const script = join(folder, 'get.cjs');
    await writeFile(script, bareGet);
    const service = await startService();
    try {
      const { bare, get } = await inTurns(rounds, {
        bare: () => run(folder, [script, service.url]),
        get: () => run(folder, [program, 'wallets', '--json'], service.env),
      });
      return [against('svcpay wallets --json', get, 'the same GET by node:http', bare, 1.6)];
    } finally {
      service.stop();
    }
  });
}
