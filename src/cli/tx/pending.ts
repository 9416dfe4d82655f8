// Lists the unfinished payments of this home with their current state.
import { describeDuration } from '../../formats/calendar.js';
import { Failure } from '../../formats/failure.js';
import { processOf } from '../../store/journal/steps.js';
import { needsAnswer } from '../../store/journal/payment.js';
import { commandLine } from '../../terminal/next-step.js';
import {
  pendingList,
  type PendingPayment,
  movedText,
} from '../../terminal/views/transaction-view.js';
import { stateWord } from '../../terminal/cards/steps.js';
import { defineCommand, type Deps, list } from '../define.js';
import { duration, flag } from '../values.js';
import { asOfText, pendingPayment, refreshOpen } from './payments.js';

export const txPending = defineCommand({
  options: {
    olderThan: duration()
      .optional()
      .describe(
        'list only payments older than this, from all accounts, as the journal records them; ' +
          'svcpay sends no request to the service',
      ),
    fail: flag().describe('exit with code 8 if a payment is listed'),
  },
  examples: [
    ['svcpay tx pending', 'lists the unfinished payments of this account'],
    ['svcpay tx pending --json', 'prints an empty array if no payment is unfinished'],
    [
      'svcpay tx pending --older-than 10m --fail',
      'exits with 8 if a payment is stuck, and names its host and process',
    ],
  ],
  async run({ olderThan, fail }, context) {
    if (olderThan !== undefined || fail) return listOverdue(olderThan, fail, context);
    const { out, globals } = context;
    const printed = (command: string): string => commandLine({ command }, globals);
    const refreshed = await refreshOpen(context);
    for (const txn of refreshed.ended.slice(0, mostShown)) {
      out.say(`  ${stateWord(txn)}: ${movedText(txn)}   ${txn.txnId}`);
    }
    const more = refreshed.ended.length - mostShown;
    if (more > 0) out.advise(`  ${more} more payments have ended: ${printed('tx list')}`);
    const needsPerson = refreshed.open.some(({ payment }) =>
      payment.attempts.some((each) => needsAnswer(each) && each.resolution === null),
    );
    const advice = needsPerson
      ? ` · ${printed('tx resolve ID')} records whether the money moved`
      : '';
    const finishing = `${printed('tx resume')} finishes or reports each payment`;
    const footer = `${asOfText(refreshed)} · ${finishing}${advice}`;
    if (refreshed.isStale && !out.forPeople) out.warn(asOfText(refreshed));
    const rows = refreshed.open.map((payment) => pendingPayment(payment, refreshed.asOf));
    return { rows, footer, failure: undefined };
  },
  view: list<PendingPayment, { readonly rows: readonly PendingPayment[] }>(
    pendingList,
    ({ rows }) => rows,
  ),
  adapt: ({ footer }) => ({ footer }),
  failure: ({ failure }) => failure,
});

const mostShown = 5;

/**
 * Lists the payments in the journal, of all accounts, that have been open for longer than a given
 * time. Sends no request.
 * @param fails whether to return Failure `pending` if the list is not empty
 */
async function listOverdue(
  olderThanMs: number | undefined,
  fails: boolean,
  { journal, now, globals }: Deps<'journal' | 'now' | 'globals'>,
) {
  const found = await (await journal()).openSince(olderThanMs ?? 0);
  const rows = found.map(({ owner, ...payment }) => ({
    ...pendingPayment({ payment, txn: undefined }, now()),
    ...processOf(owner),
  }));
  const resume = commandLine({ command: 'tx resume' }, globals);
  const footer = `from the journal only · ${resume} finishes or reports each payment`;
  return { rows, footer, failure: fails ? overdueFailure(rows, olderThanMs) : undefined };
}

function overdueFailure(
  [first, ...others]: readonly PendingPayment[],
  olderThanMs: number | undefined,
): Failure | undefined {
  if (first === undefined) return undefined;
  const place =
    first.host == null
      ? 'not handled by any process'
      : `last handled by process ${first.pid} on ${first.host}`;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  const age = olderThanMs === undefined ? '' : ` for more than ${describeDuration(olderThanMs)}`;
  return new Failure('pending', `Unfinished${age}: ${first.ref} (${place})${more}.`, {
    next: { do: 'resume', id: first.ref },
    ref: first.ref,
    txnId: first.txnId ?? undefined,
    txnState: first.txnState ?? undefined,
  });
}
