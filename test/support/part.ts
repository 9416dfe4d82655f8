// `npm test` runs a part of the tests, `npm run test:all` runs all of them, and `.ci/run` too. A test
// that `npm test` leaves out repeats a fact with more seeds, machines or sizes, or concerns what
// changes rarely and takes long. Seeds are the same in each run. For fresh ones: SVCPAY_TEST_SEED=$RANDOM npm run test:all
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    readonly runsAll: boolean;
    readonly firstSeed: number;
  }
}

export const runsAll = inject('runsAll');
export const firstSeed = inject('firstSeed');

/** How many of them this run takes. */
export const countOf = ({ part, all }: { readonly part: number; readonly all: number }): number =>
  runsAll ? all : part;
