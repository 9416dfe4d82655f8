// Sets the webhook of the account, in place of the one before. Specification: endpoint 11.
import type { ServiceClient } from '../../api/client.js';
import type { Webhook } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { webhookCard, webhookFields } from '../../terminal/views/webhook-view.js';
import { callbackUrl, checkCallback } from './callback.js';
import type { Needs } from '../context.js';
import { defineCommand } from '../define.js';
import { chooseSecret, keepWebhookSecret, newSecret } from './webhook-secret.js';

export const setWebhook = defineCommand({
  fields: webhookFields,
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
    const wanted = { callback: url.href, secret };
    const webhook = await client.createWebhook(wanted).catch(async (error: unknown) => {
      if (!isTaken(error)) throw error;
      return updateExisting(client, wanted, before, error, context);
    });
    const secretIn = await keepWebhookSecret(secret, context);
    const change = { ...webhook, ...(flags.generateSecret && { secret }), secretIn };
    await context.out.record(change, webhookCard(change));
  },
});

/** The service does not replace a webhook itself: code 3002. */
const isTaken = (error: unknown): error is Failure => error instanceof Failure && error.code === '3002';

/** @param agreed the webhook that the person has already agreed to replace */
async function updateExisting(
  client: ServiceClient,
  wanted: { readonly callback: string; readonly secret: string },
  agreed: Webhook | undefined,
  refusal: Failure,
  context: Needs<'out' | 'ask'>,
): Promise<Webhook> {
  const [existing] = await client.webhooks();
  if (existing === undefined) throw refusal;
  if (existing.id !== agreed?.id) await agreeToReplace(existing, new URL(wanted.callback), context);
  await client.updateWebhook(existing.id, wanted);
  return (await client.webhooks()).find(({ id }) => id === existing.id) ?? { ...existing, callback: wanted.callback };
}

/** An account has one webhook: the one before gets no event from now on. */
async function agreeToReplace(before: Webhook, url: URL, { ask, out }: Needs<'ask' | 'out'>): Promise<void> {
  out.say(`The account has a webhook: ${before.callback} (${before.id}). It will get no more events.`);
  if (!(await ask.confirm(`Replace it by ${url.href}?`))) {
    throw new Failure('declined', `Nothing was changed: the webhook is still ${before.callback}.`);
  }
}
