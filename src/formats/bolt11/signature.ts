// The signature of a BOLT11 invoice: its hash, its signer, and how to sign.
import { createHmac } from 'node:crypto';
import { bech32, hex } from '@scure/base';
import { etc, hashes, Point, recoverPublicKey, sign, Signature, verify } from '@noble/secp256k1';
import { sha256 } from '../address/encodings.js';

/** Length of the signature in 5-bit words: 64 bytes of r and s, one of recovery flag. */
export const signatureWords = 104;

/**
 * The public key (33 bytes, hex) that signed, or `undefined` for an invalid signature.
 * @param signature r and s (64 bytes), then the recovery flag, in the order of BOLT11
 * @param payee the public key stated in the invoice. The signature is verified against it and must
 * have a low S. Without a payee, the key is recovered from the signature.
 */
export function signerOf(
  prefix: string,
  words: readonly number[],
  signature: Uint8Array,
  payee: string | null,
): string | undefined {
  const digest = sha256(signedBytes(prefix, words));
  const [compact, flag] = [signature.subarray(0, 64), signature.subarray(64)];
  if (payee !== null) {
    return verify(compact, digest, hex.decode(payee), { prehash: false }) ? payee : undefined;
  }
  try {
    return hex.encode(recoverOnce(compact, flag[0] ?? 0, digest));
  } catch {
    return undefined;
  }
}

/**
 * Recovers the key with the result of the library's function. The library first builds a table of
 * the generator's multiples, which takes ten times as long as one use (SEC 1, 4.1.6).
 */
function recoverOnce(compact: Uint8Array, flag: number, digest: Uint8Array): Uint8Array {
  if (flag > 1)
    return recoverPublicKey(Uint8Array.of(flag, ...compact), digest, { prehash: false });
  const { r, s } = Signature.fromBytes(compact, 'compact');
  const { n } = Point.CURVE();
  const point = Point.fromBytes(Uint8Array.of(2 + flag, ...compact.subarray(0, 32)));
  const inverse = etc.invert(r, n);
  const ofGenerator = etc.mod(-BigInt(`0x${hex.encode(digest)}`) * inverse, n);
  return sumOfMultiples(Point.BASE, ofGenerator, point, etc.mod(s * inverse, n))
    .assertValidity()
    .toBytes();
}

/**
 * The sum of two multiples. The function doubles once for both. Its inputs are public, so it need
 * not run in constant time.
 */
function sumOfMultiples(a: Point, ofA: bigint, b: Point, ofB: bigint): Point {
  const both = a.add(b);
  const [bitsA, bitsB] = [ofA, ofB].map((scalar) => scalar.toString(2).padStart(256, '0'));
  let sum = Point.ZERO;
  for (let bit = 0; bit < 256; bit += 1) {
    const [hasA, hasB] = [bitsA?.[bit] === '1', bitsB?.[bit] === '1'];
    sum = sum.double();
    if (hasA || hasB) sum = sum.add(hasA && hasB ? both : hasA ? a : b);
  }
  return sum;
}

/** Whether S is in the upper half of the curve's order, which is the second form of a signature. */
export function hasHighS(signature: Uint8Array): boolean {
  try {
    return Signature.fromBytes(signature.subarray(0, 64), 'compact').hasHighS();
  } catch {
    return false;
  }
}

/**
 * The whole invoice: prefix and words, signed with the key (RFC 6979, low S), in lower-case bech32.
 */
export function sealInvoice(
  prefix: string,
  words: readonly number[],
  privateKey: Uint8Array,
): string {
  // The library reads its HMAC from here. The function sets it on use, so that importing the module
  // has no effect.
  hashes.hmacSha256 ??= (key, message) =>
    new Uint8Array(createHmac('sha256', key).update(message).digest());
  const digest = sha256(signedBytes(prefix, words));
  const [flag = 0, ...compact] = sign(digest, privateKey, { prehash: false, format: 'recovered' });
  return bech32.encode(
    prefix,
    [...words, ...bech32.toWords(Uint8Array.of(...compact, flag))],
    false,
  );
}

/** The prefix as text, then the words packed into bytes, padded with zero bits. */
function signedBytes(prefix: string, words: readonly number[]): Uint8Array {
  const length = Math.ceil((words.length * 5) / 8);
  const filled = Array.from({ length: Math.ceil((length * 8) / 5) }, (_, at) => words[at] ?? 0);
  return Uint8Array.of(...Buffer.from(prefix, 'utf8'), ...bech32.fromWords(filled));
}
