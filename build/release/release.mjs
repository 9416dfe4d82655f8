// npm run release -- X.Y.Z: builds the release twice from clean clones, compares the bytes, installs
// the package like a new user, writes release/, commits, and prints the command for the tag.
// With --dry-run, the script does all of it, commits nothing, and only reports what refuses the
// release.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { pack } from '../pack.mjs';
import { installed, megabytes, pairs } from './install.mjs';
import { manifests } from './manifests.mjs';
import { startRegistry } from './registry.mjs';

const root = resolve(import.meta.dirname, '../..');

/** Returns the reasons why this commit cannot be released as `version`. */
export function unready({ version, packageJson, changelog, tags, changes, origin }) {
  const { repository, bugs, private: isPrivate } = packageJson;
  const [, newest] = /^## (\S+)/m.exec(changelog) ?? [];
  const newer = tags.filter((tag) => tag.startsWith('v') && !isOlder(tag.slice(1), version));
  return [
    ...(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version) ? [] : [`version: ${version}`]),
    ...newer.map((tag) => `${version} is not newer than the tag ${tag}`),
    ...(newest === version ? [] : [`CHANGELOG.md begins with ${newest}, not with ${version}`]),
    ...(isHttps(repository?.url) ? [] : ['package.json has no repository.url: --repository URL']),
    ...(isHttps(bugs?.url) ? [] : ['package.json has no bugs.url: --bugs URL']),
    ...(homepageOf(origin) === homepageOf(repository?.url)
      ? []
      : [`the remote origin is ${origin ?? 'not set'}, not repository.url`]),
    ...(isPrivate === true ? ['package.json is private'] : []),
    ...(changes === '' ? [] : ['the tree has uncommitted changes']),
  ];
}

const isHttps = (url) => /^(?:git\+)?https:\/\/[^/]+\/./.test(url ?? '');

const homepageOf = (url) => url?.replace(/^git\+/, '').replace(/\.git$/, '');

/** Compares two versions by number. A pre-release is older than its release. */
function isOlder(left, right) {
  const parts = (version) => {
    const [numbers, label] = version.split('-', 2);
    return [...numbers.split('.').map(Number), label === undefined ? 1 : 0, label ?? ''];
  };
  const [ours, theirs] = [parts(left), parts(right)];
  const at = ours.findIndex((part, index) => part !== theirs[index]);
  return at !== -1 && ours[at] < theirs[at];
}

const output = (file, args, cwd = root) =>
  execFileSync(file, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 });
const run = (cwd, file, ...args) => execFileSync(file, args, { cwd, stdio: 'inherit' });
const readJson = (folder, file) => JSON.parse(readFileSync(join(folder, file), 'utf8'));
const writeJson = (folder, file, value) =>
  writeFileSync(join(folder, file), `${JSON.stringify(value, null, 2)}\n`);

/** The files that a release changes. */
const changed = [
  'package.json',
  'package-lock.json',
  'CHANGELOG.md',
  'SKILL.md',
  'completions',
  'docs/schema.json',
  'man',
];

