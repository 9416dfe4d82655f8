// Prints the minified bytes of src/ by folder. Unlike a count of lines, minified bytes are
// independent of the line width.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformSync } from 'esbuild';

const source = 'src';

/**
 * Returns the size of a file with minified whitespace and syntax, but with its original names,
 * which are part of what a reader must understand.
 */
const minified = (file) =>
  transformSync(readFileSync(join(source, file), 'utf8'), {
    loader: 'ts',
    minifyWhitespace: true,
    minifySyntax: true,
  }).code.length;

const folders = new Map();
for (const file of readdirSync(source, { recursive: true })) {
  if (!file.endsWith('.ts') || file.endsWith('.d.ts')) continue;
  const folder = folders.get(dirname(file)) ?? { files: 0, bytes: 0 };
  folders.set(dirname(file), { files: folder.files + 1, bytes: folder.bytes + minified(file) });
}

const all = [...folders.values()];
const row = (bytes, files, folder) =>
  `${String(bytes).padStart(9)}  ${String(files).padStart(5)}  ${folder}\n`;
const sum = (field) => all.reduce((total, folder) => total + folder[field], 0);
process.stdout.write(row('bytes', 'files', 'folder'));
for (const [folder, { bytes, files }] of [...folders].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
  process.stdout.write(row(bytes, files, folder === '.' ? 'src' : `src/${folder}`));
}
process.stdout.write(row(sum('bytes'), sum('files'), 'all'));
