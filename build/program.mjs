// Bundles the command-line program for a quick start. The bundle of the program has few files, and
// each file is loaded only when the program needs it.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { build, transform } from 'esbuild';
import { writeNotices } from './notices.mjs';

/** The files that nearly every command loads. */
const core = ['./src/cli/program.ts', './src/cli/context.ts', './src/cli/show-failure.ts'];

/**
 * Bundles the core as one chunk, because every lazily loaded part imports the core. Without the
 * plugin `withCore`, esbuild would make a chunk for every set of entries that share code, and one
 * command would load dozens of chunks.
 */
const withCore = {
  name: 'core in every part',
  setup(bundler) {
    bundler.onResolve({ filter: /./ }, async ({ kind, path, importer, resolveDir }) => {
      if (kind !== 'dynamic-import') return undefined;
      const found = await bundler.resolve(path, { kind: 'import-statement', importer, resolveDir });
      // An absolute path would change the names of the chunks from folder to folder.
      const part = `./${relative(process.cwd(), found.path)}`;
      return found.external ? undefined : { path: part, namespace: 'part' };
    });
    bundler.onLoad({ filter: /./, namespace: 'part' }, ({ path }) => {
      const part = JSON.stringify(path);
      const imports = core.map((file) => `import ${JSON.stringify(file)};`);
      const exported = `export * from ${part};export default all.default;`;
      const contents = `${imports.join('')}import * as all from ${part};${exported}`;
      return { contents, resolveDir: process.cwd() };
    });
  },
};

/**
 * Replaces when-exit, which conf depends on, with an empty function. when-exit sends each signal to
 * the process a second time, which would end svcpay during an orderly stop.
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

/** CommonJS that a test runner without ECMAScript modules can load. */
const commonJs = { format: 'cjs', supported: { 'dynamic-import': false } };

const options = {
  minify: true,
  platform: 'node',
  target: 'node20.19',
  legalComments: 'none',
  logLevel: 'warning',
};

/** The library, whose names an integrator reads in stack traces. */
export const readable = {
  ...options,
  minify: false,
  minifySyntax: true,
  minifyWhitespace: true,
};

/** The packages that `require` can load everywhere, and `conf`, which only the program uses. */
const external = /^(?:big\.js|conf|libsql|pg|qrcode-terminal|undici|valibot)(?:\/|$)/;

/**
 * Builds the library for `require`. The build contains the packages that `require` cannot load
 * everywhere, and all entries share their chunks, so that each class exists once.
 */
export async function buildRequire(entryPoints, outdir) {
  const withoutPackages = {
    name: 'packages stay external',
    setup(bundler) {
      bundler.onResolve({ filter: external }, ({ path }) => ({ path, external: true }));
    },
  };
  const { outputFiles } = await build({
    ...readable,
    entryPoints,
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    outExtension: { '.js': '.cjs' },
    chunkNames: 'library/[name]-[hash]',
    plugins: [withoutPackages],
    write: false,
  });
  await Promise.all(outputFiles.map((file) => writePart(file, readable)));
}

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
    // Silences the warning about imports of missing exports, because `withCore` imports the default
    // export of every lazily loaded part, and some parts have none.
    logOverride: { 'import-is-undefined': 'silent' },
    write: false,
    metafile: true,
  });
  await Promise.all([
    ...outputFiles.map((file) => writePart(file)),
    writeNotices(Object.keys(metafile.inputs), join(outdir, 'THIRD-PARTY-NOTICES.txt')),
  ]);
}

/** Converts a chunk to CommonJS, because esbuild splits only ECMAScript modules. */
async function writePart({ path, text }, minified = options) {
  const { code } = await transform(text, { ...minified, ...commonJs });
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, code);
}
