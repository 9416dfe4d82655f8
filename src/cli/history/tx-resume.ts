// Unfinished payments of this home, after a crash, an interruption or a wait that ended: lists them with their
// current state, finishes or reports them.
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { journalFile } from '../../store/files/home.js';
import { latest, mayHavePaid, status, type Payment } from '../../store/journal/payment.js';
import { commandFor } from '../../terminal/next-step.js';
import { namesOf } from '../../terminal/rows/list.js';
import {
  pendingList,
  resumedList,
  overdueList,
  type ResumedPayment,
} from '../../terminal/views/pending-view.js';
import { stateWord } from '../../terminal/views/state-words.js';
import { movedText, transactionList } from '../../terminal/views/transaction-view.js';
import { receiptView } from '../../terminal/cards/receipt.js';
import { paymentFields } from '../../terminal/views/transaction-fields.js';
import { decodeOrder } from '../../wallet/order/order-record.js';
import type { PaymentDeps, PaymentOptions } from '../../wallet/payment/contract.js';
import { resume, tryAgain } from '../../wallet/payment/payment.js';
import { gravest, resumeAll, type Resumed } from '../../wallet/payment/resume-all.js';
import { hasLapsed, isFinal, isQuoted } from '../../formats/states.js';
import { waitUntilFinal } from '../../wallet/transaction/wait.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { paymentDeps, showPayment } from '../payment/payment-flow.js';
import { paymentScreen, type Presentation } from '../payment/payment-screen.js';
import { paymentOptions, waitOf } from '../payment/payment-options.js';
import { asOfText, openPayments, pendingPayment, refreshOpen } from './open-payments.js';
import { paymentNamed, resolveId } from './resolve-id.js';
import { duration, flag, transaction } from '../values.js';
import { describeDuration } from '../../formats/duration.js';
import { processOf } from '../../store/journal/owner.js';

export const txPending = defineCommand({
  prints: namesOf(undefined, pendingList(0, '')),
  options: {
    olderThan: duration()
      .optional()
      .describe(
        'only payments opened longer ago, of all accounts, read from the journal without the service',
      ),
    fail: flag().describe('exit with code 8 if a payment is listed'),
  },
  examples: [
    ['svcpay tx pending', 'unfinished payments of this account'],
    ['svcpay tx pending --json', 'for a script: an empty array when there are none'],
    [
      'svcpay tx pending --older-than 10m --fail',
      'for monitoring: exit code 8, with host and process, if a payment is stuck',
    ],
  ],
  async run({ olderThan, fail }, context) {
    if (olderThan !== undefined || fail) return listOverdue(olderThan ?? 0, fail, context);
    const { out } = context;
    const refreshed = await refreshOpen(context);
    for (const txn of refreshed.ended.slice(0, mostShown))
      out.say(
        `  ${stateWord(txn)}: ${movedText(txn)}   ${commandFor({ do: 'show', id: txn.txnId })}`,
      );
    if (refreshed.ended.length > mostShown)
      out.say(`  ${refreshed.ended.length - mostShown} more have ended: svcpay tx list`);
    const footer = `${asOfText(refreshed)} · svcpay tx resume finishes or reports each`;
    if (refreshed.failure !== undefined && !out.forPeople) out.warn(asOfText(refreshed));
    await out.list(
      refreshed.open.map((payment) => pendingPayment(payment, refreshed.asOf)),
      pendingList(context.now(), footer),
    );
  },
});

const mostShown = 5;

const { wait, waitTimeout } = paymentOptions;

type Wait = PaymentOptions['wait'];

export const txResume = defineCommand({
  fields: [...paymentFields, 'ref', 'kind', 'exitCode', 'message'],
  arguments: {
    id: transaction()
      .optional()
      .describe('a reference or a transaction id (default: all unfinished payments)'),
  },
  options: {
    wait,
    waitTimeout,
    retry: flag().describe('make another attempt after a failed or unknown outcome'),
    newJournal: flag().describe('set a damaged journal aside and start a new one'),
  },
  examples: [
    ['svcpay tx resume', 'all unfinished payments; asks if one still needs your yes'],
    ['svcpay tx resume order-118 --yes --json', 'one payment, in a script'],
  ],
  async run({ id, wait, waitTimeout, retry, newJournal }, context) {
    if (newJournal) return setAside(context);
    if (retry && id === undefined)
      throw new Failure('usage', 'Name the payment to retry.', {
        next: { do: 'see-open-payments' },
      });
    const waiting = waitOf({ wait, waitTimeout });
    return id === undefined ? resumeOpen(waiting, context) : resumeOne(id, waiting, retry, context);
  },
});

async function setAside(context: Context): Promise<void> {
  const { setJournalAside } = await import('../../store/journal/set-aside.js');
  const aside = setJournalAside(
    journalFile(context.home),
    context.now(),
    context.config.read().hasJournal === true,
  );
  context.out.say(`The damaged journal is kept as ${aside}. The next payment starts a new one.`);
  context.out.say(
    'svcpay still finds references at the service. Payments in flight: svcpay tx list --state srccreated --state destsent',
  );
}

