// The machines of a schedule, each with a clock, and their journals, which machines may share.
import type { Token } from '../../src/api/types.js';
import { Failure } from '../../src/formats/failure.js';
import type { CheckedPayment, Journal } from '../../src/store/journal/journal.js';
import type { Payment } from '../../src/store/journal/payment.js';
import { copyOf, emptyStore, memoryJournal, restore } from './memory-journal.js';
import type { RealJournals } from './real-journals.js';
import { accountId } from './service-model.js';
import type { Chance, World } from './world.js';

/** A journal of the schedule, which outlives the processes that write to it. */
export interface Keeper {
  readonly name: string;
  /**
   * True for a database with its own clock that several machines share; false for one machine's
   * file.
   */
  readonly isShared: boolean;
  readonly open: (isAlive: (owner: string) => boolean) => Journal;
  /** The ids of all payments that were ever written to the journal. */
  readonly ids: Set<string>;
  /** The name of the process that works on a payment, by the id of the payment. */
  readonly drivers: Map<string, string>;
  readonly read: (id: string) => Promise<Payment | undefined>;
  /** Compares the payments of a real journal with their trails. A journal in memory has none. */
  readonly check: () => Promise<readonly CheckedPayment[]>;
  /**
   * Copies the journal, and returns a function that restores the copy. `backUp` is undefined if the
   * journal is a real file.
   */
  readonly backUp: (() => () => void) | undefined;
}

/** A machine of the schedule, with the state that remains after its processes end. */
export interface Machine {
  readonly name: string;
  readonly keeper: Keeper;
  readonly token: { kept: Token | undefined };
  readonly now: () => number;
}

export interface HomesPlan {
  readonly machines: number;
  /** Whether all machines share a journal. */
  readonly isShared: boolean;
  /** Real journal files, which replace the journals in memory if they are given. */
  readonly real: RealJournals | undefined;
  readonly skewed: boolean;
}

export type Some<T> = [T, ...T[]];

export function openHomes(world: World, plan: HomesPlan): Some<Machine> {
  const { chance } = world;
  const database = plan.isShared ? inMemory('the database', true, world.now) : undefined;
  const home = (number: number): Machine => {
    const name = `home-${number}`;
    const now = plan.skewed ? skewedClock(world, chance) : world.now;
    const keeper =
      database ??
      (plan.real === undefined ? inMemory(name, false, now) : inFile(name, number, now, plan.real));
    return { name, keeper, token: { kept: firstToken }, now };
  };
  const machines: Some<Machine> = [home(0)];
  while (machines.length < plan.machines) machines.push(home(machines.length));
  return machines;
}

function inMemory(name: string, isShared: boolean, now: () => number): Keeper {
  const store = emptyStore();
  return {
    name,
    isShared,
    ids: new Set(),
    drivers: new Map(),
    open: (isAlive) => memoryJournal(store, isAlive, now),
    read: async (id) => store.rows.get(id)?.payment,
    check: async () => [],
    backUp: () => {
      const backup = copyOf(store);
      return () => restore(store, backup);
    },
  };
}

const inFile = (name: string, number: number, now: () => number, real: RealJournals): Keeper => ({
  name,
  isShared: false,
  ids: new Set(),
  drivers: new Map(),
  open: (isAlive) => real.open(number, { isAlive, now }),
  read: (id) => real.read(number, id),
  check: () => real.check(number),
  backUp: undefined,
});

const minute = 60_000;

/** Returns a clock that may have a constant error, and that may jump once. */
function skewedClock(world: World, chance: Chance): () => number {
  const start = world.now();
  const offset = chance.pick([0, 0, -5 * minute, 5 * minute, -60 * minute, 60 * minute]);
  const jump = chance.hits(0.4) ? chance.pick([-60, -1, 1, 60, 25 * 60, 25 * 60]) * minute : 0;
  const jumpsAt = start + chance.below(minute);
  return () => world.now() + offset + (world.now() < jumpsAt ? 0 : jump);
}

/**
 * The token of each machine at the start; a machine signs in again when the service refuses this
 * token.
 */
const firstToken: Token = { accessToken: 'token-0', expiresAt: Infinity, accountId };

