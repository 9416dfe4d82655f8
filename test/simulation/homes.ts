// The homes of a schedule: machines with a clock of their own, and the journals that they have
// alone or share.
import type { Token } from '../../src/api/types.js';
import { Failure } from '../../src/formats/failure.js';
import type { Journal } from '../../src/store/journal/journal.js';
import type { Payment, PaymentDraft } from '../../src/store/journal/payment.js';
import { copyOf, emptyStore, memoryJournal, restore } from './memory-journal.js';
import type { RealJournals } from './real-journals.js';
import { accountId } from './service-model.js';
import type { Chance, World } from './world.js';

/** Where payments are kept; it outlives the processes that write to it. */
export interface Keeper {
  readonly name: string;
  /** A database for several machines, with a clock of its own, in place of a file of one. */
  readonly isShared: boolean;
  readonly open: (isAlive: (owner: string) => boolean) => Journal;
  /** Ids of all that was ever opened in it. */
  readonly ids: Set<string>;
  /** By payment, the process that is at work on it. */
  readonly drivers: Map<string, string>;
  readonly read: (id: string) => Promise<Payment | undefined>;
  /** Copies what is kept now, and returns how to put the copy back; undefined for real files. */
  readonly backUp: (() => () => void) | undefined;
}

/** What stays when a process is gone. */
export interface Machine {
  readonly name: string;
  readonly keeper: Keeper;
  readonly token: { kept: Token | undefined };
  readonly now: () => number;
}

export interface HomesPlan {
  readonly machines: number;
  /** One journal for all of them. */
  readonly isShared: boolean;
  /** Files in place of the model, where given. */
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
  backUp: undefined,
});

const minute = 60_000;

/** Some clocks are wrong all the time, some jump once. */
function skewedClock(world: World, chance: Chance): () => number {
  const start = world.now();
  const offset = chance.pick([0, 0, -5 * minute, 5 * minute, -60 * minute, 60 * minute]);
  const jump = chance.hits(0.4) ? chance.pick([-60, -1, 1, 60, 25 * 60, 25 * 60]) * minute : 0;
  const jumpsAt = start + chance.below(minute);
  return () => world.now() + offset + (world.now() < jumpsAt ? 0 : jump);
}

/** Until it expires, which the service decides, nobody has to sign in. */
const firstToken: Token = { accessToken: 'token-0', expiresAt: Infinity, accountId };

export interface JournalFaults {
  /** Probability that a write finds no room. */
  readonly diskFull: () => number;
  /** Probability that a shared database is not reached, or that its answer is lost. */
  readonly silent: () => number;
}

type Gate = <T>(effect: () => Promise<T>) => Promise<T>;
const journalMs = 15;

/** What a process does in its journal. */
export interface Tracks {
  readonly payments: Set<string>;
  /** Called when it has taken an intent over, and when it has given one back. */
  readonly drives: (id: string) => void;
  readonly rests: (id: string) => void;
  /**
   * When the journal last took or told something: of what it never told, a process knows nothing.
   */
  latest: number;
  /** When that was last about a payment, and not about the list alone. */
  told: number;
}

/**
 * The journal as over a network: each call takes effect a moment later, and its answer takes a
 * moment too.
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
  // Whoever is not answered at last knows what he was told of the payment, and no more than that.
  const fail = (message: string): never => {
    tracks.latest = tracks.told;
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
        if (tells(result)) tracks.told = takenAt;
        if (tells(result)) tracks.latest = takenAt;
        return result;
      });
  const begin = late(async (draft: PaymentDraft) => {
    const claim = await journal.begin(draft);
    keeper.ids.add(claim.payment.id);
    return claim;
  }, true);
  // That somebody else has it tells nothing of how far it is.
  const take: Journal['claim'] = async (id, owner) => {
    const claimed = await journal.claim(id, owner);
    if (claimed !== undefined) tracks.drives(id);
    return claimed;
  };
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
    begin: async (draft) => {
      const claim = await begin(draft);
      tracks.payments.add(claim.payment.id);
      return claim;
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
    find: late(journal.find, false),
    named: late(journal.named, false),
    beginning: late(journal.beginning, false),
    latest: late(journal.latest, false),
    page: late(journal.page, false),
    alike: late(journal.alike, false),
    runs: late(journal.runs, false),
    inRun: late(journal.inRun, false),
    paidInRun: late(journal.paidInRun, false),
    open: late(journal.open, false),
    openSince: late(journal.openSince, false),
    unfinished: late(journal.unfinished, false),
    close: late(journal.close, false),
  };
}
