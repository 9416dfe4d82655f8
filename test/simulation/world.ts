// Simulated time and randomness: one queue runs all events in order, and one seed decides every
// random choice.

export interface Chance {
  /** A random number in [0, 1). */
  next(): number;
  /** A random whole number from 0 to `n` - 1. */
  below(n: number): number;
  hits(probability: number): boolean;
  pick<T>(choices: readonly [T, ...T[]]): T;
}

/**
 * The generator sfc32 of PractRand, which is small and fast, and returns the same numbers on every
 * machine.
 */
export function createChance(seed: number): Chance {
  let [a, b, c, d] = [seed | 0, Math.floor(seed / 2 ** 32) | 0, 0x9e3779b9, 1];
  const next = (): number => {
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  for (let round = 0; round < 15; round += 1) next();
  const below = (n: number): number => Math.floor(next() * n);
  return {
    next,
    below,
    hits: (probability) => next() < probability,
    pick: (choices) => choices[below(choices.length)] ?? choices[0],
  };
}

interface Event {
  readonly at: number;
  readonly order: number;
  /** Runs the event and returns true, or returns false if the event was cancelled. */
  readonly happens: () => boolean;
}

export interface World {
  readonly chance: Chance;
  now(): number;
  /** Schedules an event after this many ms, and returns a function that cancels the event. */
  after(ms: number, happen: () => void): () => void;
  pause(ms: number): Promise<void>;
  /** Adds a line to the trace; calls `line` only if there is a trace. */
  note(line: () => string): void;
  /** Runs all events in order; rejects if a schedule has more than `mostEvents` events. */
  run(): Promise<void>;
}

const mostEvents = 60_000;

/** The next tick comes after all microtasks that an event started. */
const nextTick = (): Promise<void> => new Promise(process.nextTick);

/** Waits until no real file is read, written or synced, while the time of the world stands still. */
export async function untilFilesRest(): Promise<void> {
  for (let quiet = 0; quiet < 20; quiet += 1) {
    await new Promise(setImmediate);
    if (process.getActiveResourcesInfo().some((each) => each.includes('Req'))) quiet = -1;
  }
}

/**
 * @param trace receives each line of the trace
 * @param settle waits for the effects of an event
 */
export function createWorld(
  chance: Chance,
  trace: ((line: string) => void) | undefined,
  settle = nextTick,
): World {
  const queue: Event[] = [];
  let now = Date.UTC(2025, 0, 15);
  const start = now;
  let order = 0;

  const after = (ms: number, happen: () => void): (() => void) => {
    let isOn = true;
    const happens = (): boolean => {
      if (!isOn) return false;
      happen();
      return true;
    };
    push(queue, { at: now + ms, order: (order += 1), happens });
    return () => void (isOn = false);
  };
  return {
    chance,
    now: () => now,
    after,
    pause: (ms) => new Promise((resolve) => after(ms, resolve)),
    note: (line) => trace?.(`${String(now - start).padStart(8)} ${line()}`),
    async run() {
      for (let count = 0; queue.length > 0; count += 1) {
        if (count > mostEvents) throw new Error('The schedule does not come to an end.');
        const event = pop(queue);
        now = event.at;
        if (event.happens()) await settle();
      }
    },
  };
}

const isBefore = (a: Event, b: Event): boolean =>
  a.at < b.at || (a.at === b.at && a.order < b.order);

/** Adds an event to a binary heap, whose first element is the earliest event. */
function push(heap: Event[], event: Event): void {
  let at = heap.length;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent]!;
    if (!isBefore(event, above)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = event;
}

function pop(heap: Event[]): Event {
  const first = heap[0]!;
  const last = heap.pop()!;
  if (heap.length === 0) return first;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
    if (!isBefore(heap[child]!, last)) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = last;
  return first;
}
