// Measures the time and memory of exporting a long history from a service 50 ms away to a file.
// Compares the export with a loop that only downloads and parses the same pages with the same
// concurrency. Measures the memory of the books over the same history.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inFolder, inTurns, program, run } from './support/process.mjs';
import { startService } from './support/service.mjs';

const rounds = 3;
const tripMs = 50;
const many = 100_000;
const [atMostTimes, atMostSeconds, atMostMb] = [1.5, 10, 256];
/** The highest memory of the books in MB, by the number of transactions. */
const atMostMbOfBooks = { [many]: 160, 1_000_000: 200 };

const bareLoop = `const { Agent, request } = require('node:https');
const [url, size, total] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const get = (page) => new Promise((resolve, reject) => {
  request(url + '/api/v2/transaction?limit=' + size + '&page=' + page, { agent }, (response) => {
    const chunks = [];
    response.on('data', (chunk) => chunks.push(chunk)).on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString())));
  }).on('error', reject).end();
});
(async () => {
  await get(1);
  let next = 2;
  const worker = async () => { while (next <= Number(total) / Number(size)) await get(next++); };
  await Promise.all(Array.from({ length: 8 }, worker));
  process.exit();
})();`;

export function measure() {
  return inFolder(async (folder) => {
    const script = join(folder, 'bare.cjs');
    await writeFile(script, bareLoop);
    const rows = [];
    for (const [pageSize, formats] of [
      [100, ['csv']],
      [1_000, ['csv', 'jsonl']],
    ]) {
      const service = await startService(many, { pageSize, tripMs });
      const exported = (format) => () =>
        run(folder, [program, 'tx', 'export', '-o', format], service.env, join(folder, 'export'));
      try {
        const { bare, ...taken } = await inTurns(rounds, {
          bare: () => run(folder, [script, service.url, `${pageSize}`, `${many}`], service.env),
          ...Object.fromEntries(formats.map((format) => [format, exported(format)])),
        });
        for (const [format, figures] of Object.entries(taken))
          rows.push(row(format, pageSize, figures, bare));
      } finally {
        service.stop();
      }
    }
    for (const [count, atMost] of Object.entries(atMostMbOfBooks))
      rows.push(...(await books(folder, count, atMost)));
    return rows;
  });
}

const seconds = (ms) => `${(ms / 1000).toFixed(2)} s`;

function row(format, pageSize, taken, bare) {
  const ratio = taken.ms / bare.ms;
  const isSlow = pageSize === 100 && taken.ms > atMostSeconds * 1000;
  return {
    name: `${many} transactions as ${format}, pages of ${pageSize}`,
    measured: `${seconds(taken.ms)}, ${seconds(taken.cpuMs)} of processor, ${Math.round(taken.memoryMb)} MB`,
    bare: `${seconds(bare.ms)}, ${seconds(bare.cpuMs)} of processor`,
    ratio: Number(ratio.toFixed(2)),
    target: `<= ${atMostTimes}, ${pageSize === 100 ? `${atMostSeconds} s, ` : ''}${atMostMb} MB`,
    met: ratio <= atMostTimes && !isSlow && taken.memoryMb <= atMostMb,
  };
}

/** Measures the memory of the commands that read the whole history. */
async function books(folder, count, atMost) {
  const { env, stop } = await startService(count, { pageSize: 1_000, tripMs });
  const home = { ...env, SVCPAY_HOME: join(folder, `home-${count}`) };
  const balance = ['1btc', '--on', '2020-09-01', '--note', 'opening balance', '--yes'];
  const rows = [];
  try {
    await run(folder, [program, 'statement', 'adjust', ...balance], home);
    for (const args of [['statement', '-o', 'csv'], ['reconcile']]) {
      const { ms, memoryMb } = await run(folder, [program, ...args], home, join(folder, 'books'));
      rows.push({
        name: `${count} transactions in svcpay ${args[0]}, highest memory`,
        measured: `${seconds(ms)}, ${Math.round(memoryMb)} MB`,
        bare: '-',
        ratio: '-',
        target: `<= ${atMost} MB`,
        met: memoryMb <= atMost,
      });
    }
  } finally {
    stop();
  }
  return rows;
}
