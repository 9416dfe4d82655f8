// Each module of the formats imports few packages: a command that only reads an amount must not
// load elliptic curves.
import { build } from 'esbuild';
import { expect, test } from 'vitest';

/** Returns the packages and Node modules that a module imports directly or indirectly. */
async function reach(module: string): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: [`src/formats/${module}.ts`],
    absWorkingDir: new URL('../..', import.meta.url).pathname,
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  return [
    ...new Set(imports.filter(({ external }) => external).map(({ path }) => path)),
  ].toSorted();
}

test.for([
  ['failure', []],
  ['calendar', ['leven']],
  ['amount', ['big.js', 'leven']],
  ['describe', ['big.js', 'leven']],
  ['address', ['@noble/hashes/sha3.js', '@scure/base', 'node:crypto']],
] as const)('src/formats/%s.ts imports exactly the packages in %j', async ([module, packages]) => {
  expect(await reach(module)).toEqual(packages);
});
