// Installs a packed package like a new user, on each version of Node: globally, from an empty
// cache, without scripts and without a compiler.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { otherNode } from './other-node.mjs';

export const majors = ['20', '22', '24'];

/** The largest allowed size in bytes of an installation without its optional parts. */
export const mostBytes = 35e6;

/**
 * @param lock the lock file, which names the packages for development
 * @returns the sizes of the installation and of its optional parts in bytes, and the faults found
 */
export function installed(tarball, major, lock) {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-install-'));
  try {
    const node = otherNode(major);
    const env = environment(folder, node);
    execFileSync(node, [npmScript(), 'install', ...options(folder), tarball], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const root = join(folder, 'lib/node_modules/svcpay');
    const sizes = filesBelow(root).map((file) => [relative(root, file), statSync(file).size]);
    const sum = (some) => some.reduce((total, [, size]) => total + size, 0);
    const optional = sum(sizes.filter(([file]) => optionalParts.test(file)));
    return {
      bytes: sum(sizes),
      optional,
      problems: [
        ...tooLarge(sum(sizes) - optional),
        ...wrongPackages(root, lock),
        ...tried(folder, env),
      ],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const optionalParts = /node_modules\/@napi-rs\//;

const options = (folder) => [
  '--global',
  `--prefix=${folder}`,
  `--cache=${join(folder, 'cache')}`,
  '--ignore-scripts',
  '--omit=dev',
  '--no-audit',
  '--no-fund',
];

/**
 * The environment of the installation, which has only this Node and the system's programs, and no
 * compiler.
 */
function environment(folder, node) {
  const bin = join(folder, 'node');
  symlinkSync(dirname(node), bin);
  return {
    ...process.env,
    PATH: [join(folder, 'bin'), bin, '/usr/bin', '/bin'].join(delimiter),
    SVCPAY_HOME: join(folder, 'home'),
    CC: 'false',
    CXX: 'false',
  };
}

/** Returns the path of npm's own script, so that the build uses the npm that started it. */
function npmScript() {
  const { npm_execpath: script } = process.env;
  if (script === undefined) throw new Error('Run this with npm run release.');
  return script;
}

const tooLarge = (bytes) =>
  bytes <= mostBytes ? [] : [`${megabytes(bytes)} MB without its optional parts`];

export const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

function wrongPackages(root, { packages }) {
  const ids = (isDev) =>
    Object.entries(packages)
      .filter(([, { dev = false }]) => dev === isDev)
      .map(([path, { version }]) => `${nameOf(path)}@${version}`);
  const needed = ids(false);
  const development = new Set(ids(true).filter((id) => !needed.includes(id)));
  return filesBelow(root)
    .filter((file) => /node_modules\/(?:@[^/]+\/)?[^/]+\/package\.json$/.test(file))
    .flatMap((file) => {
      const { name, version, scripts = {} } = JSON.parse(readFileSync(file, 'utf8'));
      const runs = ['preinstall', 'install', 'postinstall'].filter((each) => each in scripts);
      const id = `${name}@${version}`;
      return [
        ...(development.has(id) ? [`${id} is for development only`] : []),
        ...(runs.length > 0 ? [`${id} has the script ${runs.join(', ')}`] : []),
      ];
    });
}

const nameOf = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

const filesBelow = (root) =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** Checks that the installed program starts, decodes an address, and opens a SQLite file. */
function tried(folder, env) {
  const program = join(folder, 'bin/svcpay');
  const lines = [
    ['--version'],
    ['decode', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', '-q'],
    ['--sandbox', 'wallets', '--json'],
  ];
  return lines.flatMap((args) => {
    try {
      execFileSync(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
      return [];
    } catch (error) {
      return [`svcpay ${args.join(' ')}: ${error.message}`];
    }
  });
}
