// Every command answers from the same attempt of a payment, also after `tx resolve`.
import { writeFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { lnurl, shop, test } from '../support/strict.js';

/** The service reports submitted transactions with these references as expired. */
const expiring =
  (...refs: readonly string[]) =>
  ({ body, state }: { readonly body: Record<string, unknown>; readonly state: string }): string =>
    state !== 'quoted' && refs.includes(String(body['extRefId'])) ? 'expired' : state;

describe('a payment that expired after its submission', () => {
  test('is paid for every command once tx resolve recorded that its money moved', async ({
    strict: { service, run },
  }) => {
    service.temper.reads = expiring('order-1');
    expect(await run(shop)).toMatchObject({ exitCode: 8 });
    await run('tx resolve order-1 --moved --note ticket --yes');
    for (const command of [
      `${shop} --retry`,
      'tx resume order-1 --retry --yes',
      'tx confirm order-1 --yes',
      'tx watch order-1',
    ]) {
      const { exitCode, stderr } = await run(command);
      expect({ command, exitCode, stderr }).toMatchObject({
        exitCode: 0,
        stderr: expect.stringMatching(/the money moved \(ticket\)/),
      });
      expect(stderr).not.toMatch(/unknown|--retry/);
    }
    expect((await run('tx get order-1')).stderr).toBe('');
    expect((await run('tx cancel order-1 --json')).error()).toMatchObject({ kind: 'refused' });
    expect(service.transactions.size).toBe(1);
  });

  test('ends with exit 6 and its own state once tx resolve recorded that nothing moved', async ({
    strict: { service, run },
  }) => {
    service.temper.reads = expiring('order-1');
    await run(shop);
    await run('tx resolve order-1 --not-moved --note ticket --yes');
    const watched = await run('tx watch order-1 --json');
    expect(watched.error()).toMatchObject({
      kind: 'payment-failed',
      exitCode: 6,
      message: expect.stringMatching(/the transaction ended as expired\. Recorded .* did not move/),
    });
    expect((await run('tx get order-1')).stderr).toBe('');
  });

  test('stays in tx pending although a later attempt failed', async ({
    strict: { service, run },
  }) => {
    service.temper.reads = (txn) => expiring('order-1')(txn);
    await run(shop);
    service.temper.reads = (txn) =>
      txn.body['extRefId'] === 'order-1~2' && txn.state !== 'quoted'
        ? 'failed'
        : expiring('order-1')(txn);
    expect(await run(`${shop} --retry`)).toMatchObject({ exitCode: 8 });
    const pending = await run('tx pending --json');
    expect(pending.json()).toMatchObject([{ ref: 'order-1', step: 'unknown', attempt: 1 }]);
  });
});

test('svcpay batch --retry names each row that may have been paid already', async ({
  strict: { service, run, home },
}) => {
  service.temper.reads = expiring('row-a');
  await run('wallets');
  const file = `${home('home')}/rows.csv`;
  writeFileSync(file, 'ref,to,amount\nrow-a,a@example.com,1000sat\nrow-b,b@example.com,1000sat\n');
  expect(await run(`batch ${file} --yes`)).toMatchObject({ exitCode: 8 });
  const repeated = await run(`batch ${file} --yes`);
  expect(repeated.stderr).toMatch(/^This run sent nothing: every row was sent before/);
  const shown = await run(`batch ${file} --retry --dry-run`);
  expect(shown.stderr).toContain('Line 2: a@example.com: may have been paid already.');
});

test('svcpay names both payments under one reference by what distinguishes them', async ({
  strict: { run },
}) => {
  const usd = 'send lnurl shop@example.com 5usd --yes --json --ref order-1';
  expect(await run(`${usd} --from usd`)).toMatchObject({ exitCode: 0 });
  const other = await run(`${usd} --from btc`);
  expect(other.error()).toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(/from your USD wallet, and this is .* from your BTC wallet\./),
  });
});

test('svcpay tx confirm --yes takes a whole id or a reference, and never the beginning of an id', async ({
  strict: { service, run },
}) => {
  const { stdout } = await run(`${lnurl('shop').replace('--json', '-q')} --quote-only`);
  const txnId = stdout.trim();
  expect(await run(`tx confirm ${txnId.slice(0, 8)} --yes`)).toMatchObject({ exitCode: 5 });
  expect(await run(`tx get ${txnId.slice(0, 5)}`)).toMatchObject({ exitCode: 5 });
  expect(await run(`tx get ${txnId.slice(0, 6)}`)).toMatchObject({ exitCode: 0 });
  expect([...service.transactions.values()].map(({ state }) => state)).toEqual(['quoted']);
});
