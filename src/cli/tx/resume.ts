// Finishes or reports the unfinished payments of this home, after a crash, an interruption or the
// end of a wait.
import type { Transaction } from '../../api/types.js';
import { Failure, ifAvailable, invalid } from '../../formats/failure.js';
import { journalFile } from '../../store/files/home.js';
import { decisive, mayHavePaid, status, type Payment } from '../../store/journal/payment.js';
import {
  resumedList,
  type ResumedPayment,
  paymentFields,
  transactionList,
} from '../../terminal/views/transaction-view.js';
import { commandFor } from '../../terminal/next-step.js';
import { receiptView } from '../../terminal/cards/receipt.js';
import { decodeOrder } from '../../wallet/order/orders.js';
import type { Consent, PaymentDeps, PaymentOptions } from '../../wallet/payment/model.js';
import { ended, isAbandoned } from '../../wallet/payment/outcomes.js';
import { concernedBy, journalFirst, unfinished, resume } from '../../wallet/payment/pay.js';
import { mostUrgent, resumeAll, type DepsFor, type Resumed } from '../../wallet/payment/resume.js';
import { ownReference, paymentName } from '../../formats/text.js';
import { hasLapsed, isQuoted } from '../../formats/states.js';
import { transactionConcerned, waitUntilFinal } from '../../wallet/transaction/read.js';
import type { Context } from '../context.js';
import { demandOwner } from '../tree.js';
import { defineCommand } from '../define.js';
import type { RecordView } from '../../terminal/rows/view.js';
import { paymentDeps, paidView, showPayment } from '../payment/payment-flow.js';
import { type Presentation, paymentScreen } from '../payment/payment-screen.js';
import { paymentOptions, waitOf } from '../payment/payment-options.js';
import {
  openPayments,
  openStates,
  readListed,
  type OpenPayment,
  concurrentReads,
  endedFailure,
  recordState,
} from './payments.js';
import { paymentNamed, resolveId } from './resolve-id.js';
import { flag, transaction } from '../values.js';

const { wait, waitTimeout } = paymentOptions;

type Wait = PaymentOptions['wait'];

export const txResume = defineCommand({
  arguments: {
    id: transaction()
      .optional()
      .describe('a reference or a transaction id (default: all unfinished payments)'),
  },
  options: {
    wait,
    waitTimeout,
    retry: flag().describe('make another attempt after a failed or unknown outcome'),
    newJournal: flag().describe('start a new journal instead of a damaged or lost journal'),
  },
  examples: [
    [
      'svcpay tx resume',
      'resumes all unfinished payments; asks if a payment still needs your approval',
    ],
    ['svcpay tx resume order-118 --yes --json', 'resumes one payment, in a script'],
  ],
  changes: true,
  async run({ id, wait, waitTimeout, retry, newJournal }, context): Promise<Result> {
    if (newJournal) {
      demandOwner(context);
      return startNewJournal(context);
    }
    if (retry && id === undefined)
      throw invalid('Name the payment to retry.', {
        next: { do: 'see-open-payments' },
      });
    const isGiven = id !== undefined || wait !== undefined || waitTimeout !== undefined;
    const waiting = isGiven ? waitOf({ wait, waitTimeout }) : openWaitMs;
    const concerned = id === undefined ? unfinished() : concernedBy(id);
    return journalFirst<Result>(concerned, context.journal, () =>
      id === undefined ? resumeOpen(waiting, context) : resumeOne(id, waiting, retry, context),
    );
  },
  view: {
    fields: [...paymentFields, 'ref', 'kind', 'exitCode', 'message'],
    dataOf: ({ rows, txn }) => rows ?? txn,
    print: printResult,
  },
  failure: ({ failure }) => failure,
});

/** The resumed payments, or the transaction of the one payment that the command line names. */
interface Result {
  readonly rows?: readonly ResumedPayment[];
  readonly failure?: Failure | undefined;
  readonly txn?: Transaction;
  /** The view of the transaction, if the live line has not shown the transaction. */
  readonly receipt?: RecordView<Transaction>;
}

async function printResult(
  { rows, txn, receipt }: Result,
  _parts: object,
  { out, present }: Context,
): Promise<void> {
  if (rows !== undefined && (out.format !== 'jsonl' || rows.length === 0))
    await out.list(rows, resumedList);
  if (txn !== undefined) await out.record(txn, receipt ?? paidView(present()));
}

