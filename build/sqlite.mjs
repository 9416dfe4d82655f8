// libsql's JavaScript within the bundle, and its native part by name: to find that out for itself it has Node write a
// report of the whole process, and with its five files that took 10 ms of every payment.
import { fileURLToPath } from 'node:url';

/** Where this finds nothing, libsql is loaded as it comes. */
const quickly = `let Database;
try {
  Database = require('libsql/index.js');
} catch {
  Database = require('libsql');
}
module.exports = Database;`;

/** Of the packages for a system, which are named by platform, processor and library of C. */
const target = `const { readFileSync } = require('node:fs');
const suffixes = { darwin: () => '', win32: () => '-msvc', linux: () => (usesMusl() ? '-musl' : '-gnu') };
const usesMusl = () => readFileSync('/usr/bin/ldd', 'latin1').includes('musl');
exports.currentTarget = () => process.platform + '-' + process.arch + suffixes[process.platform]();`;

const stubs = {
  libsql: quickly,
  '@neon-rs/load': target,
  'detect-libc': 'exports.familySync = () => null;',
};

/** An esbuild plugin. */
export const sqliteInBundle = {
  name: 'libsql within the bundle',
  setup(bundler) {
    bundler.onResolve(
      { filter: /^(?:libsql|@neon-rs\/load|detect-libc)$/ },
      ({ path, namespace }) =>
        path === 'libsql' && namespace === 'sqlite'
          ? { path, external: true }
          : { path, namespace: 'sqlite' },
    );
    bundler.onResolve({ filter: /^libsql\/index\.js$/ }, () => ({
      path: fileURLToPath(import.meta.resolve('libsql')),
    }));
    bundler.onLoad({ filter: /./, namespace: 'sqlite' }, ({ path }) => ({
      contents: stubs[path],
      resolveDir: process.cwd(),
    }));
  },
};
