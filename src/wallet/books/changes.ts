// Differences between two statements of a month.

/** A row of a statement as its line in a file. */
export interface Line {
  /** Unique: wallet and transaction, or wallet and `opening`. */
  readonly key: string;
  readonly text: string;
}

export interface Change {
  readonly change: 'added' | 'removed' | 'changed';
  readonly row: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** In the order of the present statement; removed rows come last. */
export function changesBetween(before: readonly Line[], after: readonly Line[]): Change[] {
  const old = new Map(before.map(({ key, text }) => [key, text]));
  const present = new Set(after.map(({ key }) => key));
  const found = after.flatMap(({ key, text }): Change[] => {
    const was = old.get(key);
    if (was === text) return [];
    return [
      {
        change: was === undefined ? 'added' : 'changed',
        row: key,
        before: was ?? null,
        after: text,
      },
    ];
  });
  const gone = before.filter(({ key }) => !present.has(key));
  return [
    ...found,
    ...gone.map(({ key, text }): Change => ({
      change: 'removed',
      row: key,
      before: text,
      after: null,
    })),
  ];
}
