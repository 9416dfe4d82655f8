// Tests commands that run again after a list of the service became unavailable or a rate changed.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { quickTime, svcpay } from '../support/in-process.js';
import { test as strictTest } from '../support/strict.js';
import type { Sandbox } from '../../src/sandbox/server.js';
import { startSvcpay, test, type Environment } from '../support/svcpay.js';

type Around = Environment & { readonly sandbox: Sandbox };

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

describe.concurrent('svcpay repeated without the list of institutions', () => {
  test('recognizes a payout by its reference if the institutions cannot be read again', async ({
    around,
  }) => {
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

  test('submits a payout only once if the row of the batch file has no reference', async ({
    around,
    home,
  }) => {
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
    expect((await svcpay(command, around)).json()).toMatchObject({ inFlight: 1 });
    await around.sandbox.faults.add(noInstitutions);
    const again = await svcpay(command, around);
    expect(around.sandbox.requests('POST', '/api/v2/transaction')).toHaveLength(2);
    expect(again, 'a quote and a payment').toMatchObject({ exitCode: 0 });
  });
});

strictTest.for(
  [
    { why: 'shows its earlier request again if the rate moved by 5 %', rate: 95_000, exitCode: 0 },
    { why: 'refuses to repeat its earlier request if the rate halved', rate: 50_000, exitCode: 3 },
  ].map((each) => [each.why, each] as const),
)('svcpay receive lightning 10usd %s', async ([, { rate, exitCode }], { strict }) => {
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
});

describe('svcpay after a payment with an unknown outcome', () => {
  const send = ['send', 'ada@example.com', '1300sat', '--ref', 'order-9', '--yes', '--json'];

  /** Submits a payment whose confirmation gets no answer. */
  async function moved({ around }: { readonly around: Around }): Promise<string> {
    const { faults } = around.sandbox;
    await faults.add({ kind: 'drop-before-commit', method: 'PUT', times: 9 });
    const run = await svcpay(send, { ...around, ...quickTime() });
    expect(run).toMatchObject({ exitCode: 8 });
    await faults.clear();
    return run.error().txnId ?? '';
  }

  const signIns = [
    ['the sign-in is refused', { kind: 'status', status: 401 }],
    ['the sign-in returns 404', { kind: 'status', status: 404 }],
    ['the sign-in returns 400', { kind: 'status', status: 400 }],
    ['the sign-in returns no token', { kind: 'status', status: 200, body: { data: {} } }],
    ['the sign-in gets no answer', { kind: 'drop-before-commit' }],
  ] as const;
  type SignInFault = (typeof signIns)[number][1];

  /** Simulates a fresh container that has the journal but no token, and whose sign-in fails. */
  async function withoutSignIn(
    { around, home }: { readonly around: Around; readonly home: string },
    fault: SignInFault,
  ): Promise<void> {
    await rm(join(home, 'tokens.json'), { force: true });
    await around.sandbox.faults.add({ ...fault, path: '**/token-signature', times: 'always' });
  }

  test.for(signIns)(
    'reports the outcome as unknown in a fresh container if %s',
    async ([, fault], { around, home }) => {
      const txnId = await moved({ around });
      await withoutSignIn({ around, home }, fault);
      const names = [
        ['resume', 'order-9'],
        ['resume', txnId.slice(0, 8)],
        ['resume'],
        ['confirm', txnId],
      ];
      for (const command of [send, ...names.map((words) => ['tx', ...words, '--yes', '--json'])]) {
        const again = await svcpay([...command, '--timeout', '1s'], { ...around, ...quickTime() });
        expect({ command, ...again }).toMatchObject({ exitCode: 8, stdout: '' });
        expect(again.error()).toMatchObject({ txnId, hint: `svcpay tx resume ${txnId}` });
      }
    },
  );

  test('exits 8 for a paid reference if the repeated command cannot sign in', async ({
    around,
    home,
  }) => {
    expect(await svcpay(send, { ...around, ...quickTime() })).toMatchObject({ exitCode: 0 });
    await withoutSignIn({ around, home }, signIns[0][1]);
    const again = await svcpay([...send, '--timeout', '1s'], around);
    expect(again).toMatchObject({ exitCode: 8, stdout: '' });
    expect(again.error().message).toMatch(
      /^Paid earlier under the reference order-9 \(transaction [^)]+\): the transaction cannot be read/,
    );
  });

  test('exits 8 for a batch with an unresolved row if the sign-in fails', async ({
    around,
    home,
  }) => {
    const { faults } = around.sandbox;
    const file = join(home, 'payroll.csv');
    await writeFile(file, 'ref,to,amount,currency\nr1,ada@example.com,1300,sat\n');
    const batch = ['batch', file, '--yes', '--json', '--timeout', '1s'];
    await faults.add({ kind: 'drop-before-commit', method: 'PUT', times: 9 });
    expect(await svcpay(batch, { ...around, ...quickTime() })).toMatchObject({ exitCode: 8 });
    await faults.clear();
    await withoutSignIn({ around, home }, signIns[0][1]);
    expect(await svcpay(batch, around)).toMatchObject({ exitCode: 8, stdout: '' });
    expect(await svcpay([...batch, '--dry-run'], around)).toMatchObject({ exitCode: 4 });
  });

  test('reports the number of payments that tx resume cannot read', async ({ around, home }) => {
    await moved({ around });
    await around.sandbox.faults.add({ kind: 'drop-before-commit', method: 'PUT', times: 9 });
    const other = send.with(4, 'order-10');
    expect(await svcpay(other, { ...around, ...quickTime() })).toMatchObject({ exitCode: 8 });
    await around.sandbox.faults.clear();
    await withoutSignIn({ around, home }, signIns[0][1]);
    const resumed = await svcpay(['tx', 'resume', '--yes', '--json'], around);
    expect(resumed).toMatchObject({ exitCode: 8, stdout: '' });
    expect(resumed.error().message).toMatch(
      /^Outcome unknown: 2 payments were submitted but cannot be read now: /,
    );
  });

  test('exits 8 if Ctrl-C interrupts the first request of a repeated payment', async ({
    around,
    home,
  }) => {
    await moved({ around });
    await rm(join(home, 'tokens.json'), { force: true });
    await around.sandbox.faults.add({ kind: 'latency', delay: 20_000, times: 'always' });
    const running = startSvcpay(send, around);
    await expect.poll(() => around.sandbox.requests('POST').length).toBeGreaterThan(2);
    running.child.kill('SIGINT');
    expect(await running.ended).toMatchObject({ exitCode: 8, stdout: '' });
  });

  test('exits 4 for an unused reference if the sign-in fails', async ({ around, home }) => {
    await moved({ around });
    await rm(join(home, 'tokens.json'), { force: true });
    await around.sandbox.faults.add({ kind: 'status', status: 401, path: '**/token-signature' });
    const other = send.with(4, 'order-10');
    expect(await svcpay([...other, '--timeout', '1s'], around)).toMatchObject({ exitCode: 4 });
  });
});

describe.concurrent('svcpay send', () => {
  const order = (amount: string): string[] => ['send', 'ada@example.com', amount, '--ref', 'rent'];

  /** Ways to end a payment before its submission. */
  const endings: readonly (readonly [string, (around: Around) => Promise<unknown>])[] = [
    [
      'was shown with --quote-only',
      (around) => svcpay([...order('1300sat'), '--quote-only'], around),
    ],
    [
      'exceeded --max-fee',
      (around) => svcpay([...order('1300sat'), '--yes', '--max-fee', '0sat'], around),
    ],
    [
      'was cancelled',
      async (around) => {
        const shown = await svcpay([...order('1300sat'), '--quote-only', '-q'], around);
        return svcpay(['tx', 'cancel', shown.stdout.trim()], around);
      },
    ],
  ];

  test.for(endings)(
    'accepts another order under a reference whose quote %s',
    async ([, end], { around }) => {
      await end(around);
      const other = await svcpay([...order('900sat'), '--yes', '--json'], around);
      expect(other).toMatchObject({ exitCode: 0 });
      expect(other.json()).toMatchObject({ extRefId: 'rent~2', txnState: 'completed' });
      // The reference now belongs to the payment of 900 sat, so svcpay refuses a payment of 1300
      // sat with the same reference.
      expect(await svcpay([...order('1300sat'), '--yes'], around)).toMatchObject({ exitCode: 2 });
      expect(await svcpay([...order('900sat'), '--yes', '--json'], around)).toMatchObject({
        exitCode: 0,
        stdout: other.stdout,
      });
    },
  );

  test('refuses to confirm an earlier quote after its reference was used for another order', async ({
    around,
  }) => {
    const shown = await svcpay([...order('1300sat'), '--quote-only', '-q'], around);
    const other = await svcpay([...order('900sat'), '--yes', '-q'], around);
    expect(other).toMatchObject({ exitCode: 0 });
    const earlier = await svcpay(['tx', 'confirm', shown.stdout.trim(), '--yes'], around);
    expect(earlier).toMatchObject({ exitCode: 2, stdout: '' });
  });
});

test('svcpay tx resume ends after 30 s if the service leaves every request unanswered', async ({
  around,
}) => {
  const to = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
  for (const amount of ['20000sat', '30000sat'])
    await svcpay(['send', 'onchain', to, amount, '--yes', '--no-wait'], around);
  await around.sandbox.faults.add({ kind: 'latency', delay: '10m', times: 'always' });
  let waitedMs = 0;
  const run = await svcpay(['tx', 'resume', '--yes', '--json'], {
    ...around,
    // The test shortens only the time limit of 30 s for the whole command, so that the command ends
    // before any request times out.
    sleep: (ms, signal) =>
      ms === 30_000
        ? delay(500).then(() => void (waitedMs = ms))
        : delay(ms, undefined, { ...(signal && { signal }) }),
  });
  expect(waitedMs).toBe(30_000);
  expect(run).toMatchObject({ exitCode: 8 });
  const message = expect.stringMatching(
    /submitted, .* the service did not answer before this run ended/,
  );
  expect(run.json()).toMatchObject([{ exitCode: 8, message }, { exitCode: 8 }]);
  expect(run.stderr + run.stdout).not.toContain('nothing moved');
});
