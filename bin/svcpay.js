#!/usr/bin/env node
// Checks the version of Node and starts the program.
'use strict';
const { writeSync } = require('node:fs');
const { enableCompileCache } = require('node:module');
const { join } = require('node:path');
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const [only, ...others] = process.argv.slice(2);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`svcpay needs Node 20.19 or newer; this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else if (others.length === 0 && ['--version', '-v', '-V'].includes(only)) {
  // The version is written without `process.stdout`, because opening `process.stdout` takes longer
  // than all other steps of `--version`.
  try {
    writeSync(1, `${require('../package.json').version}\n`);
  } catch ({ code }) {
    if (code !== 'EPIPE') {
      process.stderr.write(`stdout cannot be written (${code}): its output is lost.\n`);
      process.exitCode = 1;
    }
  }
} else if (only === '__complete') {
  nameHome();
  const { answer } = require('../dist/complete.cjs');
  writeSync(1, answer(others, require('../dist/pages.json'), process.env, require));
} else {
  nameHome();
  // In Node 22 and newer, Node stores the compiled code of the program.
  enableCompileCache?.(join(__dirname, '../dist/compiled'));
  require('../dist/main.cjs');
}

/**
 * Sets an empty HOME if the system has no entry for the user, as in a container, because libraries
 * that request the home folder would otherwise end the program.
 */
function nameHome() {
  if (process.env.HOME !== undefined) return;
  try {
    require('node:os').homedir();
  } catch {
    process.env.HOME = '';
  }
}
