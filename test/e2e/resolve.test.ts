// A payment in the state `error` stays visible until svcpay tx resolve records the answer that the
// person got from the service. If a later read of the transaction returns another final state,
// svcpay uses this state instead of the recorded answer.
import { describe, expect } from 'vitest';
import type { Sandbox } from '../../src/sandbox/server.js';
import { svcpay } from '../support/in-process.js';
import { svcpayTty, test, type Environment } from '../support/svcpay.js';

/** Creates a payment that ends in the state `error`. */
async function erroneous(
  ref: string,
  around: Environment & {
    readonly sandbox: Pick<Sandbox, 'invoice' | 'url' | 'apiKey' | 'apiSecret'>;
  },
): Promise<string> {
  await svcpay(['sandbox', 'fault', 'add', 'payment', 'outcome=error'], around);
  const invoice = await around.sandbox.invoice('1000sat');
  const sent = await svcpay(
    ['send', 'lightning', invoice, '--ref', ref, '--yes', '--json'],
    around,
  );
  expect(sent).toMatchObject({ exitCode: 8, stdout: '' });
  expect(sent.error()).toMatchObject({
    kind: 'outcome-unknown',
    ref,
    txnId: expect.any(String),
    txnState: 'error',
    hint: expect.stringMatching(/record its answer: svcpay tx resolve /),
  });
  return invoice;
}

