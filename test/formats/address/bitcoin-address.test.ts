// parseBitcoinAddress reads every kind of BIP173, BIP350 and base58check address, and refuses
// damaged addresses.
import { bech32, bech32m, hex } from '@scure/base';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import {
  encodeBase58Address,
  encodeSegwitAddress,
  parseBitcoinAddress,
  type BitcoinAddress,
  encodeBase58check,
} from '../../../src/formats/address.js';
import { loadVectors } from '../../support/vectors.js';
import { refusal } from '../support.js';

const strings = v.array(v.object({ string: v.string() }));
const schema = v.object({
  valid_strings: strings,
  invalid_strings: strings,
  valid_addresses: v.array(
    v.object({
      address: v.string(),
      scriptPubKey: v.string(),
      superseded_by_bip350: v.optional(v.boolean()),
    }),
  ),
  invalid_addresses: v.array(v.object({ address: v.string(), reason: v.string() })),
});
const suites = [
  ['BIP173', bech32, loadVectors('bip173-bech32.json', schema)],
  ['BIP350', bech32m, loadVectors('bip350-bech32m.json', schema)],
] as const;

/** The script that locks money to a segwit address: the version as an opcode, then the program. */
function scriptOf({ witnessVersion, program }: BitcoinAddress): string {
  const opcode = witnessVersion ? 0x50 + witnessVersion : 0;
  return hex.encode(Uint8Array.of(opcode, program.length / 2)) + program;
}

describe.for(suites)('parseBitcoinAddress with the official %s vectors', ([, coder, vectors]) => {
  test('reads each valid address as its published script', () => {
    for (const { address, scriptPubKey } of vectors.valid_addresses.filter(
      (one) => !one.superseded_by_bip350,
    )) {
      const parsed = parseBitcoinAddress(address);
      expect(scriptOf(parsed)).toBe(scriptPubKey);
      expect(parsed).toMatchObject({
        address: address.toLowerCase(),
        network: /^bc/i.test(address) ? 'mainnet' : 'testnet',
      });
      const program = hex.decode(parsed.program);
      expect(encodeSegwitAddress(parsed.network, parsed.witnessVersion ?? 0, program)).toBe(
        parsed.address,
      );
    }
  });

  test('refuses invalid and superseded addresses', () => {
    const superseded = vectors.valid_addresses.filter((one) => one.superseded_by_bip350);
    for (const { address } of [...superseded, ...vectors.invalid_addresses]) {
      expect(refusal(() => parseBitcoinAddress(address))).toMatch(
        /changed or cut off|not a Bitcoin address/,
      );
    }
  });

  test('agrees with the published vectors on valid and invalid bech32 strings', () => {
    for (const { string } of vectors.valid_strings) expect(coder.decodeUnsafe(string)).toBeTruthy();
    for (const { string } of vectors.invalid_strings)
      expect(coder.decodeUnsafe(string)).toBeUndefined();
  });
});

const wellKnown = [
  ['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'mainnet', 'p2pkh'],
  ['3EktnHQD7RiAE6uzMj2ZifT9YgRrkSgzQX', 'mainnet', 'p2sh'],
  ['mk2QpYatsKicvFVuTAQLBryyccRXMUaGHP', 'testnet', 'p2pkh'],
  ['2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc', 'testnet', 'p2sh'],
  ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'mainnet', 'p2wpkh'],
  ['bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3', 'mainnet', 'p2wsh'],
  ['bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0', 'mainnet', 'p2tr'],
  ['BC1SW50QGDZ25J', 'mainnet', 'witness'],
  ['bc1pfeessrawgf', 'mainnet', 'witness'],
  ['tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', 'testnet', 'p2wpkh'],
  ['bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', 'regtest', 'p2wpkh'],
] as const;

