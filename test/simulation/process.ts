// A wallet process: the real client and the real payment core, which the simulation may kill at any
// await.
import { ServiceClient } from '../../src/api/client.js';
import type { Transport } from '../../src/api/errors.js';
import type { Transaction } from '../../src/api/types.js';
import { Failure } from '../../src/formats/failure.js';
import type { Approval, Consent, PaymentDeps } from '../../src/wallet/payment/model.js';
import type { Limits } from '../../src/store/profile/profiles.js';
import type { BatchEnd, CommandEnd, ResumeEnd } from './commands.js';
import type { Resumed } from '../../src/wallet/payment/resume.js';
import { gated, type JournalFaults, type Machine, type Tracks } from './homes.js';
import { origin, type Network } from './network.js';
import { accountId } from './service-model.js';
import type { World } from './world.js';

/** A process that faults can hit at an await. */
export interface Gated {
  readonly name: string;
  /** The number of the await at which the process is killed, or undefined for never. */
  readonly crashAt: number | undefined;
  /**
   * The number of the await at which the process is suspended for `stallMs`, as on a sleeping
   * machine.
   */
  readonly stallAt: number | undefined;
  /** The number of the await at which the process gets Ctrl-C. */
  readonly interruptAt: number | undefined;
}

export interface ProcessOptions extends Gated {
  readonly machine: Machine;
  readonly limits: Limits;
  readonly journalFaults: JournalFaults;
  readonly approve: (approval: Approval) => Promise<boolean>;
  /**
   * Called if the process takes over a payment while another process is still working on the
   * payment.
   */
  readonly onRobbed: (what: string) => void;
}

/**
 * The dependencies of a command: those of a payment, the client, and the person at the terminal.
 */
export interface ProcessDeps extends PaymentDeps {
  readonly asks: Consent;
  readonly client: ServiceClient;
}

export type Verdict =
  | { readonly ended: 'done'; readonly txn: Transaction }
  | { readonly ended: 'batch'; readonly end: BatchEnd }
  | { readonly ended: 'resumed'; readonly end: ResumeEnd }
  | { readonly ended: 'failed'; readonly failure: Failure }
  | { readonly ended: 'broken'; readonly error: unknown };

export interface Process {
  readonly name: string;
  readonly isAlive: () => boolean;
  readonly tracks: Tracks;
  /**
   * Runs a command, and resolves with its result, or with undefined if the process was killed
   * first.
   */
  run(command: (deps: ProcessDeps) => Promise<CommandEnd>): Promise<Verdict | undefined>;
}

const requestTimeoutMs = 3_000;
/**
 * How long a suspended process stops, in ms: longer than a lease, so another process can take over.
 */
const stallMs = 40_000;
/**
 * Returns a new promise each time, because a shared promise would keep all its waiters in memory.
 */
const never = (): Promise<never> => new Promise(() => {});

/** What a process waits through: each await may kill, suspend or interrupt the process. */
export function openGates(
  world: World,
  alive: Set<string>,
  { name, crashAt, stallAt, interruptAt }: Gated,
) {
  const controller = new AbortController();
  const interruption = { signal: controller.signal, listeners: new Set<() => void>() };
  let awaits = 0;
  let isStalled = false;
  let crashed = () => {};
  const crash = new Promise<undefined>((resolve) => {
    crashed = () => resolve(undefined);
  });
  alive.add(name);
  const isAlive = (): boolean => alive.has(name);

  /**
   * Injects a kill or Ctrl-C before or after the effect of an await; returns whether the process
   * survives.
   */
  const survives = (): boolean => {
    awaits += 1;
    if (awaits === interruptAt) {
      world.note(() => `${name} is interrupted`);
      controller.abort();
      for (const interrupt of interruption.listeners) interrupt();
    }
    if (awaits === crashAt && alive.delete(name)) {
      world.note(() => `${name} is killed`);
      crashed();
    }
    return isAlive();
  };
  const gate = async <T>(effect: () => Promise<T>): Promise<T> => {
    if (!survives()) return never();
    if (awaits === stallAt) {
      isStalled = true;
      await world.pause(stallMs);
      isStalled = false;
      // While this step was suspended, Ctrl-C or the failure of another step may have ended the
      // process.
      if (!isAlive()) return never();
    }
    try {
      const result = await effect();
      return survives() ? result : await never();
    } catch (error) {
      if (!survives()) return never();
      throw error;
    }
  };

  const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    gate(
      () =>
        new Promise((resolve, reject) => {
          const finish = (settle: () => void): void => {
            stop();
            interruption.listeners.delete(interrupt);
            settle();
          };
          const stop = world.after(ms, () => finish(resolve));
          const interrupt = (): void => finish(() => reject(new Error('interrupted')));
          if (signal?.aborted) interrupt();
          else if (signal !== undefined) interruption.listeners.add(interrupt);
        }),
    );
  return { interruption, crash, gate, sleep, isAlive, isStalled: () => isStalled };
}

