// The examples run as documented.
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect } from 'vitest';
import type { Sandbox } from '../../src/sandbox/server.js';
import { runsAll } from '../support/part.js';
import { test, type Environment } from '../support/svcpay.js';

const root = resolve(import.meta.dirname, '../..');
const example = (name: string): string => join(root, 'examples', name);

interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program with `svcpay` in its path, in a new empty folder. */
function run(
  file: string,
  args: readonly string[],
  { home, sandbox }: Environment,
): Promise<Ended> {
  const bin = join(home, 'bin');
  const cwd = join(home, 'work');
  mkdirSync(bin, { recursive: true });
  mkdirSync(cwd, { recursive: true });
  const svcpay = join(bin, 'svcpay');
  writeFileSync(
    svcpay,
    `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'bin/svcpay.js')}' "$@"\n`,
  );
  chmodSync(svcpay, 0o755);
  const env = {
    PATH: `${bin}:${process.env['PATH']}`,
    HOME: home,
    SVCPAY_HOME: home,
    SVCPAY_BASE_URL: sandbox?.url,
    SVCPAY_API_KEY: sandbox?.apiKey,
    SVCPAY_API_SECRET: sandbox?.apiSecret,
  };
  return new Promise((done) => {
    execFile(file, args, { cwd, env }, (error, stdout, stderr) => {
      const exitCode = error === null ? 0 : Number(error.code ?? 1);
      done({ exitCode, stdout, stderr });
    });
  });
}

const payments = ({ sandbox }: { readonly sandbox: Pick<Sandbox, 'requests'> }): number =>
  sandbox.requests('PUT').filter(({ path }) => path.endsWith('/confirm')).length;

describe('the example programs', () => {
  test.runIf(runsAll).for([
    ['shop', 3],
    ['withdrawals', 4],
  ] as const)(
    'include the %s example, which passes its own %i tests',
    async ([name, count], { home }) => {
      const { exitCode, stdout } = await run(
        process.execPath,
        ['--test', '--test-reporter=tap', join(example(name), `${name}.test.mjs`)],
        { home },
      );
      expect({ exitCode, stdout }).toEqual({
        exitCode: 0,
        stdout: expect.stringContaining(`# pass ${count}`),
      });
    },
  );

  test('pay a withdrawal once if withdrawals.mjs runs twice', async ({ around }) => {
    const invoice = await around.sandbox.invoice('1000sat');
    const first = await run(
      process.execPath,
      [example('withdrawals/withdrawals.mjs'), 'w-1', invoice],
      around,
    );
    expect(first).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(/^\{"id":"w-1","txnId":".*","state":"completed"\}\n$/),
      stderr: '',
    });
    expect(
      await run(process.execPath, [example('withdrawals/withdrawals.mjs'), 'w-1', invoice], around),
    ).toEqual(first);
    expect(payments(around)).toBe(1);
  });

  test('pay an invoice once if pay-invoice.sh runs twice', async ({ around }) => {
    const invoice = await around.sandbox.invoice('1000sat');
    const first = await run(example('pay-invoice.sh'), ['118', invoice], around);
    const second = await run(example('pay-invoice.sh'), ['118', invoice], around);
    expect(first).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(/^[0-9a-f-]{36}\n$/),
      stderr: '',
    });
    expect(second).toEqual(first);
    expect(payments(around)).toBe(1);
  });

  test('pay-invoice.sh reports the outcome of the payment in its exit code', async ({ around }) => {
    const unpaid = await run(example('pay-invoice.sh'), ['118', 'lnbc1broken'], around);
    expect(unpaid).toMatchObject({ exitCode: 2, stdout: '' });
    expect(unpaid.stderr).toContain('order 118: exit code 2');
    const invoice = await around.sandbox.invoice('5btc');
    expect(await run(example('pay-invoice.sh'), ['119', invoice], around)).toMatchObject({
      exitCode: 7,
      stdout: '',
    });
    expect(payments(around)).toBe(0);
  });

  test('pay each employee once a month if payroll.sh runs twice', async ({ around }) => {
    const november = await run(example('payroll/payroll.sh'), ['2026-11'], around);
    expect(november).toMatchObject({ exitCode: 0 });
    expect(payments(around)).toBe(3);
    const result = readFileSync(join(around.home, 'work/payroll-2026-11.csv'), 'utf8');
    expect(result).toContain('2026-11-ana');
    expect(await run(example('payroll/payroll.sh'), ['2026-11'], around)).toMatchObject({
      exitCode: 0,
    });
    expect(payments(around)).toBe(3);
    // A new name accepts the same payees and amounts only a day after the last run.
    expect(await run(example('payroll/payroll.sh'), ['2026-12'], around)).toMatchObject({
      exitCode: 2,
    });
    expect(payments(around)).toBe(3);
  });
});
