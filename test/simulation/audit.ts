// Checks a schedule after its end: payments are made at most once, approved, within limits and
// finished, and reports are true.
import Big from 'big.js';
import { exitCodes, isUnknown, type Failure, type FailureKind } from '../../src/formats/failure.js';
import { latest, mayHavePaid, status, type Payment } from '../../src/store/journal/payment.js';
import { hasLapsed, isFinal } from '../../src/formats/states.js';
import type { Resumed } from '../../src/wallet/payment/resume.js';
import { unpaidOutcomes, type Row } from '../../src/wallet/batch/row.js';
import { orderOf } from '../../src/wallet/instruction/order.js';
import type { BatchEnd } from './commands.js';
import type { Keeper } from './homes.js';
import { inWords } from './process.js';
import { paymentsOf, type Books, type Ended } from './books.js';
import { baseRef, byItself, hasMoved, type Model } from './service-model.js';
import { totalOf, type ModelTransaction } from './service-quotes.js';
import { askedKey, keyOf } from './wishes.js';

export async function audit(books: Books): Promise<string[]> {
  const journals = await Promise.all(
    books.keepers.map(async (keeper) => ({
      keeper,
      payments: await paymentsOf(keeper),
      checked: await keeper.check(),
    })),
  );
  const known: Known = {
    books,
    paymentOf: new Map(
      journals.flatMap(({ payments }) => payments.map((each) => [each.id, each] as const)),
    ),
  };
  const moved = books.model.transactions.filter(hasMoved);
  return [
    ...twice(moved, known),
    ...twiceByAgents(moved, books),
    ...books.ended.flatMap((each) => untrue(each, known)),
    ...moved.flatMap((txn) => notAgreed(txn, books)),
    ...moved.flatMap((txn) => tooGreatALoss(txn, known)),
    ...books.model.transactions.flatMap((txn) => notAsked(txn)),
    ...overLimits(moved, known),
    ...journals.flatMap(({ keeper, checked }) =>
      checked.flatMap(({ ref, differs }) =>
        differs === undefined
          ? []
          : [`trail of ${ref} in the journal of ${keeper.name}: ${differs}`],
      ),
    ),
    ...journals.flatMap(({ keeper, payments }) =>
      payments.flatMap((payment) =>
        astray(payment, keeper, known).map((why) => `journal of ${keeper.name}: ${why}`),
      ),
    ),
  ];
}

interface Known {
  readonly books: Books;
  readonly paymentOf: ReadonlyMap<string, Payment>;
}

/**
 * Finds payments that moved money twice: under one reference, or for one invoice in one journal.
 */
function twice(moved: readonly ModelTransaction[], known: Known): string[] {
  const pairs = moved.flatMap((txn, index) =>
    moved.slice(0, index).map((other) => [other, txn] as const),
  );
  return pairs.flatMap(([one, other]) => {
    const sameIntent = baseRef(one.extRefId) === baseRef(other.extRefId);
    const sameInvoice = invoiceOf(one) !== undefined && invoiceOf(one) === invoiceOf(other);
    if (!sameIntent && !(sameInvoice && sharesJournal(one, other, known.books))) return [];
    if (isLicensed(one, other, known)) return [];
    const what = sameIntent ? 'under one reference' : 'one invoice';
    return [
      `paid twice, ${what}: ${one.extRefId} (${one.txnId}) and ${other.extRefId} (${other.txnId})`,
    ];
  });
}

/**
 * Finds two transactions in which agents of one journal paid the same amount to the same
 * destination. The audit skips agents on a machine with a wrong clock, because such agents may
 * repeat a payment.
 */
function twiceByAgents(moved: readonly ModelTransaction[], { agents, keeperOf }: Books): string[] {
  const byAgents = moved.flatMap((txn) => {
    const by = txn.movedBy ?? '';
    const isSwap = txn.dest.method === 'servicepay';
    return agents.get(by) === true && !isSwap ? [{ txn, keeper: keeperOf.get(by) }] : [];
  });
  return byAgents.flatMap(({ txn, keeper }, index) => {
    const earlier = byAgents
      .slice(0, index)
      .find((each) => each.keeper === keeper && askedKey(each.txn) === askedKey(txn));
    return earlier === undefined
      ? []
      : [`agents paid the same twice: ${earlier.txn.extRefId} and ${txn.extRefId}`];
  });
}