export interface JournalFaults {
  /** Probability that a write fails because the disk is full. */
  readonly diskFull: () => number;
  /**
   * Probability of each of two faults: a call does not reach a shared database, or the answer of
   * the database is lost.
   */
  readonly silent: () => number;
}

type Gate = <T>(effect: () => Promise<T>) => Promise<T>;
const journalMs = 15;

/** What the audit needs to know about the calls that a process makes to its journal. */
export interface Tracks {
  readonly payments: Set<string>;
  /** Called when the process has claimed a payment. */
  readonly drives: (id: string) => void;
  /** Called when the process has released a payment. */
  readonly rests: (id: string) => void;
  /** The time of the last journal call that returned the state of the payment to the process. */
  latest: number;
}

/**
 * Wraps a journal so that each call and each answer takes a moment, as over a network, and may
 * fail.
 */
export function gated(
  keeper: Keeper,
  journal: Journal,
  gate: Gate,
  world: World,
  faults: JournalFaults,
  tracks: Tracks,
): Journal {
  const { chance } = world;
  const unreachable = (): boolean => keeper.isShared && chance.hits(faults.silent());
  const fail = (message: string): never => {
    throw new Failure('temporary', message);
  };
  const late =
    <A extends unknown[], T>(
      call: (...args: A) => Promise<T>,
      writes: boolean,
      tells: (result: T) => boolean = () => true,
    ) =>
    (...args: A): Promise<T> =>
      gate(async () => {
        await world.pause(chance.below(journalMs));
        if (writes && chance.hits(faults.diskFull()))
          throw new Failure('usage', 'The disk is full.');
        if (unreachable()) fail('The database is not reached.');
        const takenAt = world.now();
        const result = await call(...args);
        await world.pause(chance.below(journalMs));
        if (unreachable()) fail('The database has not answered.');
        if (tells(result)) tracks.latest = takenAt;
        return result;
      });
  const begin = late(async (...draft: Parameters<Journal['begin']>) => {
    const begun = await journal.begin(...draft);
    keeper.ids.add(begun.payment.id);
    if (begun.claim !== undefined) tracks.drives(begun.payment.id);
    return begun;
  }, true);
  const take: Journal['claim'] = async (id, owner) => {
    const claimed = await journal.claim(id, owner);
    if (claimed !== undefined) tracks.drives(id);
    return claimed;
  };
  // A failed claim does not return the state of the payment to the process.
  const claim = late(take, true, (claimed) => claimed !== undefined);
  const enter: Journal['enter'] = async (draft, found, service) => {
    const isNew = await journal.enter(draft, found, service);
    keeper.ids.add(draft.id);
    return isNew;
  };
  const release: Journal['release'] = async (claimed) => {
    await journal.release(claimed);
    tracks.rests(claimed.payment.id);
  };
  return {
    begin: async (...draft) => {
      const begun = await begin(...draft);
      tracks.payments.add(begun.payment.id);
      return begun;
    },
    claim: async (id, owner) => {
      const claimed = await claim(id, owner);
      tracks.payments.add(id);
      return claimed;
    },
    extendLease: late(journal.extendLease, true, () => false),
    write: late(journal.write, true),
    submit: late(journal.submit, true),
    release: late(release, true, () => false),
    enter: late(enter, true),
    spent: late(journal.spent, false),
    read: late(journal.read, false),
    checked: late(journal.checked, false),
    wrongTotals: late(journal.wrongTotals, false),
    trails: late(journal.trails, false),
    find: late(journal.find, false),
    named: late(journal.named, false),
    beginning: late(journal.beginning, false),
    latest: late(journal.latest, false),
    comparable: late(journal.comparable, false),
    page: late(journal.page, false),
    alike: late(journal.alike, false),
    runs: late(journal.runs, false),
    inRun: late(journal.inRun, false),
    paidInRun: late(journal.paidInRun, false),
    open: late(journal.open, false),
    openSince: late(journal.openSince, false),
    unfinished: late(journal.unfinished, false),
    mayPay: late(journal.mayPay, false),
    close: late(journal.close, false),
  };
}
