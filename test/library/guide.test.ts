// Every program in docs/library.md, including the withdrawal service, compiles against the types of
// the package and runs.
import { execFile, spawn } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import { beforeAll, describe, expect, onTestFinished } from 'vitest';
import { runsAll } from '../support/part.js';
import { test } from '../support/svcpay.js';
import { signWebhook } from '../../src/index.js';

const root = resolve(import.meta.dirname, '../..');
const guide = ['docs/library.md', 'docs/testing.md']
  .map((page) => readFileSync(join(root, page), 'utf8'))
  .join('\n');
const programs = [...guide.matchAll(/^```ts\n([^]*?)^```/gm)].map(([, code = '']) => code);
const isService = (code: string): boolean => code.startsWith('// withdrawals.ts');
const run = promisify(execFile);

const options = {
  module: 'nodenext',
  target: 'es2023',
  lib: ['es2023'],
  types: ['node'],
  typeRoots: [join(root, 'node_modules/@types')],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  skipLibCheck: false,
};

/** Creates the folder of an integrator who has installed the package. */
function projectIn(home: string): void {
  mkdirSync(join(home, 'node_modules'), { recursive: true });
  symlinkSync(root, join(home, 'node_modules/svcpay'));
  writeFileSync(
    join(home, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, include: ['*.mts', '*.cts'] }),
  );
}

async function programIn(home: string, code: string, name: string): Promise<string> {
  const file = join(home, `${name}.mjs`);
  writeFileSync(
    file,
    (await transform(code, { loader: 'ts', format: 'esm', target: 'node20' })).code,
  );
  return file;
}

const compile = (home: string): Promise<string> =>
  run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', home], {
    cwd: home,
  }).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  );

const head =
  "import { openPayments, openMemoryJournal, parseWebhookEvent, WalletClient, type Transaction } from 'svcpay';\ndeclare const txn: Transaction; declare const client: WalletClient;\n";
const mistakes = [
  'txn.txnStat;',
  'txn.sourceReq.amtRequestd;',
  "await client.createTransaction({ sourceReq: { ccy: 'BTC', method: 'lightning', amtRequestd: 1 }, destReq: { ccy: 'BTC', method: 'servicepay' } });",
  'openPayments({ client, journal: await openMemoryJournal() }).send({ to: 1 });',
  'txn.destReq.reqDetails?.paymentReqest;',
  '(await client.account()).displayNam;',
  "await client.createTransaction({ sourceReq: { ccy: 'BTC', method: 'servicepay' }, destReq: { ccy: 'BTC', method: 'on-chain', reqDetails: { adress: 'a' } } });",
  "parseWebhookEvent('').txnStat;",
  "await client.createTransaction({ sourceReq: { ccy: 'BTC', method: 'lightnig' }, destReq: { ccy: 'BTC', method: 'servicepay' } });",
  "await client.createTransaction({ sourceReq: { ccy: 'BTC', method: 'servicepay' }, destReq: { ccy: 'USDT', method: 'tron', reqDetails: { address: 5 } } });",
  '(await client.account()).lastRespons;',
  'await client.wallets({ timeoutMs: 1 });',
];

/** The files that the compiler checks in one run, by name. */
const compiled: Readonly<Record<string, string>> = {
  ...Object.fromEntries(programs.map((code, index) => [`program${index}.mts`, code])),
  ...Object.fromEntries(mistakes.map((line, index) => [`wrong${index}.mts`, `${head}${line}\n`])),
  'right.mts': `${head}export const words: Transaction['txnState'][] = ['completed', 'newword', txn.txnState];\n`,
  'required.cts':
    "import { WalletClient } from 'svcpay';\nimport { startSandbox, type Sandbox } from 'svcpay/sandbox';\nexport const names: [typeof WalletClient, () => Promise<Sandbox>] = [WalletClient, startSandbox];\n",
};

