// The options that every payment accepts, and the words of a send and of a swap.
import type { Transaction } from '../../api/types.js';
import {
  currencyOf,
  fixed,
  isUnitless,
  parseAmount,
  type Money,
  parseCurrency,
} from '../../formats/amount.js';
import { type Failure, invalid } from '../../formats/failure.js';
import { parseReference } from '../../formats/reference.js';
import type { PaymentTerms } from '../../store/journal/payment.js';
import type { ApprovedProposal, PaymentEvent, Repeats } from '../../wallet/payment/model.js';
import {
  uriRails,
  type Instruction,
  isAll,
  type SwapWords,
} from '../../wallet/instruction/instruction.js';
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
import { clip } from '../../formats/text.js';
import type { CardLine } from '../../terminal/cards/card.js';

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
    throw invalid(`"${given}" has no unit. Write ${given}%, or an amount such as 100sat.`);
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
  return invalid(`--max-fee ${given} is in ${named}, but this payment's fees are in ${ccy}.`, {
    money: 'Not sent',
    hint: `Write --max-fee in ${ccy}, e.g. ${example}, or as a percentage, e.g. 1%.`,
  });
}

/** Reads the largest accepted loss from the conversion of a payment, such as `5%` or `5`. */
function parseRateLoss(given: string): string {
  const percent = /^(\d{1,2}(?:\.\d{1,6})?|100)\s?%?$/.exec(given)?.[1];
  if (percent !== undefined) return percent;
  throw invalid(`"${given}" is not a percentage. Write a percentage such as 2% or 0.5%.`);
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
    throw invalid('Use either --no-wait or --wait-timeout, not both.');
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

export const swapArguments = {
  words: phrase('AMOUNT FROM TO')
    .describe(
      'amount or all, wallet to debit (not needed if AMOUNT has a unit, e.g. 25usdt), ' +
        'and wallet to credit',
    )
    .suggesting('wallet'),
};

export const swapOptions = {
  receive: flag().describe('AMOUNT is what TO receives, not what FROM pays'),
};

/** The line of the card that names both wallets. */
export const aboutSwap = ({ from, to, amount }: Instruction): CardLine[] => [
  { label: 'Swap', value: amount === 'all' ? `all of ${from} to ${to}` : `${from} to ${to}` },
];

const amountAndUnit = '(?<digits>[\\d.]+(?: [\\d.]+)*)(?<gap> ?)(?<first>[a-z]+)?';
const wallets = '(?: (?<second>[a-z]+))?(?: (?<third>[a-z]+))?';
const pattern = new RegExp(`^(?:(?<whole>all)|${amountAndUnit})${wallets}$`, 'i');
const isSats = (name: string): boolean => /^sats?$/i.test(name);

/**
 * Reads the words of a swap, `AMOUNT FROM TO` or, with the wallet as the unit, `AMOUNTfrom TO`.
 * Returns undefined for each word that is missing from the swap.
 */
export function readSwapWords(given: string, receive: boolean): SwapWords {
  const text = given.trim().replaceAll(/ +/g, ' ');
  if (text === '') return {};
  const { whole, digits, gap, first, second, third } = pattern.exec(text)?.groups ?? {};
  if (whole !== undefined) return { amount: 'all', from: wallet(second), to: wallet(third) };
  if (digits === undefined)
    throw usage(
      `"${clip(text)}" does not name an amount and two wallets. For example: ` +
        `svcpay swap 25usdt BTC`,
    );
  if (first === undefined) return { amount: digits };
  if (third !== undefined)
    return sides({ amount: digits + first, from: second, to: third }, receive);
  const hasUnit = gap === '' || isSats(first);
  const amount = hasUnit ? digits + first : digits;
  const named = hasUnit ? parseAmount(amount).ccy : first;
  if (second === undefined)
    return sides({ amount, ...(receive ? { to: named } : { from: named }) }, receive);
  if (receive && hasUnit)
    throw usage('name both wallets, e.g. svcpay swap 100000sat USDT BTC --receive');
  return sides({ amount, from: named, to: second }, receive);
}

function sides({ amount, from, to }: SwapWords, receive: boolean): SwapWords {
  const words = { amount, from: wallet(from), to: wallet(to) };
  const other = receive ? words.from : words.to;
  if (amount !== undefined && words.from !== words.to) refuseOtherSide(amount, other, receive);
  return words;
}

function wallet(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  if (isSats(name)) throw usage(`"${name}" is a unit of the BTC wallet. Write BTC.`);
  return parseCurrency(name);
}

/** Returns the missing arguments, named as in the help. */
export const missingOf = ({ amount, from, to }: SwapWords): string[] =>
  Object.entries({ AMOUNT: amount, FROM: from, TO: to }).flatMap(([name, word]) =>
    word === undefined ? [name] : [],
  );

/** Returns a complete example command that contains the given arguments. */
export function swapExample({ amount = '25', from, to }: SwapWords, receive: boolean): string {
  const ccy = (receive ? to : from) ?? from ?? to ?? 'USDT';
  const other = ccy === 'BTC' ? 'USDT' : 'BTC';
  const unit = isUnitless(amount) && ccy === 'BTC' ? 'btc' : '';
  const wallets = receive ? `${other} ${ccy} --receive` : `${ccy} ${other}`;
  return `svcpay swap ${amount}${unit} ${wallets}`;
}

/** Refuses a paid amount in the received currency, and a received amount in the paid currency. */
function refuseOtherSide(amount: string, other: string | undefined, receive: boolean): void {
  const unit = /(?<![a-z])[a-z]+$/i.exec(amount)?.[0].toUpperCase();
  if (isAll(amount) || unit === undefined || other === undefined) return;
  if (unit !== other && !(other === 'BTC' && /^SATS?$/.test(unit))) return;
  const [verb, hint] = receive
    ? ['receive', `To debit ${amount}, remove --receive.`]
    : ['pay', `To receive ${amount}, add --receive.`];
  throw invalid(`${amount} is in ${other}, but you must name the amount that you ${verb}.`, {
    money: 'Not sent',
    hint,
  });
}

const usage = (why: string): Failure => invalid(why, { money: 'Not sent' });
