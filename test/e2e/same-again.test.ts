// A person or a script repeats svcpay send after an identical payment.
import { describe, expect } from 'vitest';
import { quickTime, svcpay, svcpayTty } from '../support/in-process.js';
import type { Sandbox } from '../../src/sandbox/server.js';
import { startSvcpay, test as base, type Environment } from '../support/svcpay.js';
import { until } from '../support/until.js';

type Around = Environment & { readonly sandbox: Sandbox };

const test = base.extend({ sandboxOptions: { autoPay: 20 } }).extend<{ around: Around }>({
  around: async ({ home, sandbox }, use) => use({ home, sandbox, ...quickTime() }),
});
const send = ['send', 'ada@example.com', '1300sat'];

const confirmations = ({ sandbox }: Around): number => sandbox.requests('PUT').length;

/** Makes a payment whose confirmation does not reach the service and gets no response. */
async function unanswered(around: Around): Promise<string> {
  await around.sandbox.faults.add({ kind: 'drop-before-commit', method: 'PUT', times: 9 });
  const run = await svcpay([...send, '--yes', '--json'], around);
  expect(run).toMatchObject({ exitCode: 8 });
  await around.sandbox.faults.clear();
  return run.error().txnId ?? '';
}

describe('svcpay send after an equal payment with an unknown outcome', () => {
  test('refuses to repeat the payment with --yes and suggests --again or tx resume', async ({
    around,
  }) => {
    const txnId = await unanswered(around);
    const before = confirmations(around);
    const again = await svcpay([...send, '--yes', '--json'], around);
    expect(again).toMatchObject({ exitCode: 2, stdout: '' });
    expect(again.error().message).toMatch(
      /^Not sent: you sent 1 300 sat to ada@example\.com .*The outcome of the earlier payment is not known yet\.$/,
    );
    expect(again.error().hint).toBe(
      `To send the same amount again, add --again. To follow the earlier payment: svcpay tx resume ${txnId}`,
    );
    expect(confirmations(around)).toBe(before);
  });

  test('resumes the earlier payment by default at a terminal', async ({ around }) => {
    await unanswered(around);
    const tty = svcpayTty(send, around);
    await tty.waitFor(
      /You sent 1 300 sat to ada@example\.com .* The outcome of\s+the\s+earlier\s+payment\s+is\s+not\s+known\s+yet\./,
    );
    await tty.waitFor(/❯ Follow that payment[^]*Send another 1 300 sat[^]*Cancel/);
    tty.type('\r');
    expect(await tty.ended).toBe(0);
    const list = await svcpay(['tx', 'list', '--dest-method', 'lnurl', '--json'], around);
    expect(list.json()).toHaveLength(1);
    expect(list.json()).toMatchObject([{ txnState: 'completed' }]);
  });

  test('makes a second payment with --again', async ({ around }) => {
    await unanswered(around);
    expect(await svcpay([...send, '--yes', '--again'], around)).toMatchObject({ exitCode: 0 });
  });

  test('makes a second payment if the reference or the amount differs', async ({ around }) => {
    await unanswered(around);
    for (const command of [
      [...send, '--yes', '--ref', 'order-2'],
      ['send', 'ada@example.com', '1301sat', '--yes'],
      [...send, '--quote-only'],
    ])
      expect(await svcpay(command, around)).toMatchObject({ exitCode: 0 });
  });
});

describe('svcpay send after an equal payment that has completed', () => {
  test('asks at a terminal and makes no second payment by default', async ({ around }) => {
    expect(await svcpay([...send, '--yes'], around)).toMatchObject({ exitCode: 0 });
    const tty = svcpayTty(send, around);
    await tty.waitFor(/You sent 1 300 sat to ada@example\.com/);
    await tty.waitFor(/❯ ← Cancel/);
    tty.type('\r');
    expect(await tty.ended).toBe(9);
    expect(confirmations(around)).toBe(1);
  });

  test('refuses at the submission if another process has paid since the person agreed to repeat', async ({
    around,
  }) => {
    expect(await svcpay([...send, '--yes'], around)).toMatchObject({ exitCode: 0 });
    const tty = svcpayTty(send, around);
    await tty.waitFor(/You sent 1 300 sat to ada@example\.com/);
    await tty.waitFor(/❯ ← Cancel/);
    tty.type('\u001B[A\r');
    await tty.waitFor('(y/N)');
    expect(await startSvcpay([...send, '--yes'], around).ended).toMatchObject({ exitCode: 0 });
    tty.type('y\r');
    await tty.waitFor(/Not sent: you sent 1 300 sat to ada@example\.com .* ago/);
    expect(await tty.ended).toBe(2);
    expect(confirmations(around)).toBe(2);
  });

  test('makes a second payment with --yes because scripts repeat payments on purpose', async ({
    around,
  }) => {
    for (let times = 0; times < 2; times += 1)
      expect(await svcpay([...send, '--yes'], around)).toMatchObject({ exitCode: 0 });
    expect(confirmations(around)).toBe(2);
  });
});

describe('a payment that was never submitted, of the same amount to the same payee', () => {
  /** Requests a quote, and returns its transaction id. */
  const quoted = async (around: Around): Promise<string> => {
    const run = await svcpay([...send, '--quote-only', '-q'], around);
    return run.stdout.trim();
  };

  test('is refused by tx confirm --yes beside a payment with an unknown outcome', async ({
    around,
  }) => {
    const txnId = await quoted(around);
    await unanswered(around);
    const before = confirmations(around);
    const run = await svcpay(['tx', 'confirm', txnId, '--yes', '--json'], around);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.error().message).toMatch(/^Not sent: you sent 1 300 sat to ada@example\.com/);
    expect(confirmations(around)).toBe(before);
  });

  test('is asked about by tx confirm at a terminal after a paid payment', async ({ around }) => {
    const txnId = await quoted(around);
    expect(await svcpay([...send, '--yes'], around)).toMatchObject({ exitCode: 0 });
    const tty = svcpayTty(['tx', 'confirm', txnId], around);
    await tty.waitFor(/You sent 1 300 sat to ada@example\.com/);
    await tty.waitFor(/❯ ← Cancel/);
    tty.type('\r');
    expect(await tty.ended).toBe(9);
    expect(confirmations(around)).toBe(1);
  });

  test('is refused by tx resume --yes beside a payment with an unknown outcome', async ({
    around,
  }) => {
    const created = { method: 'POST', path: '/api/v2/transaction' } as const;
    await around.sandbox.faults.add({ kind: 'no-answer', ...created });
    const killed = startSvcpay([...send, '--yes'], around);
    await until(() => around.sandbox.requests(created.method, created.path).length > 0);
    killed.child.kill('SIGKILL');
    await killed.ended;
    await around.sandbox.faults.clear();
    const open = await svcpay(['tx', 'pending', '--json'], around);
    const ref = /"ref": *"([^"]+)"/.exec(open.stdout)?.[1] ?? '';
    await unanswered(around);
    const before = confirmations(around);
    const run = await svcpay(['tx', 'resume', ref, '--yes', '--json'], around);
    expect(run).toMatchObject({ exitCode: 2 });
    expect(run.error().message).toMatch(/^Not sent: you sent 1 300 sat to ada@example\.com/);
    expect(confirmations(around)).toBe(before);
  });
});
