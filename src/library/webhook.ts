// Webhook deliveries for a receiver: whether a delivery is genuine, and what it reports.
import { Failure } from '../formats/failure.js';
import { readPayload, type WebhookEvent } from '../webhooks/events.js';
import { signatureHeader, signBody, verifyBody } from '../webhooks/sign.js';

/** The bytes of a delivery as they were received, not parsed and serialised again. */
export type RawBody = string | Uint8Array | ArrayBuffer;

/**
 * The event of a genuine delivery. It only reports that something changed, and may arrive twice or
 * late: the current state is at the service, {@link WalletClient.transaction}.
 *
 * Throws `Failure`: `authentication` for a missing signature or one of another body or secret,
 * `usage` for a genuine body that is not an event, and for a body that was parsed, a missing secret
 * or a list of signatures, with what to pass instead.
 *
 * @param signature the header {@link webhookSignatureHeader}
 * @param secret or several, while one replaces the other
 */
export function readWebhook(
  rawBody: RawBody,
  signature: string | null | undefined,
  secret: string | readonly string[],
): WebhookEvent {
  if (verifyWebhook(rawBody, signature, secret)) return parseWebhookEvent(rawBody);
  throw new Failure(
    'authentication',
    signature == null || signature === ''
      ? 'The delivery has no signature.'
      : 'The signature is not that of this body under this secret.',
    { hint: 'Answer 401. If all deliveries fail, compare secret and raw body.' },
  );
}

/**
 * Whether a webhook delivery is genuine: `signature` is the lower-case hex HMAC-SHA256 of exactly
 * these bytes under the webhook's secret, compared in constant time (specification: Webhook
 * authentication). A missing signature counts as wrong. Throws `Failure` usage as {@link
 * readWebhook} does.
 */
export function verifyWebhook(
  rawBody: RawBody,
  signature: string | null | undefined,
  secret: string | readonly string[],
): boolean {
  const [body, given] = [bytesOf(rawBody), signatureOf(signature)];
  const secrets = [secret].flat();
  if (secrets.length === 0) checkSecret(undefined);
  // Every secret is checked before one is compared.
  return secrets.map(checkSecret).some((each) => verifyBody(body, given, each));
}

/**
 * The signature that a delivery of this body carries, to test a receiver. Throws `Failure` usage
 * without a secret.
 */
export const signWebhook = (rawBody: RawBody, secret: string): string =>
  signBody(bytesOf(rawBody), checkSecret(secret));

/**
 * The name of the header with the signature: `X-Servicepay-Signature`, `X-Acmepay-Signature` for
 * the maker `acme`.
 */
export const webhookSignatureHeader = (maker = 'service'): string => signatureHeader(maker);

/**
 * Reads the body of a delivery without looking at its signature: see {@link readWebhook}. Throws
 * `Failure` usage for a body that is not an event.
 */
export function parseWebhookEvent(rawBody: RawBody): WebhookEvent {
  const event = readPayload(bytesOf(rawBody));
  if (event === undefined)
    throw new Failure('usage', 'This is not the body of a webhook delivery.');
  return event;
}

/** Programs in JavaScript pass anything. */
function bytesOf(body: unknown): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof Uint8Array) return body;
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  throw new Failure(
    'usage',
    body == null
      ? 'The body is missing: pass the raw body of the request.'
      : 'The body is not raw: it was parsed. Pass the text or the bytes as received, ' +
          'from express.raw({ type: "application/json" }) or await request.text().',
  );
}

function signatureOf(signature: unknown): string {
  if (signature == null) return '';
  if (typeof signature === 'string') return signature;
  throw new Failure(
    'usage',
    'The signature is not a text. Pass the value of the one header, ' +
      'such as request.headers["x-servicepay-signature"].',
  );
}

function checkSecret(secret: unknown): string {
  if (typeof secret === 'string' && secret !== '') return secret;
  throw new Failure(
    'usage',
    'The secret of the webhook is missing, and without one anyone could sign. ' +
      'Pass the secret that the webhook was registered with.',
  );
}
