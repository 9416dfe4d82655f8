// created -> confirming: the quote is checked against what was asked for, shown, agreed to, and only then let go.
import Big from 'big.js';
import type { Transaction } from '../../api/types.js';
import { fixed } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { notEnough } from './balance.js';
import type { Approval } from './contract.js';
import { checkDestination, checkSpend, lastDay, quotedAmounts } from '../limits/limits.js';
import { checkEcho, checkMaxFee, isWorse, readQuote, type Quote } from './quote.js';
import { alreadyPaid } from './references.js';
import { afterLapse, close, interrupted, reread, write, writeAfterMoney, type Run } from './run.js';
import { hasLapsed, isFinal, isQuoted } from '../../formats/states.js';

/** Resolves with the transaction when only a quote was wanted. */
export async function agree(run: Run): Promise<Transaction | undefined> {
  const txn = run.txn ?? (await rereadQuote(run));
  if (txn === undefined) return undefined;
  if (hasLapsed(txn.txnState)) {
    await afterLapse(run, txn);
    return undefined;
  }
  if (!isQuoted(txn.txnState)) {
    // Let go already, by another machine perhaps: from here on the journal only follows.
    await writeAfterMoney(run, { step: isFinal(txn.txnState) ? 'final' : 'confirmed', txnState: txn.txnState, closed: false });
    return run.start.options.quoteOnly && !isFinal(txn.txnState) ? txn : undefined;
  }
  const quote = checkedQuote(run, txn);
  const approval = { order: run.order, quote, txn, available: run.available, worse: isWorseThanAgreed(run, quote) };
  run.deps.on({ type: 'quoted', approval });
  if (run.start.options.quoteOnly) {
    await close(run);
    return txn;
  }
  await letGo(run, approval);
  return undefined;
}

/** A quote that the service does not know was never confirmed: the reference is looked for, or quoted, once more. */
async function rereadQuote(run: Run): Promise<Transaction | undefined> {
  try {
    return await reread(run);
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'not-found') throw error;
    run.requotes += 1;
    await write(run, { step: 'intent', txnId: null, txnState: null });
    return undefined;
  }
}

function checkedQuote(run: Run, txn: Transaction): Quote {
  checkEcho(run.order, txn);
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
  const { consent } = run.claim.intent;
  const covered = consent === 'standing' || (consent === 'quote' && !approval.worse);
  if (!covered && !(await run.deps.approve(approval))) {
    await close(run);
    throw declined(approval.quote);
  }
  if (run.deps.signal.aborted) throw interrupted();
  const { total, receives } = approval.quote;
  run.claim = await run.deps.journal.spend(
    run.claim,
    {
      step: 'confirming',
      consent: consent === 'standing' ? 'standing' : 'quote',
      approvedTotal: fixed(total.value),
      approvedReceives: receives === undefined ? null : fixed(receives.value),
      spendCcy: total.ccy,
    },
    lastDay(run.deps.now(), run.deps.service.serviceNow()),
    (before) => {
      if (before.rival !== undefined) throw alreadyPaid(before.rival);
      checkSpend(run.deps.limits, quotedAmounts(run.order, approval.quote), () => before.spent);
    },
  );
  run.agreed = approval.quote;
  run.confirmedHere = true;
}

const declined = ({ txnId }: Quote): Failure =>
  new Failure('declined', 'Not sent: you said no. The quote lapses by itself.', { txnId });
