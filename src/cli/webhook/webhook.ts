// Lists, sets, changes and removes the account's webhook (endpoints 11 to 14), and signs and
// verifies bodies as the service does.
import { isLoopback } from '../../api/check-options.js';
import type { ServiceClient } from '../../api/client.js';
import type { Webhook } from '../../api/types.js';
import { Failure, invalid } from '../../formats/failure.js';
import {
  removedView,
  webhookCard,
  webhookRows,
  type WebhookChange,
  signatureView,
  verifiedView,
} from '../../terminal/views/webhook-view.js';
import type { Context } from '../context.js';
import { defineCommand, type Deps, list, record } from '../define.js';
import { text, word, file } from '../values.js';
import {
  chooseSecret,
  forgetWebhookSecret,
  keepWebhookSecret,
  newSecret,
  headerOf,
  secretFromStdin,
  webhookSecrets,
} from './receiving.js';
import { signBody, isSignature, verifyBody } from '../../webhooks/events.js';
import { readGivenFile, readStdinBytes } from '../process.js';
import { credentialName } from '../../store/profile/settings.js';

const id = text('ID').describe('webhook id, as shown by svcpay webhook list');

/**
 * A command-line value that is a callback URL. {@link checkScheme} checks the scheme of the URL.
 */
const callbackUrl = () => word('URL', parseCallback);

function parseCallback(given: string): URL {
  if (!URL.canParse(given))
    throw invalid(`"${given}" is not a URL. Write a URL such as https://shop.example/hooks.`);
  const url = new URL(given);
  if (url.username !== '' || url.password !== '') {
    throw invalid(
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
      throw invalid('Nothing to change.', {
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
  throw invalid('The callback must be an https URL.', {
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
  return { ...existing, callback: wanted.callback };
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

const body = file().optional().describe('file with the raw body (default, or -: stdin)');

export const webhookSign = defineCommand({
  arguments: { file: body },
  options: secretFromStdin,
  examples: [
    [
      'svcpay webhook sign event.json',
      "prints the signature of the file's exact bytes, in lowercase hex",
    ],
  ],
  async run({ file, secretStdin }, context) {
    const body = await inputBytes(file, secretStdin, context);
    const [secret] = await webhookSecrets(secretStdin, context);
    return { signature: signBody(body, secret), header: headerOf(context.settings) };
  },
  view: record(signatureView),
});

/**
 * Reads the signed bytes from a file or, without a file name or with `-`, from stdin, which then
 * cannot contain the webhook secret too.
 */
async function inputBytes(
  file: string | undefined,
  secretStdin: boolean,
  deps: Deps<'stdin'>,
): Promise<Uint8Array> {
  if (file !== undefined && file !== '-') return readGivenFile(file);
  if (secretStdin) {
    throw invalid('The body and the secret cannot both come from stdin.', {
      hint: 'Give the body as a file, or give the secret in SVCPAY_WEBHOOK_SECRET.',
    });
  }
  return readStdinBytes(deps);
}

/** Verifies the signature of a webhook delivery. For a wrong signature, the exit code is 3. */
export const webhookVerify = defineCommand({
  arguments: { file: body },
  options: {
    signature: text('HEX').describe('signature, as in the header'),
    ...secretFromStdin,
  },
  examples: [
    [
      'svcpay webhook verify --signature 9f86d0… event.json',
      'exits with 0 if the signature is valid, and with 3 if it is wrong',
    ],
  ],
  async run({ file, signature, secretStdin }, context) {
    const body = await inputBytes(file, secretStdin, context);
    const secrets = await webhookSecrets(secretStdin, context);
    if (!secrets.some((each) => verifyBody(body, signature, each))) {
      const [cause, reason] = causeOf(body, signature, secrets[0], await findApiSecret(context));
      throw new Failure('refused', `The signature is wrong: ${reason}.`, {
        code: `wrong-${cause}`,
      });
    }
    return { valid: true, bytes: body.length } as const;
  },
  view: record(verifiedView),
});

function causeOf(
  body: Uint8Array,
  signature: string,
  secret: string,
  apiSecret: string | undefined,
): readonly [cause: string, reason: string] {
  if (!isSignature(signature))
    return ['encoding', 'a signature has exactly 64 hex digits (0-9 and a-f)'];
  if (apiSecret !== undefined && verifyBody(body, signature, apiSecret))
    return ['secret', 'it was made with the API secret instead of the webhook secret'];
  const text = Buffer.from(body).toString('latin1');
  const variants = [text.trimEnd(), `${text}\n`, `${text}\r\n`];
  if (variants.some((each) => verifyBody(Buffer.from(each, 'latin1'), signature, secret)))
    return ['body', 'white space at the end of the body was added or removed in transit'];
  return ['unknown', 'the secret or the body is different; a signature alone does not show which'];
}

async function findApiSecret({ settings, secrets }: Context): Promise<string | undefined> {
  const { baseUrl, apiKey, apiSecret } = settings;
  if (apiSecret !== undefined || apiKey === undefined || baseUrl === undefined) return apiSecret;
  return (await secrets.load(credentialName(baseUrl, apiKey)))?.secret;
}
