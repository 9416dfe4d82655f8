// The options that every payment shares: the reference, the highest fee, how long to wait.
import { fixed, parseAmount } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import type { PaymentTerms } from '../../store/journal/journal.js';
import type { ValuesOf } from '../define.js';
import { duration, flag, onOff, text, word } from '../values.js';

type MaxFee = NonNullable<PaymentTerms['maxFee']>;

/** `1%` of the amount, or an amount such as `100sat`. */
export function parseMaxFee(given: string): MaxFee {
  const percent = /^(\d{1,3}(?:\.\d{1,6})?)\s?%$/.exec(given)?.[1];
  if (percent !== undefined) return { percent };
  if (/^0[a-z]+$/i.test(given)) return { amount: '0', ccy: parseAmount(`1${given.slice(1)}`).ccy };
  const { ccy, value } = parseAmount(given);
  return { amount: fixed(value), ccy };
}

const longestRef = 200;

function parseRef(given: string): string {
  const taken = /~\d+$/.test(given);
  if (given !== '' && given.length <= longestRef && !taken && given === given.trim()) return given;
  throw new Failure('usage', `"${given}" cannot be a reference.`, {
    hint: `Use up to ${longestRef} characters, no spaces around, not ending like ~2: that marks a further attempt.`,
  });
}

export const reference = () => word('REF', parseRef);

export const paymentOptions = {
  maxFee: word('AMOUNT|PERCENT', parseMaxFee).optional().describe('highest total fee, as in 100sat or 1%'),
  ref: reference().optional().describe('your reference: run again with the same one, it never pays twice'),
  note: text().optional().describe('a note for yourself; the recipient does not see it'),
  wait: onOff().describe('wait until the payment is settled (the default)'),
  waitTimeout: duration().optional().describe('longest wait for the settlement'),
  quoteOnly: flag().describe('show what it would cost and stop'),
  retry: flag().describe('try again under a reference whose payment failed'),
};

export type PaymentFlags = ValuesOf<typeof paymentOptions>;
