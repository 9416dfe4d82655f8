// Installs the published package like a new user, by its name from a registry: globally, from an
// empty cache, without scripts and without a compiler. Then pays in the sandbox with the program.
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { otherNode } from '../other-node.mjs';

const run = promisify(execFile);

const nodes = ['20', '22', '24', '26'];
const npms = ['10', '11', '12'];

/** npm 12 supports Node 22 and newer. */
export const pairs = nodes.flatMap((node) =>
  npms.filter((npm) => !(node === '20' && npm === '12')).map((npm) => ({ node, npm })),
);

/** The largest allowed size in bytes of an installation without its optional parts. */
const mostBytes = 30e6;

/**
 * Installs svcpay with one version of Node and one of npm.
 * @param registry the URL of the registry
 * @param lock the lock file, which names the packages for development
 * @returns the sizes of the installation and of its optional parts in bytes, and the faults found
 */
export async function installed(registry, { node, npm }, lock) {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-install-'));
  try {
    const program = otherNode(node);
    const env = environment(folder, program);
    const { stderr } = await run(
      program,
      [npmScript(npm), 'install', 'svcpay', ...options(folder, registry)],
      { env },
    );
    const root = join(folder, 'lib/node_modules/svcpay');
    const sizes = filesBelow(root).map((file) => [relative(root, file), statSync(file).size]);
    const sum = (some) => some.reduce((total, [, size]) => total + size, 0);
    const optional = sum(sizes.filter(([file]) => optionalParts.test(file)));
    const needed = sum(sizes) - optional;
    return {
      bytes: sum(sizes),
      optional,
      problems: [
        ...(needed <= mostBytes ? [] : [`${megabytes(needed)} MB without its optional parts`]),
        ...(stderr.includes('script') ? [`npm warns: ${stderr.trim()}`] : []),
        ...wrongPackages(root, lock),
        ...(existsSync(manualPage(folder, root, npm)) ? [] : ['no manual page']),
        ...(await tried(folder, env)),
      ],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** npm 12 no longer links manual pages, so the page is only in the package. */
const manualPage = (folder, root, npm) =>
  npm === '12' ? join(root, 'man/svcpay.1') : join(folder, 'share/man/man1/svcpay.1');

const optionalParts = /node_modules\/@napi-rs\//;

const options = (folder, registry) => [
  '--global',
  `--registry=${registry}`,
  `--prefix=${folder}`,
  `--cache=${join(folder, 'cache')}`,
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--no-update-notifier',
];

/**
 * The environment of the installation, which has only this Node and the system's programs, and no
 * compiler.
 */
function environment(folder, node) {
  const bin = join(folder, 'node');
  symlinkSync(dirname(node), bin);
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')),
  );
  return {
    ...env,
    PATH: [join(folder, 'bin'), bin, '/usr/bin', '/bin'].join(delimiter),
    SVCPAY_HOME: join(folder, 'home'),
    CC: 'false',
    CXX: 'false',
  };
}

/** Downloads a version of npm into the folder for temporary files. */
function npmScript(major) {
  const folder = join(tmpdir(), `svcpay-npm${major}`);
  const script = join(folder, 'node_modules/npm/bin/npm-cli.js');
  if (!existsSync(script)) {
    mkdirSync(folder, { recursive: true });
    const args = ['install', '--no-save', '--force', '--prefix', folder, `npm@${major}`];
    execFileSync('npm', args, { stdio: ['ignore', 'ignore', 'ignore'] });
  }
  return script;
}

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

/** Checks that the installed program starts, opens its database, completes words, and pays. */
async function tried(folder, env) {
  const svcpay = async (...args) =>
    (await run(join(folder, 'bin/svcpay'), args, { env })).stdout.trim();
  try {
    await svcpay('--version');
    const completion = await svcpay('completion', 'bash');
    const invoice = await svcpay('--sandbox', 'sandbox', 'invoice', '1000sat', '-q');
    const paid = await svcpay('--sandbox', 'send', 'lightning', invoice, '--yes', '--json');
    const { txnState } = JSON.parse(paid);
    return [
      ...(completion.includes('svcpay') ? [] : ['no completion for bash']),
      ...(txnState === 'completed' ? [] : [`the payment is ${txnState}`]),
    ];
  } catch (error) {
    return [error.message];
  }
}