const invoiceOf = ({ dest }: ModelTransaction): string | undefined =>
  dest.reqDetails?.['paymentRequest'];

/**
 * Returns whether homes with the same journal confirmed both transactions. Homes with separate
 * journals cannot detect that two payments have the same invoice.
 */
function sharesJournal(one: ModelTransaction, other: ModelTransaction, books: Books): boolean {
  const keepers = [...one.confirmedBy].map((name) => books.keeperOf.get(name));
  return [...other.confirmedBy].some((name) => keepers.includes(books.keeperOf.get(name)));
}

/**
 * Returns whether a person used `--retry` with a service that may still execute an expired quote,
 * so that a second payment is allowed.
 */
function isLicensed(
  one: ModelTransaction,
  other: ModelTransaction,
  { books, paymentOf }: Known,
): boolean {
  const { saysExpiredTooEarly, waitingOutlivesExpiry } = books.model.parameters;
  if (!saysExpiredTooEarly && !waitingOutlivesExpiry) return false;
  const refs = [...books.retried].map((id) => paymentOf.get(id)?.ref);
  return [one, other].some(({ extRefId }) => refs.includes(baseRef(extRefId)));
}

/** The kinds of failure that guarantee that no money moved. */
const promises: ReadonlySet<FailureKind> = new Set([
  'temporary',
  'interrupted',
  'declined',
  'refused',
  'limit',
  'usage',
  'already-paid',
  'authentication',
  'not-found',
]);
/** The kinds of failure that describe the whole payment, not only the run. */
const ofThePayment: ReadonlySet<FailureKind> = new Set([
  'temporary',
  'interrupted',
  'declined',
  'refused',
  'limit',
  'not-found',
  'payment-failed',
]);

/** Finds differences between the report of a command and what happened. */
function untrue(ended: Ended, known: Known): string[] {
  const { verdict, process, options } = ended;
  const { transactions } = known.books.model;
  const says = (why: string): string => `${process} ended with "${inWords(verdict)}", but ${why}`;
  const own = transactions.filter((txn) => txn.confirmedBy.has(process));
  const moves = transactions.filter((txn) => hasMoved(txn) && txn.movedBy === process);
  const wrongly =
    (options.until === 'quoted' || ended.command === 'cancel') && own.length > 0
      ? ['it has confirmed']
      : [];
  if (verdict.ended === 'broken') return [says('that is a defect')];
  if (verdict.ended === 'batch')
    return [...wrongly, ...untrueBatch(verdict.end, moves, known)].map(says);
  if (verdict.ended === 'resumed')
    return [
      ...verdict.end.resumed.flatMap((each) => untrueResumed(each, moves, known)),
      ...sentAfterAll(verdict.end.failure, moves),
    ].map(says);
  if (verdict.ended === 'done')
    return [...wrongly, ...untrueSuccess(ended, verdict.txn, known)].map(says);
  const { kind, txnId } = verdict.failure;
  const found: string[] = [...wrongly];
  if (kind === 'unexpected') found.push('nothing unexpected may happen');
  if (kind === 'payment-failed')
    found.push(
      ...untrueEnd(
        transactions.find((txn) => txn.txnId === txnId),
        moves,
      ),
    );
  if (promises.has(kind) && moves[0] !== undefined)
    found.push(`its confirmation of ${moves[0].txnId} took effect`);
  if (ofThePayment.has(kind) && ended.command !== 'cancel')
    found.push(...movedBefore(ended, known));
  if (kind === 'refused' && ended.command === 'pay' && /reference/.test(verdict.failure.message))
    found.push(...movedElsewhere(ended, known.books));
  if (ended.isCalm && ended.wishes.length > 0 && !mayEndInCalm(ended, verdict.failure, known))
    found.push('every command must report the outcome once the faults have stopped');
  return found.map(says);
}

function untrueSuccess(
  { command, options, wishes }: Ended,
  { txnId, txnState }: { txnId: string; txnState: string },
  { books }: Known,
): string[] {
  const txn = books.model.transactions.find((each) => each.txnId === txnId);
  if (txn === undefined) return ['there is no such transaction'];
  if (command === 'cancel')
    return hasLapsed(txnState) && hasMoved(txn) ? [`it is ${txn.state}`] : [];
  if (wishes.length > 0 && !wishes.some(({ order }) => keyOf(order) === askedKey(txn)))
    return ['that is another payment'];
  if (
    txn.deviation !== undefined &&
    txn.movedBy !== byItself &&
    !toBeAsked.has(txn.deviation) &&
    options.until !== 'quoted'
  )
    return [`that is ${txn.deviation}`];
  if (txnState === 'completed') return txn.state === 'completed' ? [] : [`it is ${txn.state}`];
  if (options.until === 'quoted') return isFinal(txnState) ? ['that is no quote'] : [];
  return options.wait === false && wasSubmitted(txn) ? [] : ['that is no end'];
}

