// The endpoints that manage an account's webhook (specification: endpoints 11 to 14).
import * as v from 'valibot';
import { readBody, type AccountCall, type Route } from '../http/routing.js';
import { badRequest, webhookExists } from '../wire/refusal.js';
import { maxTextLength } from '../unspecified.js';
import { text } from '../wire/values.js';
import { createWebhook, reachWebhook, removeWebhook, showWebhook, updateWebhook, webhookOf } from '../deliveries/webhooks.js';

const callback = v.pipe(text(maxTextLength.callback), v.nonEmpty());
const secret = v.pipe(text(maxTextLength.secret), v.nonEmpty());

const creation = v.object({ callback, secret });
const change = v.object({ callback: v.optional(callback), secret: v.optional(secret) });

export function webhookEndpoints(base: string): Route[] {
  const one = `${base}/webhook/:webhookId`;
  return [
    { method: 'POST', path: `${base}/webhook`, access: 'token', answer: postWebhook },
    { method: 'GET', path: `${base}/webhook`, access: 'token', answer: getWebhooks },
    { method: 'PUT', path: one, access: 'token', answer: putWebhook },
    { method: 'DELETE', path: one, access: 'token', answer: deleteWebhook },
  ];
}

function postWebhook({ ctx, account, incoming }: AccountCall): unknown {
  const wanted = readBody(incoming, creation);
  if (ctx.liveShapes.has('webhook-exists') && webhookOf(ctx.store, account.id) !== undefined) throw webhookExists();
  return showWebhook(createWebhook(ctx, account.id, wanted.callback, wanted.secret));
}

function getWebhooks({ ctx, account }: AccountCall): unknown {
  const webhook = webhookOf(ctx.store, account.id);
  return { data: webhook === undefined ? [] : [showWebhook(webhook)] };
}

function putWebhook({ ctx, account, params, incoming }: AccountCall): unknown {
  const webhook = reachWebhook(ctx.store, account, params['webhookId'] ?? '');
  const wanted = readBody(incoming, change);
  if (wanted.callback === undefined && wanted.secret === undefined) throw badRequest('callback or secret is required');
  return showWebhook(updateWebhook(ctx, webhook, wanted));
}

function deleteWebhook({ ctx, account, params }: AccountCall): unknown {
  const webhook = reachWebhook(ctx.store, account, params['webhookId'] ?? '');
  removeWebhook(ctx.store, webhook.id);
  return showWebhook(webhook);
}
