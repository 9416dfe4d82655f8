// npm run bench: measures every part beside this file, one after the other, on this Node and on Node 24, and writes
// BENCHMARKS.md; on two cores it takes about ten minutes. Named parts alone are measured on this Node and printed: npm run
// bench -- startup get. Ends with 1 only where something could not be measured: whether a target is missed by a little
// depends on the machine, and the table says it.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { otherNode } from './support/other-node.mjs';

const self = fileURLToPath(import.meta.url);

/** In the order of the page. */
const parts = {
  far: 'A service 50 ms away',
  startup: 'Start',
  get: 'Requests',
  export: 'Exports',
  batch: 'Batches',
  webhooks: 'Webhooks',
  sandbox: 'The sandbox',
  polling: 'Waiting for a payment, by the clock of a simulation',
  machines: 'Many machines on one PostgreSQL',
};

/** Measured on this Node alone: hardly anything in them follows from its version. */
const once = new Set(['polling', 'machines']);

/** All that a measured program finds in its environment: what else is set slows Node itself down, or speeds it up. */
const environment = { PATH: process.env.PATH, HOME: tmpdir(), TMPDIR: tmpdir() };

const [mode, ...rest] = process.argv.slice(2);
if (mode === '--measure') await report(rest[0]);
else await compare(process.argv.slice(2));

/** In a process of its own: hands the rows of one part to {@link measured}. */
async function report(part) {
  const { measure } = await import(`./${part}.mjs`);
  process.stdout.write(JSON.stringify(await measure()));
}

async function compare(asked) {
  if (!asked.every((part) => part in parts)) {
    console.error(`The parts are: ${Object.keys(parts).join(', ')}.`);
    process.exit(2);
  }
  const nodes = asked.length > 0 ? [process.execPath] : [process.execPath, await otherNode('24')];
  const begun = performance.now();
  const [load = 0] = loadavg();
  const tables = [];
  for (const [at, node] of nodes.entries()) {
    const named = asked.length > 0 ? asked : Object.keys(parts).filter((part) => at === 0 || !once.has(part));
    tables.push({ version: await versionOf(node), found: await allOf(node, named) });
  }
  if (asked.length === 0) writeFileSync(resolve(import.meta.dirname, '../BENCHMARKS.md'), page(tables, performance.now() - begun, load));
}

/** What could be measured, part by part. */
async function allOf(node, named) {
  const found = [];
  for (const part of named) {
    const begun = performance.now();
    try {
      const rows = await measured(node, part);
      found.push({ part, rows });
      console.log(`\n${part}, ${Math.round((performance.now() - begun) / 1000)} s`);
      console.table(Object.fromEntries(rows.map(({ name, ...row }) => [name, row])));
    } catch (error) {
      console.error(error);
      process.exitCode = 1;
    }
  }
  return found;
}

async function measured(node, part) {
  return JSON.parse(await outputOf(node, [self, '--measure', part]));
}

async function versionOf(node) {
  return (await outputOf(node, ['--version'])).trim();
}

async function outputOf(node, args) {
  const child = spawn(node, args, { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => (text += chunk));
  const code = await new Promise((done) => child.once('close', done));
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
  return text;
}

/** @param load how many others wanted a processor when it began: figures of a busy machine say little */
function page(tables, tookMs, load) {
  const [cpu] = cpus();
  const machine = `${cpus().length} x ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform} ${process.arch}`;
  const notes = readFileSync(join(import.meta.dirname, 'NOTES.md'), 'utf8').trim();
  return `# Speed

Written by \`npm run bench\` on ${new Date().toISOString().slice(0, 10)}, in ${Math.round(tookMs / 60_000)} minutes, on a machine
with a load of ${load.toFixed(1)} before: ${machine}.
Every program runs with ${Object.keys(environment).join(', ')} and what its row names in its environment, in turns with the
bare program beside it; the figures are medians, the ratio is that of the medians.

${tables.map(({ version, found }) => `## Node ${version.slice(1)}\n\n${found.map(section).join('\n\n')}`).join('\n\n')}

${notes}
`;
}

function section({ part, rows }) {
  const cells = rows.map(({ name, measured: took, bare, ratio, target, met }) => [name, took, bare, ratio, target, met ? 'met' : '**missed**']);
  const lines = [['', 'svcpay', 'bare', 'ratio', 'target', ''], Array(6).fill('---'), ...cells];
  return `### ${parts[part]}\n\n${lines.map((line) => `| ${line.join(' | ')} |`).join('\n')}`;
}
