import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { defineConfig } from 'vitest/config';

// Most code in a test runs only a few times, so optimising it early costs more than it saves. Later
// versions of V8 lack the flag.
const flags = process.versions.node.startsWith('20.') ? ['--interrupt-budget=5000000'] : [];

/** The longest files start first, so that none of them runs alone at the end. */
const longest = [
  'readme',
  'simulation/payments',
  'faults/strange-answers',
  'wallet/payment/enumeration',
  'store/files/upgrade',
  'faults/lagging-service',
  'faults/receivers',
  'faults/machines',
  'library/library',
  'e2e/',
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

export default defineConfig(({ mode }) => ({
  test: {
    // Files share loaded modules, because no test changes a module.
    isolate: false,
    // Starting a program copies the memory pages of its parent, and four processes are smaller than
    // one with four threads.
    pool: 'forks',
    execArgv: flags,
    // Most tests wait for the programs that they run. The long tests run databases and browsers too.
    maxWorkers: mode === 'all' ? 6 : 8,
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
    // hledger reads UTF-8 only in a locale that has it.
    env: { LC_ALL: process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8' },
    setupFiles: ['test/support/seeds.ts'],
    provide: {
      runsAll: mode === 'all',
      firstSeed: Number(process.env['SVCPAY_TEST_SEED'] ?? 1),
    },
    include: ['test/**/*.test.ts'],
    reporters: ['default', ['json', { outputFile: 'node_modules/.cache/test-report.json' }]],
  },
}));
