// npm run bench: measures every part beside this file, one after the other, and prints what came out beside its target.
// Named parts alone: npm run bench -- startup get. Ends with 1 only where something could not be measured: whether a
// target is missed by a little depends on the machine, and the table says it.
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';

const parts = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.mjs') && file !== 'index.mjs')
  .map((file) => basename(file, '.mjs'));
const asked = process.argv.slice(2);
if (!asked.every((part) => parts.includes(part))) {
  console.error(`The parts are: ${parts.join(', ')}.`);
  process.exit(2);
}
for (const part of asked.length > 0 ? asked : parts) {
  console.log(`\n${part}`);
  try {
    const { measure } = await import(`./${part}.mjs`);
    const rows = await measure();
    console.table(Object.fromEntries(rows.map(({ name, ...row }) => [name, row])));
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  }
}
