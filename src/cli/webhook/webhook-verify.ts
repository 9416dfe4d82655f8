// Checks the signature of a body, and says why it is wrong as far as that can be told. Exit code 3 when it is.
import { Failure } from '../../formats/failure.js';
import { credentialName } from '../../store/profile/tokens.js';
import { verifiedView } from '../../terminal/views/webhook-view.js';
import { explainSignature, type OtherSecret } from '../../webhooks/explain.js';
import type { Needs } from '../context.js';
import { defineCommand } from '../define.js';
import { inputBytes } from './input-bytes.js';
import { file, text } from '../values.js';
import { findWebhookSecret, secretFromStdin } from './webhook-secret.js';

export const verifyWebhook = defineCommand({
  arguments: { file: file().optional().describe('the raw body; - or nothing reads it from stdin') },
  options: { signature: text('HEX').describe('the signature, as the header carries it'), ...secretFromStdin },
  examples: [['svcpay webhook verify --signature 9f86d0… event.json', 'exit code 0 when it is right, 3 when it is wrong']],
  async run({ file, signature, secretStdin }, context) {
    const body = await inputBytes(file, secretStdin, context);
    const secret = await findWebhookSecret(secretStdin, context);
    const wrong = explainSignature(body, signature, secret, await otherSecrets(context));
    if (wrong !== undefined) {
      throw new Failure('refused', `The signature is wrong: ${wrong.reason}.`, { code: `wrong-${wrong.cause}` });
    }
    const result = { valid: true, bytes: body.length } as const;
    await context.out.record(result, verifiedView(result));
  },
});

/** The secret that is most easily taken for the webhook's. */
async function otherSecrets({ settings, secrets }: Needs<'settings' | 'secrets'>): Promise<OtherSecret[]> {
  const { baseUrl, apiKey, apiSecret } = settings;
  if (apiKey === undefined) return [];
  const kept = baseUrl === undefined ? undefined : (await secrets.load(credentialName(baseUrl, apiKey)))?.secret;
  const secret = apiSecret ?? kept;
  return secret === undefined ? [] : [{ name: 'the API secret instead of the webhook secret', secret }];
}
