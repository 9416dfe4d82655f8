// Builds what answers a shell at the cursor: a small program of its own, and the pages of the commands as data.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';

/** Needs the program, which knows its commands. */
export async function buildCompletion(outdir) {
  const program = promisify(execFile)(process.execPath, ['bin/svcpay.js', '__generate', 'pages'], {
    maxBuffer: 1e7,
  });
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
  await writeFile(join(outdir, 'pages.json'), (await program).stdout);
}
