// Verifies a signature. For a wrong signature, svcpay reports the cause. Specification: Webhook
// authentication.
import { Failure } from '../../formats/failure.js';
import { credentialName } from '../../store/profile/secrets.js';
import { verifiedView } from '../../terminal/views/webhook-view.js';
import { explainSignature, type OtherSecret } from '../../webhooks/explain.js';
import { verifyBody } from '../../webhooks/sign.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { record } from '../show.js';
import { text } from '../values.js';
import { findWebhookSecret, olderSecrets, secretFromStdin } from './secret.js';
import { body, inputBytes } from './sign.js';

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
    const secret = await findWebhookSecret(secretStdin, context);
    const isOlder = olderSecrets(secretStdin, context).some((older) =>
      verifyBody(body, signature, older),
    );
    const wrong = explainSignature(body, signature, secret, await otherSecrets(context));
    if (wrong !== undefined && !isOlder) {
      throw new Failure('refused', `The signature is wrong: ${wrong.reason}.`, {
        code: `wrong-${wrong.cause}`,
      });
    }
    return { valid: true, bytes: body.length } as const;
  },
  view: record(verifiedView),
});

/**
 * Returns the API secret, if svcpay knows the API secret. svcpay checks a wrong signature again
 * with the API secret, because people confuse the API secret with the webhook secret.
 */
async function otherSecrets({ settings, secrets }: Context): Promise<OtherSecret[]> {
  const { baseUrl, apiKey, apiSecret } = settings;
  if (apiKey === undefined) return [];
  const kept =
    baseUrl === undefined
      ? undefined
      : (await secrets.load(credentialName(baseUrl, apiKey)))?.secret;
  const secret = apiSecret ?? kept;
  return secret === undefined
    ? []
    : [{ name: 'the API secret instead of the webhook secret', secret }];
}
