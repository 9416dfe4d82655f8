// Changes the callback or the secret of a webhook. Specification: endpoint 13.
import { Failure } from '../../formats/failure.js';
import { webhookCard, webhookFields } from '../../terminal/views/webhook-view.js';
import { callbackUrl, checkCallback } from './callback.js';
import { defineCommand } from '../define.js';
import { text } from '../values.js';
import { chooseSecret, keepWebhookSecret, newSecret } from './webhook-secret.js';

export const updateWebhook = defineCommand({
  fields: webhookFields,
  arguments: { id: text('ID').describe('id of the webhook, as listed') },
  options: { callback: callbackUrl().optional().describe('new https address'), ...newSecret },
  examples: [
    ['svcpay webhook update ID --callback https://shop.example/v2/hooks', 'another address, the same secret'],
    ['svcpay webhook update ID --secret-stdin < secret', 'events are signed with the new secret from now on'],
  ],
  async run({ id, callback, ...flags }, context) {
    const changesSecret = flags.secretStdin || flags.generateSecret;
    if (callback === undefined && !changesSecret) {
      throw new Failure('usage', 'Nothing to change.', { hint: 'Give --callback URL, --secret-stdin or --generate-secret.' });
    }
    if (callback !== undefined) checkCallback(callback, context.settings.baseUrl);
    const secret = changesSecret ? await chooseSecret(flags, context) : undefined;
    const client = await context.client();
    await client.updateWebhook(id, {
      ...(callback !== undefined && { callback: callback.href }),
      ...(secret !== undefined && { secret }),
    });
    const secretIn = secret === undefined ? undefined : await keepWebhookSecret(secret, context);
    const webhook = (await client.webhooks()).find((each) => each.id === id);
    if (webhook === undefined) throw new Failure('not-found', `The webhook ${id} was changed, and then removed by somebody.`);
    const change = {
      ...webhook,
      ...(flags.generateSecret && secret !== undefined && { secret }),
      ...(secretIn !== undefined && { secretIn }),
    };
    await context.out.record(change, webhookCard(change));
  },
});
