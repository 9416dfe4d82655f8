// Builds dist/: the split, minified command-line program, the library and the sandbox fixture with
// their types.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { buildCompletion } from './build/completion.mjs';
import { buildProgram, buildRequire, readable } from './build/program.mjs';

const outdir = 'dist';

const entryPoints = {
  index: 'src/index.ts',
  raw: 'src/raw.ts',
  sandbox: 'src/sandbox.ts',
  webhooks: 'src/webhooks.ts',
};

/**
 * Builds the library. All packages stay external, so that the library uses the integrator's own
 * big.js.
 */
const buildLibrary = () =>
  build({
    ...readable,
    entryPoints,
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    chunkNames: 'library/[name]-[hash]',
    packages: 'external',
  });

/**
 * Renames the type declarations to those of CommonJS, because with `node16` TypeScript assumes that
 * `require` cannot load an ES module. An ES module can import them, so each entry needs only one
 * line more. Declarations that no entry needs are removed.
 */
async function shareTypes() {
  const types = join(outdir, 'types/src');
  const shared = new Map();
  const share = async (file) => {
    if (shared.has(file)) return;
    const text = await readFile(`${file}.d.ts`, 'utf8');
    const relative = /(?<=(?:from |import\()['"])(\.[^'"]+)\.js(?=['"])/g;
    shared.set(file, text.replaceAll(relative, '$1.cjs'));
    for (const [, path] of text.matchAll(relative)) await share(join(dirname(file), path));
  };
  for (const name of Object.keys(entryPoints)) await share(join(types, name));
  await rm(types, { recursive: true });
  for (const [file, text] of shared) {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(`${file}.d.cts`, text);
  }
  for (const name of Object.keys(entryPoints))
    await writeFile(join(types, `${name}.d.ts`), `export * from './${name}.cjs';\n`);
}

async function buildTypes() {
  const compiler = fileURLToPath(import.meta.resolve('typescript/package.json')).replace(
    /package\.json$/,
    'bin/tsc',
  );
  const tsc = spawn(process.execPath, [compiler, '-p', 'tsconfig.types.json'], {
    stdio: 'inherit',
  });
  const [code] = await once(tsc, 'close');
  if (code !== 0) throw new Error(`tsc ended with ${code}`);
}

await rm(outdir, { recursive: true, force: true });
await Promise.all([
  buildProgram(outdir),
  buildCompletion(outdir),
  buildLibrary(),
  buildRequire(entryPoints, outdir),
  buildTypes().then(shareTypes),
]);
