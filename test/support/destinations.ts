// Valid destinations for tests, a different one for each number.
import { createHash } from 'node:crypto';
import { bech32, createBase58check } from '@scure/base';

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();
const program = (number: number): Uint8Array =>
  sha256(new TextEncoder().encode(`destination ${number}`)).subarray(0, 20);

export const bitcoinAddress = (number: number): string =>
  bech32.encode('bc', [0, ...bech32.toWords(program(number))]);

export const tronAddress = (number: number): string =>
  createBase58check(sha256).encode(new Uint8Array([0x41, ...program(number)]));
