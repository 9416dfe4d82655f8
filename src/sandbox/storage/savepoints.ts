// Units of work within a transaction: of one that throws nothing stays. Savepoints are made for them as late as can be.

/**
 * A unit that writes nothing needs no savepoint, and units that begin one within the other before anything is written
 * share one.
 *
 * @param carryOut runs a statement of SQL
 * @param inTransaction whether there is one: what goes wrong with the disk ends it by itself
 */
export function nestedSavepoints(carryOut: (sql: string) => void, inTransaction: () => boolean) {
  let depth = 0;
  /** For each savepoint, outermost first, the innermost unit that began with it. */
  let savepoints: number[] = [];

  function end(isUndone: boolean): void {
    const innermost = savepoints.length - 1;
    if (savepoints[innermost] !== depth) return;
    if (isUndone) carryOut('ROLLBACK TO job');
    if ((savepoints[innermost - 1] ?? 0) < depth - 1) savepoints[innermost] = depth - 1;
    else {
      // Savepoints of one name nest: the innermost one is meant.
      carryOut('RELEASE job');
      savepoints.pop();
    }
  }

  return {
    /** Something is about to be written. */
    beforeWrite(): void {
      if ((savepoints.at(-1) ?? 0) >= depth) return;
      carryOut('SAVEPOINT job');
      savepoints.push(depth);
    },
    attempt<T>(job: () => T): T {
      depth += 1;
      let isDone = false;
      try {
        const result = job();
        isDone = true;
        return result;
      } finally {
        if (inTransaction()) end(!isDone);
        else savepoints = [];
        depth -= 1;
      }
    },
  };
}
