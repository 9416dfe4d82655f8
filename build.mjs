// Builds dist/: the split, minified command-line program, the library and the sandbox fixture.
import { rm } from 'node:fs/promises';
import { build } from 'esbuild';

const outdir = 'dist';

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
  // Bundled CommonJS packages call `require` for Node's own modules.
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
  logLevel: 'warning',
});
