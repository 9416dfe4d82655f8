// npm run bench: runs all benchmarks in this folder in turn, on this Node and on Node 24. Prints
// the load of the machine, then the tables of results. `npm run bench -- far export` runs only the
// benchmarks `far` and `export`, and only on this Node. Exits with 1 only if a benchmark cannot
// measure. A missed target is not a failure, because a busy machine misses targets.
import { spawn } from 'node:child_process';
import { cpus, loadavg, totalmem, tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { otherNode } from '../build/other-node.mjs';

const self = fileURLToPath(import.meta.url);

const parts = ['far', 'startup', 'export', 'history', 'day', 'batch', 'webhooks', 'machines'];

/**
 * The benchmarks that run on this Node only, because their results hardly depend on the version of
 * Node.
 */
const once = new Set(['machines']);

/**
 * All environment variables of the measured programs. The measured programs inherit no other
 * variables, because a variable such as NODE_OPTIONS could change their speed.
 */
const environment = { PATH: process.env.PATH, HOME: tmpdir(), TMPDIR: tmpdir() };

const [mode, ...rest] = process.argv.slice(2);
if (mode === '--measure') await report(rest[0]);
else await compare(process.argv.slice(2));

/**
 * Prints the results of one benchmark as JSON. {@link measured} runs this function in a separate
 * process.
 */
async function report(part) {
  const { measure } = await import(`./${part}.mjs`);
  process.stdout.write(JSON.stringify(await measure()));
}

async function compare(asked) {
  if (!asked.every((part) => parts.includes(part))) {
    console.error(`The parts are: ${parts.join(', ')}.`);
    process.exit(2);
  }
  const [cpu] = cpus();
  const machine = `${cpus().length} x ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform} ${process.arch}`;
  console.log(`${machine}, load before: ${loadavg()[0].toFixed(1)}`);
  const nodes = asked.length > 0 ? [process.execPath] : [process.execPath, await otherNode('24')];
  for (const [at, node] of nodes.entries()) {
    const named = asked.length > 0 ? asked : parts.filter((part) => at === 0 || !once.has(part));
    await show(node, named);
  }
}

async function show(node, named) {
  const version = (await outputOf(node, ['--version'])).trim();
  for (const part of named) {
    const startedAt = performance.now();
    try {
      const rows = await measured(node, part);
      console.log(
        `\n${part}, Node ${version}, ${Math.round((performance.now() - startedAt) / 1000)} s`,
      );
      console.table(Object.fromEntries(rows.map(({ name, ...row }) => [name, row])));
    } catch (error) {
      console.error(error);
      process.exitCode = 1;
    }
  }
}

async function measured(node, part) {
  return JSON.parse(await outputOf(node, [self, '--measure', part]));
}

async function outputOf(node, args) {
  const child = spawn(node, args, { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => (text += chunk));
  const code = await new Promise((done) => child.once('close', done));
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
  return text;
}
