// Sets the webhook of the account, in place of the one before. Specification: endpoint 11.
import type { Webhook } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { webhookCard } from '../../terminal/views/webhook-view.js';
import { callbackUrl, checkCallback } from './callback.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { chooseSecret, keepWebhookSecret, newSecret } from './webhook-secret.js';

export const setWebhook = defineCommand({
  arguments: { url: callbackUrl().describe('https address that the service is to call') },
  options: newSecret,
  examples: [
    ['svcpay webhook set https://shop.example/hooks', 'asks for the secret'],
    ['svcpay webhook set https://shop.example/hooks --generate-secret --yes --json', 'makes one, for a script to keep'],
  ],
  async run({ url, ...flags }, context) {
    checkCallback(url, context.settings.baseUrl);
    const client = await context.client();
    const [before] = await client.webhooks();
    if (before !== undefined) await agreeToReplace(before, url, context);
    const secret = await chooseSecret(flags, context);
    const webhook = await client.createWebhook({ callback: url.href, secret });
    const secretIn = await keepWebhookSecret(secret, context);
    const change = { ...webhook, ...(flags.generateSecret && { secret }), secretIn };
    await context.out.record(change, webhookCard(change));
  },
});

/** An account has one webhook: the one before gets no event from now on. */
async function agreeToReplace(before: Webhook, url: URL, { ask, out }: Context): Promise<void> {
  out.say(`The account has a webhook: ${before.callback} (${before.id}). It will get no more events.`);
  if (!(await ask.confirm(`Replace it by ${url.href}?`))) {
    throw new Failure('declined', `Nothing was changed: the webhook is still ${before.callback}.`);
  }
}
