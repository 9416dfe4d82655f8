// npm run simulate -- --seed N --runs N [--machines]: runs the schedules of N consecutive seeds,
// and prints a failed schedule with the command that replays it.
import { parseArgs } from 'node:util';
import { openRealJournals } from './real-journals.js';
import { firstFailure } from './range.js';
import { runSchedule, type ScheduleOptions } from './schedule.js';
import { deviations } from './service-quotes.js';
import { behaviours, type Behaviour } from './service-parameters.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '4000' },
    machines: { type: 'boolean', default: false },
    /** Runs schedules in which people type whole command lines. */
    typed: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
    /** Disables the named behaviour in all schedules. Repeatable. */
    without: { type: 'string', multiple: true, default: [] },
    /** Makes many transactions differ from their orders, each by the given deviation. */
    deviation: { type: 'string' },
    /** Counts the failed schedules instead of stopping at the first failure. */
    count: { type: 'boolean', default: false },
  },
});
const whole = (name: string, text: string): number => {
  if (!/^\d{1,15}$/.test(text)) throw new Error(`--${name} takes a whole number`);
  return Number(text);
};
const behaviour = (name: string): Behaviour => {
  const found = behaviours.find((each) => each === name);
  if (found === undefined) throw new Error(`--without takes one of: ${behaviours.join(', ')}`);
  return found;
};
const deviation = deviations.find((each) => each === values.deviation);
if (values.deviation !== undefined && deviation === undefined)
  throw new Error(`--deviation takes one of: ${deviations.join(', ')}`);
const first = whole('seed', values.seed);
const last = first + whole('runs', values.runs) - 1;
const real = openRealJournals();
const without = new Set(values.without.map(behaviour));
const options: ScheduleOptions = {
  manyMachines: values.machines,
  typed: values.typed,
  without,
  real,
  ...(deviation !== undefined && { deviation }),
};
const started = performance.now();
const seconds = (): string => `${((performance.now() - started) / 1000).toFixed(0)} s`;

async function untilOneFails(): Promise<void> {
  const progressEvery = 50_000;
  for (let from = first; from <= last; from += progressEvery) {
    const failure = await firstFailure(from, Math.min(from + progressEvery - 1, last), options);
    if (failure !== undefined) return show(failure.seed, failure.violations, failure.replay);
    console.log(
      `${Math.min(from + progressEvery - 1, last) - first + 1} schedules, every payment at most once, ${seconds()}`,
    );
  }
}

async function show(seed: number, violations: readonly string[], replay: string): Promise<void> {
  console.error(`Seed ${seed} fails:\n  ${violations.join('\n  ')}\nIts events:`);
  await runSchedule(seed, { ...options, trace: console.error });
  console.error(`Replay it: ${replay}`);
  process.exitCode = 1;
}

/** Prints how often each violation occurs, with the first seeds that cause it. */
async function countFailures(): Promise<void> {
  const found = new Map<string, { seeds: number[] }>();
  for (let seed = first; seed <= last; seed += 1) {
    for (const why of new Set((await runSchedule(seed, options)).map(general))) {
      const { seeds } = found.get(why) ?? { seeds: [] };
      found.set(why, { seeds: [...seeds, seed] });
    }
  }
  const lines = [...found].toSorted(([, a], [, b]) => b.seeds.length - a.seeds.length);
  for (const [why, { seeds }] of lines)
    console.log(`${String(seeds.length).padStart(6)}  ${why}  (${seeds.slice(0, 4).join(', ')})`);
  console.log(`${last - first + 1} schedules, ${seconds()}`);
  if (found.size > 0) process.exitCode = 1;
}

/** Removes the names and numbers that differ between schedules, so that equal violations match. */
const general = (violation: string): string =>
  violation
    .replaceAll(/\b(txn|home|ref|wish|w)-?\d+(~\d+)?(@home)?/g, '$1')
    .replaceAll(/[\w-]{20,}|\d[\d.]*/g, '#')
    .slice(0, 200);

if (values.trace) await runSchedule(first, { ...options, trace: console.log });
else if (values.count) await countFailures();
else await untilOneFails();
await real.close();
