// Signs and verifies webhook deliveries with lowercase hex HMAC-SHA256 over the raw body (see
// "Authentication" in the specification). Runs without Node, because functions at the edge verify
// deliveries too.
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** Returns the signature of a body in lowercase hex. The key is the UTF-8 text of the secret. */
export const signBody = (body: Uint8Array, secret: string): string =>
  bytesToHex(hmac(sha256, utf8ToBytes(secret), body));

/** Checks a signature in constant time, and accepts a signature only in lowercase hex. */
export function verifyBody(body: Uint8Array, signature: string, secret: string): boolean {
  if (!isSignature(signature)) return false;
  const expected = signBody(body, secret);
  let difference = 0;
  for (let i = 0; i < expected.length; i += 1)
    difference |= expected.charCodeAt(i) ^ signature.charCodeAt(i);
  return difference === 0;
}

export const isSignature = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

/** The name of the signature header, such as `X-Acmepay-Signature` for the service name `acme`. */
export function signatureHeader(serviceName: string): string {
  return `X-${serviceName.charAt(0).toUpperCase()}${serviceName.slice(1)}pay-Signature`;
}
