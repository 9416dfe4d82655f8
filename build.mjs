// Builds dist/: the split, minified command-line program, the library and the sandbox fixture with
// their types.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { buildCompletion } from './build/completion.mjs';
import { buildProgram, buildRequire } from './build/program.mjs';

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
    entryPoints,
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    legalComments: 'none',
    chunkNames: 'library/[name]-[hash]',
    packages: 'external',
    logLevel: 'warning',
  });

/**
 * Copies the type declarations of the entries for CommonJS, because with `node16` TypeScript
 * assumes that `require` cannot load an ES module.
 */
async function buildRequiredTypes() {
  const seen = new Set();
  const write = async (file) => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = await readFile(`${file}.d.ts`, 'utf8');
    const relative = /(?<=(?:from |import\()['"])(\.[^'"]+)\.js(?=['"])/g;
    await writeFile(`${file}.d.cts`, text.replaceAll(relative, '$1.cjs'));
    for (const [, path] of text.matchAll(relative)) await write(join(dirname(file), path));
  };
  for (const name of Object.keys(entryPoints)) await write(join(outdir, 'types/src', name));
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
  buildTypes().then(buildRequiredTypes),
]);
