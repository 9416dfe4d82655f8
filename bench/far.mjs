// Measures each command against a TLS service 50 ms away. Compares each command with a bare script
// that sends the same requests in the same round trips with `node:https`, the client of Node that
// loads fastest.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inFolder, inTurns, program, run } from './support/process.mjs';
import { withFarSandbox } from './support/far.mjs';

const rounds = 7;
const atMostMoreMs = 60;

/**
 * A script that sends the requests of a plan file in rounds. The requests of one round run at the
 * same time. In a plan, `TXN` stands for the id of the transaction that an earlier round created.
 */
const bareScript = `const https = require('node:https');
const agent = new https.Agent({ keepAlive: true });
const { url, token, plan } = JSON.parse(require('node:fs').readFileSync(process.argv[2], 'utf8'));
let txnId = '';
const call = ({ method, path, body }) => new Promise((resolve, reject) => {
  const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' };
  const request = https.request(url + path.replace('TXN', txnId), { method, agent, headers }, async (answer) => {
    let text = '';
    for await (const chunk of answer.setEncoding('utf8')) text += chunk;
    if (answer.statusCode >= 400) reject(new Error(path + ' ' + text));
    else resolve(JSON.parse(text));
  });
  request.on('error', reject).end(body || undefined);
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
      // The reads run first, because `tx pending` reads more pages if a hundred payments are newer
      // than the oldest open payment.
      for (const { args } of await far.paying()) await ours(args);
      const {
        data: [{ txnId }],
      } = await far.newest();
      const rows = [];
      for (const { name, most, args } of far.reading(txnId))
        if (args.length > 0) rows.push(await row(far, { name, most }, () => ours(args), bare));
      for (const { name, most } of await far.paying()) {
        const args = async () => (await far.paying()).find((command) => command.name === name).args;
        rows.push(await row(far, { name, most }, async () => ours(await args()), bare));
      }
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

/**
 * Returns the plan of the bare script: the requests that svcpay sent, grouped into the same round
 * trips. The plan has new references and invoices, because the service does not pay the same
 * invoice twice.
 */
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
  // A round without a request is the handshake of a second connection, so the plan omits the round.
  return plan.filter((round) => round !== undefined);
}
