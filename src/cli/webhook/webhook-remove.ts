// Removes a webhook and forgets its secret. Specification: endpoint 14.
import { Failure } from '../../formats/failure.js';
import { sanitize } from '../../terminal/sanitize.js';
import { defineCommand } from '../define.js';
import { text } from '../values.js';
import { forgetWebhookSecret } from './webhook-secret.js';

export const removeWebhook = defineCommand({
  fields: ['id', 'removed'],
  arguments: { id: text('ID').describe('id of the webhook, as listed') },
  examples: [['svcpay webhook remove ID', 'no state change is pushed any more; asks first']],
  async run({ id }, context) {
    const yes = await context.ask.confirm(`Remove the webhook ${id}? State changes are then pushed to nobody.`);
    if (!yes) throw new Failure('declined', 'Nothing was removed.');
    await (await context.client()).removeWebhook(id);
    await forgetWebhookSecret(context);
    await context.out.record(
      { id, removed: true },
      {
        screen: () => [`  Removed the webhook ${sanitize(id)}. Events already on their way may still arrive.`],
        columns: [{ name: 'id', title: 'ID', value: (row) => row.id }],
        quiet: (row) => row.id,
      },
    );
  },
});
