// The commands of a schedule, as calls to the real payment core.
import type { Transaction } from '../../src/api/types.js';
import { repeatsOf } from '../../src/cli/mcp/call.js';
import { Failure } from '../../src/formats/failure.js';
import { mayHavePaid, type Payment, type PaymentTerms } from '../../src/store/journal/payment.js';
import { derivedRef, rowOf, type Row } from '../../src/wallet/batch/row.js';
import { payRows, failureOf } from '../../src/wallet/batch/run.js';
import { cancelQuote } from '../../src/wallet/payment/record.js';
import {
  confirmQuote,
  mostUrgent,
  resumeAll,
  type Resumed,
} from '../../src/wallet/payment/resume.js';
import type { Consent, PaymentOptions } from '../../src/wallet/payment/model.js';
import { pay, resume } from '../../src/wallet/payment/pay.js';
import { importMissing } from '../../src/wallet/history/import-payments.js';
import type { ProcessDeps } from './process.js';
import type { Wish } from './wishes.js';

export type Terms = Pick<PaymentTerms, 'maxFee' | 'maxRateLoss'>;

/** The result of a batch: the outcome of each row, and the failure that decides the exit code. */
export interface BatchEnd {
  readonly rows: readonly Row[];
  readonly failure: Failure | undefined;
}

/**
 * The result of `tx resume` without an id: the outcome of each payment, and the failure that
 * decides the exit code.
 */
export interface ResumeEnd {
  readonly resumed: readonly Resumed[];
  readonly failure: Failure | undefined;
}

/** The result of an import, which has no rows because an import pays nothing. */
interface Imported {
  readonly rows: [];
  readonly failure: undefined;
}

export type CommandEnd = Transaction | BatchEnd | ResumeEnd | Imported;

export const payWish =
  (wish: Wish, terms: Terms, options: PaymentOptions) =>
  (deps: ProcessDeps): Promise<Transaction> =>
    pay(
      {
        instruction: wish.instruction,
        ref: wish.ref,
        consent: consentOf(wish.consent, deps),
        terms,
      },
      options,
      deps,
    );

const consentOf = (given: Wish['consent'], { asks }: ProcessDeps): Consent =>
  given === 'yes' ? { by: 'yes' } : asks;

export const resumePayment =
  (payment: Payment, options: PaymentOptions) =>
  (deps: ProcessDeps): Promise<Transaction> =>
    resume(payment, { ...options, consent: deps.asks }, deps);

/** Runs `tx confirm` for one quote, after reading the quote from the service. */
export const confirmOne =
  (txnId: string, consent: Wish['consent'], options: PaymentOptions) =>
  async (deps: ProcessDeps): Promise<Transaction> =>
    confirmQuote(
      await deps.service.transaction(txnId),
      { terms: {}, consent: consentOf(consent, deps), wait: options.wait },
      deps,
    );

/** Runs `tx resume` as a scheduled job does, and skips payments that were never submitted. */
export const resumeOpen =
  (wait: PaymentOptions['wait']) =>
  async (deps: ProcessDeps): Promise<ResumeEnd> => {
    const open = (await deps.journal.open(deps.scope)).filter(mayHavePaid);
    const resumed = await resumeAll(open, wait, deps.now, async () => ({
      deps,
      consent: deps.asks,
    }));
    return { resumed, failure: mostUrgent(resumed) };
  };

/** Runs `db import` for all transactions that the service lists. */
export const importAll = async (deps: ProcessDeps): Promise<Imported> => {
  const { unclear } = await importMissing(0, {
    ...deps,
    service: deps.client,
    onRead: () => undefined,
  });
  if (unclear.length > 0) throw new Failure('books-differ', `Not entered: ${unclear.join(', ')}`);
  return { rows: [], failure: undefined };
};

/** Runs the agent's tool `pay` under a new reference; the tool refuses to repeat a payment. */
export const payAsAgent =
  ({ instruction }: Wish, ref: string, options: PaymentOptions) =>
  (deps: ProcessDeps): Promise<Transaction> =>
    pay({ instruction, ref, consent: { by: 'yes' }, terms: {} }, options, {
      ...deps,
      repeats: repeatsOf(''),
    });

export const cancelOne =
  (txnId: string) =>
  (deps: ProcessDeps): Promise<Transaction> =>
    cancelQuote(txnId, {
      ...deps,
      service: deps.client,
    });

export const payBatch =
  (wishes: readonly Wish[], options: PaymentOptions) =>
  async (deps: ProcessDeps): Promise<BatchEnd> => {
    // The command `batch` refuses a file with duplicate rows, so this batch omits duplicates.
    const once = [
      ...new Map(wishes.map((wish) => [wish.order.idempotencyKey ?? rowRef(wish), wish])).values(),
    ];
    const rows = once.map((wish, index) =>
      rowOf({
        line: index + 2,
        ref: rowRef(wish),
        isNamed: wish.ref !== undefined,
        instruction: wish.instruction,
        order: wish.order,
        to: wish.name,
        written: '',
        isSlow: false,
        cells: {},
      }),
    );
    const ended: Row[] = [];
    const batch = {
      concurrency: 2,
      stopOnError: false,
      wait: undefined,
      waitTimeout: 30_000,
      retry: options.retry,
      terms: () => ({}),
      consent: { lines: new Set(rows.map(({ line }) => line)) },
      run: '2026-11-21T00:00:00.000Z rows.csv',
    };
    const paid = payRows(rows, batch, {
      payment: { ...deps, on: () => undefined },
      stop: deps.signal,
      warn: () => undefined,
    });
    for await (const row of paid) ended.push(row);
    const outcomes = ended.map(({ state: outcome, before = false, failure }) => ({
      outcome,
      before,
      error: failure?.kind ?? null,
    }));
    return { rows: ended, failure: failureOf(outcomes, rows.length, deps.signal.aborted) };
  };

/** Returns the reference of an intended payment in a batch. */
export const rowRef = ({ instruction, ref }: Wish): string => ref ?? derivedRef(instruction, '');
