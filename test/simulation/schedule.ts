// One schedule: several wallets pay in bad weather, are killed, started again; then it clears up, and the books are read.
import Big from 'big.js';
import type { Token } from '../../src/api/types.js';
import type { Approval, PaymentOptions } from '../../src/wallet/payment/contract.js';
import { lnurlOrder, type Order } from '../../src/wallet/payment/orders.js';
import { pay, resume } from '../../src/wallet/payment/payment.js';
import { audit } from './audit.js';
import { emptyStore } from './memory-journal.js';
import { calm, createNetwork, type Weather } from './network.js';
import { startProcess, type Machine, type Mutation, type Process, type Verdict } from './process.js';
import { accountId, createModel, satoshi, type Model } from './service-model.js';
import { createChance, createWorld, type Chance, type World } from './world.js';

/** A payment as somebody wants it: whoever runs its command means this one. */
export interface Wish {
  readonly order: Order;
  readonly ref: string | undefined;
  readonly consent: 'standing' | 'none';
}

export interface Ended {
  readonly process: string;
  readonly machine: Machine;
  readonly wish: Wish | undefined;
  readonly options: PaymentOptions;
  readonly verdict: Verdict;
  /** Run when nothing was lost any more. */
  readonly isCalm: boolean;
}

/** What is known of a schedule when it is over. */
export interface Books {
  readonly model: Model;
  readonly machines: readonly Machine[];
  readonly ended: readonly Ended[];
  /** Which machine each process ran on. */
  readonly machineOf: ReadonlyMap<string, Machine>;
  readonly wishes: readonly Wish[];
  /** Destinations with a standing yes. */
  readonly standing: ReadonlySet<string>;
  /** By destination, the totals that a person agreed to. */
  readonly agreed: ReadonlyMap<string, readonly Big[]>;
}

export interface ScheduleOptions {
  readonly mutate?: Mutation;
  readonly trace?: (line: string) => void;
}

/** Runs the schedule of a seed and returns what went wrong in it, nothing when all is well. */
export async function runSchedule(seed: number, { mutate = (deps) => deps, trace }: ScheduleOptions = {}): Promise<string[]> {
  // Traces of the many errors that are thrown on purpose would be half of the work.
  Error.stackTraceLimit = trace === undefined ? 0 : 10;
  const chance = createChance(seed);
  const world = createWorld(chance, trace);
  const model = createModel(world, {
    tokenLifeMs: chance.pick([3_000, 60_000, 3_600_000]),
    quoteLifeMs: chance.pick([2_000, 10_000, 30_000, 60_000]),
    pageSize: chance.pick([1, 2, 100]),
    lapsesByItself: chance.hits(0.5),
    answersLate: chance.hits(0.5),
    failing: chance.pick([0, 0.2]),
  });
  const books = await live(world, chance, model, mutate);
  return [...model.violations, ...audit(books)];
}

