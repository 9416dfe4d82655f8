// Jobs that wait together share one transaction.
import { codeOf } from '../../formats/unknown.js';

/** The transactions of one connection. */
export interface Transactions {
  /** Throws if another process is writing. */
  readonly begin: () => void;
  readonly commit: () => void;
  readonly rollback: () => void;
}

interface Job {
  /** Does the work, and returns a function that settles the promise after the commit. */
  readonly run: () => () => void;
  readonly reject: (reason: unknown) => void;
}

/** How often a group retries while another process is writing. */
const busyRetries = 60;

/** Collects the jobs that arrive within one turn of the event loop and commits them together. */
export function groupCommit(transactions: Transactions) {
  let waiting: Job[] = [];
  let draining: Promise<void> | undefined;

  async function drain(): Promise<void> {
    for (let tries = 1; waiting.length > 0; tries += 1) {
      await new Promise((resume) => setImmediate(resume));
      try {
        transactions.begin();
      } catch (error) {
        if (!isBusy(error) || tries >= busyRetries)
          for (const job of takeWaiting()) job.reject(error);
        continue;
      }
      // Nothing is awaited between BEGIN and COMMIT, so no other work runs on this connection in between.
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
    try {
      const answers = group.map(({ run }) => run());
      transactions.commit();
      for (const answer of answers) answer();
    } catch (error) {
      transactions.rollback();
      for (const job of group) job.reject(error);
    }
  }

  return {
    write<T>(job: () => T): Promise<T> {
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
    /** Waits for all pending jobs. */
    async settled(): Promise<void> {
      await draining;
    },
  };
}

const isBusy = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_BUSY');