/**
 * Checks the report of exit code 6: the transaction has ended without moving money, and no other
 * transaction of this run moved money.
 */
function untrueEnd(
  txn: ModelTransaction | undefined,
  moves: readonly ModelTransaction[],
): string[] {
  const [moved] = moves;
  if (txn === undefined || hasMoved(txn) || stateAtLast(txn) === 'quoted')
    return [`it is ${txn?.state}`];
  return moved === undefined ? [] : [`${moved.txnId} moved`];
}

/**
 * Finds a transaction that moved money for a payment of this run. Skips a transaction that was
 * submitted through another journal, or after the run's last read of its own journal.
 */
function movedBefore({ tracks, keeper }: Ended, { books, paymentOf }: Known): string[] {
  const refs = [...tracks.payments].map((id) => paymentOf.get(id)?.ref);
  const moved = books.model.transactions.find(
    (txn) =>
      hasMoved(txn) &&
      refs.includes(baseRef(txn.extRefId)) &&
      (txn.submittedAt ?? Infinity) < tracks.latest &&
      books.keeperOf.get(txn.movedBy ?? '') === keeper,
  );
  return moved === undefined
    ? []
    : [`${moved.txnId} of that payment had been submitted, and moved`];
}

/**
 * Finds a transaction that has the payment's reference and that any home submitted before the
 * refused command started.
 */
function movedElsewhere({ wishes, startedAt }: Ended, { model }: Books): string[] {
  const refs = wishes.map(({ ref }) => ref);
  const moved = model.transactions.find(
    (txn) =>
      hasMoved(txn) &&
      refs.includes(baseRef(txn.extRefId)) &&
      (txn.submittedAt ?? Infinity) < startedAt,
  );
  return moved === undefined
    ? []
    : [`${moved.txnId} had been submitted under that reference, and moved`];
}

/**
 * Returns whether a command may fail after the faults have stopped, because the service refuses the
 * payment, a limit stops the payment, or the outcome is still unknown.
 */
function mayEndInCalm(
  { wishes, keeper }: Ended,
  { kind, message }: Failure,
  { books }: Known,
): boolean {
  const { parameters, transactions } = books.model;
  const refuses = parameters.refusing > 0 || parameters.making > 0;
  const lags =
    parameters.readLagMs > 0 || parameters.listLagMs > 0 || parameters.confirmationWaitsMs > 0;
  const isLimited = Object.keys(books.limits.perDay).length > 0;
  const isInDoubt = transactions.some((txn) => hasLapsed(stateAtLast(txn)));
  const sharesInvoice =
    books.agents.size > 0 ||
    wishes.some((wish) =>
      books.wishes.some((other) => other !== wish && other.order === wish.order),
    );
  if (kind === 'payment-failed') return true;
  if (kind === 'limit') return isLimited || refuses;
  if (kind === 'refused' || kind === 'authentication') return refuses;
  // An invoice may have expired before this home paid it.
  if (kind === 'usage' || kind === 'already-paid')
    return (sharesInvoice && keeper.ids.size > 0) || refuses || /the invoice expired/.test(message);
  const isShort = parameters.quoteLifeMs < 5_000;
  return isUnknown({ kind })
    ? isInDoubt || lags || refuses
    : (kind === 'temporary' && isShort) || ((kind === 'temporary' || kind === 'not-found') && lags);
}

function untrueBatch(
  { rows, failure }: BatchEnd,
  moves: readonly ModelTransaction[],
  { books }: Known,
): string[] {
  const found = rows.flatMap((row) => untrueRow(row, moves, books));
  if (failure === undefined && rows.some(({ state }) => state === 'failed' || state === 'unknown'))
    found.push('not all rows are done');
  return [...found, ...sentAfterAll(failure, moves)];
}

/** The exit codes of several payments that promise that none of the payments was sent. */
const nothingSent: ReadonlySet<number> = new Set([2, 9, 75, 130]);

