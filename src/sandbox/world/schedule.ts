// Keeps the service's clock, and runs scheduled actions in the order of their times. The database
// has a row for each scheduled action.
import * as v from 'valibot';
import type { Context } from './context.js';
import { readSetting, type Store, writeSetting } from '../storage/database.js';
import type { ClockState } from '../../formats/sandbox/answers.js';

/**
 * Runs a scheduled action. `ctx.now` is the time at which the action was due, even if the action
 * runs later.
 */
export type DueAction = (ctx: Context, subject: string) => void;

const dueRow = v.object({
  id: v.number(),
  at: v.number(),
  action: v.string(),
  subject: v.string(),
});

export function schedule(ctx: Context, action: string, subject: string, at: number): void {
  ctx.store.insert('due', { at, action, subject });
}

/** Cancels all scheduled actions for one subject, such as a transaction or a webhook delivery. */
export function unschedule(ctx: Context, subject: string): void {
  ctx.store.run('DELETE FROM due WHERE subject = ?', subject);
}

/** Makes the named actions that are scheduled for later due now. */
export function bringForward({ store, now }: Context, actions: readonly string[]): void {
  store.run(
    'UPDATE due SET at = ?1 WHERE at > ?1 AND action IN (SELECT value FROM json_each(?2))',
    now,
    JSON.stringify(actions),
  );
}

export function nextDue(store: Store): number | undefined {
  return store.one(v.object({ at: v.number() }), 'SELECT at FROM due ORDER BY at, id LIMIT 1')?.at;
}

/** Runs all due actions, including actions that become due during the run. */
export function runDueActions(ctx: Context, actions: ReadonlyMap<string, DueAction>): void {
  for (;;) {
    const row = ctx.store.one(
      dueRow,
      'SELECT * FROM due WHERE at <= ? ORDER BY at, id LIMIT 1',
      ctx.now,
    );
    if (row === undefined) return;
    const action = actions.get(row.action);
    if (action === undefined) throw new Error(`The action "${row.action}" is unknown.`);
    ctx.store.run('DELETE FROM due WHERE id = ?', row.id);
    action({ ...ctx, now: row.at }, row.subject);
  }
}

const setting = v.union([v.object({ ahead: v.number() }), v.object({ standsAt: v.number() })]);

/** Reads the service's clock. The argument `machine` is the machine's time in epoch ms. */
export function readClock(store: Store, machine: number): ClockState {
  const saved = readSetting(store, 'clock');
  if (saved === undefined) return { now: machine, frozen: false };
  const clock = v.parse(setting, JSON.parse(saved));
  return 'ahead' in clock
    ? { now: machine + clock.ahead, frozen: false }
    : { now: clock.standsAt, frozen: true };
}

/**
 * Sets the service's clock. The service's time may go back, because restoring a snapshot restores
 * the time of the snapshot.
 */
export function setClock(store: Store, machine: number, { now, frozen }: ClockState): void {
  const clock: v.InferOutput<typeof setting> = frozen
    ? { standsAt: now }
    : { ahead: now - machine };
  writeSetting(store, 'clock', JSON.stringify(clock));
}
