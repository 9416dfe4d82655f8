// The export of a long history, against a loop that only downloads and parses the same pages; and whether its memory
// stays the same with three times as much. It goes into a file, as a person keeps it.
import { join } from 'node:path';
import { inFolder, inTurns, program, run } from './support/process.mjs';
import { startService } from './support/service.mjs';

const rounds = 3;
/** Below, V8's young generation is still growing, which says nothing of the program. */
const [many, more] = [100_000, 300_000];
const atLeast = 0.8;
/** Memory that three times the transactions may take besides. */
const atMostMore = 1.3;

const inSeconds = (ms) => `${(ms / 1000).toFixed(2)} s`;

const bareText = (url) => `import { request } from 'undici';
for (let page = 1, left = 1; left > 0; page += 1) {
  const { body } = await request('${url}/api/v2/transaction?limit=100&page=' + page);
  const { pagination } = JSON.parse(await body.text());
  left = pagination.total - page * pagination.limit;
}
process.exit();`;

export function measure() {
  return inFolder(async (folder) => {
    const [long, longer] = [await startService(many), await startService(more)];
    const exported = (format, service) => () =>
      run(folder, [program, 'tx', 'export', '--format', format], service.env, join(folder, 'export'));
    try {
      const { bare, most, ...formats } = await inTurns(rounds, {
        bare: () => run(folder, ['--input-type=module', '-e', bareText(long.url)]),
        most: exported('csv', longer),
        csv: exported('csv', long),
        jsonl: exported('jsonl', long),
        hledger: exported('hledger', long),
        beancount: exported('beancount', long),
      });
      const speeds = Object.entries(formats).map(([format, { ms, cpuMs }]) => ({
        name: `${many} transactions as ${format}`,
        measured: `${inSeconds(ms)}, ${inSeconds(cpuMs)} of processor`,
        bare: `${inSeconds(bare.ms)}, ${inSeconds(bare.cpuMs)} of processor: download and parse`,
        ratio: Number((bare.ms / ms).toFixed(2)),
        target: `>= ${atLeast}`,
        met: bare.ms / ms >= atLeast,
      }));
      const ratio = most.memoryMb / formats.csv.memoryMb;
      const memory = {
        name: `highest memory with ${more} transactions`,
        measured: `${Math.round(most.memoryMb)} MB`,
        bare: `${Math.round(formats.csv.memoryMb)} MB with ${many}`,
        ratio: Number(ratio.toFixed(2)),
        target: `<= ${atMostMore}`,
        met: ratio <= atMostMore,
      };
      return [...speeds, memory];
    } finally {
      long.stop();
      longer.stop();
    }
  });
}
