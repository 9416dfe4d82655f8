// Time and chance of a simulation: one queue of events, carried out one after the other, all drawn
// from one seed.

export interface Chance {
  /** In [0, 1). */
  next(): number;
  /** A whole number from 0 to below `n`. */
  below(n: number): number;
  hits(probability: number): boolean;
  pick<T>(choices: readonly [T, ...T[]]): T;
}

/** The generator "sfc32" of PractRand: small, quick, and the same everywhere. */
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
  /** False where it was taken back. */
  readonly happens: () => boolean;
}

export interface World {
  readonly chance: Chance;
  now(): number;
  /** Lets something happen after so many ms; the returned function takes it back. */
  after(ms: number, happen: () => void): () => void;
  pause(ms: number): Promise<void>;
  /** The line is made only where somebody reads it. */
  note(line: () => string): void;
  /** Carries out events until there are none left. Rejects when there is no end of them. */
  run(): Promise<void>;
}

const mostEvents = 60_000;

/** @param trace receives a line for everything that happens. */
export function createWorld(chance: Chance, trace: ((line: string) => void) | undefined): World {
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
        // Comes after everything that follows from the event without waiting for another one.
        if (event.happens()) await new Promise(process.nextTick);
      }
    },
  };
}

const isBefore = (a: Event, b: Event): boolean =>
  a.at < b.at || (a.at === b.at && a.order < b.order);

/** A binary heap: the earliest event is first. */
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
