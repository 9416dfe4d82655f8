// Prints the minified bytes of src/ by room: how much there is to understand, whatever the width of
// its lines.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformSync } from 'esbuild';

const source = 'src';

/** Whitespace and syntax only: names are part of what a reader understands. */
const minified = (file) =>
  transformSync(readFileSync(join(source, file), 'utf8'), {
    loader: 'ts',
    minifyWhitespace: true,
    minifySyntax: true,
  }).code.length;

const rooms = new Map();
for (const file of readdirSync(source, { recursive: true })) {
  if (!file.endsWith('.ts') || file.endsWith('.d.ts')) continue;
  const room = rooms.get(dirname(file)) ?? { files: 0, bytes: 0 };
  rooms.set(dirname(file), { files: room.files + 1, bytes: room.bytes + minified(file) });
}

const all = [...rooms.values()];
const row = (bytes, files, room) =>
  `${String(bytes).padStart(9)}  ${String(files).padStart(5)}  ${room}\n`;
const sum = (field) => all.reduce((total, room) => total + room[field], 0);
process.stdout.write(row('bytes', 'files', 'room'));
for (const [room, { bytes, files }] of [...rooms].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
  process.stdout.write(row(bytes, files, room === '.' ? 'src' : `src/${room}`));
}
process.stdout.write(row(sum('bytes'), sum('files'), 'all'));
