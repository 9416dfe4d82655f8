// A test run over the source with the mistake in it that MUTATION names.
import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { mutated } from './bundle.mjs';

const edited = mutated(process.env['MUTATION']);

export default defineConfig({
  root: resolve(import.meta.dirname, '../..'),
  plugins: [{ name: 'mutation', enforce: 'pre', transform: (_, id) => edited(id) }],
  test: { pool: 'threads', isolate: false, globalSetup: 'test/support/database-door.ts' },
});
