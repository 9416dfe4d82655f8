import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // A file costs its own tests and no second loading of what others have loaded: no test changes a module.
    pool: 'threads',
    isolate: false,
    // Most of the time a test waits for the program that it runs.
    maxWorkers: 3,
    // Generous: a test on a busy machine is slow, not wrong.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    globalSetup: 'test/support/command-line.ts',
    include: ['test/**/*.test.ts'],
    reporters: ['default', ['json', { outputFile: 'node_modules/.cache/test-report.json' }]],
  },
});
