// The sandbox store executes each job in one database transaction, even if parts of the job fail.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSqlite } from '../../../src/store/files/sqlite-file.js';
import { openStore, type Store } from '../../../src/sandbox/database.js';

let store: Store;
let commits = 0;
let booksAreWrong = false;

beforeEach(() => {
  [commits, booksAreWrong] = [0, false];
  store = openStore({
    file: ':memory:',
    now: Date.now,
    initialise: () => undefined,
    verify: () => {
      if (booksAreWrong) throw new Error('wrong books');
      commits += 1;
    },
  });
});

afterEach(() => store.close());

const put = (key: string) => (): string => {
  store.run('INSERT INTO setting (key, value) VALUES (?, ?)', key, key);
  return key;
};
const keys = () =>
  store
    .all(v.object({ key: v.string() }), 'SELECT key FROM setting ORDER BY key')
    .map(({ key }) => key);

test('the sandbox store makes a new file and its log accessible only to their owner', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-store-'));
  const opened = openStore({
    file: join(folder, 'sandbox.db'),
    openFile: openSqlite,
    now: Date.now,
    initialise: () => undefined,
    verify: () => undefined,
  });
  await opened.write(() => opened.run('INSERT INTO setting (key, value) VALUES (?, ?)', 'k', 'v'));
  const modes = readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777);
  expect(new Set(modes)).toEqual(new Set([0o600]));
  opened.close();
  rmSync(folder, { recursive: true });
});

describe('the sandbox store', () => {
  test('commits each of 50 concurrent jobs separately', async () => {
    const names = Array.from({ length: 50 }, (_, i) => `k${10 + i}`);
    expect(await Promise.all(names.map((name) => store.write(put(name))))).toEqual(names);
    expect(keys()).toEqual(names);
    expect(commits).toBe(50);
  });

  test('rolls back a job that throws, and keeps the other jobs', async () => {
    const failing = store.write(() => {
      put('b')();
      throw new RangeError('no');
    });
    const [a, b, c] = await Promise.allSettled([
      store.write(put('a')),
      failing,
      store.write(put('c')),
    ]);
    expect([a.status, b.status, c.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(keys()).toEqual(['a', 'c']);
  });

  test('rolls back a job and rejects its request if the books are unbalanced before the commit', async () => {
    booksAreWrong = true;
    const results = await Promise.allSettled([store.write(put('a')), store.write(put('b'))]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(keys()).toEqual([]);
  });

  test('rolls back a failed part of a job, and keeps the rest', async () => {
    await store.write(() => {
      put('a')();
      expect(() =>
        store.attempt(() => {
          put('b')();
          throw new RangeError('no');
        }),
      ).toThrow('no');
    });
    expect(keys()).toEqual(['a']);
  });

  test('rolls back the inner part of a job together with its failed outer part', async () => {
    await store.write(() => {
      expect(() =>
        store.attempt(() => {
          store.attempt(put('a'));
          throw new RangeError('no');
        }),
      ).toThrow('no');
      store.attempt(put('b'));
      put('c')();
    });
    expect(keys()).toEqual(['b', 'c']);
  });
});

/** Either a key to write, or a nested part of a job, which may fail after its last step. */
type Step = string | { readonly steps: readonly Step[]; readonly fails: boolean };

const { step } = fc.letrec<{ step: Step }>((tie) => ({
  step: fc.oneof(
    { maxDepth: 4 },
    fc.constant('key'),
    fc.record({ steps: fc.array(tie('step'), { maxLength: 4 }), fails: fc.boolean() }),
  ),
}));

test('the sandbox store rolls back failed parts of a job at any depth of nesting', async () => {
  let last = 100_000;
  /** Runs the steps, and returns the keys that must exist afterwards. */
  const runDueActions = (steps: readonly Step[]): string[] =>
    steps.flatMap((each) => {
      if (typeof each === 'string') return [put(`k${(last += 1)}`)()];
      let kept: string[] = [];
      try {
        store.attempt(() => {
          kept = runDueActions(each.steps);
          if (each.fails) throw new RangeError('no');
        });
        return kept;
      } catch {
        return [];
      }
    });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 5 }), async (steps) => {
      const expected = await store.write(() => {
        store.run('DELETE FROM setting');
        return runDueActions(steps);
      });
      expect(keys()).toEqual(expected);
    }),
    { numRuns: 300 },
  );
});
