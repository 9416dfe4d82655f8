// Installs the packed package beside test runners, bundlers and servers for the web, and runs it
// there. Only `.ci/run` does so, because the installation takes long and needs the registry of npm.
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { transformSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pack } from '../../build/pack.mjs';
import { runsAll } from '../support/part.js';

const root = resolve(import.meta.dirname, '../..');
const packages = [
  'jest@30.5.2',
  'jest29@npm:jest@29.7.0',
  'webpack@5.113.0',
  'rollup@4.68.8',
  '@rollup/plugin-commonjs@29.0.3',
  '@rollup/plugin-json@6.1.0',
  '@rollup/plugin-node-resolve@16.0.3',
  'esbuild@0.28.2',
  'next@16.4.6',
  'react@19.3.1',
  'react-dom@19.3.1',
  'express@5.3.0',
  'fastify@5.12.8',
  'hono@4.13.19',
];

const runs = runsAll && process.env['SVCPAY_TEST_PROGRAMS'] === 'required';
if (!runs) console.warn('The packages of integrators are installed only by .ci/run.');

/** The snippets of the guide, each with the lines that make it a program. */
const servers = {
  express: [
    "import express from 'express';\nconst app = express();",
    'const server = app.listen(0, async () => {\n  await deliver((request) => fetch(`http://localhost:${server.address().port}/hooks`, request));\n  process.exit();\n});',
  ],
  fastify: [
    "import Fastify from 'fastify';\nconst fastify = Fastify();",
    'const address = await fastify.listen({ port: 0 });\nawait deliver((request) => fetch(`${address}/hooks`, request));\nprocess.exit();',
  ],
  hono: [
    "import { Hono } from 'hono';\nconst app = new Hono();",
    "await deliver((request) => app.request('/hooks', request));",
  ],
};

describe.runIf(runs)('the package of integrators', { timeout: 180_000 }, () => {
  let folder: string;

  const run = async (file: string, ...args: readonly string[]): Promise<string> =>
    (await promisify(execFile)(file, args, { cwd: folder })).stdout;
  const node = (...args: readonly string[]): Promise<string> => run(process.execPath, ...args);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'svcpay-integrators-'));
    cpSync(join(import.meta.dirname, 'fixtures/integrators'), folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{}');
    const pays = readFileSync(join(folder, 'pays.mjs'), 'utf8');
    writeFileSync(join(folder, 'pays.js'), transformSync(pays, { format: 'cjs' }).code);
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
    await run('npm', 'install', ...options, pack(root, folder), ...packages);
  }, 300_000);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.for(['jest', 'jest29'])('pays with real and with fake timers in %s', async (runner) => {
    const spec = ['--testMatch', '**/jest.spec.js', '--testEnvironment', 'node'];
    await node(`node_modules/${runner}/bin/jest.js`, ...spec);
  });

  test('pays with fake timers in node:test', async () => {
    await node('--test', 'node.spec.mjs');
  });

  test.for([
    ['esbuild', 'cjs'],
    ['rollup', 'mjs'],
    ['webpack', 'cjs'],
  ] as const)('pays in a bundle of %s', async ([bundler, extension]) => {
    await node('bundle.mjs', bundler);
    expect(await node(`${bundler}/program.${extension}`)).toBe('completed true\n');
  });

  test('pays in a route of Next.js', async () => {
    const next = join(folder, 'next');
    mkdirSync(join(next, 'app/pay'), { recursive: true });
    cpSync(join(folder, 'pays.mjs'), join(next, 'app/pay/pays.mjs'));
    writeFileSync(join(next, 'package.json'), '{}');
    writeFileSync(
      join(next, 'next.config.js'),
      "module.exports = { serverExternalPackages: ['svcpay'] };",
    );
    writeFileSync(
      join(next, 'app/layout.js'),
      'export default ({ children }) => <html><body>{children}</body></html>;',
    );
    writeFileSync(
      join(next, 'app/pay/route.js'),
      "import { pays } from './pays.mjs';\nexport const dynamic = 'force-static';\nexport const GET = async () => new Response(await pays());",
    );
    await node('node_modules/next/dist/bin/next', 'build', 'next');
    expect(readFileSync(join(next, '.next/server/app/pay.body'), 'utf8')).toBe('completed true');
  });

  test.for(Object.entries(servers))(
    'answers deliveries with the snippet for %s of the guide',
    async ([name, [head, tail]]) => {
      const guide = readFileSync(join(root, 'docs/webhooks.md'), 'utf8');
      const snippet = guide.match(new RegExp(`^// ${name}\\b[^]*?(?=^\`\`\`|\\n\\n)`, 'im'))?.[0];
      const imports =
        "import { readWebhook, readWebhookRequest } from 'svcpay/webhooks';\nimport { deliver, secret } from './deliver.mjs';";
      writeFileSync(join(folder, `${name}.mjs`), [imports, head, snippet, tail].join('\n'));
      expect(await node(`${name}.mjs`)).toBe('200 500\n');
    },
  );
});
