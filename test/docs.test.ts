// Tests that the links and file names in the documents are valid.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const inDocs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.md'),
);
const documents = [
  'README.md',
  'SKILL.md',
  'CONTRIBUTING.md',
  ...inDocs.map((name) => join('docs', name)),
];

const textOf = (document: string): string => readFileSync(join(root, document), 'utf8');

/** The headings of a document as the anchors that links use. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-'),
  );

function brokenLinks(document: string): string[] {
  const links = [...textOf(document).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? join(root, document) : resolve(root, dirname(document), path);
    if (!existsSync(target)) return true;
    return anchor !== undefined && !anchorsOf(readFileSync(target, 'utf8')).includes(anchor);
  });
}

/**
 * The source and test files that a document names, by path or by file name, but that do not exist.
 */
function missingFiles(document: string): string[] {
  const named = [
    ...textOf(document).matchAll(
      /`((?:src|test|build|bench|docs|examples|completions|man)\/[\w./-]*)`/g,
    ),
  ].map(([, path = '']) => path);
  const alone = [...textOf(document).matchAll(/`([\w-]+\.m?ts)`/g)].map(([, name = '']) => name);
  return [
    ...named.filter((path) => !/NAME|ROOM/.test(path) && !existsSync(join(root, path))),
    ...alone.filter((name) => !names.has(name)),
  ];
}

/** The names of all source and test files, without their folders. */
const names = new Set(
  ['src', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
      basename(path),
    ),
  ),
);

describe.each(documents)('the document %s', (document) => {
  test('contains only valid links', () => expect(brokenLinks(document)).toEqual([]));
  test('names only existing files', () => expect(missingFiles(document)).toEqual([]));
});

test('the documents use each payment reference on only one page, so that readers can follow every page', () => {
  const used = documents.flatMap((document) =>
    [...new Set(textOf(document).match(/(?:--ref |ref: ')[\w-]+/g))].map((ref) => ({
      ref: ref.replace(/^(?:--ref |ref: ')/, ''),
      document,
    })),
  );
  const twice = used.filter(({ ref }, i) => used.findIndex((each) => each.ref === ref) !== i);
  expect(twice).toEqual([]);
});

test('docs/scale.md has the same table of payments per second as BENCHMARKS.md', () => {
  const tableOf = (document: string): string | undefined =>
    /^\| Processes \| Payments a second \|.*\n(?:\|.*\n)+/m.exec(textOf(document))?.[0];
  expect(tableOf('BENCHMARKS.md')).toBeDefined();
  expect(tableOf(join('docs', 'scale.md'))).toBe(tableOf('BENCHMARKS.md'));
});
