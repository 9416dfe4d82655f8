// npm run simulate -- --seed N --runs N: schedules from a seed on. One that fails is printed, and replays with --trace.
import { parseArgs } from 'node:util';
import { firstFailure } from './range.js';
import { runSchedule } from './schedule.js';

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, runs: { type: 'string', default: '20000' }, trace: { type: 'boolean' } },
});
const whole = (name: string, text: string): number => {
  if (!/^\d{1,15}$/.test(text)) throw new Error(`--${name} takes a whole number`);
  return Number(text);
};
const first = whole('seed', values.seed);
const last = first + whole('runs', values.runs) - 1;
const progressEvery = 50_000;
const started = performance.now();
const seconds = (): string => `${((performance.now() - started) / 1000).toFixed(0)} s`;

for (let from = first; from <= last && process.exitCode === undefined; from += progressEvery) {
  const to = Math.min(from + progressEvery - 1, last);
  const failure = await firstFailure(from, to, values.trace === true ? { trace: console.log } : {});
  if (failure !== undefined) {
    console.error(`Seed ${failure.seed} fails:\n  ${failure.violations.join('\n  ')}\nIts events:`);
    await runSchedule(failure.seed, { trace: console.error });
    console.error(`Replay it: ${failure.replay}`);
    process.exitCode = 1;
  } else {
    console.log(`${to - first + 1} schedules, every payment at most once, ${seconds()}`);
  }
}
