// What the webhook commands share: the webhook secret, which never comes from an argument, the
// default receiver, and stored events as rows.
import type { Settings } from '../../store/profile/settings.js';
import { signatureHeader, readPayload, type WebhookEvent } from '../../webhooks/events.js';
import type { Transaction } from '../../api/types.js';
import type { StoredEvent } from '../../store/events/event-store.js';
import type { EventRow } from '../../terminal/views/webhook-view.js';
import { invalid } from '../../formats/failure.js';
import { commandLine, type RunGlobals } from '../../terminal/next-step.js';
import type { Context } from '../context.js';
import { isSandbox } from '../sandbox/control.js';
import { readStdin } from '../process.js';
import { flag, type ValuesOf } from '../values.js';
import { codeOf } from '../../formats/text.js';
import { randomBytes } from 'node:crypto';

export const defaultListenPort = 4712;
export const defaultListenUrl = `http://127.0.0.1:${defaultListenPort}`;

/**
 * Returns the name of the signature header: the configured name, or a name that contains the
 * service name.
 */
export const headerOf = (settings: Pick<Settings, 'signatureHeader' | 'maker'>): string =>
  settings.signatureHeader ?? signatureHeader(settings.maker);

export function eventRow(
  event: StoredEvent,
  payload: WebhookEvent | undefined = readPayload(event.body),
): EventRow {
  const received = {
    eventId: event.id,
    receivedAt: event.receivedAt,
    duplicateOf: event.duplicateOf,
    outOfOrder: event.outOfOrder,
    missing: event.missing,
  };
  // Uses Object.assign, because spreading is much slower and svcpay may receive thousands of events
  // per second.
  return Object.assign({}, payload ?? { body: Buffer.from(event.body).toString('utf8') }, received);
}

export const withTransaction = (row: EventRow, transaction: Transaction | undefined): EventRow =>
  transaction === undefined ? row : { ...row, transaction };

export const secretFromStdin = {
  secretStdin: flag().describe('read the webhook secret from stdin'),
};

export const newSecret = {
  ...secretFromStdin,
  generateSecret: flag().describe('generate a secret and show it once'),
};

const variable = 'SVCPAY_WEBHOOK_SECRET';

/** The secrets with which the service may sign deliveries, the newest first. */
export type WebhookSecrets = readonly [newest: string, ...older: string[]];

/** Returns the given webhook secrets, or the saved secret of the chosen account, or asks for it. */
export const webhookSecrets = async (
  secretStdin: boolean,
  context: Context,
): Promise<WebhookSecrets> =>
  (await knownSecrets(secretStdin, context)) ?? [await askForSecret(context)];

const askForSecret = ({ ask }: Context, orElse = ''): Promise<string> =>
  ask.secret({ message: 'Webhook secret', flag: `${orElse}--secret-stdin or ${variable}` });

/** The advice on how to register a listener by hand with the saved webhook secret. */
export function registerAdvice(run: RunGlobals): string {
  const print = commandLine({ command: 'webhook listen --print-secret' }, run);
  const register = commandLine({ command: 'webhook set URL --secret-stdin' }, run);
  return `To register a webhook with this secret: ${print} | ${register}`;
}

/**
 * Returns the webhook secrets for `webhook listen`. If no webhook secret is known, generates and
 * saves a secret at a terminal or with a sandbox. Without an API key for a real service, `webhook
 * listen` cannot register the webhook, so svcpay shows the generated secret to the person.
 */
export async function secretsToListenWith(
  secretStdin: boolean,
  context: Context,
): Promise<WebhookSecrets> {
  const { settings, terminal, out } = context;
  const known = await knownSecrets(secretStdin, context);
  if (known !== undefined) return known;
  const isLocal = isSandbox(settings);
  if (!terminal.canPrompt && !isLocal) return [await askForSecret(context)];
  const secret = makeSecret();
  const place = await keepWebhookSecret(secret, context);
  out.say(`Created a webhook secret and saved it in ${place}.`);
  if (isLocal || settings.apiKey !== undefined) return [secret];
  out.say(`  ${secret}`);
  out.say(registerAdvice(context.globals));
  return [secret];
}

async function knownSecrets(
  secretStdin: boolean,
  context: Context,
): Promise<WebhookSecrets | undefined> {
  const [given, ...older] = await givenSecrets(secretStdin, context);
  const newest = given ?? (await context.secrets.load(secretName(context)))?.secret;
  return newest === undefined ? undefined : [newest, ...older];
}

const makeSecret = (): string => `whsec_${randomBytes(32).toString('base64url')}`;

export async function chooseSecret(
  { secretStdin, generateSecret }: ValuesOf<typeof newSecret>,
  context: Context,
): Promise<string> {
  if (generateSecret && secretStdin)
    throw invalid('Give --secret-stdin or --generate-secret, not both.');
  if (generateSecret) return makeSecret();
  const [given] = await givenSecrets(secretStdin, context);
  return given ?? askForSecret(context, '--generate-secret, ');
}

/**
 * Returns the secret on stdin, or the secrets in the environment. During a change of the webhook
 * secret, the environment variable contains the new and the old secret as `new,old`.
 */
async function givenSecrets(secretStdin: boolean, context: Context): Promise<string[]> {
  if (!secretStdin)
    return withoutLineEnd(context.env[variable] ?? '')
      .split(',')
      .filter((secret) => secret.trim() !== '');
  const secret = withoutLineEnd(await readStdin(context));
  if (secret.trim() === '') throw invalid('stdin contains no webhook secret.');
  return [secret];
}

const withoutLineEnd = (text: string): string => text.replace(/\r?\n$|\r$/, '');

/**
 * Saves the webhook secret for `webhook listen`, and resolves with a description of where the
 * secret is stored.
 */
export const keepWebhookSecret = async (secret: string, context: Context): Promise<string> =>
  context.secrets.where(await context.secrets.save(secretName(context), secret));

export const forgetWebhookSecret = (context: Context): Promise<void> =>
  context.secrets.remove(secretName(context));

/**
 * Returns the name of the webhook secret in the secret store. Each account has one webhook and one
 * webhook secret.
 */
function secretName({ settings }: Context): string {
  const { baseUrl = '', apiKey = '', accountId = '', embedded } = settings;
  return ['webhook', baseUrl, embedded ? '' : apiKey, accountId]
    .filter((part) => part !== '')
    .join(' ');
}

/** @param command the command with the option that chooses the port */
export function portFailure(error: unknown, host: string, port: number, command: string): unknown {
  const code = codeOf(error);
  if (code === 'EADDRINUSE') {
    return invalid(`Port ${port} is in use.`, {
      next: { do: 'run', command: `${command} 0` },
      cause: error,
    });
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EACCES') {
    return invalid(`svcpay cannot listen on address ${host}, port ${port} (${code}).`, {
      cause: error,
    });
  }
  return error;
}
