// Builds dist/: the split, minified command-line program, the library and the sandbox fixture.
import { rm } from 'node:fs/promises';
import { build } from 'esbuild';

const outdir = 'dist';

/**
 * What the bundled packages load at start and svcpay never uses: HTTP/2 of undici, and of conf the JSON schema validator
 * and the comparison of versions for its migrations. Each costs more than all of svcpay.
 */
const unused = new Map([
  ['node:http2', 'export const constants={};export default{constants};'],
  ['ajv/dist/2020.js', 'export class Ajv2020{constructor(){throw new Error("no JSON schema is used")}}'],
  ['semver', 'export default {};'],
  ['ajv-formats', 'export default()=>{throw new Error("no JSON schema is used")};'],
]);
const stubs = {
  name: 'unused parts of packages',
  setup(bundler) {
    bundler.onResolve({ filter: /^(node:http2|ajv\/dist\/2020\.js|ajv-formats|semver)$/ }, ({ path }) => ({ path, namespace: 'unused' }));
    bundler.onLoad({ filter: /.*/, namespace: 'unused' }, ({ path }) => ({ contents: unused.get(path) }));
  },
};

await rm(outdir, { recursive: true, force: true });
await build({
  entryPoints: { main: 'src/main.ts' },
  outdir,
  bundle: true,
  splitting: true,
  minify: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  legalComments: 'none',
  chunkNames: 'chunks/[name]-[hash]',
  external: ['libsql', '@napi-rs/keyring'],
  plugins: [stubs],
  // Bundled CommonJS packages call `require` for Node's own modules.
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
  logLevel: 'warning',
});
