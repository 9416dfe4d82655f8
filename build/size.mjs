// Prints the minified bytes of src/ by folder, and the change since a revision: the revision that
// the command line names, or the last tag. Unlike a count of lines, minified bytes are independent
// of the line width.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformSync } from 'esbuild';

/**
 * Returns the size of a file with minified whitespace and syntax, but with its original names,
 * which are part of what a reader must understand.
 */
const minified = (text) =>
  transformSync(text, { loader: 'ts', minifyWhitespace: true, minifySyntax: true }).code.length;

function sizesOf(files, textOf) {
  const folders = new Map();
  for (const file of files) {
    if (!file.endsWith('.ts') || file.endsWith('.d.ts')) continue;
    const folder = folders.get(dirname(file)) ?? { files: 0, bytes: 0 };
    const bytes = folder.bytes + minified(textOf(file));
    folders.set(dirname(file), { files: folder.files + 1, bytes });
  }
  return folders;
}

const git = (...args) =>
  execFileSync('git', args, {
    encoding: 'utf8',
    maxBuffer: 1e9,
    stdio: ['ignore', 'pipe', 'pipe'],
  });

function lastTag() {
  try {
    return git('describe', '--tags', '--abbrev=0').trim();
  } catch {
    return undefined;
  }
}

function sizesAt(revision) {
  const files = git('ls-tree', '-r', '--name-only', revision, '--', 'src').trim().split('\n');
  return sizesOf(files, (file) => git('show', `${revision}:${file}`));
}

const now = sizesOf(
  readdirSync('src', { recursive: true }).map((file) => join('src', file)),
  (file) => readFileSync(file, 'utf8'),
);
const revision = process.argv[2] ?? lastTag();
const before = revision === undefined ? undefined : sizesAt(revision);

const sum = (folders, field) =>
  [...(folders ?? new Map()).values()].reduce((total, folder) => total + folder[field], 0);
const change = (bytes) =>
  before === undefined ? '' : `${bytes > 0 ? '+' : ''}${bytes}`.padStart(9);
const row = (bytes, difference, files, folder) =>
  `${String(bytes).padStart(9)}${difference}  ${String(files).padStart(5)}  ${folder}\n`;

const since = before === undefined ? '' : 'change'.padStart(9);
process.stdout.write(
  row('bytes', since, 'files', `folder${revision ? `, since ${revision}` : ''}`),
);
for (const folder of [...new Set([...now.keys(), ...(before?.keys() ?? [])])].toSorted()) {
  const { bytes, files } = now.get(folder) ?? { bytes: 0, files: 0 };
  process.stdout.write(
    row(bytes, change(bytes - (before?.get(folder)?.bytes ?? 0)), files, folder),
  );
}
const total = sum(now, 'bytes');
process.stdout.write(row(total, change(total - sum(before, 'bytes')), sum(now, 'files'), 'all'));
