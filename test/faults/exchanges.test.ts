// Whichever request of a payment fails, and however it fails, money moves at most once and the exit
// code is correct.
import { describe, expect } from 'vitest';
import type { Exchange, Fault } from '../support/faulty-proxy.js';
import { test } from '../support/faults.js';
import { svcpay } from '../support/in-process.js';

const faults: readonly (readonly [fault: Fault, happens: string])[] = [
  ['dropped before', 'loses its connection before the service receives the request'],
  ['dropped after', 'loses its connection before the response arrives'],
  ['500 before', 'gets a 500 response before the service handles the request'],
  ['500 after', 'gets a 500 response after the service handled the request'],
  ['429', 'gets a 429 response'],
  ['html after', 'gets an HTML page as the response'],
  ['truncated after', 'gets a truncated response'],
  ['silence before', 'gets no response and is never handled'],
  ['silence after', 'gets no response although the service handled the request'],
  ['token expired', 'arrives after its token expired'],
];
const exchanges: readonly (readonly [exchange: Exchange, request: string])[] = [
  ['create request', 'the create request'],
  ['confirmation', 'the confirmation'],
  ['read', 'the state read'],
];
const once = exchanges.flatMap(([exchange, request]) =>
  faults.map(([fault, happens]) => ({ why: `${request} ${happens}`, exchange, fault })),
);

describe.concurrent('svcpay send with one broken request', () => {
  test.for(once.map((each) => [each.why, each] as const))(
    'pays once if %s',
    async ([, { exchange, fault }], { payment }) => {
      payment.proxy.break(exchange, fault);
      const timeoutFlags = fault.startsWith('silence') ? ['--timeout', '4s'] : [];
      const run = await payment.send(...timeoutFlags);
      expect(run).toMatchObject({ exitCode: 0 });
      expect(run.json()).toMatchObject({ txnState: 'completed' });
      expect(await payment.timesPaid()).toBe(1);
      expect(payment.sandbox.requests('PUT').filter(({ status }) => status === 200)).toHaveLength(
        1,
      );
    },
  );

  test('signs in again and pays once if the connection drops during the sign-in', async ({
    payment,
  }) => {
    payment.proxy.break('sign-in', 'dropped after');
    expect(await payment.send()).toMatchObject({ exitCode: 0 });
    expect(await payment.timesPaid()).toBe(1);
  });
});

const lasting: readonly {
  why: string;
  exchange: Exchange;
  fault: Fault;
  exitCode: number;
  paid: number;
}[] = [
  {
    why: 'the sign-in loses its connection',
    exchange: 'sign-in',
    fault: 'dropped before',
    exitCode: 75,
    paid: 0,
  },
  // svcpay reads the list only after a refused create request, so an error of the list has no
  // effect here.
  { why: 'the list returns 500', exchange: 'list', fault: '500 before', exitCode: 0, paid: 1 },
  {
    why: 'the create request loses its connection',
    exchange: 'create request',
    fault: 'dropped before',
    exitCode: 75,
    paid: 0,
  },
  {
    why: 'the create request returns an HTML page',
    exchange: 'create request',
    fault: 'html after',
    exitCode: 75,
    paid: 0,
  },
  {
    why: 'the create request returns 429',
    exchange: 'create request',
    fault: '429',
    exitCode: 75,
    paid: 0,
  },
  {
    why: 'the confirmation loses its connection',
    exchange: 'confirmation',
    fault: 'dropped before',
    exitCode: 8,
    paid: 0,
  },
  {
    why: 'the confirmation returns 429',
    exchange: 'confirmation',
    fault: '429',
    exitCode: 8,
    paid: 0,
  },
  {
    why: 'the confirmation loses its answer',
    exchange: 'confirmation',
    fault: 'dropped after',
    exitCode: 0,
    paid: 1,
  },
  {
    why: 'the confirmation returns another transaction',
    exchange: 'confirmation',
    fault: 'another transaction',
    exitCode: 0,
    paid: 1,
  },
];

describe.concurrent('svcpay send with a permanently broken request', () => {
  test.for(lasting.map((each) => [each.exitCode, each.why, each] as const))(
    'exits %s if %s every time, and reports the true outcome later',
    async ([, , given], { payment }) => {
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

  test('exits 8 after --wait-timeout if every state read returns 500, and tx resume reports the outcome', async ({
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

  test('reports the payment as paid if the answer to the confirmation is lost and the repeated confirmation returns code 2005', async ({
    payment,
  }) => {
    payment.proxy.break('confirmation', 'dropped after');
    payment.proxy.break('read', 'html after', 4);
    expect(await payment.send()).toMatchObject({ exitCode: 0 });
    expect(await payment.timesPaid()).toBe(1);
  });
});
