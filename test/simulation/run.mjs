// Bundles the simulation for plain Node and runs it: npm run simulate -- --seed N --runs N [--trace]
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

// Within the project, where the bundle finds the one package that cannot be part of it.
const cache = join(import.meta.dirname, '../../node_modules/.cache');
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'simulate-'));
const outfile = join(folder, 'simulate.mjs');
await build({
  entryPoints: [join(import.meta.dirname, 'simulate.ts')],
  outfile,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: ['libsql'],
  logLevel: 'warning',
});
// Millions of small objects live for a moment each: more room for them means fewer collections.
const { status } = spawnSync(process.execPath, ['--max-semi-space-size=64', outfile, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
rmSync(folder, { recursive: true, force: true });
process.exitCode = status ?? 1;
