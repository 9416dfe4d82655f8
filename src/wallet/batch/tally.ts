// Counts the outcomes of a batch, and derives the exit code.
import type Big from 'big.js';
import { counted, messageOf } from '../../formats/text.js';
import { besideSubmitted, Failure, isUnknown, type FailureKind } from '../../formats/failure.js';
import type { Row, RowState } from './row.js';

export interface BatchTally {
  /** The row counts. A row that ended as `error` counts as unknown, a row not paid as failed. */
  readonly results: Readonly<Record<'paid' | 'inFlight' | 'unknown' | 'failed', number>>;
  /** The number of rows whose failure does not tell what happened to the money. */
  readonly open: number;
  /** The number of rows that an earlier run paid or submitted. */
  readonly before: number;
  /** The total debit of this run by currency, including fees. */
  readonly spent: ReadonlyMap<string, Big>;
  /** The kinds of the rows' failures. */
  readonly kinds: ReadonlySet<FailureKind>;
}

export const emptyTally: BatchTally = {
  results: { paid: 0, inFlight: 0, unknown: 0, failed: 0 },
  open: 0,
  before: 0,
  spent: new Map(),
  kinds: new Set(),
};

const countedAs: Readonly<Partial<Record<RowState, keyof BatchTally['results']>>> = {
  paid: 'paid',
  'in-flight': 'inFlight',
  unknown: 'unknown',
  error: 'unknown',
};

export function tallied({ results, open, before, spent, kinds }: BatchTally, row: Row): BatchTally {
  const { total, failure } = row;
  const isBefore = row.before === true;
  const state = countedAs[row.state] ?? 'failed';
  const leaves = isBefore || state === 'failed' ? undefined : total;
  return {
    results: { ...results, [state]: results[state] + 1 },
    open: open + Number(failure !== undefined && isUnknown(failure)),
    before: before + Number(isBefore),
    spent:
      leaves === undefined
        ? spent
        : new Map(spent).set(leaves.ccy, leaves.value.plus(spent.get(leaves.ccy) ?? 0)),
    kinds: failure === undefined ? kinds : new Set(kinds).add(failure.kind),
  };
}

export const doneRows = ({ results }: BatchTally): number =>
  results.paid + results.inFlight + results.unknown + results.failed;

/** Whether this run has submitted a payment. */
export const hasMoved = ({ results, before }: BatchTally): boolean =>
  results.paid + results.inFlight + results.unknown > before;

const again = { hint: 'Run the same command again. It continues the batch and pays no row twice.' };

/**
 * Returns the failure of an incomplete batch, which is `pending` if the outcome of a row is
 * unknown, or `outcome-unknown` if another run cannot learn it. After an interruption, the failure
 * is `pending` if this run submitted a payment, otherwise `interrupted`. If rows failed, the
 * failure of the batch has the kind of the rows' failures, or `payment-failed` if their kinds
 * differ. If this run submitted a payment, the failure does not promise that nothing was sent.
 * @param complete whether svcpay reached the end of the file
 */
export function failureOf(
  tally: BatchTally,
  rows: number,
  complete: boolean,
  interrupted: boolean,
): Failure | undefined {
  const { results, open, kinds } = tally;
  if (open > 0) {
    const hasEnded = kinds.has('outcome-unknown') && !kinds.has('pending');
    return new Failure(
      hasEnded ? 'outcome-unknown' : 'pending',
      `${counted(open, 'row')} may or may not have been paid.`,
      {
        money: 'Outcome unknown',
        ...(hasEnded
          ? {
              hint: 'Ask the service what happened to the money. To list these payments',
              next: { do: 'see-open-payments' },
            }
          : again),
      },
    );
  }
  if (interrupted && (!complete || kinds.has('interrupted'))) {
    const left = rows - doneRows(tally) + results.failed;
    return hasMoved(tally)
      ? new Failure(
          'pending',
          `${left} of ${counted(rows, 'row')}, because you interrupted the batch. ` +
            'The other rows are paid or in flight.',
          { money: 'Not paid', ...again },
        )
      : new Failure('interrupted', 'nothing moved.', { money: 'Interrupted', ...again });
  }
  if (results.failed === 0) return undefined;
  const [only, ...others] = kinds;
  const one = only === undefined || others.length > 0 ? 'payment-failed' : only;
  const kind = hasMoved(tally) ? besideSubmitted(one) : one;
  const stopped = complete ? '' : `, and ${rows - doneRows(tally)} not started`;
  return new Failure(kind, `${results.failed} of ${counted(rows, 'row')}${stopped}.`, {
    money: 'Not paid',
    ...again,
  });
}

/**
 * Converts an error that ended the batch, such as an unreadable file, to a failure that takes
 * submitted rows into account.
 */
export function faultFailure(fault: unknown, tally: BatchTally, rows: number): Failure | undefined {
  if (fault === undefined) return undefined;
  const left = rows - doneRows(tally) + tally.results.failed;
  return new Failure(
    'pending',
    `${left} of ${counted(rows, 'row')}, because the batch stopped: ${messageOf(fault)}`,
    { money: 'Not paid', ...again, cause: fault },
  );
}
