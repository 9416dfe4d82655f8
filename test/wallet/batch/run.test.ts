// Tests the outcome of each row if a batch fails to read a row or the journal, or reaches the
// approved total.
import Big from 'big.js';
import { expect, test } from 'vitest';
import { parseAmount } from '../../../src/formats/amount.js';
import { Failure } from '../../../src/formats/failure.js';
import type { Journal } from '../../../src/store/journal/journal.js';
import { Ceiling } from '../../../src/wallet/batch/check.js';
import type { PlannedRow, Row } from '../../../src/wallet/batch/row.js';
import { runBatch } from '../../../src/wallet/batch/run.js';
import { decodeInvoice } from '../../../src/formats/bolt11/decode.js';
import { lightningOrder, lnurlOrder } from '../../../src/wallet/order/orders.js';
import { invoice } from '../../simulation/wishes.js';
import { bench } from '../support/machine.js';
import { batchRow } from '../support/rows.js';

const rowOf = (line: number): PlannedRow =>
  batchRow(line, lnurlOrder(`user${line}@pay.example`, parseAmount('1000sat')));

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
    consent: {
      lines: new Set(Array.from({ length: 20 }, (_, line) => line)),
      upTo: ceiling ?? ('terms' as const),
    },
  };
  const deps = {
    payment: { ...made.deps, on: () => undefined },
    stop: new AbortController().signal,
    on: (each: Row) => void outcomes.push(each),
    warn: () => undefined,
  };
  return { made, outcomes, ended: runBatch(lines.map(toRow), options, deps) };
}

test('runBatch finishes the payments in flight if the journal fails for a row', async () => {
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

test('runBatch stops at a row that would exceed the approved total', async () => {
  const bound = new Big('0.000021');
  const { made, outcomes, ended } = begun(
    [2, 3, 4, 5, 6, 7, 8],
    new Ceiling([{ ccy: 'BTC', value: bound }]),
  );
  expect(await ended).toBe(false);
  const paid = outcomes.filter(({ state }) => state === 'paid');
  expect(paid).toHaveLength(2);
  expect(outcomes.map(({ failure }) => failure?.kind)).toContain('limit');
  expect(made.log.filter((line) => line.startsWith('PUT '))).toHaveLength(2);
});

test.for([
  ['keeps the share of a row that ends in error, because its money may have moved', 'error', 1],
  ['frees the share of a row that ends in failed, because no money moved', 'failed', 3],
] as const)('runBatch %s', async ([, txnState, submitted]) => {
  const made = bench();
  made.confirms = () => txnState;
  const forOneRow = new Ceiling([{ ccy: 'BTC', value: new Big('0.000015') }]);
  const { ended } = begun([2, 3, 4], forOneRow, made, 1);
  await ended;
  expect(made.log.filter((line) => line.startsWith('PUT '))).toHaveLength(submitted);
});

test('runBatch reports a row as paid even if the journal cannot be read afterwards', async () => {
  const made = bench();
  const { order, ref } = rowOf(2);
  await made.pay({ order, ref, wait: false });
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
  expect(await ended).toBe(true);
  expect(outcomes).toMatchObject([{ state: 'paid', txnState: 'completed' }]);
});

test('runBatch ends a row as already paid if an interruption ends the lookup of its transaction', async () => {
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
  expect(await ended).toBe(true);
  expect(outcomes).toMatchObject([{ txnId: 'elsewhere', failure: { kind: 'already-paid' } }]);
});
