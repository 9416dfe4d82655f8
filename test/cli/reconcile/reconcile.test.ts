// svcpay reconcile compares service, journal, inbox and batch results, and exits 0 only if all
// agree.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { deposit } from '../../support/deposit.js';
import { svcpay, type Here } from '../../support/in-process.js';
import { test } from '../../support/svcpay.js';

interface Row {
  readonly difference: string;
  readonly source: string;
  readonly txnId: string | null;
  readonly detail: string;
}

async function reconcile(
  around: Here,
  ...args: string[]
): Promise<{ exitCode: number; rows: Row[]; stderr: string }> {
  const { exitCode, stdout, stderr } = await svcpay(['reconcile', ...args, '-o', 'jsonl'], {
    ...around,
    sleep: () => Promise.resolve(),
  });
  return {
    exitCode,
    stderr,
    rows:
      stdout.trim() === ''
        ? []
        : stdout
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line) as Row),
  };
}

describe('svcpay reconcile', () => {
  test('exits 0 after payments and a batch, and reports a transaction that the list omits', async ({
    around,
  }) => {
    const { home, sandbox } = around;
    const [one, two] = [await sandbox.invoice('1000sat'), await sandbox.invoice('2000sat')];
    const { stdout } = await svcpay(['send', 'lightning', one, '--yes', '-q'], around);
    const file = join(home, 'pay.csv');
    writeFileSync(file, `to,ref\n${two},row-1\n`);
    expect(await svcpay(['batch', file, '--yes'], around)).toMatchObject({ exitCode: 0 });
    await sandbox.clock.advance('1m');
    expect(await reconcile(around)).toMatchObject({ exitCode: 0, rows: [] });

    const txnId = stdout.trim();
    await sandbox.faults.add({ kind: 'missing-row', txn: txnId, times: 'always' });
    const run = await reconcile(around);
    expect(run).toMatchObject({
      exitCode: 10,
      rows: [
        { difference: 'unknown there', source: 'journal', txnId },
        { difference: 'total differs', source: 'wallet', txnId: null },
      ],
    });
    expect(run.rows[0]?.detail).toContain('the list omits the transaction');
  });

  test('compares the totals of the wallets, and reports a total that differs', async ({
    around,
  }) => {
    const good = await reconcile(around);
    expect(good).toMatchObject({ exitCode: 0, rows: [] });
    expect(good.stderr).toContain('The transactions add up to the balance of 1.00000000 BTC, ');
    await deposit(around, '0.1');
    const run = await reconcile(around);
    expect(run).toMatchObject({
      exitCode: 10,
      rows: [{ difference: 'total differs', source: 'wallet', ccy: 'BTC' }],
    });
    expect((await reconcile(around, '--since', '1h')).stderr).toContain('are not compared');
    expect(await reconcile(around, '--month', 'last')).toMatchObject({ exitCode: 0, rows: [] });
  });

  test.for([
    ['destination', 'dest', 'arrived differs'],
    ['source', 'source', 'contradicts itself'],
  ] as const)(
    'reports a payment that settles a different amount on its %s side',
    async ([, side, kind], { around }) => {
      const { sandbox } = around;
      await sandbox.faults.add({ kind: 'settled-amount', side, factor: 0.9 });
      const invoice = await sandbox.invoice('1000sat');
      await svcpay(['send', 'lightning', invoice, '--yes', '-q'], around);
      const run = await reconcile(around);
      expect(run.exitCode).toBe(10);
      expect(run.rows.map(({ difference }) => difference)).toContain(kind);
    },
  );

  test('accepts the differences of a transaction with a note, but no further difference', async ({
    around,
  }) => {
    const { sandbox } = around;
    await sandbox.faults.add({ kind: 'settled-amount', side: 'dest', factor: 0.9 });
    const sent = await svcpay(
      ['send', 'lightning', await sandbox.invoice('1000sat'), '--yes', '-q'],
      around,
    );
    const id = sent.stdout.trim();
    expect(await reconcile(around, '--since', '1h')).toMatchObject({ exitCode: 10 });
    const accept = ['reconcile', 'accept', id, '--note', 'agreed on the phone', '--json'];
    expect(await svcpay(accept, around)).toMatchObject({ exitCode: 0 });
    const run = await reconcile(around, '--since', '1h');
    expect(run.exitCode).toBe(0);
    expect(run.rows[0]).toMatchObject({ txnId: id, accepted: 'agreed on the phone' });
    await sandbox.faults.add({ kind: 'settled-amount', side: 'dest', factor: 0.9 });
    await svcpay(['send', 'lightning', await sandbox.invoice('2000sat'), '--yes', '-q'], around);
    expect(await reconcile(around, '--since', '1h')).toMatchObject({ exitCode: 10 });
  });

  test('reports a payment that was returned after its completion', async ({ around }) => {
    const { sandbox } = around;
    await sandbox.faults.add({ kind: 'returned' });
    const invoice = await sandbox.invoice('1000sat');
    const sent = await svcpay(['send', 'lightning', invoice, '--yes', '-q'], around);
    expect(sent.exitCode).toBe(0);
    await sandbox.clock.advance('2h');
    expect(await reconcile(around)).toMatchObject({
      exitCode: 10,
      rows: [{ difference: 'state differs', source: 'journal', txnId: sent.stdout.trim() }],
    });
  });

  test('reports a payment of another home, which --import adds to the journal', async ({
    around,
  }) => {
    const invoice = await around.sandbox.invoice('1000sat');
    const { stdout } = await svcpay(
      ['send', 'lightning', invoice, '--ref', 'elsewhere', '--yes', '-q'],
      around,
    );
    const fresh = { ...around, home: join(around.home, 'fresh') };
    const run = await reconcile(fresh, '--since', '1h');
    expect(run).toMatchObject({
      exitCode: 10,
      rows: [{ difference: 'unknown here', source: 'journal', txnId: stdout.trim() }],
    });
    expect(run.stderr).toContain('svcpay db import');
    expect((await svcpay(['db', 'import', '--json'], fresh)).json()).toEqual({
      // Five of the six transactions are the receives that fund a new sandbox.
      read: 6,
      entered: 1,
      open: 0,
    });
    expect(await reconcile(fresh)).toMatchObject({ exitCode: 0, rows: [] });
  });

  test.for([
    'no such file',
    'line,ref\n1,x,y\n',
    'to,amount\nx,1sat\n',
    'line,ref,to,amount,outcome,txnId,txnState,paid,paidCcy,error,message,at\n2,r,t,1sat,paid,id,completed,much,BTC,,,\n',
  ])('refuses %j as a batch result', async (text, { around }) => {
    const path = join(around.home, 'given.csv');
    if (text !== 'no such file') writeFileSync(path, text);
    expect(await svcpay(['reconcile', path], around)).toMatchObject({ exitCode: 2, stdout: '' });
  });
});
