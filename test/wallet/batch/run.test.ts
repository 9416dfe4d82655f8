// Tests the outcome of each row if a batch fails to read a row or the journal, or reaches the
// approved total.
import Big from 'big.js';
import { expect, test } from 'vitest';
import { parseAmount } from '../../../src/formats/amount.js';
import { Failure } from '../../../src/formats/failure.js';
import type { Journal } from '../../../src/store/journal/journal.js';
import { Ceiling } from '../../../src/wallet/batch/cost.js';
import { instructionOfOrder } from '../../../src/wallet/instruction/from-transaction.js';
import type { PlannedRow } from '../../../src/wallet/batch/plan.js';
import { runBatch, type RowOutcome } from '../../../src/wallet/batch/run.js';
import { lnurlOrder } from '../../../src/wallet/order/orders.js';
import { bench } from '../support/machine.js';

const rowOf = (line: number): PlannedRow => {
  const order = lnurlOrder(`user${line}@pay.example`, parseAmount('1000sat'));
  return {
    line,
    ref: `row-${line}`,
    named: true,
    instruction: instructionOfOrder(order, false),
    order,
    to: order.destination,
    amount: '1000sat',
    slow: false,
  };
};

async function* reading(lines: readonly number[], end?: () => void): AsyncGenerator<PlannedRow> {
  for (const line of lines) yield rowOf(line);
  end?.();
}

function begun(rows: AsyncIterable<PlannedRow>, ceiling?: Ceiling, made = bench()) {
  const outcomes: RowOutcome[] = [];
  const options = {
    concurrency: 2,
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
    payment: made.deps,
    stop: new AbortController().signal,
    on: (each: RowOutcome) => void outcomes.push(each),
    onSubmit: () => undefined,
    warn: () => undefined,
  };
  return { made, outcomes, ended: runBatch(rows, options, deps) };
}

test('runBatch finishes the payments in flight if reading the next row fails', async () => {
  const { made, outcomes, ended } = begun(
    reading([2], () => {
      throw new Error('the disk is gone');
    }),
  );
  await expect(ended).rejects.toThrow('the disk is gone');
  expect(outcomes.map(({ result }) => result)).toEqual(['paid']);
  expect(made.now('row-2')).toMatchObject({ state: 'paid', txnState: 'completed' });
});

test('runBatch stops at a row that would exceed the approved total', async () => {
  const bound = new Big('0.000021');
  const { made, outcomes, ended } = begun(
    reading([2, 3, 4, 5, 6]),
    new Ceiling([{ ccy: 'BTC', total: bound }]),
  );
  expect(await ended).toBe(false);
  const paid = outcomes.filter(({ result }) => result === 'paid');
  expect(paid).toHaveLength(2);
  const over = outcomes.filter(({ exceeded }) => exceeded === true);
  expect(over.map(({ failure }) => failure?.kind)).toContain('limit');
  expect(made.log.filter((line) => line.startsWith('PUT '))).toHaveLength(2);
});

test('runBatch reports a row as paid even if the journal cannot be read afterwards', async () => {
  const made = bench();
  const { order, ref } = rowOf(2);
  await made.pay({ order, ref, wait: false });
  const { journal } = made.deps;
  let looks = 0;
  const failing: Journal = {
    ...journal,
    find: async (...args) => {
      looks += 1;
      if (looks > 1) throw new Failure('temporary', 'The database is not reached.');
      return journal.find(...args);
    },
  };
  const { outcomes, ended } = begun(reading([2]), undefined, {
    ...made,
    deps: { ...made.deps, journal: failing },
  });
  expect(await ended).toBe(true);
  expect(outcomes).toMatchObject([{ result: 'paid', txnState: 'completed', failure: undefined }]);
});
