// Bundles the simulation for plain Node, with a mistake put into the source where one is named.
import { readFileSync, rmSync } from 'node:fs';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { build } from 'esbuild';
import { mutations } from './mutations.mjs';

const root = resolve(import.meta.dirname, '../..');

/** Millions of small objects live for a moment each: collecting them in threads beside the work takes a tenth more of the processors. */
export const flags = ['--max-semi-space-size=16', '--single-threaded-gc'];

/** @returns the bundle's file, which is run with the flags, and a function that takes it away */
export async function bundle(mutation) {
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
      plugins: mutation === undefined ? [] : [plugin(mutation)],
    });
  } catch (error) {
    remove();
    throw error;
  }
  return { outfile, remove };
}

function plugin(mutation) {
  const edited = mutated(mutation);
  return {
    name: 'mutation',
    setup: ({ onLoad }) =>
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const contents = edited(path);
        return contents === undefined ? undefined : { loader: 'ts', contents };
      }),
  };
}

/** The text of a source file with the mistake in it; undefined for a file that the mistake leaves alone. */
export function mutated(name) {
  const mutation = mutations[name];
  if (mutation === undefined) throw new Error(`There is no mutation "${name}". There are:\n  ${Object.keys(mutations).join('\n  ')}`);
  return (path) => {
    const edits = mutation.edits.filter(([file]) => file === relative(root, path));
    return edits.length === 0 ? undefined : edits.reduce((text, edit) => edited(text, edit), readFileSync(path, 'utf8'));
  };
}

function edited(text, [file, find, replace]) {
  if (!text.includes(find)) throw new Error(`${file} has no "${find}" any more.`);
  return text.replace(find, () => replace);
}
