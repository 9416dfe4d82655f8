// Signs a body as the service signs its deliveries. Specification: Webhook authentication.
import { signatureView } from '../../terminal/views/webhook-view.js';
import { signBody } from '../../webhooks/sign.js';
import { defineCommand } from '../define.js';
import { inputBytes } from './input-bytes.js';
import { headerOf } from './receiving.js';
import { file } from '../values.js';
import { findWebhookSecret, secretFromStdin } from './webhook-secret.js';

export const signWebhook = defineCommand({
  arguments: { file: file().optional().describe('the raw body; - or nothing reads it from stdin') },
  options: secretFromStdin,
  examples: [['svcpay webhook sign event.json', 'the lowercase hex signature of exactly these bytes']],
  async run({ file, secretStdin }, context) {
    const body = await inputBytes(file, secretStdin, context);
    const signature = signBody(body, await findWebhookSecret(secretStdin, context));
    const result = { signature, header: headerOf(context.settings) };
    await context.out.record(result, signatureView(result));
  },
});
