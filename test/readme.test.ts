// Every sh block of the README and of docs/ runs at a terminal against the embedded sandbox, one
// page after the other in one home. An sh block runs twice if a comment in the block describes the
// second run. test/library/guide.test.ts runs the programs of docs/library.md.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { spawn } from '@lydell/node-pty';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runsAll } from './support/part.js';

const root = resolve(import.meta.dirname, '..');
const pages = [
  'README.md',
  'SKILL.md',
  ...readdirSync(join(root, 'docs'))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
];
const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');

/**
 * Pages that this test skips: their commands need PostgreSQL or minutes of simulation, so other
 * tests run them.
 */
const elsewhere = ['docs/scale.md', 'docs/simulation.md'];

/** Pages whose commands pipe into jq, which not every machine has. */
const withJq = ['docs/stability.md'];
const hasJq = (process.env['PATH'] ?? '')
  .split(delimiter)
  .some((folder) => existsSync(join(folder, 'jq')));

/**
 * The first words of the code blocks that this test skips, because their commands never end, need
 * the network, or run in another test.
 */
const notRun = [
  'git clone ',
  'npm ci ',
  'npm link',
  'npm install',
  'svcpay webhook listen ',
  'svcpay sandbox start ',
  'esbuild ',
];

const blocksOf = (page: string, language: string): string[] =>
  [...textOf(page).matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(
    ([, code = '']) => code,
  );

const runnable = pages
  .filter((page) => !elsewhere.includes(page) && (hasJq || !withJq.includes(page)))
  .map((page) => ({
    page,
    blocks: blocksOf(page, 'sh').filter((code) => !notRun.some((start) => code.startsWith(start))),
  }))
  .filter(({ blocks }) => blocks.length > 0);

/** Matches a comment in a code block that states what a second run of the code block prints. */
const again = /#.*\bagain: /;

function prepared(home: string): { cwd: string; env: Record<string, string> } {
  const [bin, cwd] = [join(home, 'bin'), join(home, 'work')];
  mkdirSync(bin, { recursive: true });
  mkdirSync(cwd, { recursive: true });
  writeFileSync(
    join(bin, 'svcpay'),
    `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'bin/svcpay.js')}' "$@"\n`,
  );
  chmodSync(join(bin, 'svcpay'), 0o755);
  const PATH = `${bin}:${process.env['PATH'] ?? ''}`;
  return { cwd, env: { PATH, HOME: home, SVCPAY_HOME: home, TMPDIR: home, LANG: 'C.UTF-8' } };
}

/**
 * Matches the last line of a script. After this line, the script waits for input, because output
 * right before its exit can be lost.
 */
const lastWord = /ended with (\d+)\r?\n/;

/** Runs a script on a terminal and answers yes to each question. */
function typed(script: string, home: string): Promise<{ exitCode: number; screen: string }> {
  const { cwd, env } = prepared(home);
  const whole = `trap 'echo "ended with $?"; read answer' EXIT\n${script}`;
  const pty = spawn('sh', ['-e', '-c', whole], {
    name: 'xterm-256color',
    cols: 100,
    rows: 50,
    cwd,
    env,
  });
  let [raw, answered] = ['', 0];
  return new Promise((done) => {
    pty.onData((data) => {
      raw += data;
      const screen = stripVTControlCharacters(raw);
      const ended = lastWord.exec(screen);
      if (ended !== null) {
        pty.write('\r');
        done({ exitCode: Number(ended[1]), screen });
      } else if (screen.includes('(y/N)', answered)) {
        answered = screen.length;
        pty.write('y\r');
      }
    });
  });
}

/** For each page, the output that the page promises for its commands. */
const promised: Readonly<Record<string, readonly RegExp[]>> = {
  'README.md': [
    /Already paid, nothing was sent now/,
    /\n([0-9a-f-]{36})\r?\n\1\r?\n/,
    /every row was sent before/,
  ],
  'docs/scripting.md': [/\ncompleted\r?\n/],
  'docs/sandbox.md': [/\ncompleted\r?\n/, /drop-after-commit.*1 of 1/],
};

describe('the documentation page', () => {
  let home: string;
  beforeAll(() => void (home = mkdtempSync(join(tmpdir(), 'svcpay-pages-'))));
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  // The commands of README.md run last, so that this test fails if limits or faults that other
  // pages set stop a command of README.md.
  test.for(runnable.toReversed().map(({ page, blocks }) => [page, blocks] as const))(
    '%s contains only commands that run as printed',
    { timeout: 120_000 },
    async ([page, blocks], { skip }) => {
      skip(!runsAll && page !== 'README.md', 'npm run test:all runs the other pages');
      const twice = blocks.flatMap((code) => (again.test(code) ? [code, code] : [code]));
      const lines = [...(page === 'README.md' ? [] : ['svcpay login --sandbox']), ...twice];
      const { exitCode, screen } = await typed(lines.join('\n'), home);
      expect(exitCode === 0 ? 'exit 0' : screen).toBe('exit 0');
      for (const words of promised[page] ?? []) expect(screen).toMatch(words);
    },
  );
});

test('each code block of the docs that uses a fixed --ref states the result of a second run', () => {
  const silent = runnable.flatMap(({ page, blocks }) =>
    blocks
      .filter((code) => /--ref [\w-]|^svcpay batch .*--no-wait/m.test(code) && !again.test(code))
      .map((code) => `${page}: ${code}`),
  );
  expect(silent).toEqual([]);
});

test('README.md ends a code block after a command that asks, so pasted lines do not become answers', () => {
  const asks = (line: string): boolean =>
    /^svcpay (?:send|swap|payout|batch)\b/.test(line) &&
    !/--yes|--dry-run|--quote-only|--help|\|\| echo/.test(line);
  const early = blocksOf('README.md', 'sh').flatMap((code) =>
    code.trimEnd().split('\n').slice(0, -1).filter(asks),
  );
  expect(early).toEqual([]);
});

test.for([
  ['README.md', 170],
  ['CHANGELOG.md', 60],
] as const)('the file %s has at most %i lines', ([page, most]) => {
  expect(textOf(page).split('\n').length - 1).toBeLessThanOrEqual(most);
});

test('the documentation links only to existing files', () => {
  const dead = [...pages, 'examples/README.md'].flatMap((page) =>
    [...textOf(page).matchAll(/(?:\]\(|src=")(?!https?:)([^)#"\s]+)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !existsSync(join(root, dirname(page), link)))
      .map((link) => `${page}: ${link}`),
  );
  expect(dead).toEqual([]);
});
