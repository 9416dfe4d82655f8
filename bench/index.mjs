// npm run bench: runs every part beside this file, one after the other. Named parts run alone: npm run bench -- sandbox
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

const parts = readdirSync(import.meta.dirname).map((file) => basename(file, '.mjs')).filter((part) => part !== 'index');
const asked = process.argv.slice(2);
if (!asked.every((part) => parts.includes(part))) {
  console.error(`The parts are: ${parts.join(', ')}.`);
  process.exit(2);
}
for (const part of asked.length > 0 ? asked : parts) {
  console.log(`\n${part}`);
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, `${part}.mjs`)], { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
