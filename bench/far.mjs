// What people wait for: each command against a TLS service 50 ms away, beside a bare script that makes the same requests in the same
// round trips.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inFolder, inTurns, program, run } from './support/process.mjs';
import { withFarSandbox } from './support/far.mjs';

const rounds = 7;
const atMostMoreMs = 60;

/** Runs the rounds of a plan, in each of them all requests at once; `TXN` is the id of the transaction created before. */
const bareScript = `const { Agent, request } = require('node:https');
const agent = new Agent({ keepAlive: true });
const { url, token, plan } = JSON.parse(require('node:fs').readFileSync(process.argv[2], 'utf8'));
let txnId = '';
const call = ({ method, path, body }) => new Promise((resolve, reject) => {
  const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' };
  request(url + path.replace('TXN', txnId), { method, agent, headers }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk) => (text += chunk)).on('end', () => {
      if (response.statusCode >= 400) throw new Error(path + ' ' + text);
      resolve(JSON.parse(text));
    });
  }).on('error', reject).end(body || undefined);
});
(async () => {
  for (const round of plan) {
    const answers = await Promise.all(round.map(call));
    txnId = answers.find((answer) => answer.txnId)?.txnId ?? txnId;
  }
  process.exit();
})();`;

export function measure() {
  return inFolder((folder) =>
    withFarSandbox(async (far) => {
      const script = join(folder, 'bare.cjs');
      await writeFile(script, bareScript);
      const ours = (args) => run(folder, [program, ...args], far.env);
      const bare = async (plan) => {
        const file = join(folder, 'plan.json');
        await writeFile(file, JSON.stringify({ url: far.url, token: await far.token(), plan }));
        return () => run(folder, [script, file], far.env);
      };
      await ours(['wallets']);
      const rows = [];
      for (const { name, most } of await far.paying()) {
        const args = async () => (await far.paying()).find((command) => command.name === name).args;
        rows.push(await row(far, { name, most }, async () => ours(await args()), bare));
      }
      const {
        data: [{ txnId }],
      } = await far.newest();
      for (const { name, most, args } of far.reading(txnId))
        if (args.length > 0) rows.push(await row(far, { name, most }, () => ours(args), bare));
      return rows;
    }),
  );
}

async function row(far, { name, most }, ours, bare) {
  far.reset();
  await ours();
  const { requests, sequential, handshakes } = far.trips();
  const { ours: taken, floor } = await inTurns(rounds, {
    ours,
    floor: async () => (await bare(await planOf(far, requests)))(),
  });
  const moreMs = taken.ms - floor.ms;
  return {
    name,
    measured: `${taken.ms.toFixed(0)} ms: ${requests.length} requests, ${sequential} round trips, ${handshakes} handshakes`,
    bare: `${floor.ms.toFixed(0)} ms`,
    ratio: `+ ${moreMs.toFixed(0)} ms`,
    target: `${most} round trips, + ${atMostMoreMs} ms`,
    met: sequential <= most && moreMs <= atMostMoreMs,
  };
}

/** The same requests, trip by trip, for a payment of its own. */
async function planOf(far, requests) {
  const first = Math.min(...requests.map(({ trip }) => trip));
  const plan = [];
  for (const { line, body, trip } of requests) {
    const [method, path] = line.split(' ');
    const again = method === 'POST' ? await far.anotherOrder(body) : body;
    (plan[trip - first] ??= []).push({
      method,
      path: method === 'PUT' ? path.replace(/[^/]+(?=\/confirm)/, 'TXN') : path,
      body: again,
    });
  }
  // A handshake of a second connection is a round trip without a request.
  return plan.filter((round) => round !== undefined);
}
