// Runs tests on code with mutants: the runner repeats each test once per mutant that the test reaches.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { BaseSequencer } from 'vitest/node';
import { instrumented } from './mutants.mjs';

const root = resolve(import.meta.dirname, '../..');
const { files } = JSON.parse(readFileSync(process.env.SVCPAY_MUTANTS, 'utf8'));

/** Tests of one function first, because they are the fastest. */
const order = ['wallet', 'store', 'library', 'cli', 'e2e', 'faults'];

class FastestFirst extends BaseSequencer {
  async sort(tests) {
    const rank = ({ moduleId }) => order.findIndex((each) => moduleId.includes(`/test/${each}/`));
    // oxlint-disable-next-line unicorn/no-array-sort -- it is that of a sequencer
    const sorted = await super.sort(tests);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

export default {
  root,
  plugins: [
    {
      name: 'mutants',
      enforce: 'pre',
      transform(code, id) {
        const file = files.find(({ path }) => id === resolve(root, path));
        return file && { code: instrumented(code, file.mutants, file.firstId), map: null };
      },
    },
  ],
  test: {
    isolate: false,
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: FastestFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 5_000, interval: 10 } },
    globalSetup: ['test/support/memory-folder.ts', 'test/support/database-door.ts'],
    env: { LC_ALL: 'C.UTF-8' },
    setupFiles: ['test/support/seeds.ts'],
    // Commands in the process of a test run the code with mutants instead of a bundle.
    provide: {
      runsAll: false,
      firstSeed: 1,
      commandLine: resolve(root, 'src/cli/program.ts'),
      printedCommands: resolve(root, 'test/support/printed-commands.ts'),
    },
    include: order.map((folder) => `test/${folder}/**/*.test.ts`),
    runner: resolve(import.meta.dirname, 'runner.mjs'),
    reporters: ['dot'],
  },
};
