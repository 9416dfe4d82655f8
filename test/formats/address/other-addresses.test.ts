// Tests the checksums and the encoded bytes of TRON and Ethereum addresses.
import { hex } from '@scure/base';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import {
  encodeEvmAddress,
  parseEvmAddress,
  encodeTronAddress,
  parseTronAddress,
  tronUsdtContract,
} from '../../../src/formats/address.js';
import { loadVectors } from '../../support/vectors.js';
import { refusal } from '../support.js';

const invalid = v.array(v.object({ address: v.string() }));
const tron = loadVectors(
  'tron.json',
  v.object({
    valid: v.array(v.object({ address: v.string(), hex: v.string() })),
    invalid,
  }),
);
const eip55 = loadVectors(
  'eip55.json',
  v.object({
    valid: v.array(v.object({ address: v.string(), class: v.string() })),
    invalid,
  }),
);
const hash = fc.uint8Array({ minLength: 20, maxLength: 20 });

describe('parseTronAddress', () => {
  test('reads the published valid TRON addresses', () => {
    for (const one of tron.valid) {
      expect(parseTronAddress(one.address)).toEqual({ address: one.address, hex: one.hex });
      expect(encodeTronAddress(hex.decode(one.hex.slice(2)))).toBe(one.address);
    }
  });

  test('refuses the published invalid TRON addresses', () => {
    for (const { address } of tron.invalid) {
      expect(refusal(() => parseTronAddress(address))).toMatch(
        /not a TRON address|changed or cut off/,
      );
    }
  });

  test('reads every address that encodeTronAddress writes', () => {
    fc.assert(
      fc.property(hash, (bytes) => {
        expect(parseTronAddress(encodeTronAddress(bytes)).hex).toBe(`41${hex.encode(bytes)}`);
      }),
    );
    expect(refusal(() => encodeTronAddress(new Uint8Array(21)))).toContain('21 bytes');
  });

  test('explains the mistake in an invalid TRON address', () => {
    expect(parseTronAddress(tronUsdtContract).hex).toBe(
      '41a614f803b6fd780986a42c78ec9c7f77e6ded13c',
    );
    expect(refusal(() => parseTronAddress(`${tronUsdtContract.slice(0, -1)}u`))).toContain(
      'the checksum is wrong',
    );
    expect(refusal(() => parseTronAddress(tronUsdtContract.slice(0, -1)))).toContain(
      '33 characters instead of 34',
    );
    expect(refusal(() => parseTronAddress(tronUsdtContract.replace('N', '0')))).toContain(
      'it contains "0", which is not allowed',
    );
    expect(refusal(() => parseTronAddress('TkvxYFQHgwPCC5xn2bb8aAMLrhg67Cp2QC'))).toContain(
      'does not decode to an address',
    );
    expect(refusal(() => parseTronAddress(`0x${'00'.repeat(20)}`))).toContain('not a TRON address');
  });
});

describe('parseEvmAddress', () => {
  test('checks the letter case of an Ethereum address against EIP-55', () => {
    for (const { address, class: letters } of eip55.valid) {
      expect(parseEvmAddress(address).checksummed).toBe(letters === 'Normal');
      const expected = letters === 'All Lower' ? address.toLowerCase() : address;
      expect(parseEvmAddress(address.toLowerCase())).toEqual({
        address: expected,
        checksummed: false,
      });
    }
  });

  test('refuses the invalid addresses of the EIP-55 test vectors', () => {
    for (const { address } of eip55.invalid) {
      expect(refusal(() => parseEvmAddress(address))).toMatch(
        /not an Ethereum address|changed or cut off/,
      );
    }
  });

  test('refuses a mixed-case Ethereum address with any one letter flipped', () => {
    fc.assert(
      fc.property(hash, (bytes) => {
        const address = encodeEvmAddress(bytes);
        for (const { 0: letter, index } of address.slice(2).matchAll(/[a-f]/gi)) {
          const flipped =
            letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase();
          const broken = address.slice(0, index + 2) + flipped + address.slice(index + 3);
          if (!/[a-f]/.test(broken.slice(2)) || !/[A-F]/.test(broken)) continue;
          expect(refusal(() => parseEvmAddress(broken))).toContain('the checksum');
        }
      }),
    );
  });

  test('reads the output of encodeEvmAddress in upper, lower or mixed case', () => {
    fc.assert(
      fc.property(hash, (bytes) => {
        const address = encodeEvmAddress(bytes);
        const upper = `0x${address.slice(2).toUpperCase()}`;
        for (const text of [address, address.toLowerCase(), upper])
          expect(parseEvmAddress(text).address).toBe(address);
      }),
    );
    expect(refusal(() => encodeEvmAddress(new Uint8Array(32)))).toContain('20 bytes, not 32');
  });
});
