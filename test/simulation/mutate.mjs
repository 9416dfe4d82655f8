// Puts mistakes into the source and sees whether each is noticed: node test/simulation/mutate.mjs [NAME...]
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { mutations } from './mutations.mjs';

const root = resolve(import.meta.dirname, '../..');
const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(mutations);

for (const name of names) {
  const { test } = mutations[name] ?? {};
  const noticedBy = test === undefined ? bySchedules(name) : byTest(name, test);
  console.log(noticedBy === undefined ? `NOT NOTICED: ${name}` : `noticed: ${name}\n  ${noticedBy}`);
  if (noticedBy === undefined) process.exitCode = 1;
}

function bySchedules(name) {
  const { machines, seed = 1, mistake } = mutations[name] ?? {};
  const world = [...(machines ? ['--machines'] : []), ...(mistake === undefined ? [] : ['--mistake', mistake])];
  const args = [...world, '--seed', `${seed}`, '--runs', '10000', '--mutation', name];
  return run([join(import.meta.dirname, 'run.mjs'), ...args]).match(/^Seed \d+ fails:\n.*$/m)?.[0].replace(/\s+/, ' ');
}

function byTest(name, test) {
  const config = join(import.meta.dirname, 'mutated.config.mjs');
  return run([join(root, 'node_modules/vitest/vitest.mjs'), 'run', test, '--config', config], { MUTATION: name }).match(/FAIL .*/)?.[0];
}

function run(args, env = {}) {
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1', ...env } });
  return stdout + stderr;
}