/** Finds a transaction that moved in a run of several payments that reports that none was sent. */
const sentAfterAll = (failure: Failure | undefined, moves: readonly ModelTransaction[]): string[] =>
  failure !== undefined && nothingSent.has(exitCodes[failure.kind])
    ? moves.slice(0, 1).map(({ txnId }) => `its confirmation of ${txnId} took effect`)
    : [];

function untrueResumed(
  { payment: { ref }, txn, failure }: Resumed,
  moves: readonly ModelTransaction[],
  { books }: Known,
): string[] {
  const { transactions } = books.model;
  if (txn?.txnState === 'completed') {
    const real = transactions.find(({ txnId }) => txnId === txn.txnId);
    return real?.state === 'completed' ? [] : [`${ref} is ${real?.state}`];
  }
  if (failure === undefined) return [];
  const own = moves.filter((each) => baseRef(each.extRefId) === ref);
  if (failure.kind === 'payment-failed')
    return untrueEnd(
      transactions.find(({ txnId }) => txnId === failure.txnId),
      own,
    );
  return promises.has(failure.kind)
    ? own.map(({ txnId }) => `the confirmation of ${txnId} for ${ref} took effect`)
    : [];
}

const wasSubmitted = ({ confirmedBy, movedBy }: ModelTransaction): boolean =>
  confirmedBy.size > 0 || movedBy === byItself;

function untrueRow(row: Row, moves: readonly ModelTransaction[], { model }: Books): string[] {
  const { failure, state, txnId } = row;
  const txn = model.transactions.find((each) => each.txnId === txnId);
  if (state === 'paid')
    return txn?.state === 'completed' &&
      keyOf(orderOf(row.instruction, { now: 0 })) === askedKey(txn)
      ? []
      : [`${row.ref} is ${txn?.state}`];
  if (state === 'in-flight' && failure === undefined)
    return txn !== undefined && wasSubmitted(txn) ? [] : [`${row.ref} was not sent`];
  const moved = moves.find((each) => baseRef(each.extRefId) === row.ref);
  return unpaidOutcomes.has(state) && moved !== undefined
    ? [`${moved.txnId} for ${row.ref} took effect`]
    : [];
}

/** The deviations that a person may approve at a prompt, but that `--yes` does not cover. */
const toBeAsked: ReadonlySet<string> = new Set(['fees above the amount', 'a bad rate']);

/** Finds a transaction that was confirmed although it differs from its order. */
function notAsked({ deviation, confirmedBy, txnId }: ModelTransaction): string[] {
  if (deviation === undefined || toBeAsked.has(deviation) || confirmedBy.size === 0) return [];
  return [`${txnId} was confirmed by ${[...confirmedBy].join(', ')}, and has ${deviation}`];
}

function notAgreed(txn: ModelTransaction, { standing, agreed, model }: Books): string[] {
  if (txn.confirmedBy.size === 0)
    return txn.movedBy === byItself ? [] : [`nobody confirmed ${txn.txnId}`];
  const key = askedKey(txn);
  const total = new Big(totalOf(txn));
  const isKnown =
    txn.deviation === undefined ||
    !toBeAsked.has(txn.deviation) ||
    (txn.deviation === 'a bad rate' && !showedRates(txn, model));
  const covered =
    (isKnown && standing.has(key)) || agreed.get(key)?.some((each) => total.lte(each.plus('1e-7')));
  return covered === true
    ? []
    : [
        `nobody agreed to ${txn.txnId}, which took ${total.toFixed(8)}${txn.deviation === undefined ? '' : `: ${txn.deviation}`}`,
      ];
}

/** Returns whether all processes that confirmed a transaction could read the rates. */
const showedRates = (
  { confirmedBy }: ModelTransaction,
  { parameters, signedOut }: Model,
): boolean => parameters.showsRates && ![...confirmedBy].some((name) => signedOut.has(name));

/**
 * Finds a conversion whose loss exceeds `maxRateLoss` although svcpay could compute the loss from
 * the service's rates.
 */
function tooGreatALoss(txn: ModelTransaction, { books, paymentOf }: Known): string[] {
  if (txn.deviation !== 'a bad rate' || !showedRates(txn, books.model)) return [];
  const keeper = books.keeperOf.get(txn.movedBy ?? '');
  const ruledOut = [...(keeper?.ids ?? [])].some((id) => {
    const payment = paymentOf.get(id);
    return (
      payment?.attempts.some(({ txnId }) => txnId === txn.txnId) === true &&
      payment.terms.maxRateLoss !== undefined
    );
  });
  return ruledOut ? [`${txn.txnId} moved at a loss above the highest that was agreed to`] : [];
}

