// Bundles the simulation for plain Node and runs it: npm run simulate -- --seed N --runs N
// [--trace]
import { spawnSync } from 'node:child_process';
import { bundle, flags } from './bundle.mjs';

const args = process.argv.slice(2);
const { outfile, remove } = await bundle();
const { status } = spawnSync(process.execPath, [...flags, outfile, ...args], { stdio: 'inherit' });
remove();
process.exitCode = status ?? 1;
