// Takes a destination from those that are allowed. Without the last one every destination is allowed again.
import { limitFields } from '../../terminal/views/limits-view.js';
import { Failure } from '../../formats/failure.js';
import { noLimits } from '../../wallet/limits/limits.js';
import { readAllowed } from '../../wallet/limits/allowed-destinations.js';
import { defineCommand } from '../define.js';
import { changeLimits, showLimits } from './limits-flow.js';
import { text } from '../values.js';

export const limitsDisallow = defineCommand({
  fields: limitFields,
  arguments: { destination: text('DESTINATION').describe('as svcpay limits list shows it') },
  options: {},
  examples: [['svcpay limits disallow satoshi@example.com', 'payments to it are stopped, while others are allowed']],
  async run({ destination }, context) {
    const { ask, settings } = context;
    const { destinations } = settings.profile.limits ?? noLimits;
    const names = destinations.includes(destination) ? [destination] : readAllowed(destination);
    if (!destinations.some((each) => names.includes(each))) {
      throw new Failure('not-found', `${destination} is not among the destinations allowed.`, { next: { do: 'see-limits' } });
    }
    const isLast = destinations.every((each) => names.includes(each));
    if (isLast && !(await ask.confirm('No other destination is named: payments may then go anywhere. Take it away?'))) {
      throw new Failure('declined', 'The limits stay as they are.');
    }
    await changeLimits(context, (before) => ({
      ...before,
      destinations: before.destinations.filter((each) => !names.includes(each)),
    }));
    await showLimits(context);
  },
});
