import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Most of the time a test waits for the program that it runs.
    maxWorkers: 3,
    reporters: ['default', ['json', { outputFile: 'node_modules/.cache/test-report.json' }]],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', 'test/examples/**', 'test/faults/**', 'test/conformance/client.test.ts'],
          pool: 'threads',
          // Generous: a property test on a busy machine is slow, not wrong.
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'process',
          include: [
            'test/e2e/**/*.test.ts',
            'test/examples/**/*.test.ts',
            'test/faults/**/*.test.ts',
            'test/conformance/client.test.ts',
          ],
          pool: 'forks',
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