async function startNewJournal({ home, now, config, out, globals }: Context): Promise<Result> {
  const { setJournalAside } = await import('../../store/journal/sqlite-journal.js');
  const path = journalFile(home);
  const aside = setJournalAside(path, now(), config.read().hasJournal === true);
  await config.update(({ hasJournal: _known, ...others }) => others);
  out.say(
    aside === undefined
      ? `svcpay no longer expects the missing journal ${path}. ` +
          `The next payment creates a new journal.`
      : `The damaged journal was moved to ${aside}. The next payment creates a new journal.`,
  );
  const command = commandFor({ do: 'import-payments' }, globals);
  out.say(`Before you pay, import the earlier payments from the service: ${command}`);
  return {};
}

/**
 * The default maximum time in ms that `tx resume` waits for all payments together, so that a cron
 * job ends.
 */
const openWaitMs = 30_000;

async function resumeOpen(waiting: Wait, context: Context): Promise<Result> {
  const { live } = context;
  const payments = await agreedPayments(context);
  // If svcpay asks a question, `tx resume` waits without a time limit, because the person decides
  // how long an answer takes.
  const atMostMs = payments.every(mayHavePaid) ? waiting : 'forever';
  const { end, over } = deadline(atMostMs, context);
  try {
    const resumed = await resumeAll(
      startingAnywhere(payments, context),
      waiting,
      context.now,
      (each) => depsFor(each, end, context),
      await knownFrom(payments, waiting, end, context),
    );
    live.stop();
    // Re-reads the payments, because their states may have changed since svcpay listed the
    // payments.
    const journal = await context.journal();
    const rows = await Promise.all(
      resumed
        .toSorted((a, b) => a.payment.openedAt - b.payment.openedAt)
        .map(async (each) =>
          resumedPayment(each, await ifAvailable(journal.read(each.payment.id))),
        ),
    );
    return { rows, failure: mostUrgent(resumed) };
  } finally {
    over();
    live.stop();
  }
}

/**
 * Aborts the running requests when the wait ends, because the service can leave a request
 * unanswered for half a minute.
 */
function deadline(waiting: Wait, { sleep, signal }: Context) {
  const [end, isOver] = [new AbortController(), new AbortController()];
  const atMostMs = waiting === false ? openWaitMs : waiting;
  const late = (ms: number): void => {
    const why = `The service did not answer within ${Math.round(ms / 1000)} s.`;
    end.abort(new Failure('temporary', why));
  };
  if (atMostMs !== 'forever')
    void sleep(atMostMs, isOver.signal).then(
      () => late(atMostMs),
      () => undefined,
    );
  return { end: AbortSignal.any([signal, end.signal]), over: () => isOver.abort() };
}

/**
 * Returns a function that looks up the state of a payment in the service's list of transactions and
 * in the journal. svcpay reads the list only once, because a thousand single reads would take
 * minutes. svcpay reads the journal for each payment, because another machine may have resumed the
 * payment.
 */
async function knownFrom(
  payments: readonly Payment[],
  waiting: Wait,
  end: AbortSignal,
  context: Context,
) {
  const listed = new Map<string, OpenPayment>();
  const submitted = payments.filter(mayHavePaid);
  // svcpay reads a payment by id if the service's list of transactions is unavailable or does not
  // contain the payment.
  if (submitted.length > concurrentReads) {
    const { client } = await context.account();
    await ifAvailable(readListed(submitted, listed, client.until(end), context));
  }
  const journal = await context.journal();
  const { columns } = transactionList(context.present());
  return async ({ id, updatedAt }: Payment): Promise<Resumed | undefined> => {
    const payment = await ifAvailable(journal.read(id));
    if (payment === undefined) return undefined;
    const attempt = decisive(payment);
    const read = listed.get(id)?.txn;
    const txn = read?.txnId === attempt.txnId ? read : undefined;
    const is = status(payment);
    const isListed = txn !== undefined && openStates.includes(txn.txnState);
    const isTheirs = waiting === false && payment.updatedAt > updatedAt;
    const isUnderWay = is === 'in-flight' && (isListed || isTheirs);
    if (is !== 'paid' && is !== 'failed' && !isUnderWay) return undefined;
    if (txn !== undefined) context.out.change(txn, columns);
    return is === 'failed'
      ? { payment, txn: undefined, failure: ended(payment.ref, attempt, true) }
      : { payment, txn, failure: undefined };
  };
}

