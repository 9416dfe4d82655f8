// The clock by which limits count a day. A database uses its own clock. A file has a clock for each
// account that only grows. It adds up how far the machine's clock moved between two submissions,
// and the service's clock decides about jumps.
import * as v from 'valibot';
import type { Sql, SqlDatabase } from '../database/sql.js';
import type { ServiceTime } from './journal.js';

export interface LimitClock {
  /** Epoch ms, if no clock has jumped. */
  readonly time: number;
  /** The machine's clock at that time. */
  readonly machine: number;
  /** The service's clock at that time; null if it was unknown. */
  readonly service: number | null;
}

/** A clock that was set back, or further ahead than this, does not show how much time passed. */
const longestGapMs = 365 * 86_400_000;
/** Two clocks agree if they moved equally far, except for the time that responses take. */
const agreedMs = 60_000;

/**
 * The present time of the limit clock. If the clocks disagree about the time that passed, the
 * shorter time counts, so that no jump starts a new day early. If no clock is plausible, no time
 * has passed, so the day ends 24 hours after the jump.
 */
export function advanced(
  before: LimitClock | undefined,
  machine: number,
  service: number | null,
): LimitClock {
  if (before === undefined) return { time: machine, machine, service };
  const byMachine = machine - before.machine;
  const byService =
    service === null || before.service === null ? undefined : service - before.service;
  return { time: before.time + passed(byMachine, byService), machine, service };
}

/**
 * The reading from which time continues. A reading without the service's clock does not replace a
 * reading with it. The service has not answered in that run yet, and it decides about a jump since
 * its last answer.
 */
export const kept = (before: LimitClock | undefined, clock: LimitClock): LimitClock =>
  before === undefined || before.service === null || clock.service !== null ? clock : before;

function passed(byMachine: number, byService: number | undefined): number {
  if (byMachine >= 0 && byService !== undefined && Math.abs(byMachine - byService) <= agreedMs)
    return byMachine;
  const plausible = [byMachine, byService ?? Infinity].filter(
    (ms) => ms >= 0 && ms <= longestGapMs,
  );
  return plausible.length === 0 ? 0 : Math.min(...plausible);
}

const clockSchema = v.array(
  v.object({ time: v.number(), machine: v.number(), service: v.nullable(v.number()) }),
);

/**
 * Reads the clock of an account within a transaction, and stores the reading. After a jump, time
 * continues from it.
 */
export async function limitTime(
  sql: Sql,
  { kind }: SqlDatabase,
  account: string,
  service: ServiceTime,
): Promise<number> {
  const machine = await sql.now();
  if (kind === 'postgres') return machine;
  const [before] = v.parse(
    clockSchema,
    await sql.all('SELECT time, machine, service FROM limit_clocks WHERE account = ?', account),
  );
  const clock = advanced(before, machine, service ?? null);
  if (kept(before, clock) !== clock) return clock.time;
  const keep = `INSERT INTO limit_clocks (account, time, machine, service) VALUES (?, ?, ?, ?)
    ON CONFLICT (account) DO UPDATE
      SET time = excluded.time, machine = excluded.machine, service = excluded.service`;
  await sql.run(keep, account, clock.time, clock.machine, clock.service);
  return clock.time;
}
