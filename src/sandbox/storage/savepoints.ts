// Units of work inside a transaction. SQLite is told of one only when something is written in it.

export interface Savepoints {
  /** Runs `job` as a unit: when it throws, nothing of it stays. */
  attempt<T>(job: () => T): T;
  /** To be called before every statement that may write. */
  beforeWrite(): void;
}

/** `undone` is called whenever something that was written has been taken back. */
export function createSavepoints(execute: (sql: string) => void, undone: () => void): Savepoints {
  /** For every open unit, the innermost last, whether SQLite has a savepoint for it. */
  const units: boolean[] = [];

  /**
   * Closes the innermost unit. Its savepoint passes to the unit around it when that has none yet: nothing was written
   * between the beginnings of the two. Savepoints of one name nest: SQLite always means the innermost one.
   */
  function close({ undo }: { readonly undo: boolean }): void {
    const begun = units.pop();
    if (begun !== true) return;
    if (undo) {
      execute('ROLLBACK TO job');
      undone();
    }
    const outer = units.length - 1;
    if (units[outer] === false) units[outer] = true;
    else execute('RELEASE job');
  }

  return {
    attempt(job) {
      units.push(false);
      let result;
      try {
        result = job();
      } catch (error) {
        close({ undo: true });
        throw error;
      }
      close({ undo: false });
      return result;
    },
    beforeWrite() {
      const inner = units.length - 1;
      if (units[inner] !== false) return;
      execute('SAVEPOINT job');
      units[inner] = true;
    },
  };
}
