// Sets limits on amounts: a limit in the same currency is replaced, all others stay.
import { limitFields } from '../../terminal/views/limits-view.js';
import { fixed, formatAmount, money, parseAmount, type Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { noLimits } from '../../wallet/limits/limits.js';
import type { Needs } from '../context.js';
import { back } from '../../terminal/ask/ask.js';
import { defineCommand } from '../define.js';
import { changeLimits, showLimits } from './limits-flow.js';
import { amount } from '../values.js';

export const limitsSet = defineCommand({
  fields: limitFields,
  arguments: {},
  options: {
    perPayment: amount().repeated().describe('the most that one payment may take, fees included; one for each currency'),
    perDay: amount().repeated().describe('the most that all payments of 24 hours may take; one for each currency'),
  },
  examples: [
    ['svcpay limits set --per-payment 100000sat --per-day 500000sat', 'for payments from the bitcoin wallet'],
    ['svcpay limits set --per-day 1000000sat', 'to raise a limit, its amount is typed once more; --yes in a script'],
    ['svcpay limits set --per-day 200usdt --per-day 5000000vnd', 'a payout counts in what arrives as well'],
  ],
  async run({ perPayment, perDay }, context) {
    if (perPayment.length + perDay.length === 0) {
      throw new Failure('usage', 'No limit was set: give --per-payment AMOUNT or --per-day AMOUNT.');
    }
    const change = { perPayment: byCurrency(perPayment, '--per-payment'), perDay: byCurrency(perDay, '--per-day') };
    const { perPayment: payment, perDay: day } = context.settings.profile.limits ?? noLimits;
    await agreeToRaise('per payment', payment, perPayment, context);
    await agreeToRaise('per day', day, perDay, context);
    await changeLimits(context, (before) => ({
      ...before,
      perPayment: { ...before.perPayment, ...change.perPayment },
      perDay: { ...before.perDay, ...change.perDay },
    }));
    await showLimits(context);
  },
});

/** A limit is there for the moment in which one is not at one's best: whoever raises it types it. */
async function agreeToRaise(
  rule: string,
  before: Readonly<Record<string, string>>,
  amounts: readonly Money[],
  { ask, globals }: Needs<'ask' | 'globals'>,
): Promise<void> {
  for (const { ccy, value } of globals.yes ? [] : amounts) {
    const former = before[ccy];
    if (former === undefined || value.lte(former)) continue;
    const [from, to] = [money(ccy, former), { ccy, value }].map(formatAmount);
    const agreed = await ask.steps.parsed({
      message: `This raises the limit ${rule} from ${from} to ${to}. Type the new amount to agree:`,
      flag: '--yes',
      parse: (typed) => {
        if (!parseAmount(typed, ccy).value.eq(value)) throw new Failure('usage', `That is not ${to}. Esc leaves the limit as it is.`);
      },
    });
    if (agreed === back) throw new Failure('declined', 'The limits stay as they are.');
  }
}

function byCurrency(amounts: readonly Money[], flag: string): Record<string, string> {
  const twice = amounts.find(({ ccy }, index) => amounts.findIndex((each) => each.ccy === ccy) !== index);
  if (twice !== undefined) throw new Failure('usage', `No limit was set: ${flag} was given twice in ${twice.ccy}.`);
  return Object.fromEntries(amounts.map(({ ccy, value }) => [ccy, fixed(value)]));
}
