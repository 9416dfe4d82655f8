// Opens copies of a file in separate processes, and kills each process a little later than the
// previous process.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { buildSync } from 'esbuild';
import { expect, onTestFinished } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const killedOpener = resolve(root, 'test/store/fixtures/killed-opener.cjs');

/**
 * Kills the first process at its first file operation, the second process at its second, and so on,
 * until a process opens its copy of the file. After each kill, the copy of the file must be intact.
 * Returns the number of killed processes.
 *
 * @param file `FILE#NAME`: a function of src/ that returns the options for opening a path
 * @param stride how many more file operations each process completes than the previous process
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
