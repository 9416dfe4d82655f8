// Bundles the command line before all tests, because plain Node loads and runs bundled files faster
// than a test runner.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of the bundled module that exports `runCli`. */
    readonly commandLine: string;
    /** The URL of the bundled module that finds printed commands. */
    readonly printedCommands: string;
  }
}

const root = resolve(import.meta.dirname, '../..');

export async function setup(project: TestProject): Promise<() => void> {
  // The bundle is inside the project, so that it finds the project's packages.
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const outdir = mkdtempSync(join(cache, 'command-line-'));
  await build({
    entryPoints: {
      run: join(root, 'src/cli/program.ts'),
      'printed-commands': join(root, 'test/support/printed-commands.ts'),
    },
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
  const provide = (name: 'commandLine' | 'printedCommands', file: string): void =>
    project.provide(name, pathToFileURL(join(outdir, file)).href);
  provide('commandLine', 'run.mjs');
  provide('printedCommands', 'printed-commands.mjs');
  return () => rmSync(outdir, { recursive: true, force: true });
}
