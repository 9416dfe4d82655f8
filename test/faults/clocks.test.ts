// Time: tokens and quotes that are over between two steps, clocks that jump, and a person who
// thinks for long.
import { describe, expect } from 'vitest';
import { test } from '../support/faults.js';
import { svcpay, svcpayTty } from '../support/in-process.js';
import { startSvcpay, svcpayTty as startedTty } from '../support/svcpay.js';

const day = 86_400_000;

describe.concurrent('a token and a quote', () => {
  test('that are both expired when created leave an unknown outcome, and --retry pays once', async ({
    payment,
  }) => {
    payment.proxy.afterwards(
      'create request',
      async () => void (await payment.sandbox.clock.advance('2h')),
    );
    expect(await payment.send()).toMatchObject({ exitCode: 8, stdout: '' });
    expect(await payment.timesPaid()).toBe(0);
    const run = await payment.send('--retry');
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.json()).toMatchObject({ txnState: 'completed', extRefId: 'order-1~2' });
    expect(await payment.timesPaid()).toBe(1);
  });

  test('with the token refused at the confirmation get a new token, and the transaction is confirmed', async ({
    payment,
  }) => {
    payment.proxy.break('confirmation', 'token expired');
    expect(await payment.send()).toMatchObject({ exitCode: 0 });
    const confirmed = payment.sandbox.requests('PUT').map(({ status, path }) => ({ status, path }));
    expect(confirmed.map(({ status }) => status)).toEqual([401, 200]);
    expect(new Set(confirmed.map(({ path }) => path)).size).toBe(1);
  });
});

describe.concurrent('the clock of the machine', () => {
  const jumps = [
    { what: 'a day ahead', by: day },
    { what: 'a day behind', by: -day },
    { what: 'forward while a quote is made', by: day, before: 'create request' as const },
    { what: 'back while a quote is made', by: -day, before: 'create request' as const },
    { what: 'forward while it is confirmed', by: day, before: 'confirmation' as const },
    { what: 'back while it is confirmed', by: -day, before: 'confirmation' as const },
  ];
  test.for(jumps)(
    '$what does not prevent a single payment',
    async ({ by, before }, { payment }) => {
      let jump = by;
      if (before !== undefined) {
        jump = 0;
        payment.proxy.afterwards(before, async () => void (jump = by));
      }
      const run = await svcpay(payment.command, {
        ...payment.around,
        now: () => payment.around.now() + jump,
      });
      expect([0, 8]).toContain(run.exitCode);
      const { resumed, pending } = await payment.settled();
      expect({ resumed, pending }).toMatchObject({ resumed: { exitCode: 0 }, pending: [] });
      expect(await payment.send()).toMatchObject({ exitCode: 0 });
      expect(await payment.timesPaid()).toBe(1);
    },
  );
});

describe.concurrent('an invoice', () => {
  test("expired only by the machine's clock is paid: the service clock decides", async ({
    payment,
  }) => {
    const fresh = await payment.sandbox.invoice('2000sat');
    const around = { ...payment.around, now: () => payment.around.now() + day };
    expect(await svcpay(['send', 'lightning', fresh, '--yes', '--json'], around)).toMatchObject({
      exitCode: 0,
    });
  });

  test.for([
    { what: 'paid', lost: 0, exitCode: 0 },
    { what: 'in doubt', lost: Infinity, exitCode: 8 },
  ])(
    'that has expired since it was $what does not change the outcome of its reference',
    async ({ lost, exitCode }, { payment }) => {
      const { clock, invoice } = payment.sandbox;
      const command = [
        'send',
        'lightning',
        await invoice('2000sat'),
        '--ref',
        'order-2',
        '--yes',
        '--no-wait',
        '--json',
      ];
      payment.proxy.break('confirmation', 'dropped before', lost);
      payment.proxy.break('confirmation', 'dropped after', lost);
      if (lost > 0) payment.proxy.break('read', 'dropped before', lost);
      expect(await svcpay(command, payment.around)).toMatchObject({ exitCode });
      await clock.advance('25h');
      expect(
        await svcpay(command, {
          ...payment.around,
          now: () => payment.around.now() + 25 * 3_600_000,
        }),
      ).toMatchObject({ exitCode });
    },
  );
});

