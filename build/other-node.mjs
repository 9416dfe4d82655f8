// Downloads another version of Node from npm into the folder for temporary files. Installs nothing.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { arch, platform, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Returns the path of a `node` program with this major version. */
export function otherNode(major) {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath;
  const folder = join(tmpdir(), `svcpay-node${major}`);
  const program = join(folder, 'node_modules', 'node', 'bin', 'node');
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    const name = `node@npm:node-${platform()}-${arch()}@${major}`;
    execFileSync('npm', ['install', '--no-save', '--prefix', folder, name], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  return program;
}
