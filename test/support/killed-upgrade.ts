// Opens a file again and again in processes of their own, each killed a little later than the one
// before.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { buildSync } from 'esbuild';
import { expect, onTestFinished } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const killedOpener = resolve(root, 'test/store/fixtures/killed-opener.cjs');

/**
 * Kills a process that opens a fresh copy at the first thing that it does to a file, then one at
 * the second, until one comes through; after each death the copy is to be whole. Tells how many
 * died.
 *
 * @param file `FILE#NAME`: a function of the source that says of a path how it is opened
 * @param stride how many things later each process dies than the one before
 */
export async function upgradedWhereverKilled(
  file: string,
  copy: () => string,
  isWhole: (path: string) => Promise<void>,
  stride = 1,
): Promise<number> {
  const [module, name] = file.split('#');
  const bundle = resolve(root, `node_modules/.cache/opener-${process.pid}-${name}.cjs`);
  onTestFinished(() => rmSync(bundle, { force: true }));
  buildSync({
    stdin: {
      contents: `import { openSqlite } from './src/store/files/sqlite-file.js';
        import { ${name} } from './${module}';
        export const open = (path) => openSqlite(${name}(path));`,
      resolveDir: root,
    },
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    external: ['libsql'],
  });
  for (let died = 0; ; died += 1) {
    const path = copy();
    const { signal, status, stderr } = spawnSync(process.execPath, [
      killedOpener,
      bundle,
      path,
      String(died * stride + 1),
    ]);
    if (signal === null) {
      expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: '' });
      return died;
    }
    await isWhole(path);
  }
}
