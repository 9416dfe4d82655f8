// Checks whether a webhook delivery is genuine, and reads the event that the delivery reports.
import { Failure, invalid } from '../formats/failure.js';
import {
  readPayload,
  type WebhookEvent,
  signatureHeader,
  signBody,
  verifyBody,
} from '../webhooks/events.js';

/**
 * The body of a delivery exactly as received. After parsing and serializing, the body may no longer
 * match the signature.
 */
export type RawBody = string | Uint8Array | ArrayBuffer;

/**
 * Verifies the signature of a delivery, and returns the event in the body. An event may arrive late
 * or twice, so read the current state of its transaction with {@link WalletClient.transaction}.
 * Throws Failure `authentication` if the signature is missing, or does not match the body and the
 * secret. Throws Failure `usage` if a correctly signed body is not an event. Throws Failure `usage`
 * if the body is missing or already parsed, if a secret is missing, or if `signature` is a list.
 * @param signature the value of the header {@link webhookSignatureHeader}
 * @param secret one secret, or several during a change of the secret
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
      : 'The signature does not match this body and this secret.',
    { hint: 'Answer 401. If all deliveries fail, check the secret, and pass the raw body.' },
  );
}

/** A request as functions at the edge and many servers pass it, such as a Web `Request`. */
export interface WebhookRequest {
  readonly headers: { get(name: string): string | null };
  arrayBuffer(): Promise<ArrayBuffer>;
}

/**
 * Verifies a delivery that arrives as a Web `Request`, and returns its event. See
 * {@link readWebhook} for the failures. Throws Failure `usage` if the body was already read.
 * @param serviceName the service name without the ending `pay` (see {@link webhookSignatureHeader})
 */
export async function readWebhookRequest(
  request: WebhookRequest,
  secret: string | readonly string[],
  serviceName?: string,
): Promise<WebhookEvent> {
  const body = await request.arrayBuffer().catch((cause: unknown) => {
    throw invalid('The body of the request was already read.', { cause });
  });
  return readWebhook(body, request.headers.get(webhookSignatureHeader(serviceName)), secret);
}

/**
 * Whether a webhook delivery is genuine. `signature` must be the lower-case hex HMAC-SHA256 of
 * exactly the bytes `rawBody` under the webhook's secret. The comparison of the signatures takes
 * constant time (specification, section Authentication). A delivery without a signature is not
 * genuine. Throws Failure `usage` if the body is missing or already parsed, if a secret is missing,
 * or if `signature` is a list.
 */
export function verifyWebhook(
  rawBody: RawBody,
  signature: string | null | undefined,
  secret: string | readonly string[],
): boolean {
  const [body, given] = [bytesOf(rawBody), signatureOf(signature)];
  const secrets = [secret].flat();
  if (secrets.length === 0) checkSecret(undefined);
  // Checks every secret before the first comparison, so that a missing secret throws even if an
  // earlier secret matches.
  return secrets.map(checkSecret).some((each) => verifyBody(body, given, each));
}

/**
 * Returns the signature of a delivery with this body, to test a receiver. Throws Failure `usage` if
 * the secret is missing.
 */
export const signWebhook = (rawBody: RawBody, secret: string): string =>
  signBody(bytesOf(rawBody), checkSecret(secret));

/**
 * The name of the header with the signature, such as `X-Servicepay-Signature`. The service name
 * `acme` gives `X-Acmepay-Signature`.
 */
export const webhookSignatureHeader = (serviceName = 'service'): string =>
  signatureHeader(serviceName);

/**
 * Reads the body of a delivery but does not check its signature. See {@link readWebhook}. Throws
 * Failure `usage` for a body that is not an event.
 */
export function parseWebhookEvent(rawBody: RawBody): WebhookEvent {
  const event = readPayload(bytesOf(rawBody));
  if (event === undefined) throw invalid('This is not the body of a webhook delivery.');
  return event;
}

/**
 * Converts the body to bytes, and checks its type, because a program in JavaScript may pass any
 * value.
 */
function bytesOf(body: unknown): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof Uint8Array) return body;
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  throw invalid(
    body == null
      ? 'The body is missing. Pass the raw body of the request.'
      : 'The body was parsed. Pass the raw text or the raw bytes, ' +
          'from express.raw({ type: "application/json" }) or await request.text().',
  );
}

function signatureOf(signature: unknown): string {
  if (signature == null) return '';
  if (typeof signature === 'string') return signature;
  throw invalid(
    'The signature is not a string. Pass the value of one header, ' +
      'such as request.headers["x-servicepay-signature"].',
  );
}

function checkSecret(secret: unknown): string {
  if (typeof secret === 'string' && secret !== '') return secret;
  throw invalid(
    'The secret of the webhook is missing. Without a secret, anyone could forge an event. ' +
      'Pass the secret that the webhook was registered with.',
  );
}
