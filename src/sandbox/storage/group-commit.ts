// Jobs that wait together share one transaction, and transactions that wait together share one wait for the disk.
import { codeOf } from '../../formats/unknown.js';

/** One transaction after the other on a connection of its own. All but the last are synchronous. */
export interface Transactions {
  /** Throws when another process is writing. */
  readonly begin: () => void;
  readonly commit: () => void;
  readonly rollback: () => void;
  /** Resolves once every commit made before the call is on disk. */
  readonly flush: () => Promise<void>;
}

interface Job {
  /** Does the work, and hands back how to answer it once the commit is on disk. */
  readonly run: () => () => void;
  readonly reject: (reason: unknown) => void;
}

/** A job whose commit waits for the disk. */
interface Done {
  readonly answer: () => void;
  readonly reject: Job['reject'];
}

/** How often a group waits for another process's transaction before it gives up. */
const busyRetries = 60;

/** Collects the jobs that arrive within one turn of the event loop and commits them together. */
export function groupCommit(transactions: Transactions) {
  let waiting: Job[] = [];
  let draining: Promise<void> | undefined;
  let done: Done[] = [];
  let flushing: Promise<void> | undefined;
  /** What the disk failed with: from then on it is unknown what of the file is safe, so nothing is taken any more. */
  let broken: { readonly reason: unknown } | undefined;

  async function drain(): Promise<void> {
    for (let tries = 1; waiting.length > 0; tries += 1) {
      await new Promise((resume) => setImmediate(resume));
      try {
        transactions.begin();
      } catch (error) {
        if (!isBusy(error) || tries >= busyRetries) for (const job of takeWaiting()) job.reject(error);
        continue;
      }
      // Nothing is awaited between BEGIN and COMMIT, so no other work on this connection can come in between.
      carryOut(takeWaiting());
      tries = 0;
    }
    draining = undefined;
  }

  function takeWaiting(): Job[] {
    const group = waiting;
    waiting = [];
    return group;
  }

  function carryOut(group: readonly Job[]): void {
    const results: Done[] = [];
    try {
      for (const { run, reject } of group) results.push({ answer: run(), reject });
      transactions.commit();
    } catch (error) {
      transactions.rollback();
      for (const job of group) job.reject(error);
      return;
    }
    done.push(...results);
    flushing ??= flush();
  }

  async function flush(): Promise<void> {
    while (done.length > 0) {
      const group = done;
      done = [];
      try {
        await transactions.flush();
        for (const { answer } of group) answer();
      } catch (reason) {
        broken = { reason };
        for (const { reject } of group) reject(reason);
      }
    }
    flushing = undefined;
  }

  return {
    write<T>(job: () => T): Promise<T> {
      if (broken !== undefined) return Promise.reject(broken.reason);
      return new Promise((resolve, reject) => {
        const run = (): (() => void) => {
          try {
            const result = job();
            return () => resolve(result);
          } catch (error) {
            return () => reject(error);
          }
        };
        waiting.push({ run, reject });
        draining ??= drain();
      });
    },
    /** Waits for the jobs that were handed in so far. */
    async settled(): Promise<void> {
      await draining;
      await flushing;
    },
  };
}

const isBusy = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_BUSY');
