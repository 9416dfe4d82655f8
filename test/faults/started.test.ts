// If the service answers a create request with a payment that has begun or ended, the exit code of
// svcpay reports what happened to the money, and the payment counts against the limits.
import { describe, expect } from 'vitest';
import { quickTime } from '../support/in-process.js';
import { test, type Strict } from '../support/strict.js';
import type { Json } from '../conformance/strict-judge.js';

const side = (view: Json, name: string): Json => Object(view[name]);
const feeOf100Sat = (view: Json): Json => ({
  ...view,
  sourceReq: { ...side(view, 'sourceReq'), servicepayFees: 0.000001 },
});

/**
 * Makes the service complete every transaction at its creation, and changes every answer about a
 * transaction.
 */
function completesAtOnce({ service }: Strict, change: (view: Json) => Json = (view) => view): void {
  service.temper.makes = (view) => {
    const txn = service.transactions.get(String(view['txnId']));
    if (txn?.state === 'quoted') txn.state = 'completed';
    return change({ ...view, txnState: txn?.state });
  };
}

const send = (invoice: string, ref: string): string =>
  `send lightning ${invoice} --yes --json --ref ${ref}`;

describe.concurrent('svcpay send to a service that starts payments without a confirmation', () => {
  test('warns about a started payment above --max-fee, and counts it against the daily limit', async ({
    strict,
  }) => {
    const { service, run } = strict;
    expect(await run('limits set --per-day 1500sat')).toMatchObject({ exitCode: 0 });
    completesAtOnce(strict, feeOf100Sat);
    const paid = await run(`${send(service.invoice(1000n), 'one')} --max-fee 1sat`);
    expect(paid).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining(
        'The service started the payment without a confirmation: the fee is',
      ),
    });
    expect(await run(send(service.invoice(1000n), 'two'))).toMatchObject({ exitCode: 7 });
    expect(service.moved()).toHaveLength(1);
  });

  test('warns in a batch if a started payment exceeds the rest of the daily limit', async ({
    strict,
  }) => {
    const { service, run } = strict;
    expect(await run('limits set --per-day 2000sat')).toMatchObject({ exitCode: 0 });
    completesAtOnce(strict, feeOf100Sat);
    expect(await run(send(service.invoice(900n), 'one'))).toMatchObject({ exitCode: 0 });
    const row = `ref,to\ntwo,${service.invoice(900n)}\n`;
    const end = await run('batch - --yes --json', 'home', { input: row });
    expect(end).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(
        /started the payment without a confirmation: .* over your daily limit of/,
      ),
    });
    expect(end.json()).toMatchObject({
      paid: 1,
      paidBefore: 0,
      spent: [{ ccy: 'BTC', amount: expect.any(Number) }],
    });
    expect(service.moved()).toHaveLength(2);
  });

  test('counts a started payment against the daily limit if the answer to its create request was lost', async ({
    strict,
  }) => {
    const { service, run } = strict;
    expect(await run('limits set --per-day 1500sat')).toMatchObject({ exitCode: 0 });
    completesAtOnce(strict);
    service.temper.meetings.push({
      exchange: 'create request',
      status: 'broken off',
      body: '',
      effect: 'at once',
      times: 1,
    });
    expect(await run('send lnurl shop@example.com 1000sat --yes --json --ref one')).toMatchObject({
      exitCode: 0,
    });
    expect(await run('send lnurl shop@example.com 1000sat --yes --json --ref two')).toMatchObject({
      exitCode: 7,
    });
    expect(service.moved()).toHaveLength(1);
  });

  const others: readonly (readonly [what: string, change: (view: Json) => Json])[] = [
    ['a different reference', (view) => ({ ...view, extRefId: 'other' })],
    ['no reference', ({ extRefId: _ref, ...view }) => view],
    ['a different account', (view) => ({ ...view, accountId: 'ne01-other' })],
    [
      'a different invoice',
      (view) => ({
        ...view,
        destReq: { ...side(view, 'destReq'), reqDetails: { paymentRequest: 'lnbc1other' } },
      }),
    ],
    [
      'a fee below zero',
      (view) => ({ ...view, sourceReq: { ...side(view, 'sourceReq'), servicepayFees: -1 } }),
    ],
  ];
  test.for(others)(
    'reports an unknown outcome if a payment that the service started has %s',
    async ([, change], { strict }) => {
      const { service, run } = strict;
      expect(await run('limits set --per-day 1500sat')).toMatchObject({ exitCode: 0 });
      completesAtOnce(strict, change);
      const invoice = service.invoice(1000n);
      const first = await run(send(invoice, 'one'), 'home', quickTime());
      expect(first).toMatchObject({ exitCode: 8, stdout: '' });
      expect(first.error().message).toMatch(/^Outcome unknown: .* differs from the order\.$/);
      const { txnId } = first.error();
      for (const line of [
        send(invoice, 'one'),
        'tx resume one --json',
        `tx get ${txnId}`,
        'tx resume one --json',
      ]) {
        expect([line, (await run(line, 'home', quickTime())).exitCode]).toEqual([
          line,
          line.startsWith('tx get') ? 0 : 8,
        ]);
      }
      expect(await run(send(invoice, 'two'))).toMatchObject({ exitCode: 2 });
      expect(await run(send(service.invoice(1000n), 'three'))).toMatchObject({ exitCode: 7 });
      expect(service.moved()).toHaveLength(1);
    },
  );

  test('reports a started payment as paid if its reference was wrong only in the answer to the create request', async ({
    strict,
  }) => {
    const { service, run } = strict;
    let isFirst = true;
    completesAtOnce(strict, (view) => (isFirst ? { ...view, extRefId: 'other' } : view));
    service.temper.carries = (_request, body) => ((isFirst &&= !body.includes('txnId')), body);
    expect(await run(send(service.invoice(1000n), 'one'))).toMatchObject({ exitCode: 0 });
    expect(service.moved()).toHaveLength(1);
  });
});
