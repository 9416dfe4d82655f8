// Group commit: many jobs, one durable commit, each job a unit of its own.
import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStore, type Store } from '../../src/sandbox/database.js';

let store: Store;
let commits = 0;
let booksAreWrong = false;

beforeEach(() => {
  [commits, booksAreWrong] = [0, false];
  store = openStore({
    file: ':memory:',
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
  store.all(v.object({ key: v.string() }), 'SELECT key FROM setting ORDER BY key').map(({ key }) => key);

describe('the store', () => {
  test('commits the jobs that wait together once', async () => {
    const names = Array.from({ length: 50 }, (_, i) => `k${10 + i}`);
    expect(await Promise.all(names.map((name) => store.write(put(name))))).toEqual(names);
    expect(keys()).toEqual(names);
    expect(commits).toBe(1);
  });

  test('undoes a job that throws and keeps its neighbours', async () => {
    const failing = store.write(() => {
      put('b')();
      throw new RangeError('no');
    });
    const [a, b, c] = await Promise.allSettled([store.write(put('a')), failing, store.write(put('c'))]);
    expect([a.status, b.status, c.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(keys()).toEqual(['a', 'c']);
  });

  test('keeps nothing and answers nobody when the books are wrong before the commit', async () => {
    booksAreWrong = true;
    const results = await Promise.allSettled([store.write(put('a')), store.write(put('b'))]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(keys()).toEqual([]);
  });

  test('undoes a part of a job alone', async () => {
    await store.write(() => {
      put('a')();
      expect(() => store.attempt(() => {
        put('b')();
        throw new RangeError('no');
      })).toThrow('no');
    });
    expect(keys()).toEqual(['a']);
  });

  test('is durable: write-ahead log, every commit synchronised', async () => {
    expect(store.one(v.object({ synchronous: v.number() }), 'PRAGMA synchronous')).toEqual({ synchronous: 2 });
  });
});
