// Reads transaction details: the current state or, if the service is unreachable, the last known
// state.
import type { Transaction } from '../../api/types.js';
import { money, moneyFromWire, type Money } from '../../formats/amount.js';
import type { Failure } from '../../formats/failure.js';
import { isFinal, isQuoted } from '../../formats/states.js';
import { latest, mayHaveMoved, type Payment } from '../../store/journal/payment.js';
import type { ReceiptPageOptions } from '../../terminal/cards/receipt-page.js';
import { receipt } from '../../terminal/cards/receipt.js';
import { sendWord } from '../../terminal/views/state-words.js';
import { endOf, resolutionText, type EndOfTransaction } from '../../wallet/payment/outcomes.js';
import { movedAmounts } from '../../wallet/history/moved-amounts.js';
import { recordRead } from '../../wallet/payment/resolve.js';
import type { Context } from '../context.js';
import { lookUpsOf } from '../statement/lines.js';
import { eventsOf } from '../payment/inbox.js';
import { openMeanwhile } from './local-facts.js';
import { asTransaction, isNotReached, lastCheckedText } from './offline-list.js';
import { resolveId } from './resolve-id.js';

/**
 * Reads the named transaction, and records its state. If the service does not answer, throws a
 * Failure with the last known state of the transaction.
 * @param submitted the kind of the failure for a payment that svcpay has submitted, or may have
 * submitted; for all other payments, the kind is `temporary`
 */
export async function readDetails(
  name: string,
  context: Context,
  submitted: 'temporary' | 'pending' = 'temporary',
): Promise<Transaction> {
  const { client } = await context.account();
  const txnId = await resolveId(name, context);
  try {
    const reading = client.transaction(txnId);
    openMeanwhile(context);
    const txn = await reading;
    await recordState(txn, context);
    return txn;
  } catch (error) {
    throw isNotReached(error) ? await lastSeen(txnId, error, submitted, context) : error;
  }
}

/** Records the state of a transaction in the journal if the payment belongs to this home. */
export async function recordState(txn: Transaction, context: Context): Promise<void> {
  if (isQuoted(txn.txnState)) return;
  const payment = await paymentOf(txn.txnId, context).catch(() => undefined);
  if (payment !== undefined)
    await recordRead(payment, txn, await context.journal(), context.owner).catch(() => undefined);
}

/** What this home and the service know about the money of a transaction that ended. */
export const endOfTransaction = async (
  txn: Transaction,
  context: Context,
): Promise<EndOfTransaction> =>
  isFinal(txn.txnState)
    ? endOf(await paymentOf(txn.txnId, context).catch(() => undefined), txn)
    : {};

/** The failure for a transaction that ended unpaid. Shows a recorded answer that it is paid. */
export async function endedFailure(
  txn: Transaction,
  context: Context,
): Promise<Failure | undefined> {
  const { failure, recorded } = await endOfTransaction(txn, context);
  if (failure === undefined && recorded !== undefined) context.out.say(resolutionText(recorded));
  return failure;
}

/**
 * Shows the last known state of a payment of this home, and when svcpay read that state. Returns a
 * failure whose message contains the last known state of the payment.
 */
async function lastSeen(
  txnId: string,
  failure: Failure,
  submitted: 'temporary' | 'pending',
  context: Context,
): Promise<Failure> {
  const payment = await paymentOf(txnId, context).catch(() => undefined);
  const attempt = payment && latest(payment);
  if (payment === undefined || attempt?.txnId !== txnId || attempt.txnState === null)
    return failure;
  const seen = lastCheckedText([payment]);
  context.out.card((canvas) =>
    receipt(asTransaction(payment), { now: context.now(), seen }, canvas),
  );
  const lastState = `The transaction was last seen as ${sendWord(attempt.txnState)} (${seen}).`;
  const why = `${failure.why} ${lastState}`;
  const { txnState } = attempt;
  const known = { ref: payment.ref, txnId, txnState };
  if (submitted === 'temporary' || !mayHaveMoved(attempt))
    return failure.saying(why, { kind: 'temporary', ...known });
  const next = { do: 'resume', id: txnId } as const;
  return failure.saying(why, { kind: 'pending', money: 'Outcome unknown', next, ...known });
}

/** Returns the times of a transaction's state changes, from the journal and the webhook inbox. */
export async function stateTimes(
  txnId: string,
  context: Context,
): Promise<ReadonlyMap<string, number>> {
  const [payment, events] = await Promise.all([
    paymentOf(txnId, context).catch(() => undefined),
    eventsOf(txnId, context),
  ]);
  const attempt = payment?.attempts.find((each) => each.txnId === txnId);
  const trail = payment === undefined ? [] : await (await context.journal()).trails([payment.id]);
  const read = trail.flatMap(({ attempt: number, detail: { service, txnState } }) =>
    number !== attempt?.number || service == null || txnState == null
      ? []
      : [[txnState, service] as const],
  );
  const reported = events.flatMap(({ txnState, updatedAt }) =>
    txnState === null || updatedAt === null ? [] : [[txnState, updatedAt] as const],
  );
  return new Map([...read.toReversed(), ...reported]);
}

/** Reads the data that a receipt shows in addition to the transaction itself. */
export async function receiptDetails(
  txn: Transaction,
  context: Context,
): Promise<Pick<ReceiptPageOptions, 'agreed' | 'arrived' | 'worth'>> {
  const { sourceReq, destReq, txnId } = txn;
  const moved = txn.txnState === 'completed' ? movedAmounts(txn) : undefined;
  const requested = [sourceReq, destReq].flatMap(
    ({ ccy, amtRequested }) => moneyFromWire(ccy, amtRequested) ?? [],
  );
  const payment = await paymentOf(txnId, context).catch(() => undefined);
  const attempt = payment?.attempts.find((each) => each.txnId === txnId);
  const amountOf = (ccy: string | null | undefined, amount: string | null | undefined): Money[] =>
    ccy == null || amount == null ? [] : [money(ccy, amount)];
  const approved = [
    ...amountOf(attempt?.spendCcy, attempt?.approvedTotal),
    ...amountOf(destReq.ccy, attempt?.approvedReceives),
  ];
  const amount = sourceReq.method === 'servicepay' ? moved?.left : moved?.arrived;
  const kept = (await lookUpsOf(context).rates([txnId])).get(txnId);
  const rate = kept?.rates[amount?.ccy ?? ''];
  return {
    agreed: approved.length === 0 ? requested : approved,
    arrived: moved?.arrived,
    worth:
      amount === undefined || kept === undefined || rate === undefined
        ? undefined
        : { amount, fiat: kept.fiat, rate, keptAt: kept.keptAt },
  };
}

/**
 * Returns the payment of a transaction, or undefined with `--account`, because the journal contains
 * only payments of the account of the API key.
 */
export async function paymentOf(txnId: string, context: Context): Promise<Payment | undefined> {
  if (context.settings.accountId !== undefined) return undefined;
  const { scope, journal } = await context.account();
  return (await journal()).find(scope, txnId);
}
