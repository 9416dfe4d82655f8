// `npm test` runs a part of the tests; `npm run test:all` and `.ci/run` run all of them. `npm test`
// skips tests that only repeat other tests with more seeds, machines or sizes, and slow tests of
// code that rarely changes. Every run uses the same seeds; for fresh seeds, run
// SVCPAY_TEST_SEED=$RANDOM npm run test:all
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    readonly runsAll: boolean;
    readonly firstSeed: number;
  }
}

export const runsAll = inject('runsAll');
export const firstSeed = inject('firstSeed');

/** Returns the number of seeds or other cases that this run tests. */
export const countOf = ({ part, all }: { readonly part: number; readonly all: number }): number =>
  runsAll ? all : part;