describe('svcpay tx resolve', () => {
  test('makes every report treat a payment in the state `error` as failed, and permits a retry', async ({
    around,
  }) => {
    const invoice = await erroneous('order-1', around);
    const pending = () => svcpay(['tx', 'pending', '--json'], around);
    const unfinished = async () => (await svcpay(['db', 'status', '--json'], around)).json();
    expect((await pending()).json()).toMatchObject([{ ref: 'order-1', step: 'error' }]);
    expect(await unfinished()).toMatchObject([
      { unfinished: [{ status: 'error', age: '1m', count: 1 }] },
      {},
    ]);
    expect(await svcpay(['reconcile', '-q'], around)).toMatchObject({ exitCode: 10 });
    expect((await svcpay(['doctor'], around)).stdout).toContain('1 unresolved payment');
    expect(await svcpay(['tx', 'resume', '--yes'], around)).toMatchObject({ exitCode: 8 });
    const overdue = ['tx', 'pending', '--older-than', '0s', '--fail', '--json'];
    expect((await svcpay(overdue, around)).exitCode).toBe(8);
    const before = await svcpay(['limits', 'list', '--json'], around);

    const args = ['tx', 'resolve', 'order-1', '--not-moved', '--note', 'ticket\u001b[2J 4711'];
    const recorded = await svcpay([...args, '--yes', '--json'], around);
    expect(recorded).toMatchObject({ exitCode: 0 });
    expect(recorded.json()).toMatchObject({
      ref: 'order-1',
      txnState: 'error',
      moved: false,
      note: 'ticket\u001b[2J 4711',
    });
    expect((await pending()).json()).toEqual([]);
    expect(await unfinished()).toMatchObject([{ unfinished: [] }, {}]);
    expect(await svcpay(['reconcile', '-q'], around)).toMatchObject({ exitCode: 0 });
    expect((await svcpay(['doctor'], around)).stdout).toContain('no open payments');
    expect((await svcpay(overdue, around)).exitCode).toBe(0);
    expect((await svcpay(['limits', 'list', '--json'], around)).stdout).toBe(before.stdout);

    const requests = around.sandbox.requests('PUT').length;
    const same = ['send', 'lightning', invoice, '--ref', 'order-1', '--yes'];
    const again = await svcpay(same, around);
    expect(again).toMatchObject({ exitCode: 6 });
    expect(again.stderr).toContain('the money did not move (ticket\\x1b[2J 4711)');
    expect(around.sandbox.requests('PUT')).toHaveLength(requests);
    expect(await svcpay([...same, '--retry'], around)).toMatchObject({ exitCode: 0 });
    expect(around.sandbox.requests('PUT')).toHaveLength(requests + 1);
  });

  test('tx watch and tx confirm end with outcome-unknown, until an answer is recorded', async ({
    around,
  }) => {
    await erroneous('order-1', around);
    for (const command of ['watch', 'confirm', 'resume']) {
      const run = await svcpay(['tx', command, 'order-1', '--json', '--yes'], around);
      expect(run).toMatchObject({ exitCode: 8, stdout: '' });
      expect(run.error()).toMatchObject({ kind: 'outcome-unknown', ref: 'order-1' });
    }
    const resolve = ['tx', 'resolve', 'order-1', '--note', 'ticket', '--yes'];
    await svcpay([...resolve, '--not-moved'], around);
    for (const command of ['watch', 'confirm', 'resume'])
      expect((await svcpay(['tx', command, 'order-1', '--yes'], around)).exitCode).toBe(6);
    await svcpay([...resolve, '--moved'], around);
    expect((await svcpay(['tx', 'watch', 'order-1'], around)).exitCode).toBe(0);
  });

  test('refuses to record an answer about a completed payment', async ({ around }) => {
    const invoice = await around.sandbox.invoice('1000sat');
    await svcpay(['send', 'lightning', invoice, '--ref', 'paid', '--yes'], around);
    const resolve = (...args: string[]) => svcpay(['tx', 'resolve', ...args], around);
    const given = ['--moved', '--note', 'x', '--yes'];
    expect(await resolve('paid', ...given)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Nothing to record: paid is completed.'),
    });
    expect(await resolve('nobody', ...given)).toMatchObject({ exitCode: 5 });
    await erroneous('order-1', around);
    expect(await resolve('order-1', '--not-moved', ...given)).toMatchObject({ exitCode: 2 });
    expect(await resolve('order-1', '--moved', '--note', ' ', '--yes')).toMatchObject({
      exitCode: 2,
    });
    const unasked = await resolve('order-1');
    expect(unasked).toMatchObject({ exitCode: 9 });
    expect(unasked.stderr).toContain('--moved or --not-moved, --note and --yes');
    expect((await svcpay(['tx', 'pending', '--json'], around)).json()).toHaveLength(1);
  });

  test.for([
    ['completed', []],
    ['failed', ['--retry']],
  ] as const)(
    'lets a later read of the state `%s` replace the recorded answer',
    async ([state, retry], { around }) => {
      const invoice = await erroneous('order-1', around);
      const given = ['tx', 'resolve', 'order-1', '--note', 'ticket 4711', '--yes'];
      const claim = state === 'completed' ? '--not-moved' : '--moved';
      expect(await svcpay([...given, claim], around)).toMatchObject({ exitCode: 0 });
      const corrected = ['sandbox', 'fault', 'add', 'false-state', `state=${state}`];
      await svcpay([...corrected, 'times=always'], around);
      expect(await svcpay(['tx', 'get', 'order-1'], around)).toMatchObject({ exitCode: 0 });
      const undone = await svcpay([...given, claim], around);
      expect(undone).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining(`order-1 is ${state}`),
      });
      await svcpay(['sandbox', 'fault', 'clear'], around);
      const again = ['send', 'lightning', invoice, '--ref', 'order-1', '--yes', ...retry];
      expect(await svcpay(again, around)).toMatchObject({ exitCode: 0 });
    },
  );

  test('asks at a terminal what the service answered, and records no answer if the person declines', async ({
    around,
  }) => {
    await erroneous('order-1', around);
    const pending = svcpayTty(['tx', 'pending'], around);
    await pending.waitFor(/error: ask the service/);
    await pending.ended;
    const listed = pending.text();
    const first = svcpayTty(['tx', 'resolve', 'order-1'], around);
    await first.waitFor(/did the money move\?/);
    first.type('\r');
    await first.waitFor(/Source of the answer/);
    first.type('ticket 4711\r');
    await first.waitFor(/Record that the money moved\?/);
    first.type('n\r');
    expect(await first.ended).toBe(9);
    expect((await svcpay(['tx', 'pending', '--json'], around)).json()).toHaveLength(1);
    const second = svcpayTty(['tx', 'resolve', 'order-1', '--not-moved'], around);
    await second.waitFor(/Source of the answer/);
    second.type('ticket 4711\r');
    await second.waitFor(/Record that the money did not move\?/);
    second.type('y\r');
    expect(await second.ended).toBe(0);
    expect(second.text()).toContain('the money did not move (ticket 4711)');
    expect(listed).not.toContain('nothing moved');
    expect((await svcpay(['tx', 'pending', '--json'], around)).json()).toEqual([]);
  });
});
