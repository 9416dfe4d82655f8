// Neither a failed write of the output nor a deeply nested answer of the service changes a payment.
import { describe, expect } from 'vitest';
import { startSvcpay, svcpay } from '../support/svcpay.js';
import { test } from '../support/faults.js';

const lost = 'svcpay could not write its output to stdout (ENOSPC).';

describe.concurrent('svcpay send', () => {
  const outputs = [
    {
      redirect: '>/dev/full',
      stdout: '',
      stderr: expect.stringMatching(/Paid[^]*\nWarning: svcpay could not write .*\n$/),
    },
    { redirect: '2>/dev/full', stdout: expect.stringContaining('"completed"'), stderr: '' },
    { redirect: '>/dev/full 2>/dev/full', stdout: '', stderr: '' },
    { redirect: '>&- 2>&-', stdout: '', stderr: '' },
  ];
  test.for(outputs.map((each) => [each.redirect, each] as const))(
    'pays and exits 0 if the shell redirects output with %s',
    async ([, { redirect, ...written }], { payment }) => {
      const run = await svcpay(payment.command, { ...payment.around, redirect });
      expect(run).toMatchObject({ exitCode: 0, ...written });
      expect(await payment.timesPaid()).toBe(1);
    },
  );

  test('completes the payment if the reader of its output is gone', async ({ payment }) => {
    const running = startSvcpay(
      [...payment.command.filter((word) => word !== '--json'), '-o', 'jsonl'],
      payment.around,
    );
    running.child.stdout.destroy();
    running.child.stderr.destroy();
    expect(await running.ended).toMatchObject({ exitCode: 0 });
    expect(await payment.timesPaid()).toBe(1);
  });

  test('exits 8 if it is interrupted after the confirmation and its output cannot be written', async ({
    payment,
  }) => {
    const held = payment.proxy.hold('confirmation', 'after');
    const running = startSvcpay(payment.command, {
      ...payment.around,
      redirect: '>/dev/full 2>/dev/full',
    });
    await held;
    running.child.kill('SIGINT');
    expect(await running.ended).toMatchObject({ exitCode: 8 });
  });

  const deep: { what: string; flags: string[]; prints: string }[] = [
    { what: 'all fields', flags: [], prints: '"txnState":"completed"' },
    {
      what: 'one field',
      flags: ['--fields', 'txnState'],
      prints: '{"txnState":"completed"}',
    },
  ];
  test.for(deep.map((each) => [each.what, each] as const))(
    'pays and prints %s of an answer nested 40,000 levels deep',
    async ([, { flags, prints }], { payment }) => {
      payment.proxy.break('create request', 'deep after');
      payment.proxy.break('confirmation', 'deep after');
      payment.proxy.break('read', 'deep after', Infinity);
      const run = await payment.send(...flags);
      expect(run).toMatchObject({ exitCode: 0 });
      expect(run.stdout).toContain(prints);
      expect(await payment.timesPaid()).toBe(1);
    },
  );
});

describe.concurrent('a read-only command', () => {
  test('reports a JSON error and exits 1 if stdout cannot be written', async ({ around }) => {
    const run = await svcpay(['wallets', '--json'], { ...around, redirect: '>/dev/full' });
    expect(run).toMatchObject({ exitCode: 1, stdout: '' });
    expect(run.error()).toMatchObject({ kind: 'unexpected', message: lost, exitCode: 1 });
  });

  test.for(['send --help', 'send lnurl shop@example.com 1000sat --quote-only --json', '--version'])(
    'svcpay %s exits 1 if stdout cannot be written',
    async (line, { around }) => {
      expect(await svcpay(line.split(' '), { ...around, redirect: '>/dev/full' })).toMatchObject({
        exitCode: 1,
        stdout: '',
      });
    },
  );

  const lines = [
    '--version',
    '--help',
    'send --help',
    'wallets',
    'help exit-codes',
    'completion zsh',
  ];
  test.for(lines)(
    'svcpay %s exits 0 if the reader of its output is gone',
    async (line, { around }) => {
      const running = startSvcpay(line.split(' '), around);
      running.child.stdout.destroy();
      expect(await running.ended).toMatchObject({ exitCode: 0, stderr: '' });
    },
  );
});
