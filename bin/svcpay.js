#!/usr/bin/env node
// Checks the version of Node, makes the start quick, and starts the program.
'use strict';
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const [only, ...others] = process.argv.slice(2);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`svcpay needs Node 20.19 or newer; this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else if (others.length === 0 && ['--version', '-v', '-V'].includes(only)) {
  process.stdout.on('error', ({ code }) => (process.exitCode = code === 'EPIPE' ? 0 : 1));
  process.stdout.write(`${require('../package.json').version}\n`);
} else {
  require('node:module').enableCompileCache?.();
  require('../dist/main.cjs');
}
