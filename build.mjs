// Builds dist/: the split, minified command-line program, the library and the sandbox fixture with their types.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { buildCompletion } from './build/completion.mjs';
import { buildProgram } from './build/program.mjs';

const outdir = 'dist';

/** Packages stay outside, so that an integrator's own big.js is the same one. */
const buildLibrary = () =>
  build({
    entryPoints: { index: 'src/index.ts', sandbox: 'src/sandbox.ts' },
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

/** For `require`, which loads ESM in every supported Node: one and the same module, whichever way it is loaded. */
const buildRequire = () =>
  Promise.all(
    ['index', 'sandbox'].flatMap((name) => [
      writeFile(join(outdir, `${name}.cjs`), `module.exports = require('./${name}.js');\n`),
      writeFile(join(outdir, `${name}.d.cts`), `export * from './types/src/${name}.js';\n`),
    ]),
  );

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

/** The first page that most people ask for, as it is drawn for a pipe: a start without the program takes half the time. */
async function buildHelp() {
  const { stdout } = await promisify(execFile)(process.execPath, ['bin/svcpay.js', '--help']);
  // More than that a pipe may take in pieces.
  if (stdout.length > 4096) throw new Error('The page of help is too long to be written at once.');
  await writeFile(join(outdir, 'help.txt'), stdout);
}

await rm(outdir, { recursive: true, force: true });
await Promise.all([
  buildProgram(outdir).then(() => Promise.all([buildCompletion(outdir), buildHelp()])),
  buildLibrary().then(buildRequire),
  buildTypes(),
]);
