// A person's reflex: arrow up and Enter after a payment whose end was not seen, and its counterpart
// in scripts.
import { describe, expect } from 'vitest';
import { quickTime, svcpay, svcpayTty } from '../support/in-process.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import { test as base, type Environment } from '../support/svcpay.js';

type Around = Environment & { readonly sandbox: Sandbox };

const test = base.extend({ sandboxOptions: { autoPay: 20 } }).extend<{ around: Around }>({
  around: async ({ home, sandbox }, use) => use({ home, sandbox, ...quickTime() }),
});
const send = ['send', 'ada@example.com', '1300sat'];

const confirmations = ({ sandbox }: Around): number => sandbox.requests('PUT').length;

/** A payment without an answer to its confirmation, which the service does not have. */
async function unanswered(around: Around): Promise<string> {
  await around.sandbox.faults.add({ kind: 'drop-before-commit', method: 'PUT', times: 9 });
  const run = await svcpay([...send, '--yes', '--json'], around);
  expect(run).toMatchObject({ exitCode: 8 });
  await around.sandbox.faults.clear();
  return run.error().txnId ?? '';
}

describe('an equal payment whose outcome is not known', () => {
  test('is refused under --yes, with the two commands', async ({ around }) => {
    const txnId = await unanswered(around);
    const before = confirmations(around);
    const again = await svcpay([...send, '--yes', '--json'], around);
    expect(again).toMatchObject({ exitCode: 2, stdout: '' });
    expect(again.error().message).toMatch(
      /^Not sent: you sent 1 300 sat to ada@example\.com .*outcome is not known yet\.$/,
    );
    expect(again.error().hint).toBe(
      `To send it once more, add --again. To follow the earlier payment: svcpay tx resume ${txnId}`,
    );
    expect(confirmations(around)).toBe(before);
  });

  test('is followed by default at a terminal, and paid once', async ({ around }) => {
    await unanswered(around);
    const tty = svcpayTty(send, around);
    await tty.waitFor(/You sent 1 300 sat to ada@example\.com .* Its outcome is not known\s+yet\./);
    await tty.waitFor(/❯ Follow that payment[^]*Send another 1 300 sat[^]*Cancel/);
    tty.type('\r');
    expect(await tty.ended).toBe(0);
    const list = await svcpay(['tx', 'list', '--dest-method', 'lnurl', '--json'], around);
    expect(list.json()).toHaveLength(1);
    expect(list.json()).toMatchObject([{ txnState: 'completed' }]);
  });

  test('is made once more with --again', async ({ around }) => {
    await unanswered(around);
    expect(await svcpay([...send, '--yes', '--again'], around)).toMatchObject({ exitCode: 0 });
  });

  test('does not concern a reference, another amount or a quote', async ({ around }) => {
    await unanswered(around);
    for (const command of [
      [...send, '--yes', '--ref', 'order-2'],
      ['send', 'ada@example.com', '1301sat', '--yes'],
      [...send, '--quote-only'],
    ])
      expect(await svcpay(command, around)).toMatchObject({ exitCode: 0 });
  });
});

describe('an equal payment that was paid a moment ago', () => {
  test('is asked about at a terminal, where the default makes no payment', async ({ around }) => {
    expect(await svcpay([...send, '--yes'], around)).toMatchObject({ exitCode: 0 });
    const tty = svcpayTty(send, around);
    await tty.waitFor(/You sent 1 300 sat to ada@example\.com/);
    await tty.waitFor(/❯ ← Cancel/);
    tty.type('\r');
    expect(await tty.ended).toBe(9);
    expect(confirmations(around)).toBe(1);
  });

  test('is made again under --yes, because scripts repeat themselves on purpose', async ({
    around,
  }) => {
    for (let times = 0; times < 2; times += 1)
      expect(await svcpay([...send, '--yes'], around)).toMatchObject({ exitCode: 0 });
    expect(confirmations(around)).toBe(2);
  });
});