describe.concurrent('a person', () => {
  test('whose quote expires pays by a new one, without a second question unless it is worse', async ({
    payment,
  }) => {
    const tty = svcpayTty(
      ['send', 'lightning', payment.invoice, '--ref', 'order-1'],
      payment.around,
    );
    await tty.waitFor(/Pay 0\.00001003 BTC from/);
    await payment.sandbox.clock.advance('5m');
    tty.type('y\r');
    expect(await tty.ended).toBe(0);
    expect(tty.text().match(/Pay 0\.00001003 BTC from/g)?.length).toBeGreaterThan(0);
    expect(tty.text()).not.toContain('The quote has changed');
    expect(await payment.timesPaid()).toBe(1);
  });

  test('who interrupts the question has moved nothing, and resume does not pay', async ({
    payment,
  }) => {
    const tty = svcpayTty(
      ['send', 'lightning', payment.invoice, '--ref', 'order-1'],
      payment.around,
    );
    await tty.waitFor(/Pay 0\.00001003 BTC from/);
    tty.type('\u0003');
    expect(await tty.ended).toBe(130);
    const { resumed, pending } = await payment.settled();
    expect({ resumed, pending }).toMatchObject({ resumed: { exitCode: 0 }, pending: [] });
    expect(await payment.timesPaid()).toBe(0);
  });

  test('who interrupts after the confirmation sees that the payment continues, and how to resume it', async ({
    payment,
  }) => {
    const held = payment.proxy.hold('confirmation', 'after');
    const tty = startedTty(
      ['send', 'lightning', payment.invoice, '--ref', 'order-1', '--yes'],
      payment.around,
    );
    await held;
    tty.kill('SIGINT');
    expect(await tty.ended).toBe(8);
    expect(tty.text()).toMatch(/(?:Outcome unknown|not known yet)[\s\S]*svcpay tx resume/);
    const { resumed, pending } = await payment.settled();
    expect({ resumed, pending }).toMatchObject({ resumed: { exitCode: 0 }, pending: [] });
    expect(await payment.timesPaid()).toBe(1);
  });

  test('who closes the terminal at the question has moved nothing, unlike after the confirmation', async ({
    payment,
  }) => {
    const line = ['send', 'lightning', payment.invoice, '--ref', 'order-1'];
    const asked = startedTty(line, payment.around);
    await asked.waitFor(/Pay 0\.00001003 BTC from/);
    asked.close();
    expect([9, 130]).toContain(await asked.ended);
    const held = payment.proxy.hold('confirmation', 'after');
    const confirmed = startedTty([...line, '--yes'], payment.around);
    await held;
    confirmed.close();
    expect(await confirmed.ended).toBe(8);
    expect(await payment.settled()).toMatchObject({ resumed: { exitCode: 0 }, pending: [] });
    expect(await payment.timesPaid()).toBe(1);
  });

  test('who interrupts and closes the terminal after the confirmation gets an unknown outcome', async ({
    payment,
  }) => {
    const held = payment.proxy.hold('confirmation', 'after');
    const running = startSvcpay(payment.command, payment.around);
    await held;
    running.child.kill('SIGTERM');
    running.child.kill('SIGHUP');
    expect(await running.ended).toMatchObject({ exitCode: 8, stdout: '' });
  });

  test('who interrupts before the quote has moved nothing', async ({ payment }) => {
    const held = payment.proxy.hold('create request', 'before');
    const tty = startedTty(
      ['send', 'lightning', payment.invoice, '--ref', 'order-1', '--yes'],
      payment.around,
    );
    const { release } = await held;
    tty.kill('SIGINT');
    expect(await tty.ended).toBe(130);
    await release();
    expect(await payment.settled()).toMatchObject({ resumed: { exitCode: 0 }, pending: [] });
    expect(await payment.timesPaid()).toBe(0);
  });

  test('whose program was killed at the question is asked again by resume, only in a terminal', async ({
    payment,
  }) => {
    const first = startedTty(
      ['send', 'lightning', payment.invoice, '--ref', 'order-1'],
      payment.around,
    );
    await first.waitFor(/Pay 0\.00001003 BTC from/);
    first.kill('SIGKILL');
    await first.ended;
    expect(await svcpay(['tx', 'resume', '--json'], payment.around)).toMatchObject({
      exitCode: 0,
      stdout: '[]\n',
    });
    expect(await payment.timesPaid()).toBe(0);
    const second = svcpayTty(['tx', 'resume'], payment.around);
    await second.waitFor(/Pay 0\.00001003 BTC from/);
    second.type('y\r');
    expect(await second.ended).toBe(0);
    expect(await payment.timesPaid()).toBe(1);
  });
});
