// Cancels an unconfirmed quote (endpoint 8, which the specification names but does not describe).
import { receiptView } from '../../terminal/cards/receipt.js';
import { cancelQuote } from '../../wallet/payment/cancel-quote.js';
import { defineCommand } from '../define.js';
import { record } from '../show.js';
import { pickId } from './pick.js';
import { resolveId } from './resolve-id.js';
import { transaction } from '../values.js';

export const txCancel = defineCommand({
  arguments: {
    id: transaction().optional().describe('id (or its first 6 characters) or reference of a quote'),
  },
  examples: [['svcpay tx cancel ID', 'cancels a quote; a cancelled quote cannot be confirmed']],
  changes: true,
  async run({ id: named }, context) {
    const id = named ?? (await pickId('Which quote do you want to cancel?', ['quoted'], context));
    const { client: service, scope, journal } = await context.account();
    const txn = await cancelQuote(await resolveId(id, context), {
      service,
      journal: await journal(),
      scope,
      owner: context.owner,
    });
    if (txn.txnState !== 'usercanceled')
      context.out.say('This quote had already expired or been cancelled.');
    return txn;
  },
  view: record((now) => receiptView({ now })),
});
