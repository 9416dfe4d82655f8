// Signs and verifies webhook deliveries with lowercase hex HMAC-SHA256 over the raw body (see
// "Authentication" in the specification).
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Returns the signature of a body in lowercase hex. The key is the UTF-8 text of the secret. */
export const signBody = (body: Uint8Array, secret: string): string =>
  digestOf(body, secret).toString('hex');

/** Checks a signature in constant time, and accepts a signature only in lowercase hex. */
export function verifyBody(body: Uint8Array, signature: string, secret: string): boolean {
  if (!isSignature(signature)) return false;
  return timingSafeEqual(digestOf(body, secret), Buffer.from(signature, 'hex'));
}

export const isSignature = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

const digestOf = (body: Uint8Array, secret: string): Buffer =>
  createHmac('sha256', secret).update(body).digest();

/** The name of the signature header, such as `X-Acmepay-Signature` for the service name `acme`. */
export function signatureHeader(serviceName: string): string {
  return `X-${serviceName.charAt(0).toUpperCase()}${serviceName.slice(1)}pay-Signature`;
}