describe.runIf(runsAll)('docs/library.md', () => {
  let complaints = '';
  /**
   * Returns the compiler errors in files whose names begin with `start`, and errors that name no
   * file.
   */
  const complaintsOf = (start: string): string[] =>
    complaints
      .split('\n')
      .filter((line) => line.startsWith(start) || /^(?:error|panic)/.test(line));

  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svcpay-guide-'));
    projectIn(folder);
    for (const [name, code] of Object.entries(compiled)) writeFileSync(join(folder, name), code);
    complaints = await compile(folder);
    rmSync(folder, { recursive: true });
  });

  test('contains programs that compile strictly against the types of the package', () => {
    expect(programs.length).toBeGreaterThan(2);
    expect(complaintsOf('program')).toEqual([]);
  });

  test('relies on types that reject misspelled names and accept new states of the service', () => {
    const wrong = new Set(complaintsOf('wrong').map((line) => line.split('(')[0]));
    expect([...wrong].toSorted()).toEqual(mistakes.map((_, n) => `wrong${n}.mts`).toSorted());
    expect(complaintsOf('right')).toEqual([]);
  });

  test('contains programs that run and print the expected results', async ({ home }) => {
    projectIn(home);
    const runs = programs
      .filter((code) => !isService(code))
      .map(
        async (code, index) =>
          (await run(process.execPath, [await programIn(home, code, String(index))], { cwd: home }))
            .stdout,
      );
    const [client, payments, fixture] = await Promise.all(runs);
    expect(client).toMatch(/"kind":"not-found","message":"[^"]+/);
    expect(client).toContain('50000n');
    expect(payments).toMatch(/^completed\ndeclined\nlntb true\npaid 0\n$/);
    expect(fixture).toBe('all of it holds\n');
  });

  test('contains an esbuild command that bundles a program with every package except SQLite', async ({
    home,
  }) => {
    projectIn(home);
    const [, line = ''] = /^```sh\n(esbuild [^]*?)\n```$/m.exec(guide) ?? [];
    writeFileSync(join(home, 'app.ts'), programs[1] ?? '');
    await run('sh', ['-c', line], {
      cwd: home,
      env: {
        ...process.env,
        PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`,
      },
    });
    const apart = join(home, 'apart');
    mkdirSync(join(apart, 'node_modules'), { recursive: true });
    symlinkSync(join(root, 'node_modules/@libsql'), join(apart, 'node_modules/@libsql'));
    copyFileSync(join(home, 'app.mjs'), join(apart, 'app.mjs'));
    expect((await run(process.execPath, ['app.mjs'], { cwd: apart })).stdout).toContain('paid 0');
  });

  test('describes a package whose require() returns the same classes as import()', async ({
    home,
  }) => {
    projectIn(home);
    const code =
      "const { WalletClient } = require('svcpay'); const { startSandbox } = require('svcpay/sandbox');\n" +
      "import('svcpay').then((it) => console.log(it.WalletClient === WalletClient, typeof startSandbox));";
    writeFileSync(join(home, 'required.cjs'), code);
    expect((await run(process.execPath, ['required.cjs'], { cwd: home })).stdout).toBe(
      'true function\n',
    );
    expect(complaintsOf('required')).toEqual([]);
  });

  test('contains a withdrawal service that pays once despite lost responses and a kill', async ({
    home,
    sandbox,
  }) => {
    projectIn(home);
    const file = await programIn(home, programs.find(isService) ?? '', 'withdrawals');
    const env = {
      BASE_URL: sandbox.url,
      API_KEY: sandbox.apiKey,
      API_SECRET: sandbox.apiSecret,
      WEBHOOK_SECRET: 'whsec_example',
      PORT: '0',
    };
    const start = async () => {
      const child = spawn(process.execPath, [file], {
        cwd: home,
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
      await expect.poll(() => output, { timeout: 20_000 }).toContain('ready');
      const { port }: { port: number } = JSON.parse(/ready (.*)/.exec(output)?.[1] ?? '');
      const ended = new Promise((done) => child.once('exit', done));
      const url = `http://127.0.0.1:${port}`;
      const post = async (body: object) => {
        const response = await fetch(`${url}/withdrawals`, {
          method: 'POST',
          body: JSON.stringify(body),
        });
        return {
          status: response.status,
          json: (await response.json()) as Record<string, unknown>,
        };
      };
      return { child, ended, url, post, output: () => output };
    };
    const confirmed = (): number => new Set(sandbox.requests('PUT').map(({ path }) => path)).size;

    const first = await start();
    const one = { id: 'w-1', to: await sandbox.invoice('1000sat') };
    await sandbox.faults.add({ kind: 'drop-after-commit', method: 'PUT' });
    expect(await first.post(one)).toMatchObject({ status: 200, json: { state: 'completed' } });
    expect(await first.post(one)).toMatchObject({ status: 200, json: { state: 'completed' } });
    expect(
      await first.post({ id: 'w-2', to: 'ann@example.com', amount: '200000sat' }),
    ).toMatchObject({ status: 403, json: { state: 'limit' } });
    expect(await first.post({ id: 'w-2', to: 'ann@example.com', amount: '1000' })).toMatchObject({
      status: 400,
      json: { state: 'usage' },
    });
    expect(confirmed()).toBe(1);

    await sandbox.faults.add({ kind: 'no-answer', method: 'PUT' });
    const lost = first
      .post({ id: 'w-3', to: 'ann@example.com', amount: '1000sat' })
      .catch(() => undefined);
    await expect.poll(confirmed, { timeout: 20_000 }).toBe(2);
    first.child.kill('SIGKILL');
    await lost;

    const second = await start();
    expect(second.output()).toContain('resumed w-3');
    expect(
      await second.post({ id: 'w-3', to: 'ann@example.com', amount: '1000sat' }),
    ).toMatchObject({ status: 200, json: { state: 'completed' } });
    expect(confirmed()).toBe(2);
    expect(await (await fetch(`${second.url}/withdrawals/w-3`)).json()).toMatchObject({
      ref: 'w-3',
      status: 'paid',
    });
    expect((await fetch(`${second.url}/withdrawals/none`)).status).toBe(404);
    const event = JSON.stringify({
      txnId: 't',
      extRefId: 'w-3',
      txnState: 'completed',
      msg: '',
      updatedAt: 1,
    });
    const hook = (signature: string) =>
      fetch(`${second.url}/hooks`, {
        method: 'POST',
        body: event,
        headers: { 'X-Servicepay-Signature': signature },
      });
    expect([
      (await hook('00')).status,
      (await hook(signWebhook(event, 'whsec_example'))).status,
    ]).toEqual([401, 200]);
    second.child.kill('SIGTERM');
    expect(await second.ended).toBe(0);
  });
});
