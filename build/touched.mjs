// Prints the files of src/ whose functions one Lightning payment calls, because a reader who
// follows a payment must open these files. Names the files of which the payment uses one function or
// only types. Function calls inside the sandbox are not counted,
// because the sandbox runs in a separate process.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
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
const touched = new Map(
  JSON.parse(readFileSync(join(coverage, report), 'utf8'))
    .result.filter(({ url }) => url.startsWith(place))
    .map(({ url, functions }) => [
      relative(place, url).replace(/\.js$/, '.ts'),
      functions.filter(isCalled).length,
    ])
    .filter(([, calls]) => calls > 0)
    .toSorted(),
);

/** The files that contain only types, and that a touched file imports. */
const typeFiles = [...touched.keys()]
  .flatMap((file) =>
    [...readFileSync(join('src', file), 'utf8').matchAll(/ from '(\.[^']+)\.js'/g)].map(
      ([, path]) => join(dirname(file), `${path}.ts`),
    ),
  )
  .filter((file, index, all) => all.indexOf(file) === index)
  .filter((file) => {
    const code = readFileSync(join(folder, 'src', file.replace(/\.ts$/, '.js')), 'utf8');
    return code.replace(/\/\/.*|\/\*[^]*?\*\//g, '').trim() === '';
  });
rmSync(folder, { recursive: true, force: true });
const list = (rows) => rows.map((each) => `src/${each}\n`).join('');
const single = [...touched].filter(([, calls]) => calls === 1).map(([file]) => file);
process.stdout.write(list([...touched.keys()]));
process.stdout.write(`\nOnly one function is called:\n${list(single)}`);
process.stdout.write(`\nOnly types, for these files:\n${list(typeFiles.toSorted())}`);
process.stdout.write(
  `\n${touched.size} files, ${single.length} of them for one function; ` +
    `${typeFiles.length} more files of types\n`,
);
