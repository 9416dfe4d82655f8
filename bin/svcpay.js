#!/usr/bin/env node
// Checks the version of Node, makes the start quick, and starts the program.
import { readFileSync } from 'node:fs';
import module from 'node:module';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`svcpay needs Node 20.19 or newer; this is ${process.versions.node}.\n`);
  process.exit(1);
}

const [only, ...others] = process.argv.slice(2);
if (others.length === 0 && (only === '--version' || only === '-V')) {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  process.stdout.write(`${version}\n`);
} else {
  module.enableCompileCache?.();
  // The HTTP parser is WebAssembly: optimising it costs more than one command ever gains.
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--liftoff-only');
  await import('../dist/main.js');
}
