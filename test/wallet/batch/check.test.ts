// checkBatch decides which rows of a file are paid, before svcpay sends any request.
import { describe, expect, test } from 'vitest';
import { parseAmount } from '../../../src/formats/amount.js';
import { decodeInvoice } from '../../../src/formats/bolt11/decode.js';
import {
  alikeRef,
  opened,
  requested,
  type AttemptState,
  type Payment,
} from '../../../src/store/journal/payment.js';
import { checkBatch, staleRows } from '../../../src/wallet/batch/check.js';
import type { Row } from '../../../src/wallet/batch/row.js';
import type { Order } from '../../../src/wallet/order/orders.js';
import { invoice } from '../../simulation/wishes.js';
import { paymentDraft, lightningOrder, lnurlOrder } from '../../support/orders.js';
import { batchRow } from '../support/rows.js';

const now = 1_800_000_000_000;
const day = 86_400_000;
const toUser = (amount: string): Order => lnurlOrder('ada@example.com', parseAmount(amount));
const order = toUser('1000sat');

function payment(state: AttemptState, ref = 'row-2', of = order, submittedAt = now): Payment {
  const draft = paymentDraft(of, ref);
  const isSubmitted = !['requested', 'quoted', 'lapsed'].includes(state);
  const submission = { txnId: 't', submittedAt: isSubmitted ? submittedAt : null };
  const attempt = { ...requested(1, draft.request), state, ...submission };
  return { ...opened(draft, submittedAt), attempts: [attempt] };
}

const check = (
  rows: readonly Row[],
  payments: readonly Payment[] = [],
  retry = false,
  at = now,
  name = '',
) =>
  checkBatch(rows, {
    name,
    paymentsUnder: async (refs) =>
      payments.filter(({ ref }) => refs.some((each) => alikeRef(each) === alikeRef(ref))),
    plan: async (row) => row,
    checkPayee: async () => undefined,
    spent: async () => [],
    limits: { perPayment: {}, perDay: {}, destinations: [] },
    retry,
    now: () => at,
  });

describe('checkBatch, for a row whose reference has a payment', () => {
  test.for<[state: AttemptState, retry: boolean, standing: string]>([
    ['requested', false, 'to pay'],
    ['quoted', false, 'to pay'],
    ['lapsed', false, 'to pay'],
    ['failed', false, 'to pay'],
    ['submitting', true, 'settled'],
    ['in-flight', true, 'settled'],
    ['paid', true, 'settled'],
    ['error', true, 'settled'],
    ['unknown', false, 'settled'],
    ['unknown', true, 'unknown'],
  ])('and is %s, with --retry %s: %s', async ([state, retry, standing]) => {
    const { rows } = await check([batchRow(2, order)], [payment(state)], retry);
    expect(rows.map((row) => row.standing)).toEqual([standing]);
  });

  test.for<[why: string, payment: Payment, problem: RegExp | undefined]>([
    ['is paid for another amount', payment('paid', 'row-2', toUser('999sat')), /different payment/],
    [
      'failed for another amount',
      payment('failed', 'row-2', toUser('999sat')),
      /different payment/,
    ],
    ['has lapsed for another amount', payment('lapsed', 'row-2', toUser('999sat')), undefined],
    ['is paid in another letter case', payment('paid', 'ROW-2'), /only in case or blanks/],
    ['failed in another letter case', payment('failed', 'ROW-2'), undefined],
  ])('and %s', async ([, earlier, problem]) => {
    const { problems } = await check([batchRow(2, order)], [earlier]);
    expect(problems.map(({ message }) => message)).toEqual(
      problem === undefined ? [] : [expect.stringMatching(problem)],
    );
  });
});

describe('checkBatch, for references that repeat every month', () => {
  const october = { run: '2026-10-25T00:00:00.000Z wages.csv', row: '{}' };
  const of = (line: number, state: AttemptState): Payment => ({
    ...payment(state, `row-${line}`),
    batch: october,
  });
  const wages = [batchRow(2, order), batchRow(3, toUser('1001sat'))];

  test.for<[why: string, name: string, payments: readonly Payment[], isRepeated: boolean]>([
    ['half of them paid by another run', '2026-11', [of(2, 'paid')], true],
    ['half of them paid by another run, without --name', '', [of(2, 'paid')], false],
    ['half of them failed in another run', '2026-11', [of(2, 'failed')], false],
    ['none of them in another run', '2026-11', [], false],
  ])('%s', async ([, name, payments, isRepeated]) => {
    const { rows } = await check(wages, payments, false, now, name);
    expect(rows.map(({ ref }) => ref)).toEqual(
      isRepeated ? ['2026-11/row-2', '2026-11/row-3'] : ['row-2', 'row-3'],
    );
  });
});

const bolt11 = lightningOrder(decodeInvoice(invoice(1).invoice), 'BTC');

describe('checkBatch, for two rows of a file', () => {
  test.for<[why: string, second: Partial<Row>, of: Order, problem: string | undefined]>([
    ['with two references', {}, order, undefined],
    ['with one reference', { ref: 'row-2' }, order, 'already used on line 2'],
    ['with one reference in two letter cases', { ref: 'Row-2' }, order, 'only in case'],
    ['without references', { ref: 'row-2', isNamed: false }, order, 'same destination and amount'],
    ['with one invoice', {}, bolt11, 'already on line 2'],
  ])('%s', async ([, second, of, problem]) => {
    const early = Date.parse('2025-01-15T00:00:00Z');
    const rows = [batchRow(2, of), batchRow(3, of, second)];
    const { problems } = await check(rows, [], false, early);
    expect(problems.map(({ line, message }) => [line, message])).toEqual(
      problem === undefined ? [] : [[3, expect.stringContaining(problem)]],
    );
  });
});

test('staleRows returns paid rows without a reference after 7 days, and named rows if all are old', async () => {
  const row = (line: number, ago: number, change: Partial<Row> = {}, of = order) => ({
    ...batchRow(line, of, change),
    standing: 'settled' as const,
    payment: payment('paid', `row-${line}`, of, now - ago),
  });
  const unnamed = { isNamed: false };
  const checked = await check([]);
  const stale = (...rows: readonly ReturnType<typeof row>[]): number[] =>
    staleRows({ ...checked, rows }, now).map(({ line }) => line);
  expect(stale(row(2, 7 * day + 1, unnamed), row(3, 7 * day + 1), row(4, 1))).toEqual([2]);
  expect(stale(row(2, 7 * day, unnamed))).toEqual([]);
  expect(stale(row(2, 8 * day), row(3, 9 * day, unnamed))).toEqual([2, 3]);
  expect(stale(row(2, 8 * day, unnamed, bolt11))).toEqual([]);
});
