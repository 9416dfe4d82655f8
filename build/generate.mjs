// npm run generate: writes the pictures and every file that is generated from the code. With
// --check, the script writes nothing and fails if a file is stale.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = resolve(import.meta.dirname, '..');

/**
 * Loads the module build/generated.ts from the source, so that the script works without an earlier
 * build.
 */
export async function loadGenerated() {
  // The output folder is within the project, so that the built module finds the project's packages.
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'generate-'));
  const outfile = join(folder, 'generated.mjs');
  try {
    await build({
      entryPoints: [join(root, 'build/generated.ts')],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      logLevel: 'warning',
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function staleFiles() {
  const textOf = (file) =>
    existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '';
  const { version } = JSON.parse(textOf('package.json'));
  const { generatedFiles } = await loadGenerated();
  return [...(await generatedFiles(version, textOf))].filter(
    ([file, text]) => textOf(file) !== text,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const stale = await staleFiles();
  if (process.argv.includes('--check')) {
    for (const [file] of stale) console.error(`${file} is stale: npm run generate`);
    if (stale.length > 0) process.exitCode = 1;
  } else {
    for (const [file, text] of stale) {
      writeFileSync(join(root, file), text);
      console.log(file);
    }
  }
}
