// Packs the package that npm publishes: node build/pack.mjs FOLDER. The published package.json lacks
// what only the repository needs. npm 12 warns about the script `prepare` of an installed package.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const forTheRepository = ['scripts', 'devDependencies', 'packageManager'];

/** Packs the built package in `root` into `folder`, and returns the path of the tarball. */
export function pack(root, folder) {
  const work = mkdtempSync(join(tmpdir(), 'svcpay-pack-'));
  try {
    execFileSync('tar', ['-xzf', npmPack(root, work), '-C', work]);
    const unpacked = join(work, 'package');
    const file = join(unpacked, 'package.json');
    const packageJson = JSON.parse(readFileSync(file, 'utf8'));
    for (const name of forTheRepository) delete packageJson[name];
    writeFileSync(file, `${JSON.stringify(packageJson, null, 2)}\n`);
    return npmPack(unpacked, resolve(folder));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function npmPack(root, folder) {
  const options = ['--json', '--ignore-scripts', '--offline', '--pack-destination', folder];
  const [{ filename }] = JSON.parse(
    execFileSync('npm', ['pack', ...options], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 }),
  );
  return join(folder, filename);
}

const [, script, folder] = process.argv;
if (script === fileURLToPath(import.meta.url)) console.log(pack(process.cwd(), folder));
