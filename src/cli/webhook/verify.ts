// Signs a body as the service does, and verifies signatures. For a wrong signature, svcpay reports
// the cause. Specification: Webhook authentication.
import { Failure } from '../../formats/failure.js';
import { credentialName } from '../../store/profile/secrets.js';
import { signatureView, verifiedView } from '../../terminal/views/webhook-view.js';
import { explainSignature, type OtherSecret } from '../../webhooks/explain.js';
import { signBody, verifyBody } from '../../webhooks/sign.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { record } from '../show.js';
import { readGivenFile, readStdinBytes } from '../stdin.js';
import { file, text } from '../values.js';
import { headerOf } from './receiving.js';
import { findWebhookSecret, olderSecrets, secretFromStdin } from './secret.js';

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
    const signature = signBody(body, await findWebhookSecret(secretStdin, context));
    return { signature, header: headerOf(context.settings) };
  },
  view: record(signatureView),
});

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

/**
 * Reads the signed bytes from a file or, without a file name or with `-`, from stdin, which then
 * cannot contain the webhook secret too.
 */
async function inputBytes(
  file: string | undefined,
  secretStdin: boolean,
  context: Context,
): Promise<Uint8Array> {
  if (file !== undefined && file !== '-') return readGivenFile(file);
  if (secretStdin) {
    throw new Failure('usage', 'The body and the secret cannot both come from stdin.', {
      hint: 'Give the body as a file, or give the secret in SVCPAY_WEBHOOK_SECRET.',
    });
  }
  return readStdinBytes(context);
}