describe('parseBitcoinAddress', () => {
  test.for(wellKnown)('reads the address %s as %s %s', ([address, network, type]) => {
    expect(parseBitcoinAddress(address)).toMatchObject({ network, type });
  });

  test.for(wellKnown)('refuses the address %s with any character changed', ([address]) => {
    const alphabet = /^[bt]/i.test(address) ? 'qpzry9x8gf2tvdw0s3jn54khce6mua7l' : '2Z9abcdefgh';
    for (let at = 1; at < address.length; at += 1) {
      for (const character of alphabet) {
        if (address.charAt(at).toLowerCase() === character.toLowerCase()) continue;
        const broken = address.slice(0, at) + character + address.slice(at + 1);
        expect(refusal(() => parseBitcoinAddress(broken))).toMatch(
          /changed or cut off|not a Bitcoin address/,
        );
      }
    }
  });

  test.for([
    ['', 'not a Bitcoin address'],
    ['175tWpb8K1S7NmH4Zx6rewF9WQrcZv245W', 'the checksum is wrong'],
    ['1A1zP1eP5QGefi2DMPTfTL5SLmv7Divf0a', 'it contains "0", which is not allowed'],
    ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3', 'the checksum is wrong'],
    ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7Kv8f3t4', 'mixes upper-case and lower-case'],
    ['2QJw', 'not a Bitcoin address'],
    ['14dsCmVFGsgxBrBqW2E71XJwccjb2mHzkaK', 'the hash has 21 bytes instead of 20'],
    ['3TYPG8VeuoVAh2hP7Vfw6ww7vK98nvXXXUG', 'the checksum is wrong'],
    ['1'.repeat(91), 'too long'],
  ] as const)('refuses "%s" with the message "%s"', ([text, reason]) => {
    expect(refusal(() => parseBitcoinAddress(text))).toContain(reason);
  });

  test('reports a base58 address of another currency', () => {
    expect(refusal(() => parseBitcoinAddress('n'))).toContain('not a Bitcoin address');
    const other = encodeBase58check(Uint8Array.of(0x6e, ...new Uint8Array(20)));
    expect(other).toMatch(/^[mn]/);
    expect(refusal(() => parseBitcoinAddress(other))).toContain('an address of another currency');
  });

  test('reads every address that the encoders write', () => {
    const program = fc.tuple(
      fc.integer({ min: 0, max: 16 }),
      fc.uint8Array({ minLength: 2, maxLength: 40 }),
    );
    const network = fc.constantFrom('mainnet' as const, 'testnet' as const, 'regtest' as const);
    fc.assert(
      fc.property(network, program, (net, [version, bytes]) => {
        fc.pre(version !== 0 || bytes.length === 20 || bytes.length === 32);
        const parsed = parseBitcoinAddress(encodeSegwitAddress(net, version, bytes).toUpperCase());
        expect(parsed).toMatchObject({
          network: net,
          witnessVersion: version,
          program: hex.encode(bytes),
        });
      }),
    );
    const hash = fc.uint8Array({ minLength: 20, maxLength: 20 });
    fc.assert(
      fc.property(
        network,
        fc.constantFrom('p2pkh' as const, 'p2sh' as const),
        hash,
        (net, type, bytes) => {
          const parsed = parseBitcoinAddress(encodeBase58Address(net, type, bytes));
          const expected = {
            network: net === 'regtest' ? 'testnet' : net,
            type,
            program: hex.encode(bytes),
          };
          expect(parsed).toMatchObject({ ...expected, witnessVersion: null });
        },
      ),
    );
  });
});

test('encodeSegwitAddress and encodeBase58Address refuse a program or hash of invalid length', () => {
  expect(refusal(() => encodeSegwitAddress('mainnet', 0, new Uint8Array(21)))).toContain(
    '21 bytes',
  );
  expect(refusal(() => encodeSegwitAddress('mainnet', 1, new Uint8Array(41)))).toContain(
    '41 bytes',
  );
  expect(refusal(() => encodeBase58Address('mainnet', 'p2sh', new Uint8Array(19)))).toContain(
    '19 bytes',
  );
});
