// Tests the files around the code: the workflow, the templates, the dependencies and the release.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { unready } from '../build/release.mjs';

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

  test('runs on Linux and macOS with every even Node version from the oldest to the newest', () => {
    expect(matrix.os).toEqual(['ubuntu-latest', 'macos-latest']);
    const oldest = Number(/\d+/.exec(packageJson.engines.node)?.[0]);
    const newest = Number.parseInt(textOf('.node-version'), 10);
    const all = Array.from({ length: (newest - oldest) / 2 + 1 }, (_, at) => oldest + 2 * at);
    expect(matrix.node).toEqual(all);
  });
});

test('the issue and pull request templates ask for the output of svcpay doctor', () => {
  const templates = readdirSync(join(root, '.github/ISSUE_TEMPLATE'))
    .filter((name) => name !== 'config.yml')
    .map((name) => `.github/ISSUE_TEMPLATE/${name}`);
  expect(templates).toHaveLength(2);
  for (const name of templates) expect(() => parse(textOf(name))).not.toThrow();
  for (const name of [...templates, '.github/PULL_REQUEST_TEMPLATE.md'])
    expect(textOf(name)).toContain('svcpay doctor');
});

test('package.json pins exact versions, and Dependabot ignores qrcode-terminal', () => {
  const { dependencies, devDependencies, optionalDependencies } = packageJson;
  const versions = Object.values({ ...dependencies, ...devDependencies, ...optionalDependencies });
  expect(versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(String(version)))).toEqual([]);
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

describe('the release check', () => {
  const complete = {
    packageJson: {
      version: '0.2.0',
      repository: { type: 'git', url: 'git+https://host.example/owner/svcpay.git' },
      bugs: { url: 'https://host.example/owner/svcpay/issues' },
    },
    changelog: '# Changelog\n\n## 0.2.0\n\nNew.\n\n## 0.1.0\n\nThe first release.\n',
    tags: ['v0.2.0', ''],
    changes: '',
  };
  const { repository, bugs } = complete.packageJson;

  test('accepts a complete release', () => expect(unready(complete)).toEqual([]));

  const cases = [
    ['without a tag', { tags: ['v0.1.0'] }, 'this commit has no tag v0.2.0'],
    ['with uncommitted changes', { changes: ' M src/main.ts\n' }, 'uncommitted changes'],
    [
      'whose changelog begins with another version',
      { changelog: '## 0.1.0\n' },
      'CHANGELOG.md begins with 0.1.0, not',
    ],
    [
      'without a repository address',
      { packageJson: { version: '0.2.0', bugs } },
      'no repository.url',
    ],
    [
      'without an address for bugs',
      { packageJson: { version: '0.2.0', repository } },
      'no bugs.url',
    ],
    [
      'with a placeholder as the address for bugs',
      { packageJson: { ...complete.packageJson, bugs: { url: 'URL' } } },
      'no bugs.url',
    ],
    [
      'whose version is not a number',
      { packageJson: { ...complete.packageJson, version: 'next' } },
      'version: next',
    ],
  ] as const;
  test.for(cases)('refuses a release %s', ([, change, message]) => {
    expect(unready({ ...complete, ...change }).join('\n')).toContain(message);
  });

  test('finds no problem in the current source except the fields that only the publisher can set', () => {
    const changelog = textOf('CHANGELOG.md');
    const tags = [`v${packageJson.version}`];
    const publishers = ['package.json has no repository.url', 'package.json has no bugs.url'];
    const lacking = unready({ packageJson, changelog, tags, changes: '' });
    expect(lacking.filter((problem) => !publishers.includes(problem))).toEqual([]);
  });
});
