// Being told of state changes: the webhook of the account, and everything an integrator does with its deliveries.
import type { Branch } from '../branch.js';

export const webhookBranches: readonly Branch[] = [
  {
    name: 'webhook',
    summary: 'receive, check, forward and replay events',
    branches: [
      {
        name: 'list',
        summary: 'the webhook of the account',
        load: async () => (await import('../webhook/webhook-list.js')).listWebhooks,
      },
      {
        name: 'set',
        summary: 'set the webhook, in place of the one before',
        load: async () => (await import('../webhook/webhook-set.js')).setWebhook,
      },
      {
        name: 'update',
        summary: 'change its callback or its secret',
        load: async () => (await import('../webhook/webhook-update.js')).updateWebhook,
      },
      {
        name: 'remove',
        summary: 'remove it',
        load: async () => (await import('../webhook/webhook-remove.js')).removeWebhook,
      },
      {
        name: 'listen',
        summary: 'receive events on this machine',
        load: async () => (await import('../webhook/webhook-listen.js')).listenWebhook,
      },
      {
        name: 'verify',
        summary: 'check a signature, and say why it is wrong',
        load: async () => (await import('../webhook/webhook-verify.js')).verifyWebhook,
      },
      {
        name: 'sign',
        summary: 'sign a body as the service does',
        load: async () => (await import('../webhook/webhook-sign.js')).signWebhook,
      },
      {
        name: 'replay',
        summary: 'send stored events once more',
        load: async () => (await import('../webhook/webhook-replay.js')).replayWebhook,
      },
      {
        name: 'trigger',
        summary: 'bring about an event, against the sandbox',
        load: async () => (await import('../webhook/webhook-trigger.js')).triggerWebhook,
      },
    ],
  },
];
