// Builds dist/: the split, minified command-line program, the library and the sandbox fixture with their types.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const outdir = 'dist';

/**
 * What bundled packages load at start and svcpay never uses: HTTP/2 of undici; of conf the JSON schema validator, encryption
 * and the comparison of versions for its migrations; commander's separate executables. They cost more than all of svcpay.
 */
const unused = [
  { package: 'undici', path: 'node:http2', stub: 'export const constants={};export default{constants};' },
  { package: 'conf', path: 'ajv/dist/2020.js', stub: 'export const Ajv2020=undefined;' },
  { package: 'conf', path: 'ajv-formats', stub: 'export default undefined;' },
  { package: 'conf', path: 'semver', stub: 'export default undefined;' },
  { package: 'conf', path: 'node:crypto', stub: 'export default undefined;' },
  {
    package: 'conf',
    path: 'node:assert',
    stub: `import{isDeepStrictEqual as same}from'node:util';
export default{deepEqual(a,b){if(!same(a,b))throw new Error('different');}};`,
  },
  { package: 'commander', path: 'node:child_process', stub: 'export default undefined;' },
  // It sends a signal to the process again, after svcpay has taken the first as the wish to stop in good order.
  { package: 'atomically', path: 'when-exit', stub: 'export default()=>()=>undefined;' },
];
const stubs = {
  name: 'unused parts of packages',
  setup(bundler) {
    bundler.onResolve({ filter: /^(node:(http2|child_process|crypto|assert)|ajv\/dist\/2020\.js|ajv-formats|semver|when-exit)$/ }, (wanted) => {
      const found = unused.find((each) => each.path === wanted.path && wanted.importer.includes(`/node_modules/${each.package}/`));
      return found && { path: found.path, namespace: 'unused' };
    });
    bundler.onLoad({ filter: /.*/, namespace: 'unused' }, ({ path }) => ({
      contents: unused.find((each) => each.path === path)?.stub,
    }));
  },
};

const common = {
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  legalComments: 'none',
  logLevel: 'warning',
};

const buildProgram = () =>
  build({
    ...common,
    entryPoints: { main: 'src/main.ts' },
    minify: true,
    chunkNames: 'chunks/[name]-[hash]',
    external: ['libsql', '@napi-rs/keyring'],
    plugins: [stubs],
    // Bundled CommonJS packages call `require` for Node's own modules.
    banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
  });

/** Packages stay outside, so that an integrator's own big.js is the same one. */
const buildLibrary = () =>
  build({
    ...common,
    entryPoints: { index: 'src/index.ts', sandbox: 'src/sandbox/index.ts' },
    chunkNames: 'library/[name]-[hash]',
    packages: 'external',
  });

async function buildTypes() {
  const compiler = fileURLToPath(import.meta.resolve('typescript/package.json')).replace(/package\.json$/, 'bin/tsc');
  const tsc = spawn(process.execPath, [compiler, '-p', 'tsconfig.types.json'], { stdio: 'inherit' });
  const [code] = await once(tsc, 'close');
  if (code !== 0) throw new Error(`tsc ended with ${code}`);
}

await rm(outdir, { recursive: true, force: true });
await Promise.all([buildProgram(), buildLibrary(), buildTypes()]);
