// Reconciliation through the front door: service, journal, inbox and batch results, with exit 0 only where all agree.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { svcpay, type Here } from '../../support/in-process.js';
import { test } from '../../support/svcpay.js';

interface Row {
  readonly difference: string;
  readonly source: string;
  readonly txnId: string;
  readonly detail: string;
}

async function reconcile(
  around: Here,
  ...args: string[]
): Promise<{ exitCode: number; rows: Row[]; stderr: string }> {
  const { exitCode, stdout, stderr } = await svcpay(['reconcile', ...args, '-o', 'jsonl'], around);
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
  test('agrees after payments, a batch and a receive, and lists unlisted transactions', async ({
    around,
  }) => {
    const { home, sandbox } = around;
    const [one, two] = [await sandbox.invoice('1000sat'), await sandbox.invoice('2000sat')];
    const { stdout } = await svcpay(['send', 'lightning', one, '--yes', '-q'], around);
    const file = join(home, 'pay.csv');
    writeFileSync(file, `to,ref\n${two},row-1\n`);
    expect(await svcpay(['batch', file, '--yes'], around)).toMatchObject({ exitCode: 0 });
    await sandbox.clock.advance('1m');
    const result = `${file}.result.csv`;
    expect(await reconcile(around, result)).toMatchObject({ exitCode: 0, rows: [] });

    const txnId = stdout.trim();
    await sandbox.faults.add({ kind: 'missing-row', txn: txnId, times: 'always' });
    const run = await reconcile(around, result);
    expect(run).toMatchObject({
      exitCode: 6,
      rows: [{ difference: 'unknown there', source: 'journal', txnId }],
    });
    expect(run.rows[0]?.detail).toContain('the list leaves it out');
  });

  test('finds the payment of another home, which --import then enters', async ({ around }) => {
    const invoice = await around.sandbox.invoice('1000sat');
    const { stdout } = await svcpay(
      ['send', 'lightning', invoice, '--ref', 'elsewhere', '--yes', '-q'],
      around,
    );
    const fresh = { ...around, home: join(around.home, 'fresh') };
    const run = await reconcile(fresh, '--since', '1h');
    expect(run).toMatchObject({
      exitCode: 6,
      rows: [{ difference: 'unknown here', source: 'journal', txnId: stdout.trim() }],
    });
    expect(run.stderr).toContain('svcpay reconcile --import');
    expect((await svcpay(['reconcile', '--import', '--json'], fresh)).json()).toEqual({
      read: 1,
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
  ])('refuses a file that is not a batch result: %j', async (text, { around }) => {
    const path = join(around.home, 'given.csv');
    if (text !== 'no such file') writeFileSync(path, text);
    expect(await svcpay(['reconcile', path], around)).toMatchObject({ exitCode: 2, stdout: '' });
  });
});
