// Checks a quote against the order and the terms, shows the quote, and gets an approval from a
// person or from `--yes`.
import { Failure } from '../../formats/failure.js';
import type { Rates, Transaction } from '../../api/types.js';
import { checkDestination, checkSpend, quotedAmounts } from '../limits/limits.js';
import { instructionOf } from '../instruction/instruction.js';
import { checkEcho, notObeyed } from '../order/echo.js';
import {
  isWorse,
  readQuote,
  type Quote,
  checkMarket,
  checkTerms,
  refuseUnusual,
  unusualOf,
} from '../quote/quote.js';
import { formatAmount, money, type Money } from '../../formats/amount.js';
import { readFunds } from './create.js';
import { isInAdvance, type Approval, type PaymentDeps } from './contract.js';
import { readsOf, txnOf, type RunEventBody, type Funds, type Run, type RunGoal } from './model.js';

/** Throws Failure for a quote that must not be approved. */
export async function approve(run: Run, goal: RunGoal, deps: PaymentDeps): Promise<RunEventBody> {
  const txn = transactionOf(run);
  const approval = await approvalOf(run, txn, deps);
  const { quote } = approval;
  // A quote that this run has read, not requested, is the quote of an earlier run.
  const isEarlier = readsOf(run.memory) !== undefined && run.memory.approvedQuote === undefined;
  if (isEarlier && instructionOf(run.payment).amount === 'all')
    deps.on({ type: 'kept', total: quote.total });
  deps.on({ type: 'quoted', approval });
  if (goal.until === 'quoted') return { is: 'shown' };
  const { consent } = goal;
  if (isInAdvance(consent)) {
    refuseUnusual(approval.unusual, quote);
    return { is: 'approved', quote, by: 'covered' };
  }
  // The approval of an expired quote also covers the next quote, unless the next quote is worse.
  if (run.memory.approvedQuote !== undefined && !approval.worse)
    return { is: 'approved', quote, by: 'covered' };
  const answer = 'ask' in consent && (await consent.ask(approval));
  if (answer === 'lapsed') return { is: 'prompt-expired' };
  // Only `true` approves the quote, because a program's `approve` may return a value that is not a
  // boolean.
  if (answer === true) return { is: 'approved', quote, by: 'asked' };
  return {
    is: 'declined',
    failure: new Failure('declined', '', {
      money: 'Not sent. The quote will expire unconfirmed',
      txnId: quote.txnId,
    }),
  };
}

function transactionOf({ memory, payment }: Run): Transaction {
  const txn = txnOf(memory);
  if (txn !== undefined) return txn;
  throw new Failure('unexpected', `The transaction of ${payment.ref} was not read.`);
}

async function approvalOf(run: Run, txn: Transaction, deps: PaymentDeps): Promise<Approval> {
  const { order, memory } = run;
  const { terms } = run.payment;
  const quoted = memory.phase === 'quoted' ? memory : undefined;
  checkEcho(order, txn, deps.account);
  const quote = readQuote(order, txn);
  checkTerms(terms, quote);
  const [funds, market] = await Promise.all([
    quoted?.funds ?? readFunds(quote.total.ccy, deps.service),
    checkMarket(terms, order, quote, async () =>
      orThrow(quoted?.rates ?? (await deps.service.rates())),
    ),
    deps.checkOrder?.(),
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
    worse: isWorseThan(memory.approvedQuote, quote),
    unusual: unusualOf(terms, quote, market),
  };
}

function orThrow(rates: Rates | Failure): Rates {
  if (rates instanceof Failure) throw rates;
  return rates;
}

const isWorseThan = (approvedQuote: Quote | undefined, quote: Quote): boolean =>
  approvedQuote !== undefined &&
  isWorse(quote, { total: approvedQuote.total.value, receives: approvedQuote.receives?.value });

/**
 * Returns the approved quote, as last read from the service. Throws Failure `refused` if the quote
 * now differs from the order, or is worse than when it was approved.
 */
export function quoteToSubmit(run: Run): Quote {
  const { approvedQuote } = run.memory;
  const txn = transactionOf(run);
  checkEcho(run.order, txn);
  const quote = readQuote(run.order, txn);
  if (approvedQuote === undefined || !isWorseThan(approvedQuote, quote)) return quote;
  throw notObeyed(
    `the quote became worse after the approval: the total is now ${formatAmount(quote.total)}, ` +
      `and the approved total is ${formatAmount(approvedQuote.total)}`,
    txn.txnId,
  );
}

/**
 * The spendable amount before the quote, or undefined if the reservation for this quote may have
 * reduced the balance.
 */
function availableBefore(funds: Funds | undefined, total: Money): Money | undefined {
  if (funds === undefined) return undefined;
  return funds.isBefore === true || funds.reserved.value.lt(total.value)
    ? funds.available
    : undefined;
}

function notEnough(needed: Money, available: Money): Failure {
  const have = available.value.eq(0) ? `no ${needed.ccy}` : formatAmount(available);
  return new Failure(
    'limit',
    `the payment costs ${formatAmount(needed)} including fees, but you have ${have}.`,
    { money: 'Not sent', next: { do: 'see-wallets' } },
  );
}
