// Registers the webhook of `webhook listen`. svcpay asks before a registration with a real service,
// but not with a sandbox. When `webhook listen` ends, svcpay removes the webhook.
import * as v from 'valibot';
import type { ServiceClient } from '../../api/client.js';
import type { Webhook } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { back } from '../../terminal/ask/ask.js';
import { commandLine } from '../../terminal/next-step.js';
import type { Context } from '../context.js';
import { controlSandbox, isRealService } from '../sandbox/control.js';
import { checkCallback } from './webhook.js';
import { registerAdvice } from './secret.js';

export interface Registration {
  /**
   * The registration in words, such as `registered with the embedded sandbox until this command
   * ends`.
   */
  readonly text: string;
  /** Removes the registered webhook, even after Ctrl-C. */
  readonly remove: () => Promise<void>;
}

/**
 * Registers the webhook, or reports the reason of a failed registration and returns undefined.
 * `webhook listen` continues without a registration, because a different program may deliver
 * events.
 */
export async function register(
  listening: string,
  secret: string,
  context: Context,
): Promise<Registration | undefined> {
  const { settings, terminal, out } = context;
  if (settings.baseUrl === undefined) return undefined;
  const isReal = isRealService(settings);
  if (isReal && (!terminal.canPrompt || settings.apiKey === undefined)) return undefined;
  try {
    const { client } = await context.account();
    const [before] = await client.webhooks();
    return isReal
      ? await registerReal(listening, secret, before, client, context)
      : await registerSandbox(listening, secret, before, client, context);
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === 'interrupted') throw error;
    out.warn(`The webhook was not registered: ${error.message}`);
    return undefined;
  }
}

async function registerSandbox(
  listening: string,
  secret: string,
  before: Webhook | undefined,
  client: ServiceClient,
  context: Context,
): Promise<Registration | undefined> {
  const { settings } = context;
  const place = settings.embedded ? 'the embedded sandbox' : `the sandbox at ${client.baseUrl}`;
  if (before !== undefined && isAt(before.callback, listening)) {
    await client.updateWebhook(before.id, { secret });
    return { text: `registered with ${place}`, remove: () => Promise.resolve() };
  }
  if (before !== undefined && !(await replaces(before, listening, place, context)))
    return undefined;
  if (before !== undefined) await client.removeWebhook(before.id);
  if (!settings.embedded)
    await controlSandbox(context, 'PUT', 'webhook-options', v.object({}), {
      allowHttpLoopback: true,
    });
  return registered({ callback: listening, secret }, `registered with ${place}`, client);
}

const isAt = (callback: string, listening: string): boolean =>
  URL.canParse(callback) && new URL(callback).origin === new URL(listening).origin;

/**
 * Asks whether to replace an existing webhook, which belongs to a different receiver or to an
 * earlier run that was killed.
 */
async function replaces(
  { callback }: Webhook,
  listening: string,
  place: string,
  { ask, out, globals }: Context,
): Promise<boolean> {
  const elsewhere = `Events of ${place} go to ${callback}, not here.`;
  const yes = await ask
    .confirm(`${elsewhere} Send the events here instead?`)
    .catch((error: unknown) => {
      if (error instanceof Failure && error.kind === 'declined') return false;
      throw error;
    });
  const here = commandLine({ command: 'webhook set', argument: listening }, globals);
  if (!yes) out.say(`${elsewhere} To send the events here: ${here}`);
  return yes;
}

/**
 * Registers the webhook with a real service, which needs an external address, such as the address
 * of a tunnel.
 */
async function registerReal(
  listening: string,
  secret: string,
  before: Webhook | undefined,
  client: ServiceClient,
  { ask, out, settings, globals }: Context,
): Promise<Registration | undefined> {
  const notHere = (why: string): undefined => {
    out.say(why);
    out.say(registerAdvice(globals));
    return undefined;
  };
  if (before !== undefined)
    return notHere(`Events of ${client.baseUrl} go to ${before.callback}, not here.`);
  const callback = await ask.steps.parsed({
    message: `Public https address of ${listening}, such as your tunnel's address`,
    flag: 'a registered webhook (svcpay webhook set URL)',
    parse: (text) => checkCallback(text, settings.baseUrl),
  });
  if (callback === back) return notHere(`No webhook is set at ${client.baseUrl}.`);
  return registered({ callback: callback.href, secret }, `registered as ${callback.href}`, client);
}

async function registered(
  wanted: { readonly callback: string; readonly secret: string },
  text: string,
  client: ServiceClient,
): Promise<Registration> {
  const { id } = await client.createWebhook(wanted);
  return {
    text: `${text} until this command ends`,
    remove: () => client.afterwards().removeWebhook(id).catch(unlessGone),
  };
}

/** Ignores an error that means that a different command has replaced or removed the webhook. */
function unlessGone(error: unknown): void {
  if (!(error instanceof Failure) || error.kind !== 'not-found') throw error;
}
