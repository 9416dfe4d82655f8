// The quote is checked against the order and the terms, shown, and approved: by a person, or by a yes that covers it.
import Big from 'big.js';
import { Failure } from '../../formats/failure.js';
import type { Rates, Transaction } from '../../api/types.js';
import { latest, type Consent } from '../../store/journal/payment.js';
import { checkDestination, checkSpend, quotedAmounts } from '../limits/limits.js';
import { checkEcho, notObeyed } from '../order/echo.js';
import { isWorse, readQuote, type Quote } from '../quote/quote.js';
import { checkMarket, checkMaxFee, refuseUnusual, unusualOf } from '../quote/terms.js';
import { formatAmount, money } from '../../formats/amount.js';
import { availableBefore, notEnough, readFunds } from './balance.js';
import type { Approval, PaymentDeps } from './contract.js';
import type { FactBody, Run, Wish } from './model.js';

/** The yes that the payment has; if one quote is meant (`tx confirm`), the yes to that quote. */
export const consentOf = ({ payment }: Run, { expect, renew }: Wish): Consent =>
  expect === undefined ? payment.consent : (renew.consent ?? 'none');

/** Throws Failure for a quote that must not be approved. */
export async function approve(run: Run, wish: Wish, deps: PaymentDeps): Promise<FactBody> {
  const txn = transactionOf(run);
  const approval = await approvalOf(run, txn, deps);
  const { quote } = approval;
  deps.on({ type: 'quoted', approval });
  if (wish.until === 'quoted') return { is: 'shown' };
  const consent = consentOf(run, wish);
  if (consent === 'standing') {
    refuseUnusual(approval.unusual, quote);
    return { is: 'approved', quote, by: 'covered' };
  }
  // A yes to a quote that expired covers the next one unless that is worse.
  const hasYes = consent === 'quote' || run.known.agreed !== undefined;
  if (hasYes && !approval.worse) return { is: 'approved', quote, by: 'covered' };
  const answer = await deps.approve(approval);
  if (answer === 'lapsed') return { is: 'prompt-expired' };
  // Programs answer too, and a word is not a yes.
  if (answer === true) return { is: 'approved', quote, by: 'asked' };
  return {
    is: 'declined',
    failure: new Failure('declined', 'Not sent. The quote will expire unconfirmed.', {
      txnId: quote.txnId,
    }),
  };
}

export function transactionOf({ known, payment }: Run): Transaction {
  if (known.txn !== undefined) return known.txn;
  throw new Failure('unexpected', `The transaction of ${payment.ref} was not read.`);
}

async function approvalOf(run: Run, txn: Transaction, deps: PaymentDeps): Promise<Approval> {
  const {
    order,
    payment: { terms },
  } = run;
  checkEcho(order, txn, deps.account);
  const quote = readQuote(order, txn);
  checkMaxFee(terms, quote);
  const [funds, market] = await Promise.all([
    run.known.funds ?? readFunds(quote.total.ccy, deps.service),
    checkMarket(terms, order, quote, async () =>
      orThrow(run.known.rates ?? (await deps.service.rates())),
    ),
  ]);
  const available = availableBefore(funds, quote.total);
  if (available !== undefined && quote.total.value.gt(available.value))
    throw notEnough(quote.total, available);
  checkDestination(deps.limits, order);
  checkSpend(deps.limits, quotedAmounts(order, quote), () => []);
  if (market.unchecked !== undefined) deps.on({ type: 'rate-unchecked', why: market.unchecked });
  const left = funds && money(funds.available.ccy, funds.available.value.minus(quote.total.value));
  return {
    order,
    quote,
    txn,
    available,
    left: left?.value.lt(0) === true ? undefined : left,
    worse: isWorseThanApproved(run, quote),
    unusual: unusualOf(terms, quote, market),
  };
}

function orThrow(rates: Rates | Failure): Rates {
  if (rates instanceof Failure) throw rates;
  return rates;
}

/** Than what was approved in this run, or before by the journal. */
function isWorseThanApproved({ known, payment }: Run, quote: Quote): boolean {
  if (known.agreed !== undefined) {
    return isWorse(quote, {
      total: known.agreed.total.value,
      receives: known.agreed.receives?.value,
    });
  }
  const approved =
    payment.attempts.findLast(({ approvedTotal }) => approvedTotal !== null) ?? latest(payment);
  if (payment.consent !== 'quote' || approved.approvedTotal === null) return false;
  const receives =
    approved.approvedReceives === null ? undefined : new Big(approved.approvedReceives);
  return isWorse(quote, { total: new Big(approved.approvedTotal), receives });
}

/** The approved quote as it was last read. Throws Failure `refused` if it is for something else now, or worse than it was. */
export function approvedQuote(run: Run): Quote {
  const { agreed } = run.known;
  const txn = transactionOf(run);
  checkEcho(run.order, txn);
  const quote = readQuote(run.order, txn);
  if (
    agreed === undefined ||
    !isWorse(quote, { total: agreed.total.value, receives: agreed.receives?.value })
  )
    return quote;
  throw notObeyed(
    `it takes ${formatAmount(quote.total)} now, and took ${formatAmount(agreed.total)} when it was approved`,
    txn.txnId,
  );
}