async function resumeOpen(waiting: Wait, context: Context): Promise<void> {
  const { out, live } = context;
  const payments = await openPayments(context);
  try {
    const resumed = await resumeAll(payments, waiting, (payment) => depsFor(payment, context));
    live.stop();
    const { journal } = await context.account();
    const { read } = await journal();
    // Reads again, because payments have changed since they were listed.
    const known = await Promise.all(payments.map(({ id }) => read(id).catch(() => undefined)));
    const rows = resumed.map((each, n) =>
      resumedPayment({ ...each, payment: known[n] ?? each.payment }),
    );
    if (out.format !== 'jsonl' || rows.length === 0) await out.list(rows, resumedList);
    const failure = gravest(resumed);
    if (failure !== undefined) throw failure;
  } finally {
    live.stop();
  }
}

async function depsFor(payment: Payment, context: Context): ReturnType<typeof paymentDeps> {
  askForYes(payment, context);
  const { client } = await context.account();
  return paymentDeps(
    context,
    paymentScreen(presentationOf(payment), () => client.serviceNow(), context),
  );
}

/** Fails before a quote that could not be approved. */
function askForYes(payment: Payment, { ask, globals }: Context): void {
  if (payment.consent === 'none' && !mayHavePaid(payment) && !globals.yes) ask.demand(['--yes']);
}

function resumedPayment({ payment, txn, failure }: Resumed): ResumedPayment {
  const { txnId, txnState } = latest(payment);
  return {
    ref: payment.ref,
    kind: payment.kind,
    txnId: txn?.txnId ?? failure?.txnId ?? txnId,
    txnState: txn?.txnState ?? txnState,
    exitCode: failure?.exitCode ?? 0,
    message: failure?.message ?? null,
  };
}

function presentationOf(payment: Payment): Presentation {
  const { kind, destination } = decodeOrder(payment.request);
  return {
    about: [
      { label: 'What', value: kind },
      { label: 'To', value: destination },
      { label: 'Reference', value: payment.ref },
    ],
  };
}

async function resumeOne(
  id: string,
  waiting: Wait,
  retry: boolean,
  context: Context,
): Promise<void> {
  const { scope, journal } = await context.account();
  const payment = await paymentNamed(id, scope, await journal());
  const txnId = payment === undefined ? null : latest(payment).txnId;
  if (payment === undefined || (status(payment) === 'abandoned' && txnId !== null)) {
    return followElsewhere(txnId ?? (await resolveId(id, context)), waiting, context);
  }
  const { yes } = context.globals;
  if (!retry) askForYes(payment, context);
  else if (!yes) context.ask.demand(['--yes']);
  const drive = (deps: PaymentDeps): Promise<Transaction> =>
    retry
      ? tryAgain(payment, { consent: yes ? 'standing' : 'none' }, { wait: waiting }, deps)
      : resume(payment, { wait: waiting }, deps);
  await showPayment(presentationOf(payment), drive, context);
}

/** Follows a transaction of another home, or an abandoned one; never confirms it. */
async function followElsewhere(txnId: string, waiting: Wait, context: Context): Promise<void> {
  const { client: service } = await context.account();
  const txn = await service.transaction(txnId);
  const { columns } = transactionList(context.now());
  const onChange = (next: Transaction): void => context.out.change(next, columns);
  if (isQuoted(txn.txnState) || hasLapsed(txn.txnState)) throw notOpen(txn);
  const ended =
    waiting === false
      ? txn
      : await waitUntilFinal(
          txn,
          { atMostMs: waiting === 'forever' ? undefined : waiting, onChange, goOn: 'resume' },
          { ...context, service },
        );
  if (isFinal(ended.txnState) && ended.txnState !== 'completed') throw notPaid(ended);
  await context.out.record(ended, receiptView(ended, { now: service.serviceNow() }));
}

function notOpen({ txnId, txnState }: Transaction): Failure {
  return new Failure(
    'usage',
    `Not sent: transaction ${txnId} is ${txnState}, and no unfinished payment here belongs to it.`,
    {
      next: { do: isQuoted(txnState) ? 'confirm' : 'show', id: txnId },
      txnId,
    },
  );
}

function notPaid({ txnId, txnState }: Transaction): Failure {
  return new Failure('payment-failed', `Not paid: the transaction ended as ${txnState}.`, {
    next: { do: 'show', id: txnId },
    txnId,
  });
}

/** Lists payments of all accounts that are open for longer, from the journal alone. @param fails throw Failure `pending` if there are any */
export async function listOverdue(
  olderThanMs: number,
  fails: boolean,
  context: Context,
): Promise<void> {
  const { out, now } = context;
  const found = await (await context.journal()).openSince(olderThanMs);
  const rows = found.map(({ owner, ...payment }) => ({
    ...pendingPayment({ payment, txn: undefined }, now()),
    ...processOf(owner),
  }));
  await out.list(rows, overdueList(now()));
  const [first] = rows;
  if (!fails || first === undefined) return;
  const place =
    first.host === null
      ? 'in the hands of no process'
      : `last in the hands of process ${first.pid} on ${first.host}`;
  const more = rows.length === 1 ? '' : ` and ${rows.length - 1} more`;
  throw new Failure(
    'pending',
    `Unfinished for more than ${describeDuration(olderThanMs)}: ${first.ref} (${place})${more}.`,
    {
      next: { do: 'resume', id: first.ref },
      ...(first.txnId !== null && { txnId: first.txnId }),
    },
  );
}
