// Bundles the simulation for plain Node.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const root = resolve(import.meta.dirname, '../..');

/**
 * Millions of small objects live for a moment each: collecting them in threads beside the work
 * takes a tenth more of the processors.
 */
export const flags = ['--max-semi-space-size=16', '--single-threaded-gc'];

/** @returns the bundle's file, which is run with the flags, and a function that takes it away */
export async function bundle() {
  // Within the project, where the bundle finds the one package that cannot be part of it.
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
      external: ['libsql'],
      logLevel: 'error',
    });
  } catch (error) {
    remove();
    throw error;
  }
  return { outfile, remove };
}
