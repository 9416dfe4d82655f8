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
  // Opening process.stdout takes longer than all the rest.
  try {
    writeSync(1, `${require('../package.json').version}\n`);
  } catch ({ code }) {
    if (code !== 'EPIPE') {
      process.stderr.write(`stdout cannot be written (${code}): what belongs there is lost.\n`);
      process.exitCode = 1;
    }
  }
} else if (
  others.length === 0 &&
  ['--help', '-h'].includes(only) &&
  isPrinted(join(__dirname, '../dist/help.txt'))
) {
  // The same page as the program draws where no screen is.
} else if (only === '__complete') {
  nameHome();
  const { answer } = require('../dist/complete.cjs');
  writeSync(1, answer(others, require('../dist/pages.json'), process.env, require));
} else {
  nameHome();
  require('./load.js').load(join(__dirname, '../dist/main.cjs'));
}

/** For a user that the system has no entry of, as in a container, libraries that ask for a home would end the program. */
function nameHome() {
  if (process.env.HOME !== undefined) return;
  try {
    require('node:os').homedir();
  } catch {
    process.env.HOME = '';
  }
}

/** A page goes out whole or, where nobody takes it at once, not at all: it is shorter than what a pipe takes in one piece. */
function isPrinted(page) {
  try {
    if (isScreen()) return false;
    writeSync(1, readFileSync(page));
    return true;
  } catch {
    return false;
  }
}

/** To ask for a terminal would load what drives one. */
function isScreen() {
  const out = fstatSync(1);
  return (
    out.isCharacterDevice() && out.rdev !== statSync('/dev/null', { throwIfNoEntry: false })?.rdev
  );
}
