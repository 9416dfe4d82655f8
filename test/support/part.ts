// `npm test` runs a part of the tests that are counted or seeded, `npm run test:all` all of them.
// Seeds are the same in each run. For fresh ones: SVCPAY_TEST_SEED=$RANDOM npm run test:all
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
