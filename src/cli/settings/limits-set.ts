// Sets limits on amounts: a limit in the same currency is replaced, all others stay.
import { fixed, type Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { defineCommand } from '../define.js';
import { changeLimits, showLimits } from './limits-flow.js';
import { amount } from '../values.js';

export const limitsSet = defineCommand({
  arguments: {},
  options: {
    perPayment: amount().repeated().describe('the most that one payment may take, fees included; one for each currency'),
    perDay: amount().repeated().describe('the most that all payments of 24 hours may take; one for each currency'),
  },
  examples: [
    ['svcpay limits set --per-payment 100000sat --per-day 500000sat', 'for payments from the bitcoin wallet'],
    ['svcpay limits set --per-day 200usdt --per-day 5000000vnd', 'a payout counts in what arrives as well'],
  ],
  async run({ perPayment, perDay }, context) {
    if (perPayment.length + perDay.length === 0) {
      throw new Failure('usage', 'No limit was set: give --per-payment AMOUNT or --per-day AMOUNT.');
    }
    await changeLimits(context, (before) => ({
      ...before,
      perPayment: { ...before.perPayment, ...byCurrency(perPayment, '--per-payment') },
      perDay: { ...before.perDay, ...byCurrency(perDay, '--per-day') },
    }));
    await showLimits(context);
  },
});

function byCurrency(amounts: readonly Money[], flag: string): Record<string, string> {
  const twice = amounts.find(({ ccy }, index) => amounts.findIndex((each) => each.ccy === ccy) !== index);
  if (twice !== undefined) throw new Failure('usage', `No limit was set: ${flag} was given twice in ${twice.ccy}.`);
  return Object.fromEntries(amounts.map(({ ccy, value }) => [ccy, fixed(value)]));
}