async function live(world: World, chance: Chance, model: Model, mutate: Mutation): Promise<Books> {
  const sky = stormy(chance);
  const network = createNetwork(world, model, (what) => sky.weatherFor(what));
  const machines = machinesOf(chance);
  const wishes = wishesOf(chance);
  const alive = new Set<string>();
  const books = {
    model, machines, wishes, ended: [] as Ended[], machineOf: new Map<string, Machine>(),
    standing: new Set<string>(), agreed: new Map<string, Big[]>(),
  };
  let started = 0;
  let running = 0;

  const approve = async ({ order, quote }: Approval): Promise<boolean> => {
    await world.pause(500 + chance.below(!sky.isCalm && chance.hits(0.3) ? 40_000 : 1_000));
    if (!sky.isCalm && chance.hits(0.3)) return false;
    books.agreed.set(order.destination, [...(books.agreed.get(order.destination) ?? []), quote.total.value]);
    return true;
  };
  const start = (machine: Machine): Process => {
    const name = `w${(started += 1)}`;
    books.machineOf.set(name, machine);
    return startProcess(world, network, alive, {
      name,
      machine,
      crashAt: sky.isCalm ? undefined : mishap(chance, 0.5),
      stallAt: sky.isCalm ? undefined : mishap(chance, 0.1),
      interruptAt: sky.isCalm ? undefined : mishap(chance, 0.1),
      diskFull: () => sky.diskFull,
      approve,
      mutate,
    });
  };

  async function payOnce(machine: Machine, wish: Wish): Promise<Verdict | undefined> {
    const options = sky.isCalm ? patient : optionsOf(chance);
    if (wish.consent === 'standing' && !options.quoteOnly) books.standing.add(wish.order.destination);
    const terms = !sky.isCalm && chance.hits(0.2) ? { maxFee: { amount: '0.00000015', ccy: 'BTC' } } : {};
    const process = start(machine);
    world.note(() => `${process.name} on ${machine.name}: pay ${wish.order.destination} ref ${wish.ref} ${JSON.stringify(options)}`);
    const verdict = await process.run((deps) => pay({ ...wish, terms }, options, deps));
    if (verdict !== undefined) books.ended.push({ process: process.name, machine, wish, options, verdict, isCalm: sky.isCalm });
    return verdict;
  }

  async function resumeOpen(machine: Machine): Promise<void> {
    for (const { intent } of machine.store.rows.values()) {
      if (intent.closed || intent.step === 'final') continue;
      const process = start(machine);
      const options = sky.isCalm ? patient : { ...optionsOf(chance), quoteOnly: false, retry: false };
      world.note(() => `${process.name} on ${machine.name}: resume ${intent.ref} at ${intent.step}`);
      const verdict = await process.run((deps) => resume(intent, options, deps));
      if (verdict !== undefined) books.ended.push({ process: process.name, machine, wish: undefined, options, verdict, isCalm: sky.isCalm });
    }
  }

  /** Somebody at a machine: runs the command, and after a crash or a doubt runs it again, or resumes. */
  async function person(machine: Machine, wish: Wish): Promise<void> {
    running += 1;
    await world.pause(chance.below(chance.pick([1, 1_000, 20_000])));
    for (let turn = 0; turn < 3; turn += 1) {
      const verdict = turn > 0 && chance.hits(0.5) ? await resumeOpen(machine) : await payOnce(machine, wish);
      if (verdict !== undefined && verdict.ended === 'done') break;
      await world.pause(chance.below(chance.pick([500, 5_000, 40_000])));
    }
    running -= 1;
    if (running === 0) await clearUp();
  }

  /** Late requests still arrive, but nothing more is lost: every open payment must come to its end. */
  async function clearUp(): Promise<void> {
    Object.assign(sky, { weatherFor: () => calm, diskFull: 0, isCalm: true });
    world.note(() => 'it clears up');
    for (let round = 0; round < 3; round += 1) {
      for (const machine of machines) await resumeOpen(machine);
      await world.pause(130_000);
    }
    model.violations.push(...audit(books));
    if (chance.hits(0.5)) return;
    for (const wish of wishes) {
      if (wish.ref !== undefined) for (const machine of machines) await payOnce(machine, wish);
    }
  }

  const people = 1 + chance.below(3);
  for (let count = 0; count < people; count += 1) {
    void person(chance.pick(machines), chance.pick(wishes)).catch((error: unknown) => model.violations.push(String(error)));
  }
  await world.run().catch((error: unknown) => void model.violations.push(String(error)));
  if (running > 0) model.violations.push('a command hangs: nothing is under way any more, and it has not ended');
  return books;
}

/** At which await of a process it happens; most commands have about so many. */
const mishap = (chance: Chance, probability: number): number | undefined =>
  chance.hits(probability) ? 1 + chance.below(30) : undefined;

/** Until it expires, which the service decides, nobody has to sign in. */
const firstToken: Token = { accessToken: 'token-0', expiresAt: Infinity, accountId };

const patient: PaymentOptions = { wait: 'forever', retry: false, quoteOnly: false };

const optionsOf = (chance: Chance): PaymentOptions => ({
  wait: chance.pick(['forever', 'forever', false, 1_000]),
  retry: chance.hits(0.2),
  quoteOnly: chance.hits(0.05),
});

/** A storm, until it clears up. */
interface Sky {
  weatherFor: (what: string) => Readonly<Weather>;
  diskFull: number;
  isCalm: boolean;
}

const targets = [/^POST .*transaction$/, /^PUT .*confirm$/, /^GET .*transaction.txn/, /^GET .*transaction$/, /token/] as const;
const faults = ['refused', 'requestLost', 'answerLost', 'doubled', 'late', 'spoilt', 'busy'] as const;

/** Something of everything, and in half of all storms one fault that hits one kind of request nearly every time. */
function stormy(chance: Chance): Sky {
  const force = chance.pick([0, 0.05, 0.3]);
  const usual = { ...calm };
  for (const fault of faults) if (chance.hits(0.4)) usual[fault] = force * chance.next();
  const target = chance.pick(targets);
  const aimed = { ...usual, [chance.pick(faults)]: chance.pick([0.5, 0.9]) };
  const isAimed = chance.hits(0.5);
  return {
    weatherFor: (what) => (isAimed && target.test(what) ? aimed : usual),
    diskFull: chance.hits(0.15) ? 0.1 * chance.next() : 0,
    isCalm: false,
  };
}

type Some<T> = [T, ...T[]];

function machinesOf(chance: Chance): Some<Machine> {
  const machine = (name: string): Machine => ({ name, store: emptyStore(), token: { kept: firstToken } });
  return chance.hits(0.4) ? [machine('here'), machine('there')] : [machine('here')];
}

function wishesOf(chance: Chance): Some<Wish> {
  const wish = (name: string): Wish => {
    const ref = chance.hits(0.8) ? `ref-${name}` : undefined;
    const amount = { ccy: 'BTC', value: new Big(1_000 + chance.below(9)).times(satoshi) };
    const order = { ...lnurlOrder(`${name}@pay.example`, amount), onceKey: chance.hits(0.5) ? `hash-${name}` : null };
    return { order, ref, consent: chance.hits(0.6) ? 'standing' : 'none' };
  };
  return chance.hits(0.3) ? [wish('a'), wish('b')] : [wish('a')];
}
