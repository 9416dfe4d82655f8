// Runs one schedule: wallets pay under faults, are killed and start again; then the faults stop,
// and the audit checks the result.
import type { Approval, PaymentOptions } from '../../src/wallet/payment/model.js';
import { isUnfinished, latest } from '../../src/store/journal/payment.js';
import type { Limits } from '../../src/store/profile/profiles.js';
import { audit } from './audit.js';
import { paymentsOf, type Books, type CommandKind } from './books.js';
import {
  cancelOne,
  confirmOne,
  payBatch,
  importAll,
  payAsAgent,
  payWish,
  resumeOpen,
  resumePayment,
  type CommandEnd,
} from './commands.js';
import { openHomes, type Keeper, type Machine } from './homes.js';
import { createNetwork } from './network.js';
import { startProcess, type Process, type ProcessDeps, type Verdict } from './process.js';
import type { RealJournals } from './real-journals.js';
import { createModel, type Model } from './service-model.js';
import type { Deviation } from './service-quotes.js';
import { drawParameters, type Behaviour } from './service-parameters.js';
import { fair, stormy } from './sky.js';
import { openShell } from './shell.js';
import { typeCommands } from './typed.js';
import { drawWishes, keyOf, type Some, type Wish } from './wishes.js';
import { createChance, createWorld, untilFilesRest, type Chance, type World } from './world.js';

export interface ScheduleOptions {
  /**
   * Whether the schedule has two to four machines with separate clocks, which may share a database,
   * instead of one or two homes.
   */
  readonly manyMachines?: boolean;
  /** Whether people type whole command lines, instead of calling the payment core. */
  readonly typed?: boolean;
  readonly trace?: (line: string) => void;
  readonly without?: ReadonlySet<Behaviour>;
  /** Makes many transactions differ from their orders, each by the given deviation. */
  readonly deviation?: Deviation;
  /** Real journal files, which about one in fifty schedules uses. */
  readonly real?: RealJournals;
}

const realShare = 0.02;
const nothing: ReadonlySet<Behaviour> = new Set();

/** Runs the schedule of a seed, and returns the violations that the audit finds. */
export async function runSchedule(seed: number, options: ScheduleOptions = {}): Promise<string[]> {
  const { trace, without = nothing, manyMachines = false, typed = false, deviation } = options;
  // Errors get stack traces only if the run prints a trace, because stack traces would take half of
  // the run time.
  Error.stackTraceLimit = trace === undefined ? 0 : 10;
  const chance = createChance(seed);
  const machines = manyMachines && !typed ? 2 + chance.below(3) : chance.hits(0.3) ? 2 : 1;
  const isShared = manyMachines && !typed && chance.hits(0.6);
  const severalJournals = machines > 1 && !isShared;
  const real = chance.hits(realShare) ? options.real : undefined;
  const world = createWorld(chance, trace, (typed || real) && untilFilesRest);
  const model = createModel(
    world,
    drawParameters(chance, createChance(-seed), {
      severalJournals,
      typed,
      without,
      deviation,
    }),
  );
  if (typed) {
    const sky = stormy(chance, without);
    const network = createNetwork(world, model, (what) => sky.weatherFor(what));
    return typeCommands({
      world,
      model,
      sky,
      machines,
      openShell: () => openShell(world, network),
    });
  }
  real?.empty();
  const skewed = chance.hits(manyMachines ? 0.7 : 0.2) && !without.has('clocks');
  const homes = openHomes(world, { machines, isShared, real, skewed });
  world.note(
    () =>
      `${homes.map(({ name, keeper }) => `${name} (${keeper.name})`).join(', ')}, ${JSON.stringify(model.parameters)}`,
  );
  const books = await live(world, homes, model, without);
  return [...model.violations, ...(await audit(books))];
}

