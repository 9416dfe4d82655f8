// Webhook deliveries for a receiver: whether a delivery is genuine, and what it reports.
import { Failure } from '../formats/failure.js';
import { readPayload, type WebhookEvent } from '../webhooks/events.js';
import { signatureHeader, signBody, verifyBody } from '../webhooks/sign.js';

/**
 * Whether a webhook delivery is genuine: `signature` is the lower-case hex HMAC-SHA256 of exactly these bytes under the
 * webhook's secret, compared in constant time (specification: Webhook authentication). Pass the body as it was received, not
 * parsed and serialised again. A missing signature counts as wrong. Throws `Failure` usage for an empty secret, under which
 * anyone could sign.
 */
export const verifyWebhook = (
  rawBody: string | Uint8Array,
  signature: string | null | undefined,
  secret: string,
): boolean => verifyBody(bytesOf(rawBody), signature ?? '', checkSecret(secret));

/** The signature that a delivery of this body carries, to test a receiver. Throws `Failure` usage without a secret. */
export const signWebhook = (rawBody: string | Uint8Array, secret: string): string =>
  signBody(bytesOf(rawBody), checkSecret(secret));

/** The name of the header with the signature: `X-Servicepay-Signature`, `X-Acmepay-Signature` for the maker `acme`. */
export const webhookSignatureHeader = (maker = 'service'): string => signatureHeader(maker);

/**
 * Reads the body of a delivery. Verify it first. The event only reports that something changed, and may arrive twice or late:
 * the current state is at the service, {@link WalletClient.transaction}. Throws `Failure` usage for any other body.
 */
export function parseWebhookEvent(rawBody: string | Uint8Array): WebhookEvent {
  const event = readPayload(bytesOf(rawBody));
  if (event === undefined)
    throw new Failure('usage', 'This is not the body of a webhook delivery.');
  return event;
}

const bytesOf = (body: string | Uint8Array): Uint8Array =>
  typeof body === 'string' ? new TextEncoder().encode(body) : body;

function checkSecret(secret: string): string {
  if (secret === '')
    throw new Failure('usage', 'The secret of the webhook is empty: anyone could sign with it.');
  return secret;
}
