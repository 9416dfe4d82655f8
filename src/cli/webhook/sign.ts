// Signs a body as the service does. Specification: Webhook authentication.
import { Failure } from '../../formats/failure.js';
import { signatureView } from '../../terminal/views/webhook-view.js';
import { signBody } from '../../webhooks/sign.js';
import { defineCommand, type Deps } from '../define.js';
import { record } from '../show.js';
import { readGivenFile, readStdinBytes } from '../stdin.js';
import { file } from '../values.js';
import { headerOf } from './receiving.js';
import { findWebhookSecret, secretFromStdin } from './secret.js';

export const body = file().optional().describe('file with the raw body (default, or -: stdin)');

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

/**
 * Reads the signed bytes from a file or, without a file name or with `-`, from stdin, which then
 * cannot contain the webhook secret too.
 */
export async function inputBytes(
  file: string | undefined,
  secretStdin: boolean,
  deps: Deps<'stdin'>,
): Promise<Uint8Array> {
  if (file !== undefined && file !== '-') return readGivenFile(file);
  if (secretStdin) {
    throw new Failure('usage', 'The body and the secret cannot both come from stdin.', {
      hint: 'Give the body as a file, or give the secret in SVCPAY_WEBHOOK_SECRET.',
    });
  }
  return readStdinBytes(deps);
}
