// Tests which files and Node modules the most frequent commands load, because these files and
// modules determine the start-up time on any machine.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { svcpay, test } from '../support/svcpay.js';

const root = resolve(import.meta.dirname, '../..');
const program = join(root, 'bin/svcpay.js');

/**
 * A script that writes, at exit, which files the process has read and which Node modules it has
 * loaded.
 */
const probeText = `const fs = require('node:fs');
const { readFileSync } = fs;
const read = [];
fs.readFileSync = (path, ...rest) => (read.push(String(path)), readFileSync(path, ...rest));
process.on('exit', () => fs.writeFileSync(process.env.PROBE_FILE, JSON.stringify({ read, modules: process.moduleLoadList })));`;
const probeSchema = v.object({ read: v.array(v.string()), modules: v.array(v.string()) });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svcpay-loaded-'));
  writeFileSync(join(folder, 'probe.cjs'), probeText);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Loaded {
  readonly parts: number;
  readonly kilobytes: number;
  readonly modules: readonly string[];
}

async function loadedBy(args: readonly string[], env: Record<string, string>): Promise<Loaded> {
  const file = join(folder, `${args.join('_')}.json`);
  await promisify(execFile)(
    process.execPath,
    ['--require', join(folder, 'probe.cjs'), program, ...args],
    {
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        SVCPAY_HOME: folder,
        PROBE_FILE: file,
        ...env,
      },
    },
  );
  const { read, modules } = v.parse(probeSchema, JSON.parse(readFileSync(file, 'utf8')));
  const parts = read.filter(
    (path) => path.startsWith(join(root, 'dist')) && !path.includes('compiled'),
  );
  const bytes = parts.reduce((sum, path) => sum + statSync(path).size, 0);
  return { parts: parts.length, kilobytes: Math.ceil(bytes / 1024), modules };
}

describe('the svcpay program', () => {
  test('loads no module of svcpay for --version', async () => {
    const { parts, modules } = await loadedBy(['--version'], {});
    expect(parts).toBe(0);
    expect(modules).not.toContain('NativeModule stream');
  });

  test('generates the help from the command table without loading an HTTP module', async () => {
    const { kilobytes, modules } = await loadedBy(['--no-color', '--help'], {});
    expect(kilobytes).toBeLessThanOrEqual(112);
    for (const heavy of ['tty', 'http', 'crypto'])
      expect(modules).not.toContain(`NativeModule ${heavy}`);
  });

  test('loads the command pages and few Node modules for a shell completion', async () => {
    const { kilobytes, modules } = await loadedBy(['__complete', 'bash', 'tx', ''], {});
    expect(kilobytes).toBeLessThanOrEqual(220);
    for (const heavy of ['stream', 'net', 'tty', 'http', 'crypto', 'child_process'])
      expect(modules).not.toContain(`NativeModule ${heavy}`);
  });

  test('loads only undici and a few Node modules for svcpay wallets with a stored token', async ({
    sandbox,
    around,
    home,
  }) => {
    expect(await svcpay(['wallets', '--json'], around)).toMatchObject({ exitCode: 0 });
    const { kilobytes, modules } = await loadedBy(['wallets', '--json'], {
      SVCPAY_HOME: home,
      SVCPAY_BASE_URL: sandbox.url,
      SVCPAY_API_KEY: sandbox.apiKey,
      SVCPAY_API_SECRET: sandbox.apiSecret,
    });
    expect(kilobytes).toBeLessThanOrEqual(650);
    for (const heavy of ['dns', 'https', 'worker_threads', 'zlib']) {
      expect(modules).not.toContain(`NativeModule ${heavy}`);
    }
  });
});

test('svcpay keeps V8 from optimising the undici parser because process.exit would wait for the compiler', async ({
  sandbox,
  home,
}) => {
  const args = ['--trace-wasm-compilation-times', program, 'tx', 'list'];
  const env = { HOME: home, SVCPAY_HOME: home, SVCPAY_BASE_URL: sandbox.url };
  const keys = { SVCPAY_API_KEY: sandbox.apiKey, SVCPAY_API_SECRET: sandbox.apiSecret };
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { ...env, ...keys },
    maxBuffer: 1e7,
  });
  expect(stdout).toContain('using Liftoff');
  expect(stdout).not.toMatch(/^Compiled function .* using TurboFan/m);
});
