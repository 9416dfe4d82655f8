// Prints the files of src/ whose functions one Lightning payment calls, because a reader who
// follows a payment must open these files. Function calls inside the sandbox are not counted,
// because the sandbox runs in a separate process.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const folder = mkdtempSync(join(tmpdir(), 'svcpay-touched-'));
const [home, coverage] = [join(folder, 'home'), join(folder, 'coverage')];

/** Builds each file of src/ as a separate module, so that V8 counts calls by file. */
await build({
  entryPoints: ['src/**/*.ts'],
  outdir: join(folder, 'src'),
  format: 'esm',
  platform: 'node',
});
for (const name of ['package.json', 'dist']) cpSync(name, join(folder, name), { recursive: true });
symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));

const base = { PATH: process.env.PATH, HOME: home, SVCPAY_HOME: home };
const start = ['bin/svcpay.js', 'sandbox', 'start', '--port', '0', '--json'];
const sandbox = spawn(process.execPath, start, {
  env: { ...base, SVCPAY_HOME: `${home}-sandbox` },
});
const [ready] = await once(sandbox.stdout, 'data');
const { url, apiKey, apiSecret } = JSON.parse(ready);
const env = {
  ...base,
  SVCPAY_BASE_URL: url,
  SVCPAY_API_KEY: apiKey,
  SVCPAY_API_SECRET: apiSecret,
};

function run(words, more = {}) {
  const all = { env: { ...env, ...more }, encoding: 'utf8' };
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(folder, 'src/main.js'), ...words],
    all,
  );
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

const pay = (more) =>
  run(['send', 'lightning', run(['sandbox', 'invoice', '2500sat', '-q']), '--yes'], more);

try {
  // Makes a first payment without counting its function calls, because only the first payment signs
  // in and creates the journal.
  pay();
  pay({ NODE_V8_COVERAGE: coverage });
} finally {
  sandbox.kill();
}

const place = pathToFileURL(join(folder, 'src')).href;
const [report] = readdirSync(coverage);
const isCalled = ({ functionName, ranges: [whole] }) =>
  whole.count > 0 && (functionName !== '' || whole.startOffset > 0);
const files = JSON.parse(readFileSync(join(coverage, report), 'utf8'))
  .result.filter(({ url, functions }) => url.startsWith(place) && functions.some(isCalled))
  .map(({ url }) => relative(place, url).replace(/\.js$/, '.ts'))
  .toSorted();
rmSync(folder, { recursive: true, force: true });
process.stdout.write(`${files.map((file) => `src/${file}\n`).join('')}${files.length} files\n`);