async function live(
  world: World,
  machines: Some<Machine>,
  model: Model,
  without: ReadonlySet<Behaviour>,
): Promise<Books> {
  const { chance } = world;
  const sky = stormy(chance, without);
  const network = createNetwork(world, model, (what) => sky.weatherFor(what));
  const alive = new Set<string>();
  const books: Books = {
    model,
    wishes: drawWishes(chance, 3),
    keepers: [...new Set(machines.map(({ keeper }) => keeper))],
    limits: drawLimits(chance),
    ended: [],
    keeperOf: new Map(),
    standing: new Set(),
    agreed: new Map(),
    agents: new Map(),
    retried: new Set(),
  };
  const { wishes } = books;
  let running = 0;
  let agentRefs = 0;
  const backups: { readonly keeper: Keeper; readonly restore: () => void }[] = [];

  const approve = async ({ order, quote }: Approval): Promise<boolean> => {
    await world.pause(500 + chance.below(!sky.isCalm && chance.hits(0.3) ? 40_000 : 1_000));
    if (!sky.isCalm && chance.hits(0.3)) return false;
    const key = keyOf(order);
    books.agreed.set(key, [...(books.agreed.get(key) ?? []), quote.total.value]);
    return true;
  };
  const start = (machine: Machine): Process => {
    const name = `w${books.keeperOf.size + 1}@${machine.name}`;
    books.keeperOf.set(name, machine.keeper);
    return startProcess(world, network, alive, {
      name,
      machine,
      crashAt: sky.isCalm ? undefined : faultAt(chance, 0.5),
      stallAt: sky.isCalm ? undefined : faultAt(chance, 0.1),
      interruptAt: sky.isCalm ? undefined : faultAt(chance, 0.1),
      limits: books.limits,
      journalFaults: { diskFull: () => sky.diskFull, silent: () => sky.databaseSilent },
      approve,
      onRobbed: (what) => void model.violations.push(what),
    });
  };

  interface Running {
    readonly command: CommandKind;
    readonly machine: Machine;
    readonly wishes: readonly Wish[];
    readonly options: PaymentOptions;
  }

  async function run(
    running: Running,
    what: string,
    action: (deps: ProcessDeps) => Promise<CommandEnd>,
  ): Promise<Verdict | undefined> {
    const { machine, command, options } = running;
    const process = start(machine);
    world.note(() => `${process.name} ${command} ${what} ${JSON.stringify(options)}`);
    if (command === 'agent') books.agents.set(process.name, machine.now === world.now);
    const { isCalm } = sky;
    const startedAt = world.now();
    const verdict = await process.run(action);
    const { name, tracks } = process;
    if (options.retry) for (const id of tracks.payments) books.retried.add(id);
    if (verdict !== undefined)
      books.ended.push({
        ...running,
        process: name,
        keeper: machine.keeper,
        tracks,
        startedAt,
        verdict,
        isCalm,
      });
    return verdict;
  }

  async function payOnce(machine: Machine, wish: Wish): Promise<Verdict | undefined> {
    const options = sky.isCalm ? patient : optionsOf(chance);
    if (wish.consent === 'yes' && options.until !== 'quoted') books.standing.add(keyOf(wish.order));
    const isThrifty = !sky.isCalm && chance.hits(0.2);
    const isWary = !sky.isCalm && chance.hits(0.2);
    const terms = {
      ...(isThrifty && { maxFee: { amount: '0.00000015', ccy: wish.order.body.sourceReq.ccy } }),
      ...(isWary && { maxRateLoss: '1' }),
    };
    return run(
      { command: 'pay', machine, wishes: [wish], options },
      wish.ref ?? wish.name,
      payWish(wish, terms, options),
    );
  }

  async function resumeEach(machine: Machine): Promise<void> {
    for (const payment of await paymentsOf(machine.keeper)) {
      if (!isUnfinished(payment)) continue;
      const options = sky.isCalm
        ? patient
        : { ...optionsOf(chance), until: undefined, retry: false };
      await run(
        { command: 'resume', machine, wishes: [], options },
        `${payment.ref} (${latest(payment).state})`,
        resumePayment(payment, options),
      );
    }
  }

  /** Runs `tx resume` without an id, as a scheduled job does. */
  async function resumeAllOpen(machine: Machine): Promise<void> {
    const options = {
      wait: sky.isCalm ? 30_000 : chance.pick<PaymentOptions['wait']>([false, 1_000, 30_000]),
      retry: false,
    };
    await run({ command: 'resume', machine, wishes: [], options }, 'all', resumeOpen(options.wait));
  }

  async function askAgent(machine: Machine, wish: Wish): Promise<Verdict | undefined> {
    books.standing.add(keyOf(wish.order));
    const ref = `agent-${(agentRefs += 1)}`;
    const options = { ...optionsOf(chance), until: undefined, retry: false };
    return run(
      { command: 'agent', machine, wishes: [wish], options },
      `${ref}: ${wish.name}`,
      payAsAgent(wish, ref, options),
    );
  }

  /** Requests a quote, then confirms or cancels the quote. */
  async function quoteFirst(machine: Machine, wish: Wish): Promise<void> {
    const options = { ...patient, until: 'quoted' as const };
    const quoted = await run(
      { command: 'pay', machine, wishes: [wish], options },
      `${wish.name} for a quote`,
      payWish(wish, {}, options),
    );
    if (quoted?.ended !== 'done') return;
    await world.pause(chance.below(chance.pick([500, 10_000])));
    const { txnId } = quoted.txn;
    if (chance.hits(0.3))
      return void (await run(
        { command: 'cancel', machine, wishes: [wish], options: patient },
        txnId,
        cancelOne(txnId),
      ));
    if (wish.consent === 'yes') books.standing.add(keyOf(wish.order));
    const confirming = optionsOf(chance);
    await run(
      { command: 'confirm', machine, wishes: [wish], options: { ...confirming, until: undefined } },
      txnId,
      confirmOne(txnId, wish.consent, { ...confirming, until: undefined }),
    );
  }

  async function batch(machine: Machine): Promise<void> {
    for (const wish of wishes) books.standing.add(keyOf(wish.order));
    const options = { ...patient, retry: chance.hits(0.05) };
    await run(
      { command: 'batch', machine, wishes, options },
      `${wishes.length} rows`,
      payBatch(wishes, options),
    );
  }

  /**
   * Simulates a person who runs a command. After a crash or an unknown outcome, the person repeats
   * the command or resumes the payment.
   */
  async function person(machine: Machine, wish: Wish, habit: Habit): Promise<void> {
    running += 1;
    await world.pause(chance.below(chance.pick([1, 1_000, 20_000])));
    for (let turn = 0; turn < 3; turn += 1) {
      if (turn > 0 && chance.hits(0.4)) await resumeEach(machine);
      else if (turn > 0 && chance.hits(0.2)) await resumeAllOpen(machine);
      else if (habit === 'batch') await batch(machine);
      else if (habit === 'agent') await askAgent(machine, wish);
      else if (habit === 'quotes first' && turn === 0) await quoteFirst(machine, wish);
      else if ((await payOnce(machine, wish))?.ended === 'done') break;
      await world.pause(chance.below(chance.pick([500, 5_000, 40_000])));
      if (chance.hits(0.1)) backUp(machine);
    }
    running -= 1;
    if (running === 0) await clearUp();
  }

  function backUp({ keeper }: Machine): void {
    const restore = keeper.backUp?.();
    if (restore === undefined) return;
    world.note(() => `${keeper.name} is copied`);
    backups.push({ keeper, restore });
  }

  /**
   * Restores a journal from a backup, runs an import, and repeats the payments, which must not pay
   * twice. Skips the restore if lists or reads lag, if a payment used `--retry`, or if a daily
   * limit needs amounts that the service does not report.
   */
  async function restoreBackup(): Promise<void> {
    const [backup] = backups;
    const { listLagMs, readLagMs, computesAmounts } = model.parameters;
    const isCounted = computesAmounts || Object.keys(books.limits.perDay).length === 0;
    const isShown = listLagMs + readLagMs === 0;
    if (backup === undefined || !isShown || !isCounted || books.retried.size > 0) return;
    world.note(() => `${backup.keeper.name} is restored from a backup`);
    backup.restore();
    const machine = machines.find(({ keeper }) => keeper === backup.keeper) ?? machines[0];
    const options = patient;
    const imported = await run(
      { command: 'import', machine, wishes: [], options },
      'all',
      importAll,
    );
    // After an incomplete import, the schedule repeats no payment, because a person would have to
    // check the unclear payments first.
    const isWhole = imported?.ended === 'batch';
    for (const wish of wishes) if (isWhole && wish.ref !== undefined) await payOnce(machine, wish);
    for (let round = 0; round < 2; round += 1) {
      await resumeEach(machine);
      await world.pause(130_000);
    }
  }

  /**
   * Stops the faults, except that late requests still arrive, and resumes every open payment, which
   * must end.
   */
  async function clearUp(): Promise<void> {
    Object.assign(sky, fair);
    world.note(() => 'it clears up');
    for (let round = 0; round < 3; round += 1) {
      for (const machine of oneOfEach(machines)) await resumeEach(machine);
      await world.pause(130_000);
    }
    model.violations.push(...(await audit(books)));
    await restoreBackup();
    if (chance.hits(0.5)) return;
    for (const wish of wishes) {
      if (wish.ref !== undefined) for (const machine of machines) await payOnce(machine, wish);
    }
    // The first round may confirm new quotes, whose outcome may be readable only in the second
    // round.
    for (let round = 0; round < 2; round += 1) {
      await world.pause(130_000);
      for (const machine of oneOfEach(machines)) await resumeEach(machine);
    }
  }

  const people = 1 + chance.below(3);
  for (let count = 0; count < people; count += 1) {
    const habit = chance.pick(habits);
    void person(chance.pick(machines), chance.pick(drawn(wishes)), habit).catch((error: unknown) =>
      model.violations.push(String(error)),
    );
  }
  await world.run().catch((error: unknown) => void model.violations.push(String(error)));
  if (running > 0)
    model.violations.push('a command hangs: nothing is under way any more, and it has not ended');
  return books;
}

