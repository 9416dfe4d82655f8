// Builds the small program that prints the suggestions of shell completion, and the data of the
// program: the help pages of the commands.
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
