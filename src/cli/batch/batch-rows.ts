// Reads the rows of a batch after its run, from a file or by the name of the run.
import { createReadStream, existsSync } from 'node:fs';
import type { ListedTransaction } from '../../api/types.js';
import { Failure, ifAvailable } from '../../formats/failure.js';
import { decisive, type Payment } from '../../store/journal/payment.js';
import { readRunName, runsKept } from '../../wallet/batch/history.js';
import { payeeRow, readPaidRow, type PaidRow } from '../../wallet/batch/payee.js';
import { isProblem, problemOf, readRows } from '../../wallet/batch/rows.js';
import { createdSince } from '../../wallet/history/newest-first.js';
import type { Context } from '../context.js';
import { planner } from './batch-check.js';
import type { BatchFlags } from './batch-pay.js';
import { batchColumns } from './batch-row.js';

/** A row of a batch with its payment, if svcpay has opened a payment for the row. */
export interface KnownRow {
  readonly ref: string;
  readonly paid: PaidRow;
  readonly payment: Payment | undefined;
  /** The transaction as the service lists it, or undefined if svcpay could not read the list. */
  readonly txn: ListedTransaction | undefined;
}

export type RowFlags = Pick<BatchFlags, 'name' | 'from' | 'ignoreColumns'>;

/**
 * Reads the rows of a batch run. Throws Failure `usage` for a file with an invalid row, and
 * `not-found` for an unknown run.
 */
export async function knownRows(
  named: string,
  flags: RowFlags,
  context: Context,
): Promise<KnownRow[]> {
  const rows = existsSync(named)
    ? await rowsOfFile(named, flags, context)
    : await rowsOfRun(named, context);
  const txns = await listed(rows, context);
  return rows.map((row) => ({
    ...row,
    txn: row.payment && txns.get(decisive(row.payment).txnId ?? ''),
  }));
}

type Row = Omit<KnownRow, 'txn'>;

async function rowsOfFile(file: string, flags: RowFlags, context: Context): Promise<Row[]> {
  const { scope, journal } = await context.account();
  const { alike } = await journal();
  const plan = planner(flags, context);
  const rows: Row[] = [];
  for await (const row of readRows(createReadStream(file), batchColumns(flags.ignoreColumns))) {
    if (isProblem(row)) throw unreadable(file, row);
    const planned = await plan(row).catch((error: unknown) => {
      throw unreadable(file, problemOf(row.line, error));
    });
    const payments = await alike(scope, planned.ref);
    const payment = payments.find(({ ref }) => ref === planned.ref);
    rows.push({ ref: planned.ref, paid: payeeRow(planned), payment });
  }
  return rows;
}

const unreadable = (
  file: string,
  { line, message }: { readonly line: number; readonly message: string },
): Failure => new Failure('usage', `${file}, line ${line}: ${message}`);

async function rowsOfRun(named: string, context: Context): Promise<Row[]> {
  const { scope, journal } = await context.account();
  const opened = await journal();
  const runs = await opened.runs(scope, runsKept);
  const found = runs.find(({ run }) => run === named || readRunName(run).name === named);
  if (found === undefined) {
    const names = runs.slice(0, 5).map(({ run }) => `"${readRunName(run).name}"`);
    throw new Failure('not-found', `There is no file or batch run named "${named}".`, {
      hint: names.length === 0 ? undefined : `Latest runs: ${names.join(', ')}.`,
    });
  }
  const payments = await opened.inRun(scope, found.run);
  return payments.flatMap((payment) => {
    const paid = readPaidRow(payment.batch?.row ?? '');
    return paid === undefined ? [] : { ref: payment.ref, paid, payment };
  });
}

/**
 * Finds the transactions of the rows in the service's list. Returns no transactions if svcpay
 * cannot read the service's list.
 */
async function listed(
  rows: readonly Row[],
  { account, live, out }: Context,
): Promise<ReadonlyMap<string, ListedTransaction>> {
  const opened = rows.flatMap(({ payment }) => payment ?? []);
  const wanted = new Set(
    opened.flatMap(({ attempts }) => attempts.flatMap((each) => each.txnId ?? [])),
  );
  const found = new Map<string, ListedTransaction>();
  if (wanted.size === 0) return found;
  const since = Math.min(...opened.map(({ openedAt }) => openedAt)) - marginMs;
  const { client } = await account();
  const read = async (): Promise<void> => {
    const pages = client.eachTransactionPage({
      time: 'other',
      startTime: new Date(since).toISOString(),
    });
    for await (const page of createdSince(pages, since)) {
      for (const txn of page) if (wanted.has(txn.txnId)) found.set(txn.txnId, txn);
      if (found.size === wanted.size) return;
    }
  };
  await ifAvailable(
    live.during(
      () => `Reading the service's list: ${found.size} of ${wanted.size} payments found`,
      read,
    ),
    (why) => out.say(`Outcomes are as of the last run. ${why}`),
  );
  return found;
}

/** The largest accepted difference between the clocks of this machine and the service, in ms. */
const marginMs = 3_600_000;
