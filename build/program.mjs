// Bundles the command-line program for a quick start: few files, each loaded only when needed.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { build, transform } from 'esbuild';
import { writeNotices } from './notices.mjs';

/** Files that nearly every command loads. */
const core = ['src/cli/run.ts', 'src/cli/context.ts', 'src/cli/show-failure.ts'];

/**
 * esbuild makes a chunk for every set of entries that share code, which would be dozens for one
 * command. If every lazily loaded part imports the core, all parts share it, and the core is one
 * chunk.
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
      const exported = `export * from ${part};export default all.default;`;
      const contents = `${imports.join('')}import * as all from ${part};${exported}`;
      return { contents, resolveDir: dirname(path) };
    });
  },
};

/**
 * conf writes files with the package atomically. Its dependency when-exit sends each signal to
 * the process again, so the second signal would end svcpay during an orderly stop.
 */
const withoutSignals = {
  name: 'without the signals of when-exit',
  setup(bundler) {
    bundler.onResolve({ filter: /^when-exit$/ }, () => ({ path: 'when-exit', namespace: 'empty' }));
    bundler.onLoad({ filter: /./, namespace: 'empty' }, () => ({
      contents: 'export default () => () => undefined;',
    }));
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
    external: ['libsql', 'pg', '@napi-rs/keyring'],
    plugins: [withoutSignals, withCore],
    // Some parts have no default export.
    logOverride: { 'import-is-undefined': 'silent' },
    write: false,
    metafile: true,
  });
  await Promise.all([
    ...outputFiles.map(writePart),
    writeNotices(Object.keys(metafile.inputs), join(outdir, 'THIRD-PARTY-NOTICES.txt')),
  ]);
}

/**
 * Writes the function that bin/load.js runs. esbuild splits only ECMAScript modules, so each chunk
 * is converted here.
 */
async function writePart({ path, text }) {
  const { code } = await transform(text, {
    ...options,
    format: 'cjs',
    supported: { 'dynamic-import': false },
  });
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `(function(exports,require,module){${code}})`);
}
