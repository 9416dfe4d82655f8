// Bundles the command-line program for a quick start: few files, each loaded only by what needs it.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { build, transform } from 'esbuild';
import { writeNotices } from './notices.mjs';
import { sqliteInBundle } from './sqlite.mjs';
import { withoutUnused } from './unused.mjs';

/** What nearly every command loads. */
const core = ['src/cli/run.ts', 'src/cli/context.ts', 'src/cli/show-failure.ts'];

/**
 * esbuild makes one chunk for every set of entries that share some code, which were dozens for one command. So each
 * part that is loaded later is made to import the core: then all of them share it, and it is one chunk.
 */
const withCore = {
  name: 'core in every part',
  setup(bundler) {
    bundler.onResolve({ filter: /./ }, async ({ kind, path, importer, resolveDir }) => {
      if (kind !== 'dynamic-import') return undefined;
      const found = await bundler.resolve(path, { kind: 'import-statement', importer, resolveDir });
      return found.external ? undefined : { path: found.path, namespace: 'part' };
    });
    bundler.onLoad({ filter: /./, namespace: 'part' }, ({ path }) => {
      const part = JSON.stringify(path);
      const imports = core.map((file) => `import ${JSON.stringify(resolve(file))};`);
      const contents = `${imports.join('')}import * as all from ${part};export * from ${part};export default all.default;`;
      return { contents, resolveDir: dirname(path) };
    });
  },
};

const options = {
  minify: true,
  platform: 'node',
  target: 'node20.19',
  legalComments: 'none',
  logLevel: 'warning',
};

export async function buildProgram(outdir) {
  const { outputFiles, metafile } = await build({
    ...options,
    entryPoints: { main: 'src/main.ts' },
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    outExtension: { '.js': '.cjs' },
    chunkNames: 'chunks/[name]-[hash]',
    external: ['pg', '@napi-rs/keyring'],
    plugins: [sqliteInBundle, withoutUnused, withCore],
    // Not every part has a default export.
    logOverride: { 'import-is-undefined': 'silent' },
    write: false,
    metafile: true,
  });
  await Promise.all([
    ...outputFiles.map(writePart),
    writeNotices(Object.keys(metafile.inputs), join(outdir, 'THIRD-PARTY-NOTICES.txt')),
  ]);
}

/** A function as bin/load.js takes it; esbuild splits only modules of ECMAScript. */
async function writePart({ path, text }) {
  const { code } = await transform(text, {
    ...options,
    format: 'cjs',
    supported: { 'dynamic-import': false },
  });
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `(function(exports,require,module){${code}})`);
}
