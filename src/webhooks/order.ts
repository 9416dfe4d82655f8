// Compares an event with the other events of its transaction, to detect duplicates, events out of
// order, and gaps.
import { isFinal } from '../formats/states.js';
import type { EarlierEvent, EventPlace, ReceivedEvent } from '../store/events/event-store.js';

/**
 * The direct transitions between states, earliest first (see "States and transitions" in the
 * specification). A transaction in any state that is not final can also fail.
 */
const next: Readonly<Record<string, readonly string[]>> = {
  quoted: ['srcintent', 'srccreated', 'completed', 'expired', 'usercanceled'],
  srcintent: ['srccreated', 'expired'],
  srccreated: ['destsent', 'completed', 'expired'],
  destsent: ['completed'],
};

const failures: readonly string[] = ['failed', 'rejected', 'error'];
const ranks = Object.keys(next);

/**
 * Returns the rank of a state in the order of transitions. A final state has the last rank, and an
 * unknown state has rank -1.
 */
const rankOf = (state: string): number => (isFinal(state) ? ranks.length : ranks.indexOf(state));

const first: EventPlace = { duplicateOf: null, outOfOrder: false, missing: [] };

/** @param earlier the earlier events of the same transaction, in any order, without duplicates */
export function placeOf(
  { txnState, updatedAt }: ReceivedEvent,
  earlier: readonly EarlierEvent[],
): EventPlace {
  if (txnState === null || updatedAt === null || earlier.length === 0) return first;
  const same = earlier.find((each) => each.txnState === txnState && each.updatedAt === updatedAt);
  if (same !== undefined) return { ...first, duplicateOf: same.id };
  const event = { txnState, updatedAt };
  const latest = earlier.reduce((a, b) => (isAfter(b, a) ? b : a));
  return isAfter(latest, event)
    ? { ...first, outOfOrder: true }
    : { ...first, missing: statesBetween(latest.txnState, txnState) };
}

type Moment = Pick<EarlierEvent, 'txnState' | 'updatedAt'>;

/**
 * Whether event `a` comes after event `b`, by their states, or by their times if the order of the
 * states is undefined.
 */
function isAfter(a: Moment, b: Moment): boolean {
  const [rankA, rankB] = [rankOf(a.txnState), rankOf(b.txnState)];
  const decides = rankA >= 0 && rankB >= 0 && rankA !== rankB;
  return decides ? rankA > rankB : a.updatedAt > b.updatedAt;
}

/**
 * Returns the states on the shortest path between two states, or an empty list if no path is known.
 */
export function statesBetween(from: string, to: string): string[] {
  if (failures.includes(to)) return [];
  const paths: string[][] = [[from]];
  for (const path of paths) {
    const state = path.at(-1) ?? '';
    if (state === to) return path.slice(1, -1);
    for (const following of next[state] ?? []) paths.push([...path, following]);
  }
  return [];
}

/**
 * Returns the states between the events of one transaction for which no event arrived, in the order
 * of transitions.
 */
export function gapsOf(events: readonly Moment[]): string[] {
  const ordered = events.toSorted((a, b) => (isAfter(a, b) ? 1 : isAfter(b, a) ? -1 : 0));
  return ordered.flatMap(({ txnState }, index) => {
    const before = ordered[index - 1];
    return before === undefined ? [] : statesBetween(before.txnState, txnState);
  });
}
