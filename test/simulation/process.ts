// A wallet as a process: the real client and the real payment machine, in a world that may end it at any await.
import { WalletClient } from '../../src/api/client.js';
import type { Transport } from '../../src/api/transport.js';
import type { Token, Transaction } from '../../src/api/types.js';
import { Failure } from '../../src/formats/failure.js';
import type { Journal } from '../../src/store/journal/journal.js';
import type { Approval, PaymentDeps } from '../../src/wallet/payment/contract.js';
import { memoryJournal, type JournalStore } from './memory-journal.js';
import { origin, type Network } from './network.js';
import { accountId } from './service-model.js';
import type { World } from './world.js';

/** What stays when a process is gone: its disk. */
export interface Machine {
  readonly name: string;
  readonly store: JournalStore;
  readonly token: { kept: Token | undefined };
}

export interface ProcessOptions {
  readonly name: string;
  readonly machine: Machine;
  /** Ends the process at this await, counted from its start; never when undefined. */
  readonly crashAt: number | undefined;
  /** Stands still at this await, as a machine that was put to sleep, and goes on much later. */
  readonly stallAt: number | undefined;
  /** Ctrl-C at this await. */
  readonly interruptAt: number | undefined;
  /** Probability that the journal cannot be written. */
  readonly diskFull: () => number;
  readonly approve: (approval: Approval) => Promise<boolean>;
  readonly mutate: Mutation;
}

/** Puts a mistake into what the payment machine is given, to see that the simulation notices. */
export type Mutation = (deps: PaymentDeps) => PaymentDeps;

export type Verdict =
  | { readonly ended: 'done'; readonly txn: Transaction }
  | { readonly ended: 'failed'; readonly failure: Failure }
  | { readonly ended: 'broken'; readonly error: unknown };

export interface Process {
  readonly name: string;
  readonly isAlive: () => boolean;
  /** Resolves with how the command ended; undefined when the process crashed before. */
  run(command: (deps: PaymentDeps) => Promise<Transaction>): Promise<Verdict | undefined>;
}

const requestTimeoutMs = 3_000;
/** Longer than a lease: somebody else takes over meanwhile. */
const stallMs = 40_000;
const journalMs = 15;
/** A new one each time: whoever waits on one that stays would stay in memory with it. */
const never = (): Promise<never> => new Promise(() => {});

export function startProcess(world: World, network: Network, alive: Set<string>, options: ProcessOptions): Process {
  const { name, machine } = options;
  const controller = new AbortController();
  const interruption = { signal: controller.signal, listeners: new Set<() => void>() };
  let awaits = 0;
  let crashed = () => {};
  const crash = new Promise<undefined>((resolve) => {
    crashed = () => resolve(undefined);
  });
  alive.add(name);
  const isAlive = (): boolean => alive.has(name);

  /** Every await of the machine passes here twice: before its effect and after. */
  const survives = (): boolean => {
    awaits += 1;
    if (awaits === options.interruptAt) {
      world.note(() => `${name} is interrupted`);
      controller.abort();
      for (const interrupt of interruption.listeners) interrupt();
    }
    if (awaits === options.crashAt && alive.delete(name)) {
      world.note(() => `${name} is killed`);
      crashed();
    }
    return isAlive();
  };
  const gate = async <T>(effect: () => Promise<T>): Promise<T> => {
    if (!survives()) return never();
    if (awaits === options.stallAt) await world.pause(stallMs);
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
  const send = network(name, requestTimeoutMs, interruption);
  const transport: Transport = (request) => gate(() => send(request));
  const client = new WalletClient({
    baseUrl: origin,
    credentials: { apiKey: 'key', apiSecret: 'secret' },
    tokens: {
      load: async () => machine.token.kept,
      save: async (token) => void (machine.token.kept = token),
      clear: async () => void (machine.token.kept = undefined),
    },
    transport,
    maker: 'service',
    clock: world.now,
    sleep,
    random: world.chance.next,
    signal: interruption.signal,
    timeoutMs: requestTimeoutMs,
    accountId,
  });
  const journal = gated(memoryJournal(machine.store, (owner) => alive.has(owner.split(' ')[0] ?? ''), world.now), gate, world, options);
  let ids = 0;
  const deps = options.mutate({
    service: client,
    journal,
    scope: 'service',
    account: accountId,
    owner: name,
    limits: { perPayment: {}, perDay: {}, destinations: [] },
    now: world.now,
    sleep,
    newId: () => `${name}-${(ids += 1)}`,
    signal: interruption.signal,
    approve: (approval) => gate(() => options.approve(approval)),
    on: () => undefined,
  });

  return {
    name,
    isAlive,
    async run(command) {
      const verdict = await Promise.race([verdictOf(command(deps)), crash]);
      alive.delete(name);
      world.note(() => `${name} ends: ${verdict === undefined ? 'killed' : inWords(verdict)}`);
      return verdict;
    },
  };
}

type Gate = <T>(effect: () => Promise<T>) => Promise<T>;

/** The journal as over a network: each call takes effect a moment later, and its answer takes a moment too. */
function gated(journal: Journal, gate: Gate, world: World, { diskFull }: ProcessOptions): Journal {
  const late = <A extends unknown[], T>(call: (...args: A) => Promise<T>, writes: boolean) =>
    (...args: A): Promise<T> =>
      gate(async () => {
        await world.pause(world.chance.below(journalMs));
        if (writes && world.chance.hits(diskFull())) throw new Failure('usage', 'The disk is full.');
        const result = await call(...args);
        await world.pause(world.chance.below(journalMs));
        return result;
      });
  return {
    begin: late(journal.begin, true),
    claim: late(journal.claim, true),
    renew: late(journal.renew, true),
    write: late(journal.write, true),
    spend: late(journal.spend, true),
    release: late(journal.release, true),
    spent: late(journal.spent, false),
    read: late(journal.read, false),
    find: late(journal.find, false),
    beginning: late(journal.beginning, false),
    open: late(journal.open, false),
    references: {
      covered: late(journal.references.covered, false),
      note: late(journal.references.note, true),
      under: late(journal.references.under, false),
      attempts: late(journal.references.attempts, false),
      countSince: late(journal.references.countSince, false),
    },
    close: late(journal.close, false),
  };
}

async function verdictOf(running: Promise<Transaction>): Promise<Verdict> {
  try {
    return { ended: 'done', txn: await running };
  } catch (error) {
    return error instanceof Failure ? { ended: 'failed', failure: error } : { ended: 'broken', error };
  }
}

export function inWords(verdict: Verdict): string {
  if (verdict.ended === 'done') return `${verdict.txn.txnId} ${verdict.txn.txnState}`;
  if (verdict.ended === 'failed') return `${verdict.failure.kind}: ${verdict.failure.message}`;
  return `broken: ${verdict.error instanceof Error ? (verdict.error.stack ?? '') : String(verdict.error)}`;
}
