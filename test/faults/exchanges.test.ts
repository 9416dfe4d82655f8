// Every exchange of a payment, broken in every way: money moves at most once, and the exit code is
// correct.
import { describe, expect } from 'vitest';
import type { Exchange, Fault } from '../support/faulty-proxy.js';
import { test } from '../support/faults.js';
import { svcpay } from '../support/in-process.js';

const faults: readonly Fault[] = [
  'dropped before',
  'dropped after',
  '500 before',
  '500 after',
  '429',
  'html after',
  'truncated after',
  'silence before',
  'silence after',
  'token expired',
];
const exchanges: readonly Exchange[] = ['create request', 'confirmation', 'read'];
const once = exchanges.flatMap((exchange) => faults.map((fault) => ({ exchange, fault })));

describe.concurrent('one broken exchange', () => {
  test.for(once)(
    'in $exchange ($fault) does not prevent a single payment',
    async ({ exchange, fault }, { payment }) => {
      payment.proxy.break(exchange, fault);
      const timeoutFlags = fault.startsWith('silence') ? ['--timeout', '1s'] : [];
      const run = await payment.send(...timeoutFlags);
      expect(run).toMatchObject({ exitCode: 0 });
      expect(run.json()).toMatchObject({ txnState: 'completed' });
      expect(await payment.timesPaid()).toBe(1);
      expect(payment.sandbox.requests('PUT').filter(({ status }) => status === 200)).toHaveLength(
        1,
      );
    },
  );

  test('at the sign-in is repeated', async ({ payment }) => {
    payment.proxy.break('sign-in', 'dropped after');
    expect(await payment.send()).toMatchObject({ exitCode: 0 });
    expect(await payment.timesPaid()).toBe(1);
  });
});

const lasting: readonly { exchange: Exchange; fault: Fault; exitCode: number; paid: number }[] = [
  { exchange: 'sign-in', fault: 'dropped before', exitCode: 75, paid: 0 },
  // A payment reads the list only after a refused create request.
  { exchange: 'list', fault: '500 before', exitCode: 0, paid: 1 },
  { exchange: 'create request', fault: 'dropped before', exitCode: 75, paid: 0 },
  { exchange: 'create request', fault: 'html after', exitCode: 75, paid: 0 },
  { exchange: 'create request', fault: '429', exitCode: 75, paid: 0 },
  { exchange: 'confirmation', fault: 'dropped before', exitCode: 8, paid: 0 },
  { exchange: 'confirmation', fault: '429', exitCode: 8, paid: 0 },
  { exchange: 'confirmation', fault: 'dropped after', exitCode: 0, paid: 1 },
  { exchange: 'confirmation', fault: 'another transaction', exitCode: 0, paid: 1 },
];

describe.concurrent('a permanently broken exchange', () => {
  test.for(lasting)(
    '$exchange ($fault) ends with $exitCode, and later in the true state',
    async (given, { payment }) => {
      payment.proxy.break(given.exchange, given.fault, Infinity);
      const run = await payment.send();
      expect(run).toMatchObject({
        exitCode: given.exitCode,
        ...(given.exitCode !== 0 && { stdout: '' }),
      });
      if (given.exitCode !== 0) expect(run.error()).toMatchObject({ exitCode: given.exitCode });
      expect(await payment.timesPaid()).toBe(given.paid);
      const { resumed, pending } = await payment.settled();
      expect({ resumed, pending }).toMatchObject({ resumed: { exitCode: 0 }, pending: [] });
      expect(await payment.send()).toMatchObject({ exitCode: 0 });
      expect(await payment.timesPaid()).toBe(1);
    },
  );

  test('reads after the confirmation end with 8 after the wait, and resume reports the outcome', async ({
    payment,
  }) => {
    payment.proxy.break('read', '500 before', Infinity);
    const run = await payment.send('--wait-timeout', '1s');
    expect(run).toMatchObject({ exitCode: 8, stdout: '' });
    expect(run.error().hint).toMatch(/^svcpay tx watch /);
    payment.proxy.mend();
    const resumed = await svcpay(
      ['tx', 'resume', run.error().txnId ?? '', '--json'],
      payment.around,
    );
    expect(resumed).toMatchObject({ exitCode: 0 });
    expect(resumed.json()).toMatchObject({ txnState: 'completed' });
    expect(await payment.timesPaid()).toBe(1);
  });

  test('a confirmation with a lost answer, then answered with 2005, is not reported as failed', async ({
    payment,
  }) => {
    payment.proxy.break('confirmation', 'dropped after');
    payment.proxy.break('read', 'html after', 4);
    expect(await payment.send()).toMatchObject({ exitCode: 0 });
    expect(await payment.timesPaid()).toBe(1);
  });
});
