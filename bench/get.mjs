// One authenticated GET with the token in the store, against Node alone and against a bare script that does the same.
import { inFolder, inTurns, program, run } from './support/process.mjs';
import { startService } from './support/service.mjs';

const rounds = 21;

const bareText = (url) => `import { request } from 'undici';
const { body } = await request('${url}/api/v2/account/ne01-bench/wallet/', { headers: { authorization: 'Bearer bench' } });
console.log(JSON.stringify((await body.json()).data));
process.exit();`;

export function measure() {
  return inFolder(async (folder) => {
    const service = await startService();
    try {
      const { node, bare, get } = await inTurns(rounds, {
        node: () => run(folder, ['-e', '0']),
        bare: () => run(folder, ['--input-type=module', '-e', bareText(service.url)]),
        get: () => run(folder, [program, 'wallets', '--json'], service.env),
      });
      const row = (name, against, target) => ({
        name: `svcpay wallets --json, against ${name}`,
        measured: `${get.cpuMs.toFixed(1)} ms`,
        bare: `${against.cpuMs.toFixed(1)} ms`,
        ratio: Number((get.cpuMs / against.cpuMs).toFixed(2)),
        target: `<= ${target}`,
        met: get.cpuMs / against.cpuMs <= target,
      });
      return [row('node -e 0', node, 1.8), row('a bare undici script', bare, 1.3)];
    } finally {
      service.stop();
    }
  });
}
