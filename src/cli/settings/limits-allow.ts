// Allows a destination. From the first one on, payments to all others are stopped.
import { limitFields } from '../../terminal/views/limits-view.js';
import { readAllowed } from '../../wallet/limits/allowed-destinations.js';
import { defineCommand } from '../define.js';
import { changeLimits, showLimits } from './limits-flow.js';
import { text } from '../values.js';

export const limitsAllow = defineCommand({
  fields: limitFields,
  arguments: {
    destination: text('DESTINATION').describe(
      'an address, Lightning Address, LNURL, node key, an invoice (for its node), or INSTITUTION:ACCOUNT',
    ),
  },
  options: {},
  examples: [
    ['svcpay limits allow satoshi@example.com', 'from now on only this destination, and others that you allow'],
    ['svcpay limits allow 970436:0123456789', 'an account for payouts: institution and account number'],
    ['svcpay limits allow lnbc25u1…', 'every invoice of the node that made this one'],
  ],
  async run({ destination }, context) {
    const names = readAllowed(destination);
    await changeLimits(context, (before) => ({ ...before, destinations: [...new Set([...before.destinations, ...names])] }));
    await showLimits(context);
  },
});
