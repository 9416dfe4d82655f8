// Verifies a signature. For a wrong signature, svcpay checks the three most frequent causes.
// Specification: Webhook authentication.
import { Failure } from '../../formats/failure.js';
import { credentialName } from '../../store/profile/secrets.js';
import { verifiedView } from '../../terminal/views/webhook-view.js';
import { isSignature, verifyBody } from '../../webhooks/sign.js';
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
    const secrets = [secret, ...olderSecrets(secretStdin, context)];
    if (!secrets.some((each) => verifyBody(body, signature, each))) {
      const [cause, reason] = causeOf(body, signature, secret, await findApiSecret(context));
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
