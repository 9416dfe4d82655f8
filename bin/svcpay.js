#!/usr/bin/env node
// Checks the version of Node, makes the start quick, and starts the program.
import module from 'node:module';
import v8 from 'node:v8';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`svcpay needs Node 20.19 or newer; this is ${process.versions.node}.\n`);
  process.exit(1);
}
module.enableCompileCache?.();
// The HTTP parser is WebAssembly: optimising it costs more than one command ever gains.
v8.setFlagsFromString('--liftoff-only');
await import('../dist/main.js');
