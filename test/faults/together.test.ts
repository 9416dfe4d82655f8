// Several processes on one journal, or several machines with separate journals, make one payment
// and report one transaction.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { svcpay as svcpayHere } from '../support/in-process.js';
import { svcpay, type Run } from '../support/svcpay.js';
import { expectSameTransaction, timeoutFlags, test, type Payment } from '../support/faults.js';

/** Runs svcpay as a separate process, because several processes share the journal. */
const send = ({ command, around }: Payment, ...flags: string[]): Promise<Run> =>
  svcpay([...command, ...flags], around);

const eight = <T>(make: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: 8 }, make));

const elsewhere = (): string => {
  const home = mkdtempSync(join(tmpdir(), 'svcpay-elsewhere-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
};

describe('svcpay send on a shared journal', () => {
  test('pays once if eight processes send one reference, and reports the same transaction to every process', async ({
    payment,
  }) => {
    const runs = await eight(() => send(payment, '--timeout', '20s'));
    expectSameTransaction(runs);
    expect(await payment.timesPaid()).toBe(1);
    const created = payment.sandbox
      .requests('POST', '/api/v2/transaction')
      .filter(({ status }) => status === 200);
    expect(created).toHaveLength(1);
    expect(payment.sandbox.requests('PUT')).toHaveLength(1);
  });

  test('pays an invoice once if eight processes send it without a reference', async ({
    payment,
  }) => {
    const runs = await eight(() =>
      svcpay(['send', 'lightning', payment.invoice, '--yes', '--json'], payment.around),
    );
    const paid = runs.filter(({ exitCode }) => exitCode === 0);
    expect(paid.length).toBeGreaterThan(0);
    expectSameTransaction(paid);
    const refused = runs.filter(({ exitCode }) => exitCode !== 0);
    for (const run of refused)
      expect(run.error()).toMatchObject({
        exitCode: 2,
        message: expect.stringContaining('already paid'),
      });
    expect(await payment.timesPaid()).toBe(1);
  });

  test('refuses a used reference for a different payment, and names the first transaction', async ({
    payment,
  }) => {
    const first = await payment.send();
    const other = await payment.sandbox.invoice('1000sat');
    const run = await svcpayHere(
      ['send', 'lightning', other, '--ref', 'order-1', '--yes', '--json'],
      payment.around,
    );
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.error()).toMatchObject({
      txnId: idOf(first),
      message: expect.stringContaining('different payment'),
    });
    expect(await payment.timesPaid()).toBe(1);
  });

  test('reports a paid invoice without a second payment, unless it has another reference', async ({
    payment,
  }) => {
    const first = await payment.send();
    const again = ['send', 'lightning', payment.invoice, '--yes', '--json'];
    expectSameTransaction([first, await svcpayHere(again, payment.around)]);
    const run = await svcpayHere([...again, '--ref', 'other'], payment.around);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.error()).toMatchObject({
      txnId: idOf(first),
      message: expect.stringContaining('already paid'),
    });
    expect(await payment.timesPaid()).toBe(1);
  });
});

describe('svcpay send on another machine', () => {
  test('reports the earlier payment of a reference that the journal of this machine lacks', async ({
    payment,
  }) => {
    const first = await payment.send();
    expectSameTransaction([
      first,
      await svcpayHere(payment.command, { ...payment.around, home: elsewhere() }),
    ]);
    expect(await payment.timesPaid()).toBe(1);
  });

  test('pays once if three machines use the same reference at the same time', async ({
    payment,
  }) => {
    const homes = [elsewhere(), elsewhere(), elsewhere()];
    const runs = await Promise.all(
      homes.map((home) =>
        svcpay([...payment.command, '--timeout', '20s'], { ...payment.around, home }),
      ),
    );
    expectSameTransaction(runs);
    expect(await payment.timesPaid()).toBe(1);
  });

  test('refuses a different payment under a reference that the first machine used', async ({
    payment,
  }) => {
    const first = await payment.send();
    const other = await payment.sandbox.invoice('1000sat');
    const command = [
      'send',
      'lightning',
      other,
      '--ref',
      'order-1',
      '--yes',
      '--json',
      ...timeoutFlags,
    ];
    const run = await svcpayHere(command, { ...payment.around, home: elsewhere() });
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.error()).toMatchObject({ txnId: idOf(first) });
  });
});

const idOf = (run: Run): unknown => Reflect.get(Object(run.json()), 'txnId');
