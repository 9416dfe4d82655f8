// npm run release: checks that this commit can be released, and writes the published files to
// release/. With --dry-run, the script writes the files even if the commit cannot be released, and
// only reports the reasons.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installed, majors, megabytes } from './install.mjs';

const root = resolve(import.meta.dirname, '..');
const folder = join(root, 'release');

/** Returns the reasons why this commit cannot be released. */
export function unready({ packageJson, changelog, tags, changes }) {
  const { version, repository, bugs, private: isPrivate } = packageJson;
  const [, newest] = /^## (\S+)$/m.exec(changelog) ?? [];
  return [
    ...(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version) ? [] : [`version: ${version}`]),
    ...(newest === version ? [] : [`CHANGELOG.md begins with ${newest}, not with ${version}`]),
    ...(isHttps(repository?.url) ? [] : ['package.json has no repository.url']),
    ...(isHttps(bugs?.url) ? [] : ['package.json has no bugs.url']),
    ...(isPrivate === true ? ['package.json is private'] : []),
    ...(tags.includes(`v${version}`) ? [] : [`this commit has no tag v${version}`]),
    ...(changes === '' ? [] : ['the tree has uncommitted changes']),
  ];
}

const isHttps = (url) => /^(?:git\+)?https:\/\/[^/]+\/./.test(url ?? '');

const textOf = (file) => readFileSync(join(root, file), 'utf8');
const output = (file, args) =>
  execFileSync(file, args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
const run = (file, args) => execFileSync(file, args, { cwd: root, stdio: 'inherit' });

function written() {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const options = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const [{ filename }] = JSON.parse(output('npm', options));
  const sum = createHash('sha256')
    .update(readFileSync(join(folder, filename)))
    .digest('hex');
  writeFileSync(join(folder, 'SHA256SUMS'), `${sum}  ${filename}\n`);
  const bill = [
    'sbom',
    '--omit=dev',
    '--package-lock-only',
    '--sbom-type=application',
    '--sbom-format=cyclonedx',
  ];
  writeFileSync(join(folder, filename.replace('.tgz', '.cdx.json')), output('npm', bill));
  return join(folder, filename);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const dryRun = process.argv.includes('--dry-run');
  const problems = unready({
    packageJson: JSON.parse(textOf('package.json')),
    changelog: textOf('CHANGELOG.md'),
    tags: output('git', ['tag', '--points-at', 'HEAD']).split('\n'),
    changes: output('git', ['status', '--porcelain']),
  });
  for (const problem of problems) console.error(problem);
  if (problems.length > 0 && !dryRun) process.exit(1);

  run('npm', ['run', 'check']);
  run('npm', ['run', 'build']);
  const tarball = written();
  const lock = JSON.parse(textOf('package-lock.json'));
  for (const major of majors) {
    const { bytes, optional, problems: wrong } = installed(tarball, major, lock);
    console.log(
      `Node ${major}: ${megabytes(bytes)} MB installed, ${megabytes(optional)} MB of it optional`,
    );
    for (const problem of wrong) console.error(`Node ${major}: ${problem}`);
    if (wrong.length > 0) process.exitCode = 1;
  }
}
