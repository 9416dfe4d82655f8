// How often a payment that is waited for is read, and how soon its end is seen: by the schedule itself, with a clock that
// runs only while it sleeps.
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const root = resolve(import.meta.dirname, '..');
/** The most that a payment asks for beside the reads: sign-in, reference, balance, quote, list, confirmation. */
const besides = 6;
const [second, minute, hour] = [1_000, 60_000, 3_600_000];

export async function measure() {
  const bundle = join(root, 'node_modules/.cache/bench-polling.cjs');
  await build({
    entryPoints: [join(root, 'src/wallet/transaction/wait.ts')],
    outfile: bundle, bundle: true, platform: 'node', format: 'cjs', logLevel: 'error',
  });
  const { waitUntilFinal } = createRequire(import.meta.url)(bundle);
  const delays = async (from, to) => {
    let longest = 0;
    for (let at = from; at <= to; at += 50) longest = Math.max(longest, (await wait(waitUntilFinal, 'lightning', at)).seen - at);
    return longest;
  };
  const reads = async (method, ms) => (await wait(waitUntilFinal, method, ms)).reads.filter((at) => at <= ms).length;
  return [
    delay('Lightning, settled within 3 s: seen after', await delays(50, 3 * second), 300),
    delay('Lightning, settled within 3 to 10 s: seen after', await delays(3 * second + 50, 10 * second), 2 * second),
    delay('Lightning, settled within 10 to 60 s: seen after', await delays(10 * second + 50, minute), 2 * second),
    delay('Lightning, settled within 1 to 10 minutes: seen after', await delays(minute + 50, 10 * minute), 2 * second),
    requests('requests of a Lightning payment in its first minute', (await reads('lightning', minute)) + besides, 25),
    requests('requests of an on-chain payment in its first hour', (await reads('on-chain', hour)) + besides, 60),
  ];
}

/** A payment that settles then: when that is seen, and when it was read. */
async function wait(waitUntilFinal, method, settlesAt) {
  let now = 0;
  const reads = [];
  const txn = (txnState) => ({ txnId: 't', txnState, sourceReq: { method: 'servicepay' }, destReq: { method } });
  await waitUntilFinal(txn('srccreated'), { atMostMs: undefined, onChange: () => undefined }, {
    service: {
      async transaction() {
        reads.push(now);
        return txn(now >= settlesAt ? 'completed' : 'srccreated');
      },
    },
    sleep: async (ms) => void (now += ms),
    now: () => now,
    signal: new AbortController().signal,
  });
  return { seen: now, reads };
}

const delay = (name, longest, atMost) => row(`${name} at most`, `${longest} ms`, longest, atMost, `<= ${atMost} ms`);

const requests = (name, count, atMost) => row(name, `${count}`, count, atMost, `<= ${atMost}`);

const row = (name, measured, value, atMost, target) =>
  ({ name, measured, bare: '', ratio: Number((value / atMost).toFixed(2)), target, met: value <= atMost });
