// Payments that have not ended after some time, for monitoring: from the journal alone, of all accounts in it.
import { describeDuration } from '../../formats/duration.js';
import { Failure } from '../../formats/failure.js';
import { processOf } from '../../store/journal/owner.js';
import { overdueList } from '../../terminal/views/pending-view.js';
import type { Context } from '../context.js';
import { pendingPayment } from './open-payments.js';

/** @param fails whether a payment in the list is a failure, of kind `pending` */
export async function listOverdue(olderThanMs: number, fails: boolean, context: Context): Promise<void> {
  const { out, now } = context;
  const found = await (await context.journal()).openSince(olderThanMs);
  const rows = found.map(({ owner, ...payment }) => ({ ...pendingPayment({ payment, txn: undefined }, now()), ...processOf(owner) }));
  await out.list(rows, overdueList(now()));
  const [first] = rows;
  if (!fails || first === undefined) return;
  const place = first.host === null ? 'in the hands of no process' : `last in the hands of process ${first.pid} on ${first.host}`;
  const more = rows.length === 1 ? '' : ` and ${rows.length - 1} more`;
  throw new Failure('pending', `Unfinished for more than ${describeDuration(olderThanMs)}: ${first.ref} (${place})${more}.`, {
    next: { do: 'resume', id: first.ref },
    ...(first.txnId !== null && { txnId: first.txnId }),
  });
}
