// These tests kill svcpay at every step of a payment and at other times. After a kill, `tx resume`
// completes submitted payments, and a repeated command completes every payment once.
import { resolve } from 'node:path';
import { describe, expect } from 'vitest';
import type { Exchange } from '../support/faulty-proxy.js';
import { timeoutFlags, test, type Payment } from '../support/faults.js';
import { svcpay } from '../support/in-process.js';
import { runsAll } from '../support/part.js';
import { startSvcpay, type Run } from '../support/svcpay.js';

interface Step {
  readonly exchange: Exchange;
  readonly when: 'before' | 'after';
  /**
   * Whether the request that is in flight during the kill reaches the service only after the
   * payment is completed.
   */
  readonly late: boolean;
}

const requests: Record<Exchange, string> = {
  'sign-in': 'the sign-in',
  list: 'the list request',
  wallets: 'the wallet request',
  'create request': 'the create request',
  confirmation: 'the confirmation',
  read: 'the state read',
};

const named = (step: Step): Step & { readonly why: string } => ({
  ...step,
  why: step.late
    ? `before ${requests[step.exchange]}, which arrives later`
    : `${step.when} ${requests[step.exchange]}`,
});

const exchanges: readonly Exchange[] = [
  'sign-in',
  'wallets',
  'create request',
  'confirmation',
  'read',
];
const steps = exchanges.flatMap((exchange): Step[] => [
  { exchange, when: 'before', late: false },
  { exchange, when: 'after', late: false },
]);
const lateSteps: readonly Step[] = [
  { exchange: 'create request', when: 'before', late: true },
  { exchange: 'confirmation', when: 'before', late: true },
];

async function finish(payment: Payment): Promise<void> {
  const { resumed } = await payment.settled();
  expect(resumed).toMatchObject({ exitCode: 0 });
  const again = await payment.send();
  expect(again).toMatchObject({ exitCode: 0 });
  expect(again.json()).toMatchObject({ txnState: 'completed' });
  expect(await payment.settled()).toMatchObject({ pending: [] });
  expect(await payment.timesPaid()).toBe(1);
}

const killedAtStatement = resolve(import.meta.dirname, 'fixtures/killed-at-statement.cjs');
/** The number of statements that a payment runs at least. */
const mostStatements = 49;

describe.concurrent('svcpay send killed with SIGKILL', () => {
  test.for([...steps, ...lateSteps].map(named).map((each) => [each.why, each] as const))(
    'pays once when rerun after a kill %s',
    async ([, step], { payment }) => {
      const held = payment.proxy.hold(step.exchange, step.when);
      const running = startSvcpay(payment.command, payment.around);
      const { release } = await held;
      running.child.kill('SIGKILL');
      expect(await running.ended).toMatchObject({ exitCode: 137, stdout: '' });
      if (!step.late) return finish(payment);
      await finish(payment);
      await release();
      await finish(payment);
    },
  );

  test.for([
    ['wallet request', 'wallets'],
    ['create request', 'create request'],
  ] as const)(
    'leaves a payment that tx resume --yes reports but does not pay if the kill followed the %s',
    async ([, exchange], { payment }) => {
      const held = payment.proxy.hold(exchange, 'after');
      const running = startSvcpay(payment.command, payment.around);
      await held;
      running.child.kill('SIGKILL');
      await running.ended;
      payment.proxy.mend();
      const resumed = await svcpay(['tx', 'resume', '--yes', '--json'], payment.around);
      expect(resumed).toMatchObject({ exitCode: 0, stdout: '[]\n' });
      expect(resumed.stderr).toMatch(/order-1 was never submitted.*svcpay tx resume order-1/);
      expect(await payment.timesPaid()).toBe(0);
      expect(
        await svcpay(['tx', 'resume', 'order-1', '--yes', ...timeoutFlags], payment.around),
      ).toMatchObject({ exitCode: 0 });
      expect(await payment.timesPaid()).toBe(1);
    },
  );

  const statements = Array.from({ length: mostStatements }, (_, index) => index + 1);
  test.for(runsAll ? statements : statements.filter((n) => n % 12 === 1))(
    'leaves trails that db verify replays if it is killed before its statement %d of SQLite',
    async (statement, { payment }) => {
      const { around } = payment;
      const env = { NODE_OPTIONS: `--require ${killedAtStatement}`, KILLED_AT: String(statement) };
      const running = startSvcpay(payment.command, { ...around, env: { ...around.env, ...env } });
      expect(await running.ended).toMatchObject({ exitCode: 137, stdout: '' });
      const verified = (): Promise<Run> => svcpay(['db', 'verify', '--json'], around);
      expect(await verified()).toMatchObject({ exitCode: 0, stdout: '[]\n' });
      await finish(payment);
      expect(await verified()).toMatchObject({ exitCode: 0, stdout: '[]\n' });
    },
  );

  const moments = Array.from({ length: 8 }, (_, index) => 60 + index * 55);
  test.for(moments)(
    'pays once when run again if it is killed %d ms after the start',
    async (after, { payment }) => {
      const running = startSvcpay(payment.command, payment.around);
      const timer = setTimeout(() => running.child.kill('SIGKILL'), after);
      await running.ended;
      clearTimeout(timer);
      await finish(payment);
    },
  );

  test('lets a single tx resume complete two payments that were killed before the confirmation', async ({
    payment,
  }) => {
    const { proxy, around, sandbox } = payment;
    const others = [await sandbox.invoice('2000sat'), await sandbox.invoice('3000sat')];
    for (const invoice of others) {
      const held = proxy.hold('confirmation', 'before');
      const running = startSvcpay(['send', 'lightning', invoice, '--yes', ...timeoutFlags], around);
      await held;
      running.child.kill('SIGKILL');
      await running.ended;
    }
    const pending = await svcpay(['tx', 'pending', '--json'], around);
    expect(pending.json()).toMatchObject([
      { step: 'submitting', agreed: true },
      { step: 'submitting', agreed: true },
    ]);
    const resumed = await svcpay(['tx', 'resume', '--json'], around);
    expect(resumed).toMatchObject({ exitCode: 0 });
    expect(resumed.json()).toMatchObject([
      { txnState: 'completed', exitCode: 0 },
      { txnState: 'completed', exitCode: 0 },
    ]);
  });
});
