// Bundles the simulation for plain Node.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const root = resolve(import.meta.dirname, '../..');

/**
 * The simulation creates millions of short-lived objects, and garbage collection in parallel
 * threads would take a tenth more processor time.
 */
export const flags = ['--max-semi-space-size=16', '--single-threaded-gc', '--no-warnings'];

/** @returns the path of the bundle, which must run with `flags`, and a function that deletes it */
export async function bundle() {
  // The bundle is inside the project, so that it can import libsql, which cannot be bundled.
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'simulate-'));
  const outfile = join(folder, 'simulate.mjs');
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    await build({
      entryPoints: [join(import.meta.dirname, 'simulate.ts')],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20.19',
      packages: 'external',
      logLevel: 'error',
    });
  } catch (error) {
    remove();
    throw error;
  }
  return { outfile, remove };
}
