// created -> confirming: the quote is checked against what was asked for, shown, agreed to, and only then let go.
import Big from 'big.js';
import { CancelNotOffered, ServiceError } from '../../api/errors.js';
import type { Transaction } from '../../api/types.js';
import { fixed, formatAmount } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import type { Consent } from '../../store/journal/journal.js';
import { isEarliest } from './attempts.js';
import { notEnough } from './balance.js';
import type { Approval } from './contract.js';
import { checkDestination, checkSpend, lastDay, quotedAmounts } from '../limits/limits.js';
import { checkEcho, notObeyed } from '../quote/echo.js';
import { checkAgreement, isWorse, readQuote, type Quote } from '../quote/quote.js';
import { alreadyPaid } from './references.js';
import { withKnown } from '../transaction/read-transaction.js';
import { checkMarket, checkMaxFee, refuseUnusual, unusualOf } from '../quote/terms.js';
import { afterLapse, close, interrupted, lagPauses, reread, wasReportedLater, write, writeAfterMoney, type Run } from './run.js';
import { hasLapsed, isFinal, isQuoted } from '../../formats/states.js';

/** Resolves with the transaction when only a quote was wanted. */
export async function agree(run: Run): Promise<Transaction | undefined> {
  const txn = run.txn ?? (await rereadQuote(run));
  if (txn === undefined) return undefined;
  checkEcho(run.order, txn);
  if (hasLapsed(txn.txnState)) {
    if (await wasReportedLater(run, txn)) await writeAfterMoney(run, { step: 'confirmed', txnState: txn.txnState, closed: false });
    else await afterLapse(run, txn);
    return undefined;
  }
  if (!isQuoted(txn.txnState)) return followInstead(run, txn);
  const approval = await approvalOf(run, txn);
  run.deps.on({ type: 'quoted', approval });
  if (run.start.mode === 'look') {
    await close(run);
    return txn;
  }
  await letGo(run, approval);
  return undefined;
}

/** Let go already, by another machine perhaps: from here on the journal only follows. */
async function followInstead(run: Run, txn: Transaction): Promise<Transaction | undefined> {
  checkAgreement(run.order, txn);
  if (run.createdHere) checkFigures(run, txn);
  await writeAfterMoney(run, { step: isFinal(txn.txnState) ? 'final' : 'confirmed', txnState: txn.txnState, closed: false });
  return run.start.mode === 'look' && !isFinal(txn.txnState) ? txn : undefined;
}

/** A quote that the service does not know was never confirmed: the reference is looked for, or quoted, once more. */
async function rereadQuote(run: Run): Promise<Transaction | undefined> {
  try {
    return await reread(run);
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'not-found' || run.start.mode === 'this-quote') throw error;
    await write(run, { step: 'intent', txnId: null, txnState: null });
    return undefined;
  }
}

async function approvalOf(run: Run, txn: Transaction): Promise<Approval> {
  const quote = checkFigures(run, txn);
  const { terms } = run.claim.intent;
  const market = await checkMarket(terms, run.order, quote, () => run.deps.service.rates());
  if (market.unchecked !== undefined) run.deps.on({ type: 'rate-unchecked', why: market.unchecked });
  const unusual = unusualOf(terms, quote, market);
  return { order: run.order, quote, txn, available: run.available, worse: isWorseThanAgreed(run, quote), unusual };
}

function checkFigures(run: Run, txn: Transaction): Quote {
  const quote = readQuote(run.order, txn);
  checkMaxFee(run.claim.intent.terms, quote);
  if (run.available !== undefined && quote.total.value.gt(run.available.value)) {
    throw notEnough(quote.total, run.available);
  }
  checkDestination(run.deps.limits, run.order);
  checkSpend(run.deps.limits, quotedAmounts(run.order, quote), () => []);
  return quote;
}

/** Against what was agreed to in this run, or before in the journal. */
function isWorseThanAgreed(run: Run, quote: Quote): boolean {
  if (run.agreed !== undefined) {
    return isWorse(quote, { total: run.agreed.total.value, receives: run.agreed.receives?.value });
  }
  const { consent, approvedTotal, approvedReceives } = run.claim.intent;
  if (consent !== 'quote' || approvedTotal === null) return false;
  const receives = approvedReceives === null ? undefined : new Big(approvedReceives);
  return isWorse(quote, { total: new Big(approvedTotal), receives });
}

/** The last moment before money can move: a yes that covers this quote, the limits, and both in the journal. */
async function letGo(run: Run, approval: Approval): Promise<void> {
  const { quote, txn } = approval;
  const isMisdated = run.createdHere && isOver(quote, run);
  const answer = await agreement(run, approval);
  if (run.deps.signal.aborted) throw interrupted();
  if (answer !== 'lapsed' && !(await isEarliest(run, txn))) return;
  // Thinking takes time; a clock that jumped is seen only with an answer of the service, such as the one before.
  if ((answer !== 'covered' || isOver(quote, run)) && !(await stands(run, quote, isMisdated))) return;
  if (answer === 'lapsed') return;
  await spend(run, quote);
  run.confirmedHere = true;
}