/** Clones the last commit, sets the version and the date, and builds. Returns the package's path. */
function build(folder, { version, packageJson, today }) {
  run(root, 'git', 'clone', '--quiet', '--no-hardlinks', root, folder);
  writeJson(folder, 'package.json', { ...packageJson, version });
  const lock = readJson(folder, 'package-lock.json');
  lock.version = lock.packages[''].version = version;
  writeJson(folder, 'package-lock.json', lock);
  const changelog = join(folder, 'CHANGELOG.md');
  const text = readFileSync(changelog, 'utf8');
  writeFileSync(changelog, text.replace(/^(## \S+).*$/m, `$1 (${today})`));
  run(folder, 'npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund');
  // Formats first, because the program contains package.json.
  run(folder, 'npm', 'run', '-s', 'format');
  run(folder, process.execPath, 'build.mjs');
  run(folder, process.execPath, 'build/generate.mjs');
  const packed = join(folder, 'release');
  mkdirSync(packed);
  return pack(folder, packed);
}

const hashOf = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');

const notesOf = (changelog) => /^## .*\n([^]*?)(?=^## |(?![^]))/m.exec(changelog)?.[1].trim() ?? '';

/** Writes everything that belongs to the release next to the package. */
function complete(folder, tarball, { version, packageJson }) {
  const packed = dirname(tarball);
  const name = basename(tarball);
  const sha256 = hashOf(tarball);
  const homepage = homepageOf(packageJson.repository?.url) ?? 'https://HOST/OWNER/svcpay';
  const url = `${homepage}/releases/download/v${version}/${name}`;
  writeFileSync(join(packed, 'SHA256SUMS'), `${sha256}  ${name}\n`);
  const bill = ['sbom', '--omit=dev', '--package-lock-only', '--sbom-type=application'];
  writeFileSync(
    join(packed, name.replace('.tgz', '.cdx.json')),
    output('npm', [...bill, '--sbom-format=cyclonedx'], folder),
  );
  const notes = notesOf(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8'));
  writeFileSync(join(packed, 'NOTES.md'), `${notes}\n`);
  for (const [file, text] of Object.entries(manifests({ version, homepage, url, sha256 }))) {
    mkdirSync(join(packed, dirname(file)), { recursive: true });
    writeFileSync(join(packed, file), text);
  }
  return sha256;
}

/** Installs the package with each Node and npm. Returns whether every installation works. */
async function prove(tarball, lock) {
  const upstream = output('npm', ['config', 'get', 'registry']).trim();
  const registry = await startRegistry(tarball, upstream);
  let works = true;
  for (const pair of pairs) {
    const { bytes, optional, problems } = await installed(registry.url, pair, lock);
    const size = `${megabytes(bytes)} MB, ${megabytes(optional)} MB of it optional`;
    console.log(`Node ${pair.node}, npm ${pair.npm}: ${size}`);
    for (const problem of problems) console.error(`  ${problem}`);
    works &&= problems.length === 0;
  }
  registry.close();
  return works;
}

function given() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'dry-run': { type: 'boolean', default: false },
      repository: { type: 'string' },
      bugs: { type: 'string' },
    },
  });
  const packageJson = readJson(root, 'package.json');
  if (values.repository !== undefined)
    packageJson.repository = { type: 'git', url: values.repository };
  if (values.bugs !== undefined) packageJson.bugs = { url: values.bugs };
  return {
    version: positionals[0] ?? '(missing: npm run release -- X.Y.Z)',
    packageJson,
    today: new Date().toISOString().slice(0, 10),
    isDryRun: values['dry-run'],
  };
}

async function main() {
  const release = given();
  const problems = unready({
    ...release,
    changelog: readFileSync(join(root, 'CHANGELOG.md'), 'utf8'),
    tags: output('git', ['tag']).split('\n'),
    changes: output('git', ['status', '--porcelain']),
    origin: output('git', ['remote']).includes('origin')
      ? output('git', ['remote', 'get-url', 'origin']).trim()
      : undefined,
  });
  for (const problem of problems) console.error(problem);
  if (problems.length > 0 && !release.isDryRun) process.exit(1);

  const work = mkdtempSync(join(tmpdir(), 'svcpay-release-'));
  try {
    const first = join(work, 'first');
    const tarball = build(first, release);
    if (hashOf(tarball) !== hashOf(build(join(work, 'second'), release)))
      throw new Error('Two builds of this commit differ.');
    run(first, 'npm', 'run', 'check');
    const sha256 = complete(first, tarball, release);
    const works = await prove(tarball, readJson(first, 'package-lock.json'));
    if (!works) throw new Error('An installation does not work.');
    rmSync(join(root, 'release'), { recursive: true, force: true });
    cpSync(join(first, 'release'), join(root, 'release'), { recursive: true });
    if (release.isDryRun) return;
    for (const file of changed) cpSync(join(first, file), join(root, file), { recursive: true });
    run(root, 'git', 'commit', '--quiet', '-m', `release: ${release.version}`, '--', ...changed);
    console.log(
      `git tag --sign v${release.version} -m 'svcpay ${release.version}' -m 'SHA-256: ${sha256}'`,
    );
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
