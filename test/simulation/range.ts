// A range of schedules as a test: what fails names its seed, so that anyone can replay it.
import { runSchedule, type ScheduleOptions } from './schedule.js';

export interface FailedSchedule {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly replay: string;
}

/** Runs the schedules of these seeds until one fails; undefined when none does. */
export async function firstFailure(
  from: number,
  to: number,
  options: ScheduleOptions = {},
): Promise<FailedSchedule | undefined> {
  for (let seed = from; seed <= to; seed += 1) {
    const violations = await runSchedule(seed, options);
    if (violations.length === 0) continue;
    const mode = options.manyMachines === true ? ' --machines' : '';
    const deviation = options.deviation === undefined ? '' : ` --deviation '${options.deviation}'`;
    return {
      seed,
      violations,
      replay: `npm run simulate -- --seed ${seed} --runs 1${mode}${deviation} --trace`,
    };
  }
  return undefined;
}