/**
 * Rotates the payments by a random number, so that machines that resume at the same time start with
 * different payments.
 */
function startingAnywhere<T>(items: readonly T[], { random }: Context): readonly T[] {
  const at = Math.floor(random() * items.length);
  return [...items.slice(at), ...items.slice(0, at)];
}

/**
 * Returns the open payments to resume. If svcpay cannot ask a question, svcpay reports and skips
 * each payment that was never submitted, because no person has approved the cost.
 */
async function agreedPayments(context: Context): Promise<readonly Payment[]> {
  const { globals, out, terminal } = context;
  const payments = await openPayments(context);
  if (!globals.yes && terminal.canPrompt) return payments;
  for (const payment of payments.filter((each) => !mayHavePaid(each))) {
    const id = paymentName(payment.ref, decisive(payment).txnId);
    out.warn(`${id} was never submitted. To pay it: ${commandFor({ do: 'resume', id }, globals)}`);
  }
  return payments.filter(mayHavePaid);
}

async function depsFor(payment: Payment, end: AbortSignal, context: Context): ReturnType<DepsFor> {
  const { client } = await context.account();
  const screen = paymentScreen(presentationOf(payment), context);
  const deps = await paymentDeps(context, screen.on);
  const consent: Consent = { by: 'person', ask: screen.approve };
  return { deps: { ...deps, service: client.until(end), signal: end }, consent };
}

function resumedPayment(
  { txn, failure, ...listed }: Resumed,
  payment: Payment = listed.payment,
): ResumedPayment {
  const { txnId, txnState } = decisive(payment);
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
  const { request, txnId } = decisive(payment);
  const { kind, destination } = decodeOrder(request);
  return {
    about: [
      { label: 'What', value: kind },
      { label: 'To', value: destination },
      { label: 'Reference', value: ownReference(payment.ref) },
      { label: 'Transaction', value: txnId },
    ],
  };
}

async function resumeOne(
  id: string,
  waiting: Wait,
  retry: boolean,
  context: Context,
): Promise<Result> {
  const { yes } = context.globals;
  const payment = await paymentNamed(id, context, yes);
  const txnId = payment && decisive(payment).txnId;
  if (payment === undefined || (status(payment) === 'abandoned' && txnId !== null)) {
    const found = txnId ?? (await resolveId(id, context, yes));
    return followElsewhere(found, payment, waiting, context);
  }
  // A failed payment is only reported, so it needs no approval.
  const needsYes = retry || (status(payment) !== 'failed' && !mayHavePaid(payment));
  if (needsYes && !yes) context.ask.demand(['--yes']);
  const drive = (deps: PaymentDeps, consent: Consent): Promise<Transaction> =>
    resume(payment, { wait: waiting, retry, consent }, deps);
  return { txn: await showPayment(presentationOf(payment), drive, context) };
}

/**
 * Follows a transaction of another home, or of an abandoned payment, without confirming the
 * transaction.
 */
async function followElsewhere(
  txnId: string,
  abandoned: Payment | undefined,
  waiting: Wait,
  context: Context,
): Promise<Result> {
  const { client: service } = await context.account();
  const txn = await service.transaction(txnId);
  const { columns } = transactionList(context.present());
  const onChange = (next: Transaction): void => context.out.change(next, columns);
  if (hasLapsed(txn.txnState) && abandoned !== undefined) throw isAbandoned(abandoned);
  if (isQuoted(txn.txnState) || hasLapsed(txn.txnState)) throw notOpen(txn);
  const ended =
    waiting === false
      ? txn
      : await waitUntilFinal(
          txn,
          { atMostMs: waiting === 'forever' ? undefined : waiting, onChange, goOn: 'resume' },
          { ...context, service },
        );
  const unpaid = endedFailure(ended, await recordState(ended, context), context);
  if (unpaid !== undefined) throw unpaid;
  return { txn: ended, receipt: receiptView({ now: service.serviceNow() }) };
}

function notOpen(txn: Transaction): Failure {
  const { txnId, txnState } = txn;
  return invalid(
    `transaction ${txnId} is ${txnState}, and this home has no unfinished payment for it.`,
    {
      money: 'Not sent',
      next: { do: isQuoted(txnState) ? 'confirm' : 'show', id: txnId },
      ...transactionConcerned(txn),
    },
  );
}
