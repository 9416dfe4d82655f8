import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { defineConfig } from 'vitest/config';

// Nearly all code of a test runs a few times: to optimise it as early as is usual costs more than it saves. Later versions of
// V8 do not know the flag.
const flags = process.versions.node.startsWith('20.') ? ['--interrupt-budget=5000000'] : [];

/** What takes longest, first: what is begun last is not waited for alone. */
const longest = [
  'simulation/payments',
  'faults/strange-answers',
  'wallet/payment/enumeration',
  'store/files/upgrade',
  'faults/lagging-service',
  'faults/receivers',
  'faults/machines',
  'e2e/',
  'readme',
  'examples/',
  'sandbox/processes',
  'faults/',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = longest.findIndex((each) => moduleId.includes(`/test/${each}`));
      return at < 0 ? longest.length : at;
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- it is that of a sequencer
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    // A file costs its own tests and no second loading of what others have loaded: no test changes a module.
    isolate: false,
    // A program is started by copying the pages of the process that starts it: four processes are smaller than one of four threads.
    pool: 'forks',
    execArgv: flags,
    // Most of the time a test waits for the program that it runs, and one for the simulation.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // Generous: a test on a busy machine is slow, not wrong.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 40_000, interval: 10 } },
    globalSetup: [
      'test/support/memory-folder.ts',
      'test/support/command-line.ts',
      'test/support/database-door.ts',
    ],
    include: ['test/**/*.test.ts'],
    reporters: ['default', ['json', { outputFile: 'node_modules/.cache/test-report.json' }]],
  },
});
