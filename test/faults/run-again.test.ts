// The same command again, when what surrounds a payment has changed: lists that cannot be had, rates that have moved.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { svcpay } from '../support/in-process.js';
import { test as strictTest } from '../support/strict.js';
import { test } from '../support/svcpay.js';

const parties = {
  purpose: 1,
  source: 2,
  relationship: 3,
  'sender-type': 'individual',
  'sender-name': 'Ann',
  'sender-country': 'US',
  'recipient-type': 'individual',
  'recipient-name': 'Ahmad',
  'recipient-country': 'MY',
};
const account = {
  country: 'MY',
  method: 'myr-bank',
  'acct-num': '01234567890',
  'acct-name': 'AHMAD',
};
const noInstitutions = {
  kind: 'status',
  status: 500,
  path: '**/fiat-institution/**',
  times: 'always',
} as const;

describe.concurrent('a payout whose institution cannot be read the second time', () => {
  test('is recognised by its reference', async ({ around }) => {
    const answers = { ...account, institution: 'mbbemykl', amount: '500myr', ...parties };
    const args = [
      'payout',
      ...Object.entries(answers).flatMap(([name, value]) => [`--${name}`, `${value}`]),
    ];
    const command = [...args, '--ref', 'rent', '--yes', '--no-wait', '--timeout', '2s', '-q'];
    const first = await svcpay(command, around);
    expect(first.exitCode).toBe(0);
    await around.sandbox.faults.add(noInstitutions);
    expect(await svcpay(command, around)).toMatchObject({ exitCode: 0, stdout: first.stdout });
  });

  test('is recognised as a batch row, even without a reference', async ({ around, home }) => {
    const cells = {
      ...account,
      institution: 'mbbemykl',
      amount: '500',
      currency: 'myr',
      ...parties,
    };
    const file = join(home, 'rows.csv');
    const names = Object.keys(cells).map((name) => name.replaceAll('-', '_'));
    await writeFile(file, `${names.join(',')}\n${Object.values(cells).join(',')}\n`);
    const command = ['batch', file, '--yes', '--no-wait', '--timeout', '2s', '--json'];
    expect((await svcpay(command, around)).json()).toMatchObject({ sent: 1 });
    await around.sandbox.faults.add(noInstitutions);
    const again = await svcpay(command, around);
    expect(around.sandbox.requests('POST', '/api/v2/transaction')).toHaveLength(1);
    expect(again).toMatchObject({ exitCode: 0 });
  });
});

strictTest.for([
  { rate: 95_000, exitCode: 0 },
  { rate: 50_000, exitCode: 3 },
])(
  'a request for 10 USD, made at 100,000, is shown again at $rate: exit code $exitCode',
  async ({ rate, exitCode }, { strict }) => {
    const { service, run } = strict;
    const command = 'receive lightning 10usd --ref order-7 -q';
    service.temper.rates = { BTCUSD: 100_000 };
    const first = await run(command);
    expect(first.exitCode).toBe(0);
    service.temper.rates = { BTCUSD: rate };
    expect(await run(command)).toMatchObject({
      exitCode,
      stdout: exitCode === 0 ? first.stdout : '',
    });
  },
);
