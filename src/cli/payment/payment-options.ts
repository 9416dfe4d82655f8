// The options that every payment accepts.
import type { Transaction } from '../../api/types.js';
import { currencyOf, fixed, isUnitless, parseAmount, type Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { parseReference } from '../../formats/reference.js';
import type { PaymentTerms } from '../../store/journal/payment.js';
import type { ApprovedProposal, PaymentEvent, Repeats } from '../../wallet/payment/contract.js';
import { uriRails } from '../../wallet/instruction/instruction.js';
import {
  choice,
  currency,
  duration,
  flag,
  literal,
  onOff,
  phrase,
  text,
  word,
  type ValuesOf,
} from '../values.js';

export type MaxFee = NonNullable<PaymentTerms['maxFee']>;

/** Returns the fee limit for a paying wallet, and for an agent also for a method. */
export interface MaxFeeOf {
  (ccy: string, method?: string | null): MaxFee;
  /** The fee limit as it was written. */
  readonly written: string;
}

/**
 * Reads a fee limit, either a percentage such as `1%` or an amount such as `100sat`. The returned
 * function throws Failure `usage` if the fee limit and the wallet have different currencies.
 */
export function parseMaxFee(given: string): MaxFeeOf {
  const percent = /^(\d{1,3}(?:\.\d{1,6})?)\s?%$/.exec(given)?.[1];
  if (percent !== undefined) return Object.assign(() => ({ percent }), { written: given });
  const isZero = /^0[a-z]*$/i.test(given);
  if (isUnitless(given) && !isZero)
    throw new Failure(
      'usage',
      `"${given}" has no unit. Write ${given}%, or an amount such as 100sat.`,
    );
  const named = currencyOf(given);
  if (!isZero) parseAmount(given);
  const maxFee = (ccy: string): MaxFee => {
    if (named !== undefined && named !== ccy) throw otherCurrency(given, named, ccy);
    return { amount: isZero ? '0' : fixed(parseAmount(given, ccy).value), ccy };
  };
  return Object.assign(maxFee, { written: given });
}

function otherCurrency(given: string, named: string, ccy: string): Failure {
  const example = ccy === 'BTC' ? '100sat' : `1${ccy.toLowerCase()}`;
  return new Failure(
    'usage',
    `--max-fee ${given} is in ${named}, but this payment's fees are in ${ccy}.`,
    {
      money: 'Not sent',
      hint: `Write --max-fee in ${ccy}, e.g. ${example}, or as a percentage, e.g. 1%.`,
    },
  );
}

/** Reads the largest accepted loss from the conversion of a payment, such as `5%` or `5`. */
function parseRateLoss(given: string): string {
  const percent = /^(\d{1,2}(?:\.\d{1,6})?|100)\s?%?$/.exec(given)?.[1];
  if (percent !== undefined) return percent;
  throw new Failure(
    'usage',
    `"${given}" is not a percentage. Write a percentage such as 2% or 0.5%.`,
  );
}

/** Returns the terms of a payment from a given wallet. */
export const termsOf = (
  flags: Pick<PaymentFlags, 'maxFee' | 'maxRateLoss' | 'maxTotal'>,
  ccy: string,
  method?: string | null,
): PaymentTerms => ({
  maxFee: flags.maxFee?.(ccy, method),
  maxRateLoss: flags.maxRateLoss,
  maxTotal: flags.maxTotal && { ccy: flags.maxTotal.ccy, amount: fixed(flags.maxTotal.value) },
});

export const reference = () => literal('REF', parseReference).suggesting('reference');

export const deductFees = () =>
  flag().describe('deduct the fees from the amount, so the recipient gets less');

export const spend = () =>
  text('AMOUNT')
    .optional()
    .describe('fix the amount debited, not the amount received (USDT, LNURL), e.g. 250000vnd');

export const sendArguments = {
  destination: text('DESTINATION')
    .suggesting('contact')
    .optional()
    .describe(
      'an invoice, any address, LNURL, bitcoin: URI or a name from your address book; ' +
        '- for stdin',
    ),
  amount: phrase('AMOUNT').describe(
    'amount to send, unless the destination contains an amount; ' +
      'all debits the whole balance, including fees',
  ),
};

/** The options that describe a send, without the options that every payment has. */
export const sendOptions = {
  from: currency()
    .optional()
    .describe(
      'wallet that pays (default BTC, or USDT for a TRON address); if the BTC wallet pays, ' +
        'svcpay converts an amount in USDT or fiat at the current rate',
    ),
  spend: spend(),
  via: choice(uriRails, 'WAY', { 'on-chain': 'onchain' })
    .optional()
    .describe('lightning or onchain, for a bitcoin: URI that offers both'),
  deductFees: deductFees(),
};

export const paymentOptions = {
  maxFee: word('AMOUNT|PERCENT', parseMaxFee)
    .optional()
    .describe(
      'highest total fee, in the currency of the paying wallet or as a percentage, e.g. ' +
        '100sat or 1%',
    ),
  maxRateLoss: word('PERCENT', parseRateLoss)
    .optional()
    .describe(
      "highest loss of a conversion, compared with the service's rates (default with --yes: 5%)",
    ),
  ref: reference()
    .optional()
    .describe('your reference; the same reference resumes the same payment'),
  note: text().optional().describe('a note for yourself; the recipient does not see it'),
  wait: onOff().describe('wait until the payment is settled (the default)'),
  waitTimeout: duration().optional().describe('longest wait for the settlement'),
  quoteOnly: flag().describe('show the cost and stop'),
  again: flag().describe('send even if an identical payment is unfinished'),
  retry: flag().describe(
    'start a new attempt after a failed or unknown attempt; ' +
      'you pay twice if the earlier attempt settles after all',
  ),
};

/** Returns the longest wait for the settlement. Throws Failure `usage` for contradictory flags. */
export function waitOf({
  wait,
  waitTimeout,
}: Pick<PaymentFlags, 'wait' | 'waitTimeout'>): number | 'forever' | false {
  if (wait === false && waitTimeout !== undefined) {
    throw new Failure('usage', 'Use either --no-wait or --wait-timeout, not both.');
  }
  return wait === false ? false : (waitTimeout ?? 'forever');
}

export interface PaymentFlags extends ValuesOf<typeof paymentOptions>, ApprovedProposal {
  /** The highest total with fees that a proposal states. */
  readonly maxTotal?: Money | undefined;
}

/** The flags of a payment that the rules for an agent can change. */
export type RuledFlags = Pick<PaymentFlags, 'maxFee' | 'wait' | 'waitTimeout'>;

/** A payment as the rules for an agent see it. */
export interface RuledPayment {
  /** The wallet that pays. */
  readonly from: string;
  /** The payment method on the wire, or undefined for a payout. */
  readonly method: string | null | undefined;
  /** The quote to pay, if the payment has one. */
  readonly txn?: Transaction;
}

/** The rules for the payments of an agent. */
export interface PaymentRules {
  /** Checks a payment before svcpay creates or confirms it, and returns its flags. */
  readonly admit?:
    | (<F extends RuledFlags>(payment: RuledPayment, flags: F) => Promise<F>)
    | undefined;
  /** How the payments treat earlier payments, instead of svcpay's own rule. */
  readonly repeats?: Repeats | undefined;
  readonly on: (event: PaymentEvent) => void;
}
