// Output that cannot be written, and output that is hard to write: neither changes what becomes of
// the money.
import { describe, expect } from 'vitest';
import { startSvcpay, svcpay } from '../support/svcpay.js';
import { test } from '../support/faults.js';

const lost = 'stdout cannot be written (ENOSPC): its output is lost.';

describe.concurrent('a payment', () => {
  const outputs = [
    {
      redirect: '>/dev/full',
      stdout: '',
      stderr: expect.stringMatching(/Paid[^]*\nWarning: .*lost\.\n$/),
    },
    { redirect: '2>/dev/full', stdout: expect.stringContaining('"completed"'), stderr: '' },
    { redirect: '>/dev/full 2>/dev/full', stdout: '', stderr: '' },
    { redirect: '>&- 2>&-', stdout: '', stderr: '' },
  ];
  test.for(outputs)(
    'is made and ends with 0 with $redirect',
    async ({ redirect, ...written }, { payment }) => {
      const run = await svcpay(payment.command, { ...payment.around, redirect });
      expect(run).toMatchObject({ exitCode: 0, ...written });
      expect(await payment.timesPaid()).toBe(1);
    },
  );

  test('continues if nobody reads its output', async ({ payment }) => {
    const running = startSvcpay(
      [...payment.command.filter((word) => word !== '--json'), '-o', 'jsonl'],
      payment.around,
    );
    running.child.stdout.destroy();
    running.child.stderr.destroy();
    expect(await running.ended).toMatchObject({ exitCode: 0 });
    expect(await payment.timesPaid()).toBe(1);
  });

  test('that continues without its terminal has another exit code than one that moved nothing', async ({
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
    { what: 'printed whole', flags: [], prints: '{"a":['.repeat(20_000) },
    {
      what: 'of which a field is printed',
      flags: ['--fields', 'txnState'],
      prints: '{"txnState":"completed"}',
    },
  ];
  test.for(deep)(
    'is not stopped by an answer nested 40,000 levels deep, $what',
    async ({ flags, prints }, { payment }) => {
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
  test('fails if its output is lost, in the requested format', async ({ around }) => {
    const run = await svcpay(['wallets', '--json'], { ...around, redirect: '>/dev/full' });
    expect(run).toMatchObject({ exitCode: 1, stdout: '' });
    expect(run.error()).toMatchObject({ kind: 'unexpected', message: lost, exitCode: 1 });
  });

  test.for([
    ['send', '--help'],
    ['send', 'lnurl', 'shop@example.com', '1000sat', '--quote-only', '--json'],
    ['--version'],
  ])('svcpay %s %s %s: fails if its output is lost', async (line, { around }) => {
    expect(await svcpay(line, { ...around, redirect: '>/dev/full' })).toMatchObject({
      exitCode: 1,
      stdout: '',
    });
  });

  const lines = [
    ['--version'],
    ['--help'],
    ['send', '--help'],
    ['wallets'],
    ['help', 'exit-codes'],
    ['completion', 'zsh'],
  ];
  test.for(lines)(
    'svcpay %s %s %s ends without an error if nobody reads it',
    async (line, { around }) => {
      const running = startSvcpay(line, around);
      running.child.stdout.destroy();
      expect(await running.ended).toMatchObject({ exitCode: 0, stderr: '' });
    },
  );
});
