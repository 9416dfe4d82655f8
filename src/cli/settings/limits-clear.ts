// Removes the spending policy, or its limits in one currency.
import { limitFields } from '../../terminal/views/limits-view.js';
import { Failure } from '../../formats/failure.js';
import { noLimits } from '../../wallet/limits/limits.js';
import { defineCommand } from '../define.js';
import { changeLimits, showLimits } from './limits-flow.js';
import { currency } from '../values.js';

export const limitsClear = defineCommand({
  fields: limitFields,
  arguments: { ccy: currency().optional().describe('only the limits in this currency') },
  options: {},
  examples: [
    ['svcpay limits clear', 'no limits, and any destination; asks first'],
    ['svcpay limits clear USDT --yes', 'the limits in one currency'],
  ],
  async run({ ccy }, context) {
    const which = ccy === undefined ? 'all limits' : `the limits in ${ccy}`;
    const yes = await context.ask.confirm(`Remove ${which} of profile ${context.settings.profileName}?`);
    if (!yes) throw new Failure('declined', 'The limits stay as they are.');
    const without = (limits: Readonly<Record<string, string>>): Record<string, string> =>
      Object.fromEntries(Object.entries(limits).filter(([each]) => each !== ccy));
    await changeLimits(context, (before) =>
      ccy === undefined
        ? noLimits
        : { ...before, perPayment: without(before.perPayment), perDay: without(before.perDay) },
    );
    await showLimits(context);
  },
});