/** More than half of the people make one payment at a time. */
const habits = ['pays', 'pays', 'pays', 'pays', 'quotes first', 'batch', 'agent'] as const;
type Habit = (typeof habits)[number];

const drawn = ([first, ...others]: readonly Wish[]): Some<Wish> => [
  first ?? neverDrawn(),
  ...others,
];

function neverDrawn(): never {
  throw new Error('There is always a wish.');
}

/** Returns one machine for each journal. */
const oneOfEach = (machines: readonly Machine[]): Machine[] => [
  ...new Map(machines.map((machine) => [machine.keeper, machine])).values(),
];

/**
 * Picks at random the number of the await at which a fault happens; most commands have about 30
 * awaits.
 */
const faultAt = (chance: Chance, probability: number): number | undefined =>
  chance.hits(probability) ? 1 + chance.below(30) : undefined;

const patient: PaymentOptions = { wait: 'forever', retry: false };

const optionsOf = (chance: Chance): PaymentOptions => ({
  wait: chance.pick(['forever', 'forever', false, 1_000]),
  retry: chance.hits(0.1),
  until: chance.hits(0.05) ? 'quoted' : undefined,
});

/**
 * Picks limits at random. In about one in five schedules, the limits allow only one or two payments
 * a day.
 */
const drawLimits = (chance: Chance): Limits =>
  chance.hits(0.2)
    ? {
        perPayment: { BTC: '0.00002' },
        perDay: { BTC: chance.pick(['0.0000105', '0.0000215']), USDT: '5' },
        destinations: [],
      }
    : { perPayment: {}, perDay: {}, destinations: [] };