/**
 * Returns the process whose confirmation took effect, or all processes that sent a confirmation if
 * none took effect.
 */
const submittersOf = ({ movedBy, confirmedBy }: ModelTransaction): readonly string[] =>
  movedBy === undefined || movedBy === byItself ? [...confirmedBy] : [movedBy];

/** Finds exceeded daily limits; every payment counts, because every schedule ends within a day. */
function overLimits(moved: readonly ModelTransaction[], known: Known): string[] {
  const { limits, keepers, keeperOf } = known.books;
  return Object.entries(limits.perDay).flatMap(([ccy, most]) =>
    keepers.flatMap((keeper) => {
      const own = moved.filter(
        (txn) =>
          txn.source.ccy === ccy && submittersOf(txn).some((name) => keeperOf.get(name) === keeper),
      );
      const sum = own.reduce((total, txn) => total.plus(totalOf(txn)), new Big(0));
      return sum.gt(new Big(most).plus('1e-9'))
        ? [`${keeper.name} submitted ${sum.toFixed(8)} ${ccy} in a day, more than ${most}`]
        : [];
    }),
  );
}

/**
 * Returns the final state of a transaction. An open quote counts as `expired`, because some
 * services record the expiry of a quote only if a late confirmation arrives.
 */
const stateAtLast = ({ state, isWaiting }: ModelTransaction): string =>
  state === 'quoted' && !isWaiting ? 'expired' : state;

/** The longest time for which svcpay searches the list for a reference. */
const longestLookMs = 7_500;

/** Finds differences between the journal and the service after the end of a schedule. */
function astray(payment: Payment, keeper: Keeper, known: Known): string[] {
  const { ref } = payment;
  const { state, txnId, txnState } = latest(payment);
  // An import added this payment to the journal; the payment is older than the schedule.
  if (txnId?.startsWith('older-')) return [];
  const { transactions } = known.books.model;
  const txn = transactions.find((each) => each.txnId === txnId);
  if (status(payment) === 'abandoned') {
    // Another home may have submitted a payment that this home abandoned after a 429.
    const isHere = ({ movedBy }: ModelTransaction): boolean =>
      known.books.keeperOf.get(movedBy ?? '') === keeper;
    const own = transactions.filter(
      (each) => baseRef(each.extRefId) === ref && hasMoved(each) && isHere(each),
    );
    return own
      .filter((each) => !isLicensed(each, each, known))
      .map((each) => `${ref} is abandoned, but ${each.txnId} is ${each.state}`);
  }
  // An earlier attempt was paid after all, so svcpay no longer reads the attempt that `--retry`
  // created.
  if (status(payment) === 'paid' && state !== 'paid') return [];
  const { listLagMs, lagsSteadily, readLagMs, quoteLifeMs } = known.books.model.parameters;
  // svcpay cannot find the transaction if the list lags longer than svcpay searches the list.
  if (state === 'requested' && lagsSteadily && listLagMs > longestLookMs) return [];
  // If reads show a quote only after its expiry, svcpay can never confirm a quote.
  if ((state === 'requested' || state === 'quoted') && readLagMs >= quoteLifeMs) return [];
  // An abandoned payment with an unknown outcome stays open until a person decides.
  if (status(payment) === 'unknown' && payment.abandoned) return [];
  // If the service starts a transaction that differs from the order, the payment never ends: svcpay
  // finds the difference in every read, and does not accept the transaction as the payment.
  const isOther = txn?.deviation !== undefined && txn.movedBy === byItself;
  const isUnknown = txn !== undefined && (hasLapsed(stateAtLast(txn)) || txn.isRefused || isOther);
  const hasEnded =
    state === 'paid' || state === 'failed' || state === 'error' || state === 'lapsed';
  if (!hasEnded) return isUnknown && mayHavePaid(payment) ? [] : [`${ref} is still ${state}`];
  if (state === 'lapsed')
    return txn === undefined || !hasMoved(txn)
      ? []
      : [`${ref} lapsed, the service says ${txn.state}`];
  return txn !== undefined && stateAtLast(txn) === txnState
    ? []
    : [`${ref} says ${txnId} is ${txnState}, the service says ${txn?.state}`];
}
