// Tests an installed copy of the package that npm would publish. Programs must compile and run with
// the package, and the package must contain every file that it needs.
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { build } from 'esbuild';
import { formatMessage } from 'publint/utils';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pack } from '../../build/pack.mjs';
import { runsAll } from '../support/part.js';

const root = resolve(import.meta.dirname, '../..');
const modules = join(root, 'node_modules');
const packageJson: { dependencies: Record<string, string> } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);

let project: string;
let tarball: string;

const run = (file: string, args: readonly string[], cwd: string): string =>
  execFileSync(file, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

/**
 * Creates a project that contains only the tarball, the dependencies that it names, and Node's
 * types.
 */
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'svcpay-consumer-'));
  tarball = pack(root, project);
  mkdirSync(join(project, 'node_modules', 'svcpay'), { recursive: true });
  run(
    'tar',
    ['-xzf', tarball, '--strip-components=1', '-C', join(project, 'node_modules', 'svcpay')],
    project,
  );
  for (const name of [...Object.keys(packageJson.dependencies), '@types/node']) {
    const link = join(project, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(modules, name), link);
  }
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  copyFileSync(
    join(import.meta.dirname, 'fixtures/consumer/consumer.ts'),
    join(project, 'consumer.ts'),
  );
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

describe('the svcpay package', () => {
  test('compiles in a strict TypeScript project that also checks library types', () => {
    const strict = [
      '--strict',
      '--exactOptionalPropertyTypes',
      '--noUncheckedIndexedAccess',
      '--skipLibCheck',
      'false',
    ];
    const target = ['--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
    run(
      process.execPath,
      [join(modules, 'typescript/bin/tsc'), ...strict, ...target, 'consumer.ts'],
      project,
    );
  });

  test.runIf(runsAll)('compiles for import and for require with TypeScript module node16', () => {
    const code =
      "import { WalletClient } from 'svcpay';\nimport { serviceOf } from 'svcpay/raw';\nimport { startSandbox } from 'svcpay/sandbox';\nimport { readWebhook } from 'svcpay/webhooks';\nexport const all: [typeof WalletClient, typeof serviceOf, typeof startSandbox, typeof readWebhook] = [WalletClient, serviceOf, startSandbox, readWebhook];\n";
    const files = ['entries.mts', 'entries.cts'];
    for (const file of files) writeFileSync(join(project, file), code);
    const target = ['--module', 'node16', '--target', 'es2022', '--types', 'node', '--noEmit'];
    const strict = ['--strict', '--skipLibCheck', 'false'];
    run(
      process.execPath,
      [join(modules, 'typescript/bin/tsc'), ...strict, ...target, ...files],
      project,
    );
  });

  test('documents every public name', () => {
    const types = join(project, 'node_modules/svcpay/dist/types/src');
    const names = ['index.d.cts', 'raw.d.cts', 'sandbox.d.cts', 'webhooks.d.cts'].flatMap((entry) =>
      namesOf(join(types, entry)),
    );
    expect(names.length).toBeGreaterThan(60);
    expect(names.filter((name) => !isDocumented(name)).map(({ name }) => name)).toEqual([]);
  });

  test('contains every file that its README and guides link to', () => {
    const installed = join(project, 'node_modules/svcpay');
    const dead = ['README.md', 'docs/library.md', 'docs/agents.md'].flatMap((page) =>
      [
        ...readFileSync(join(installed, page), 'utf8').matchAll(
          /(?:\]\(|src=")(?!https?:)([^)#"\s]+)/g,
        ),
      ]
        .map(([, link = '']) => link)
        .filter((link) => !existsSync(join(installed, dirname(page), link))),
    );
    expect(dead).toEqual([]);
  });

  test('runs with only its own dependencies installed', () => {
    expect(JSON.parse(run(process.execPath, ['consumer.js'], project))).toEqual({
      price: '0.00001000 BTC',
      paid: 'completed',
      swapped: 0.0001,
      kinds: [true, true, false],
      event: true,
      types: ['object', 'number'],
    });
  });

  test('runs with require in a runtime that cannot require ES modules', () => {
    copyFileSync(
      join(import.meta.dirname, 'fixtures/consumer/required.cjs'),
      join(project, 'required.cjs'),
    );
    const plain = ['--no-experimental-require-module', 'required.cjs'];
    expect(run(process.execPath, plain, project)).toBe('completed true true\n');
  });

  test('verifies webhooks in at most 30 kB, without modules of Node', async () => {
    const { outputFiles, metafile } = await build({
      stdin: { contents: "export * from 'svcpay/webhooks';", resolveDir: project },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      write: false,
      metafile: true,
    });
    expect(outputFiles[0]?.contents.length).toBeLessThanOrEqual(30_000);
    expect(Object.values(metafile.outputs).flatMap(({ imports }) => imports)).toEqual([]);
  });

  test('leaves only what a program uses in a bundle', async () => {
    const { outputFiles } = await build({
      stdin: { contents: "export { parseAmount } from 'svcpay';", resolveDir: project },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'node',
      write: false,
    });
    expect(outputFiles[0]?.contents.length).toBeLessThan(100_000);
  });

  test('contains the licence of every bundled package', () => {
    const notices = readFileSync(
      join(project, 'node_modules/svcpay/dist/THIRD-PARTY-NOTICES.txt'),
      'utf8',
    );
    const named = [...notices.matchAll(/^(\S+) \d+\.\d+\.\d+\S* \([^)]+\)\n\n\S/gm)].map(
      ([, name = '']) => name,
    );
    expect(named).toEqual(expect.arrayContaining(['commander', 'chalk', 'conf', 'undici']));
  });

  test('installs only packages that the library or the command line loads', () => {
    const dist = join(project, 'node_modules/svcpay/dist');
    const files = readdirSync(dist, { recursive: true, encoding: 'utf8' });
    const loaded = files
      .filter((file) => /\.(?:c?js|d\.ts)$/.test(file))
      .flatMap((file) => [
        ...readFileSync(join(dist, file), 'utf8').matchAll(
          /(?:from|import\(|require\()\s*["']((?:@[\w-]+\/)?[a-z][\w.-]*)/g,
        ),
      ])
      .map(([, name]) => name);
    const needed = new Set([...loaded, '@types/big.js']);
    expect(Object.keys(packageJson.dependencies).filter((name) => !needed.has(name))).toEqual([]);
  });

  test('has no scripts, which npm 12 reports as blocked', () => {
    const installed = JSON.parse(
      readFileSync(join(project, 'node_modules/svcpay/package.json'), 'utf8'),
    );
    expect(installed).not.toHaveProperty('scripts');
  });

  test('contains a program that starts and decodes an address', () => {
    const bin = join(project, 'node_modules/svcpay/bin/svcpay.js');
    expect(run(process.execPath, [bin, '--version'], project)).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(
      run(
        process.execPath,
        [bin, 'decode', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', '-q'],
        project,
      ),
    ).not.toBe('');
  });

  test('passes publint', async () => {
    const { messages, pkg } = await publint({
      pack: { tarball: contentOf(tarball) },
      strict: true,
    });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });
});

const contentOf = (file: string): ArrayBuffer => new Uint8Array(readFileSync(file)).buffer;

interface PublicName {
  readonly name: string;
  /** The declaration file that exports the name. */
  readonly file: string;
}

/** The names that a declaration file exports, including names from other files. */
function namesOf(file: string): PublicName[] {
  const text = readFileSync(file, 'utf8');
  const own = [
    ...text.matchAll(/^export (?:declare )?(?:class|function|const|interface|type) (\w+)/gm),
  ];
  const others = [...text.matchAll(/^export (?:type )?\{([^}]+)\} from '(.+)\.cjs';/gm)];
  return [
    ...own.map(([, name = '']) => ({ name, file })),
    ...others.flatMap(([, names = '', from = '']) =>
      [...names.matchAll(/(?:type )?(\w+)(?: as \w+)?/g)].map(([, name = '']) => ({
        name,
        file: join(dirname(file), `${from}.d.cts`),
      })),
    ),
  ];
}

const isDocumented = ({ name, file }: PublicName): boolean =>
  new RegExp(
    `\\*/\\n(?:export )?(?:declare )?(?:class|function|const|interface|type) ${name}\\b`,
  ).test(readFileSync(file, 'utf8'));
