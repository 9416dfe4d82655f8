#!/usr/bin/env node
// Checks the version of Node and starts the program.
'use strict';
const { fstatSync, readFileSync, statSync, writeSync } = require('node:fs');
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
} else if (
  others.length === 0 &&
  ['--help', '-h'].includes(only) &&
  isPrinted(join(__dirname, '../dist/help.txt'))
) {
  // The prepared help page equals the page that svcpay prints without a terminal.
} else if (only === '__complete') {
  nameHome();
  const { answer } = require('../dist/complete.cjs');
  writeSync(1, answer(others, require('../dist/pages.json'), process.env, require));
} else {
  nameHome();
  require('./load.js').load(join(__dirname, '../dist/main.cjs'));
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

/**
 * Prints a prepared page, which takes half the time of running the whole program. A pipe accepts a
 * prepared page in one write, because each page is short.
 */
function isPrinted(page) {
  try {
    if (isScreen()) return false;
    writeSync(1, readFileSync(page));
    return true;
  } catch {
    return false;
  }
}

/** Checks for a terminal without Node's terminal code, because loading that code takes time. */
function isScreen() {
  const out = fstatSync(1);
  return (
    out.isCharacterDevice() && out.rdev !== statSync('/dev/null', { throwIfNoEntry: false })?.rdev
  );
}
