// Builds dist/: the split, minified command-line program, the library and the sandbox fixture with their types.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
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

async function buildTypes() {
  const compiler = fileURLToPath(import.meta.resolve('typescript/package.json')).replace(/package\.json$/, 'bin/tsc');
  const tsc = spawn(process.execPath, [compiler, '-p', 'tsconfig.types.json'], { stdio: 'inherit' });
  const [code] = await once(tsc, 'close');
  if (code !== 0) throw new Error(`tsc ended with ${code}`);
}

await rm(outdir, { recursive: true, force: true });
await Promise.all([buildProgram(outdir).then(() => buildCompletion(outdir)), buildLibrary(), buildTypes()]);