export function startProcess(
  world: World,
  network: Network,
  alive: Set<string>,
  options: ProcessOptions,
): Process {
  const { name, machine } = options;
  const { interruption, crash, gate, sleep, isAlive, isStalled } = openGates(world, alive, options);
  const send = network(name, requestTimeoutMs, interruption);
  const transport: Transport = (request) => gate(() => send(request));
  const client = new ServiceClient({
    baseUrl: origin,
    credentials: { apiKey: 'key', apiSecret: 'secret' },
    tokens: {
      load: async () => machine.token.kept,
      save: async (token) => void (machine.token.kept = token),
    },
    transport,
    maker: 'service',
    clock: machine.now,
    sleep,
    random: world.chance.next,
    signal: interruption.signal,
    timeoutMs: requestTimeoutMs,
    accountId,
  });
  // A machine cannot check whether a process on another machine is still running, so the lease must
  // expire first.
  const lives = (owner: string): boolean => {
    const [other = ''] = owner.split(' ');
    return alive.has(other) || (machine.keeper.isShared && !other.endsWith(machine.name));
  };
  const { keeper } = machine;
  const { diskFull, silent } = options.journalFaults;
  // Whether leases are reliable: they are if the clocks are right and the journal has no faults.
  const isSound =
    (keeper.isShared || machine.now === world.now) &&
    diskFull() === 0 &&
    (!keeper.isShared || silent() === 0);
  const tracks: Tracks = {
    payments: new Set(),
    latest: Number.NEGATIVE_INFINITY,
    drives(id) {
      const before = keeper.drivers.get(id);
      const isAwake = before !== undefined && before !== name && alive.has(before);
      if (isAwake && isSound)
        options.onRobbed(`${name} has taken ${id} from ${before}, which is at work on it`);
      if (isSound && options.stallAt === undefined) keeper.drivers.set(id, name);
      else keeper.drivers.delete(id);
    },
    rests: (id) => void (keeper.drivers.get(id) === name && keeper.drivers.delete(id)),
  };
  const journal = gated(
    machine.keeper,
    machine.keeper.open(lives),
    gate,
    world,
    options.journalFaults,
    tracks,
  );
  let ids = 0;
  const deps: ProcessDeps = {
    service: client,
    journal,
    scope: 'service',
    account: accountId,
    owner: name,
    limits: options.limits,
    now: machine.now,
    sleep,
    every: (ms, action) =>
      repeatedly(world, ms, () => {
        // A killed or suspended process does not extend its lease.
        if (isAlive() && !isStalled()) action();
        return isAlive();
      }),
    newId: () => `${name}-${(ids += 1)}`,
    signal: interruption.signal,
    repeats: {
      of: 'generated references',
      paidWithinMs: 600_000,
      decide: async () => 'another',
    },
    asks: { by: 'person', ask: (approval) => gate(() => options.approve(approval)) },
    on: () => undefined,
    client,
  };

  return {
    name,
    isAlive,
    tracks,
    async run(command) {
      const verdict = await Promise.race([verdictOf(command(deps)), crash]);
      alive.delete(name);
      world.note(() => `${name} ends: ${verdict === undefined ? 'killed' : inWords(verdict)}`);
      return verdict;
    },
  };
}

/** Repeats `action` until the returned function is called or `action` returns false. */
export function repeatedly(world: World, ms: number, action: () => boolean): () => void {
  let isOver = false;
  let stop = (): void => undefined;
  const beat = (): void => {
    stop = world.after(ms, () => {
      if (!action() || isOver) return;
      beat();
    });
  };
  beat();
  return () => {
    isOver = true;
    stop();
  };
}

async function verdictOf(running: Promise<CommandEnd>): Promise<Verdict> {
  try {
    const end = await running;
    if ('rows' in end) return { ended: 'batch', end };
    return 'resumed' in end ? { ended: 'resumed', end } : { ended: 'done', txn: end };
  } catch (error) {
    return error instanceof Failure
      ? { ended: 'failed', failure: error }
      : { ended: 'broken', error };
  }
}

const rowInWords = ({ ref, state, failure }: BatchEnd['rows'][number]): string =>
  `${ref} ${failure?.kind ?? state}`;

const resumedInWords = ({ payment, txn, failure }: Resumed): string =>
  `${payment.ref} ${failure?.kind ?? txn?.txnState}`;

export function inWords(verdict: Verdict): string {
  if (verdict.ended === 'done') return `${verdict.txn.txnId} ${verdict.txn.txnState}`;
  if (verdict.ended === 'batch')
    return `${verdict.end.failure?.kind ?? 'all rows'}: ${verdict.end.rows.map(rowInWords).join(', ')}`;
  if (verdict.ended === 'resumed')
    return `${verdict.end.failure?.kind ?? 'all'}: ${verdict.end.resumed.map(resumedInWords).join(', ')}`;
  if (verdict.ended === 'failed') return `${verdict.failure.kind}: ${verdict.failure.message}`;
  return `broken: ${verdict.error instanceof Error ? (verdict.error.stack ?? '') : String(verdict.error)}`;
}
