// Builds two files for shell completion: a small program that prints the suggestions, and the data
// that the program reads, which describe every command.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { loadGenerated } from './generate.mjs';

export async function buildCompletion(outdir) {
  const { completionPages } = await loadGenerated();
  await build({
    entryPoints: { complete: 'src/complete.ts' },
    outdir,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    minify: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    logLevel: 'warning',
  });
  await writeFile(join(outdir, 'pages.json'), await completionPages());
}
