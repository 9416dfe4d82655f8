// Tests svcpay send with tokens and quotes that expire between two steps, clocks that jump, and a
// person who answers late.
import { describe, expect } from 'vitest';
import { test } from '../support/faults.js';
import { svcpay, svcpayTty } from '../support/in-process.js';
import { startSvcpay, svcpayTty as startedTty } from '../support/svcpay.js';

const day = 86_400_000;

describe.concurrent('svcpay send', () => {
  test('exits 8 if the token and the quote expire before the confirmation, and pays once with --retry', async ({
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

  test('signs in again and confirms the same transaction if the token expired before the confirmation', async ({
    payment,
  }) => {
    payment.proxy.break('confirmation', 'token expired');
    expect(await payment.send()).toMatchObject({ exitCode: 0 });
    const confirmed = payment.sandbox.requests('PUT').map(({ status, path }) => ({ status, path }));
    expect(confirmed.map(({ status }) => status)).toEqual([401, 200]);
    expect(new Set(confirmed.map(({ path }) => path)).size).toBe(1);
  });
});

describe.concurrent('svcpay send with a wrong machine clock', () => {
  const jumps = [
    { what: 'is a day ahead', by: day },
    { what: 'is a day behind', by: -day },
    { what: 'jumps ahead during the create request', by: day, before: 'create request' as const },
    { what: 'jumps back during the create request', by: -day, before: 'create request' as const },
    { what: 'jumps ahead during the confirmation', by: day, before: 'confirmation' as const },
    { what: 'jumps back during the confirmation', by: -day, before: 'confirmation' as const },
  ];
  test.for(jumps.map((each) => [each.what, each] as const))(
    'pays once if the machine clock %s',
    async ([, { by, before }], { payment }) => {
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

describe.concurrent('svcpay send lightning', () => {
  test('pays an invoice that expired only according to the machine clock', async ({ payment }) => {
    const fresh = await payment.sandbox.invoice('2000sat');
    const around = { ...payment.around, now: () => payment.around.now() + day };
    expect(await svcpay(['send', 'lightning', fresh, '--yes', '--json'], around)).toMatchObject({
      exitCode: 0,
    });
  });

  test.for(
    [
      { what: 'paid', lost: 0, exitCode: 0 },
      { what: 'unresolved', lost: Infinity, exitCode: 8 },
    ].map((each) => [each.what, each] as const),
  )(
    'reports an earlier %s payment unchanged after its invoice expired',
    async ([, { lost, exitCode }], { payment }) => {
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

describe.concurrent('svcpay send at a terminal', () => {
  test('requests a new quote of the same price and pays without a second question if the first quote expires at the prompt', async ({
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

  test('moves no money if Ctrl-C interrupts the prompt, and tx resume does not pay', async ({
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

  test('exits 8 and shows how to resume if Ctrl-C comes after the confirmation', async ({
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

  test('moves no money if the terminal closes at the prompt, but exits 8 if the terminal closes after the confirmation', async ({
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

  test('exits 8 if SIGTERM and SIGHUP arrive after the confirmation', async ({ payment }) => {
    const held = payment.proxy.hold('confirmation', 'after');
    const running = startSvcpay(payment.command, payment.around);
    await held;
    running.child.kill('SIGTERM');
    running.child.kill('SIGHUP');
    expect(await running.ended).toMatchObject({ exitCode: 8, stdout: '' });
  });

  test('exits 143 if SIGTERM arrives before the quote, and moves no money', async ({ payment }) => {
    const held = payment.proxy.hold('create request', 'before');
    const running = startSvcpay(payment.command, payment.around);
    await held;
    running.child.kill('SIGTERM');
    const ended = await running.ended;
    expect(ended).toMatchObject({ exitCode: 143, stdout: '' });
    expect(ended.error()).toMatchObject({ kind: 'terminated', exitCode: 143 });
    expect(await payment.timesPaid()).toBe(0);
  });

  test('moves no money if Ctrl-C comes before the quote', async ({ payment }) => {
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

  test('lets tx resume pay only after the person confirms if svcpay was killed at the prompt', async ({
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
