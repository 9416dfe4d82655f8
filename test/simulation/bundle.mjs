// Bundles the simulation for plain Node.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const root = resolve(import.meta.dirname, '../..');

/**
 * The simulation creates millions of short-lived objects, and garbage collection in parallel
 * threads would take a tenth more processor time.
 */
export const flags = ['--max-semi-space-size=16', '--single-threaded-gc', '--no-warnings'];

/** Breaks a source file of the program while it is bundled. */
const breaking = ({ file, from, to }) => ({
  name: 'break',
  setup: ({ onLoad }) =>
    onLoad({ filter: new RegExp(`/src/${file}$`) }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      if (!source.includes(from)) throw new Error(`${file} lacks this code: ${from}`);
      return { contents: source.replace(from, () => to), loader: 'ts' };
    }),
});

/**
 * @param broken the code to break, if any
 * @returns the path of the bundle, which must run with `flags`, and a function that deletes it
 */
export async function bundle(broken) {
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
      plugins: broken === undefined ? [] : [breaking(broken)],
      logLevel: 'error',
    });
  } catch (error) {
    remove();
    throw error;
  }
  return { outfile, remove };
}
