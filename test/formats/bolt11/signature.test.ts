// signerOf recovers the signer of an invoice from its signature.
import { randomBytes } from 'node:crypto';
import { getPublicKey } from '@noble/secp256k1';
import { bech32, hex } from '@scure/base';
import { expect, test } from 'vitest';
import { sealInvoice, signatureWords, signerOf } from '../../../src/formats/bolt11/decode.js';

test('signerOf recovers the public key of the signer only from the signed message', () => {
  for (let round = 0; round < 60; round += 1) {
    const key = Uint8Array.from(randomBytes(32));
    const words = [...randomBytes(20)].map((byte) => byte & 31);
    const { words: sealed } = bech32.decode(
      sealInvoice('lnbc', words, key) as `${string}1${string}`,
      false,
    );
    const signature = bech32.fromWords(sealed.slice(-signatureWords));
    const signer = signerOf('lnbc', words, signature, null);
    expect(signer).toBe(hex.encode(getPublicKey(key)));
    // If the message or the recovery flag is changed, signerOf must not return the key of the
    // signer.
    const other = [...words].with(0, (words[0] ?? 0) ^ 1);
    const flipped = Uint8Array.of(...signature.subarray(0, 64), (signature[64] ?? 0) ^ 1);
    expect(signerOf('lnbc', other, signature, null)).not.toBe(signer);
    expect(signerOf('lnbc', words, flipped, null)).not.toBe(signer);
  }
});