const isOver = ({ expiresAt }: Quote, { deps }: Run): boolean => expiresAt !== undefined && expiresAt <= deps.service.serviceNow();

/** The yes that the payment has or, where one quote is meant, what was said to that one. */
const consentOf = ({ claim, start }: Run): Consent =>
  start.mode === 'this-quote' ? (start.renew.consent ?? 'none') : claim.intent.consent;

/** A yes that was given before and covers this quote, one of now, or none before the quote lapsed. Throws Failure `declined`. */
async function agreement(run: Run, approval: Approval): Promise<'covered' | 'yes' | 'lapsed'> {
  const { quote } = approval;
  const consent = consentOf(run);
  if (consent === 'standing') refuseUnusual(approval.unusual, quote);
  // A yes to a quote that has lapsed since covers the next one where that is no worse.
  const hasYes = consent === 'quote' || run.agreed !== undefined;
  const covered = consent === 'standing' || (hasYes && !approval.worse);
  const answer = covered || (await run.deps.approve(approval));
  if (answer === false) {
    await close(run);
    throw declined(quote);
  }
  if (answer === 'lapsed') return answer;
  run.agreed = quote;
  return covered ? 'covered' : 'yes';
}

/**
 * Whether the quote can be confirmed. One that ran out meanwhile, and that the service still calls a quote, is taken back:
 * confirmed too late it would leave a doubt, and the next one leaves none. One that was over when it was made says rather
 * that the clock is wrong.
 */
async function stands(run: Run, quote: Quote, isMisdated: boolean): Promise<boolean> {
  if (!(await holds(run, quote))) return false;
  if (isMisdated || !isOver(quote, run) || run.start.mode === 'this-quote') return true;
  return !(await isTakenBack(run, quote));
}

/** False where the service does not cancel, and goes on calling it a quote: then it may be confirmed still. */
async function isTakenBack(run: Run, quote: Quote): Promise<boolean> {
  try {
    const txn = await run.deps.service.cancelTransaction(run.claim.intent.txnId ?? '');
    run.txn = run.txn === undefined ? txn : withKnown(run.txn, txn);
    // A read of it may lag, and say that it is a quote still.
    if (hasLapsed(txn.txnState)) run.over.add(txn.txnId);
    return !isQuoted(txn.txnState);
  } catch (error) {
    const isRefused = error instanceof ServiceError && error.kind === 'refused';
    if (!isRefused && !(error instanceof CancelNotOffered)) throw error;
    return !(await holds(run, quote, isQuoted));
  }
}

/** Until it is there, and as long as what it says may be an old state: what has run out is called a quote still. */
async function rereadLate(run: Run, mayBeOld: (txnState: string) => boolean): Promise<Transaction> {
  const { sleep, signal } = run.deps;
  for (const ms of lagPauses) {
    if (signal.aborted) break;
    const txn = await reread(run).catch((error: unknown) => {
      if (!(error instanceof ServiceError) || error.kind !== 'not-found') throw error;
    });
    if (txn !== undefined && !mayBeOld(txn.txnState)) return txn;
    await sleep(ms, signal).catch(() => undefined);
  }
  return reread(run);
}

/** Read again it is still a quote. Throws Failure `refused` where it is for something else now, or worse than it was. */
async function holds(run: Run, { total, receives }: Quote, mayBeOld = (_txnState: string): boolean => false): Promise<boolean> {
  const txn = await rereadLate(run, mayBeOld);
  if (!isQuoted(txn.txnState)) return false;
  checkEcho(run.order, txn);
  const now = readQuote(run.order, txn);
  if (!isWorse(now, { total: total.value, receives: receives?.value })) return true;
  throw notObeyed(`it takes ${formatAmount(now.total)} now, and took ${formatAmount(total)} when it was made`, txn.txnId);
}

async function spend(run: Run, { total, receives }: Quote): Promise<void> {
  const { deps, order, claim, start } = run;
  const isStanding = start.mode !== 'this-quote' && claim.intent.consent === 'standing';
  run.claim = await deps.journal.spend(
    claim,
    {
      step: 'confirming',
      consent: isStanding ? 'standing' : 'quote',
      approvedTotal: fixed(total.value),
      approvedReceives: receives === undefined ? null : fixed(receives.value),
      spendCcy: total.ccy,
    },
    lastDay(deps.now(), deps.service.serviceNow()),
    (before) => {
      if (before.rival !== undefined) throw alreadyPaid(before.rival);
      checkSpend(deps.limits, quotedAmounts(order, { total, receives }), () => before.spent);
    },
  );
}

const declined = ({ txnId }: Quote): Failure =>
  new Failure('declined', 'Not sent: you said no. The quote lapses by itself.', { txnId });
