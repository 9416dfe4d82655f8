// Bundles the simulation for plain Node and runs it: npm run simulate -- --seed N --runs N [--trace] [--mutation NAME]
import { spawnSync } from 'node:child_process';
import { bundle } from './bundle.mjs';

const args = process.argv.slice(2);
const at = args.indexOf('--mutation');
const [, mutation] = at < 0 ? [] : args.splice(at, 2);
const { outfile, remove } = await bundle(mutation);
// Millions of small objects live for a moment each: collecting them in threads beside the work takes a tenth more of the processors.
const { status } = spawnSync(process.execPath, ['--max-semi-space-size=16', '--single-threaded-gc', outfile, ...args], { stdio: 'inherit' });
remove();
process.exitCode = status ?? 1;
