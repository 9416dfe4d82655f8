// Runs a range of schedules. A failure reports its seed, so that anyone can replay the schedule.
import { runSchedule, type ScheduleOptions } from './schedule.js';

export interface FailedSchedule {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly replay: string;
}

/**
 * Runs the schedules of these seeds, and resolves with the first failure, or undefined if all pass.
 */
export async function firstFailure(
  from: number,
  to: number,
  options: ScheduleOptions = {},
): Promise<FailedSchedule | undefined> {
  for (let seed = from; seed <= to; seed += 1) {
    const violations = await runSchedule(seed, options);
    if (violations.length === 0) continue;
    const mode =
      options.typed === true ? ' --typed' : options.manyMachines === true ? ' --machines' : '';
    const deviation = options.deviation === undefined ? '' : ` --deviation '${options.deviation}'`;
    return {
      seed,
      violations,
      replay: `npm run simulate -- --seed ${seed} --runs 1${mode}${deviation} --trace`,
    };
  }
  return undefined;
}
