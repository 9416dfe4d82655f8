// The relation of an event to the other events of its transaction: a duplicate, out of order, or
// with a gap before it.
import { isFinal } from '../formats/states.js';
import type { EarlierEvent, EventPlace, ReceivedEvent } from '../store/events/event-store.js';

/**
 * Direct transitions (specification: States and transitions), earliest first. Every state may
 * become a failure.
 */
const next: Readonly<Record<string, readonly string[]>> = {
  quoted: ['srcintent', 'srccreated', 'completed', 'expired', 'usercanceled'],
  srcintent: ['srccreated', 'expired'],
  srccreated: ['destsent', 'completed', 'expired'],
  destsent: ['completed'],
};

const failures: readonly string[] = ['failed', 'rejected', 'error'];
const ranks = Object.keys(next);

/** The position of a state in that order. Final states come last. An unknown state has -1. */
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

/** The order of states decides. Time decides only if the states have no order. */
function isAfter(a: Moment, b: Moment): boolean {
  const [rankA, rankB] = [rankOf(a.txnState), rankOf(b.txnState)];
  const decides = rankA >= 0 && rankB >= 0 && rankA !== rankB;
  return decides ? rankA > rankB : a.updatedAt > b.updatedAt;
}

/** The states on the shortest path between two states, or none if no path is known. */
export function statesBetween(from: string, to: string): string[] {
  if (failures.includes(to)) return [];
  const ways: string[][] = [[from]];
  for (const way of ways) {
    const state = way.at(-1) ?? '';
    if (state === to) return way.slice(1, -1);
    for (const following of next[state] ?? []) ways.push([...way, following]);
  }
  return [];
}

/** The states missing between the events of one transaction, in their correct order. */
export function gapsOf(events: readonly Moment[]): string[] {
  const ordered = events.toSorted((a, b) => (isAfter(a, b) ? 1 : isAfter(b, a) ? -1 : 0));
  return ordered.flatMap(({ txnState }, index) => {
    const before = ordered[index - 1];
    return before === undefined ? [] : statesBetween(before.txnState, txnState);
  });
}
