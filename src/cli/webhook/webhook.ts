// Lists, sets, changes and removes the account's webhook. Specification: endpoints 11 to 14.
import { isLoopback } from '../../api/base-url.js';
import type { ServiceClient } from '../../api/client.js';
import type { Webhook } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import {
  removedView,
  webhookCard,
  webhookRows,
  type WebhookChange,
} from '../../terminal/views/webhook-view.js';
import type { Context } from '../context.js';
import { defineCommand, type Deps } from '../define.js';
import { list, record } from '../show.js';
import { text, word } from '../values.js';
import { chooseSecret, forgetWebhookSecret, keepWebhookSecret, newSecret } from './secret.js';

const id = text('ID').describe('webhook id, as shown by svcpay webhook list');

/**
 * A command-line value that is a callback URL. {@link checkScheme} checks the scheme of the URL.
 */
const callbackUrl = () => word('URL', parseCallback);

function parseCallback(given: string): URL {
  if (!URL.canParse(given))
    throw new Failure(
      'usage',
      `"${given}" is not a URL. Write a URL such as https://shop.example/hooks.`,
    );
  const url = new URL(given);
  if (url.username !== '' || url.password !== '') {
    throw new Failure(
      'usage',
      'A callback URL must not contain a user name or password, because the signature of an ' +
        'event already identifies the service.',
    );
  }
  return url;
}

export const webhookList = defineCommand({
  examples: [
    [
      'svcpay webhook list --json',
      'prints id, callback and time of creation, but never the secret',
    ],
  ],
  run: async (_inputs, { account }: Deps<'account'>) => (await account()).client.webhooks(),
  view: list(webhookRows),
});

/** Replaces the webhook of the account. */
export const webhookSet = defineCommand({
  arguments: { url: callbackUrl().describe('https address for the service to call') },
  options: newSecret,
  examples: [
    ['svcpay webhook set https://shop.example/hooks', 'asks for the secret'],
    [
      'svcpay webhook set https://shop.example/hooks --generate-secret --yes --json',
      'generates a secret and prints it, for a script',
    ],
  ],
  changes: true,
  async run({ url, ...flags }, context): Promise<WebhookChange> {
    checkScheme(url, context.settings.baseUrl);
    const { client } = await context.account();
    const [before] = await client.webhooks();
    if (before !== undefined) await agreeToReplace(before, url, context);
    const secret = await chooseSecret(flags, context);
    const wanted = { callback: url.href, secret };
    const webhook = await client.createWebhook(wanted).catch(async (error: unknown) => {
      if (!isTaken(error)) throw error;
      return updateExisting(client, wanted, before, error, context);
    });
    const secretIn = await keepWebhookSecret(secret, context);
    return { ...webhook, ...(flags.generateSecret && { secret }), secretIn };
  },
  view: record(webhookCard),
});

export const webhookUpdate = defineCommand({
  arguments: { id },
  options: { callback: callbackUrl().optional().describe('new https address'), ...newSecret },
  examples: [
    [
      'svcpay webhook update ID --callback https://shop.example/v2/hooks',
      'changes the address and keeps the secret',
    ],
    ['svcpay webhook update ID --secret-stdin < secret', 'changes the secret for all later events'],
  ],
  changes: true,
  async run({ id, callback, ...flags }, context): Promise<WebhookChange> {
    const changesSecret = flags.secretStdin || flags.generateSecret;
    if (callback === undefined && !changesSecret) {
      throw new Failure('usage', 'Nothing to change.', {
        hint: 'Give --callback URL, --secret-stdin or --generate-secret.',
      });
    }
    if (callback !== undefined) checkScheme(callback, context.settings.baseUrl);
    const { client } = await context.account();
    const secret = changesSecret ? await chooseSecret(flags, context) : undefined;
    await client.updateWebhook(id, {
      ...(callback !== undefined && { callback: callback.href }),
      ...(secret !== undefined && { secret }),
    });
    const secretIn = secret === undefined ? undefined : await keepWebhookSecret(secret, context);
    const webhook = (await client.webhooks()).find((each) => each.id === id);
    if (webhook === undefined)
      throw new Failure(
        'not-found',
        `The webhook ${id} was changed, but another program has since removed it.`,
      );
    return {
      ...webhook,
      ...(flags.generateSecret && secret !== undefined && { secret }),
      ...(secretIn !== undefined && { secretIn }),
    };
  },
  view: record(webhookCard),
});

/** Removes the webhook of the account and the webhook's secret. */
export const webhookRemove = defineCommand({
  arguments: { id },
  examples: [['svcpay webhook remove ID', 'asks for confirmation, then stops all deliveries']],
  changes: true,
  async run({ id }, context) {
    const { client } = await context.account();
    await context.ask.agree(
      `Remove the webhook ${id}? The service will then stop delivering state changes.`,
      'Nothing was removed',
    );
    await client.removeWebhook(id);
    await forgetWebhookSecret(context);
    return { id, removed: true };
  },
  view: record(removedView),
});

/** Checks a typed callback URL. Throws Failure `usage` if the service cannot call the URL. */
export function checkCallback(given: string, baseUrl: string | undefined): URL {
  const url = parseCallback(given);
  checkScheme(url, baseUrl);
  return url;
}

/**
 * Throws Failure `usage` for a callback URL without https. Allows http only for a callback from a
 * sandbox on this machine to this machine.
 */
function checkScheme({ protocol, hostname }: URL, baseUrl: string | undefined): void {
  if (protocol === 'https:') return;
  if (protocol === 'http:' && isLoopback(hostname) && baseUrl?.startsWith('http:') === true) return;
  throw new Failure('usage', 'The callback must be an https URL.', {
    hint: 'For a receiver on this machine, use a tunnel with an https address.',
  });
}

/** Whether an error means that the account already has a webhook (code 3002). */
const isTaken = (error: unknown): error is Failure =>
  error instanceof Failure && error.code === '3002';

/**
 * Replaces the account's existing webhook.
 * @param approved the webhook whose replacement the person approved
 */
async function updateExisting(
  client: ServiceClient,
  wanted: { readonly callback: string; readonly secret: string },
  approved: Webhook | undefined,
  refusal: Failure,
  context: Context,
): Promise<Webhook> {
  const [existing] = await client.webhooks();
  if (existing === undefined) throw refusal;
  if (existing.id !== approved?.id)
    await agreeToReplace(existing, new URL(wanted.callback), context);
  await client.updateWebhook(existing.id, wanted);
  return (
    (await client.webhooks()).find(({ id }) => id === existing.id) ?? {
      ...existing,
      callback: wanted.callback,
    }
  );
}

/**
 * Asks before svcpay replaces the account's only webhook, because the previous callback URL
 * receives no further events.
 */
async function agreeToReplace(before: Webhook, url: URL, { ask, out }: Context): Promise<void> {
  out.say(`The account's webhook will get no more events: ${before.callback} (${before.id}).`);
  await ask.agree(
    `Replace this webhook with ${url.href}?`,
    `Nothing was changed: the service still sends events to ${before.callback}`,
  );
}
