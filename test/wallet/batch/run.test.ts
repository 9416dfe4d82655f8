// Tests the outcome of each row if a batch fails to read a row or the journal, or reaches the
// approved total.
import Big from 'big.js';
import { expect, test } from 'vitest';
import { parseAmount } from '../../../src/formats/amount.js';
import { Failure } from '../../../src/formats/failure.js';
import type { Journal } from '../../../src/store/journal/journal.js';
import { Ceiling } from '../../../src/wallet/batch/check.js';
import type { Row } from '../../../src/wallet/batch/row.js';
import { payRows } from '../../../src/wallet/batch/run.js';
import { decodeInvoice } from '../../../src/formats/bolt11/decode.js';
import type { Order } from '../../../src/wallet/order/orders.js';
import { lightningOrder, lnurlOrder } from '../../support/orders.js';
import { invoice } from '../../simulation/wishes.js';
import { bench } from '../support/machine.js';
import { batchRow } from '../support/rows.js';

const orderOf = (line: number): Order =>
  lnurlOrder(`user${line}@pay.example`, parseAmount('1000sat'));

const rowOf = (line: number): Row => batchRow(line, orderOf(line));

function begun(
  lines: readonly number[],
  ceiling?: Ceiling,
  made = bench(),
  concurrency = 2,
  toRow = rowOf,
) {
  const outcomes: Row[] = [];
  const options = {
    concurrency,
    stopOnError: false,
    wait: undefined,
    waitTimeout: 1_000,
    retry: false,
    terms: () => ({}),
    run: '2026-11-21T00:00:00.000Z rows.csv',
    consent: { lines: new Set(Array.from({ length: 20 }, (_, line) => line)), ceiling },
  };
  const deps = {
    payment: { ...made.deps, on: () => undefined },
    stop: new AbortController().signal,
    warn: () => undefined,
  };
  const ended = async (): Promise<void> => {
    for await (const row of payRows(lines.map(toRow), options, deps)) outcomes.push(row);
  };
  return { made, outcomes, ended: ended() };
}

test('payRows finishes the payments in flight if the journal fails for a row', async () => {
  const made = bench();
  const failing: Journal = {
    ...made.deps.journal,
    begin: async (draft) => {
      if (draft.ref === 'row-3') throw new Error('the disk is gone');
      return made.deps.journal.begin(draft);
    },
  };
  const { outcomes, ended } = begun([2, 3], undefined, {
    ...made,
    deps: { ...made.deps, journal: failing },
  });
  await expect(ended).rejects.toThrow('the disk is gone');
  expect(outcomes.map(({ state }) => state)).toEqual(['paid']);
  expect(made.now('row-2')).toMatchObject({ state: 'paid', txnState: 'completed' });
});

test('payRows stops at a row that would exceed the approved total', async () => {
  const bound = new Big('0.000021');
  const { made, outcomes, ended } = begun(
    [2, 3, 4, 5, 6, 7, 8],
    new Ceiling([{ ccy: 'BTC', value: bound }]),
  );
  await ended;
  expect(outcomes.length).toBeLessThan(7);
  const paid = outcomes.filter(({ state }) => state === 'paid');
  expect(paid).toHaveLength(2);
  expect(outcomes.map(({ failure }) => failure?.kind)).toContain('limit');
  expect(made.log.filter((line) => line.startsWith('PUT '))).toHaveLength(2);
});

test.for([
  ['keeps the share of a row that ends in error, because its money may have moved', 'error', 1],
  ['frees the share of a row that ends in failed, because no money moved', 'failed', 3],
] as const)('payRows %s', async ([, txnState, submitted]) => {
  const made = bench();
  made.confirms = () => txnState;
  const forOneRow = new Ceiling([{ ccy: 'BTC', value: new Big('0.000015') }]);
  const { ended } = begun([2, 3, 4], forOneRow, made, 1);
  await ended;
  expect(made.log.filter((line) => line.startsWith('PUT '))).toHaveLength(submitted);
});

test('payRows reports a row as paid even if the journal cannot be read afterwards', async () => {
  const made = bench();
  await made.pay({ order: orderOf(2), ref: rowOf(2).ref, wait: false });
  const { journal } = made.deps;
  const failing: Journal = {
    ...journal,
    find: async () => {
      throw new Failure('temporary', 'The database is not reached.');
    },
  };
  const { outcomes, ended } = begun([2], undefined, {
    ...made,
    deps: { ...made.deps, journal: failing },
  });
  await ended;
  expect(outcomes).toMatchObject([{ state: 'paid', txnState: 'completed' }]);
});

test('payRows ends a row as already paid if an interruption ends the lookup of its transaction', async () => {
  const made = bench();
  const { journal, service } = made.deps;
  const deps = {
    ...made.deps,
    journal: {
      ...journal,
      begin: async () => {
        throw new Failure('already-paid', 'this invoice was already paid.', { txnId: 'elsewhere' });
      },
    },
    service: {
      ...service,
      transaction: async () => {
        throw new Failure('interrupted', 'Interrupted.');
      },
    },
  };
  const order = lightningOrder(decodeInvoice(invoice(1).invoice), 'BTC');
  const { outcomes, ended } = begun([2], undefined, { ...made, deps }, 1, (line) =>
    batchRow(line, order),
  );
  await ended;
  expect(outcomes).toMatchObject([{ txnId: 'elsewhere', failure: { kind: 'already-paid' } }]);
});
