// Runs programs alternately, so that other load on the machine affects all of them. Returns the
// time and memory of each program.
import { spawn } from 'node:child_process';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const program = resolve(import.meta.dirname, '../../bin/svcpay.js');

export const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/**
 * Returns a row of the result table, with the program's ratio to a bare program and the highest
 * allowed ratio.
 */
export const against = (name, taken, floor, bare, atMost) => ({
  name,
  measured: `${taken.ms.toFixed(1)} ms, ${taken.cpuMs.toFixed(1)} ms of processor`,
  bare: `${bare.ms.toFixed(1)} ms, ${bare.cpuMs.toFixed(1)} ms of processor: ${floor}`,
  ratio: Number((taken.ms / bare.ms).toFixed(2)),
  target: `<= ${atMost}`,
  met: taken.ms / bare.ms <= atMost,
});

export async function inFolder(action) {
  const folder = await mkdtemp(join(tmpdir(), 'svcpay-bench-'));
  try {
    return await action(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The processor time in ms, over all processors, which a process writes when it ends. On a busy
 * machine, processor time is more reliable than the clock.
 */
const probe = `process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  const memoryMb = process.resourceUsage().maxRSS / 1024;
  require('node:fs').writeFileSync(process.env.SVCPAY_BENCH_FILE, JSON.stringify({ cpuMs: (user + system) / 1000, memoryMb }));
});`;

/**
 * Runs Node with these arguments, and resolves with `{ ms, cpuMs, memoryMb }`.
 * @param to a file for stdout, because reading stdout in this process takes processor time
 */
export async function run(folder, args, env = {}, to = undefined) {
  const [probeFile, file] = [join(folder, 'probe.cjs'), join(folder, 'probe.json')];
  await writeFile(probeFile, probe);
  const output = to === undefined ? undefined : await open(to, 'w');
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['--require', probeFile, ...args], {
    env: { ...process.env, SVCPAY_HOME: join(folder, 'home'), SVCPAY_BENCH_FILE: file, ...env },
    stdio: ['ignore', output?.fd ?? 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => (said += chunk));
  child.stdout?.resume();
  const code = await new Promise((done) => child.once('close', done));
  const ms = performance.now() - startedAt;
  await output?.close();
  if (code !== 0) throw new Error(`node ${args.join(' ')} ended with ${code}: ${said}`);
  return { ms, ...JSON.parse(await readFile(file, 'utf8')) };
}

/**
 * Runs the programs alternately, and returns the median of each figure of each program. The medians
 * exclude the first run of each program.
 */
export async function inTurns(rounds, runners) {
  const all = Object.fromEntries(Object.keys(runners).map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, runner] of Object.entries(runners)) {
      const figures = await runner();
      if (round > 0) all[name].push(figures);
    }
  }
  const mediansOf = (runs) =>
    Object.fromEntries(
      Object.keys(runs[0]).map((figure) => [figure, median(runs.map((each) => each[figure]))]),
    );
  return Object.fromEntries(Object.entries(all).map(([name, runs]) => [name, mediansOf(runs)]));
}
