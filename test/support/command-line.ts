// Before all tests: the command line as files for plain Node, which loads and runs them faster than
// a test runner does.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of a module with `runCli`. */
    readonly commandLine: string;
  }
}

const root = resolve(import.meta.dirname, '../..');

export async function setup(project: TestProject): Promise<() => void> {
  // Within the project, where its packages are found.
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const outdir = mkdtempSync(join(cache, 'command-line-'));
  await build({
    entryPoints: [join(root, 'src/cli/run.ts')],
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    outExtension: { '.js': '.mjs' },
    logLevel: 'error',
  });
  project.provide('commandLine', pathToFileURL(join(outdir, 'run.mjs')).href);
  return () => rmSync(outdir, { recursive: true, force: true });
}
