// svcpay refuses an unsafe destination before it sends any request.
import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../../src/api/errors.js';
import { Failure } from '../../../src/formats/failure.js';
import { parseAmount } from '../../../src/formats/amount.js';
import { parseBitcoinAddress } from '../../../src/formats/address.js';
import {
  checkBitcoinAddress,
  checkOnchainAmount,
  checkTronAddress,
  refuseOwnAddress,
} from '../../../src/wallet/instruction/order.js';

describe('on-chain destination', () => {
  test.for([
    ['bc1q', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
    ['bc1p', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0'],
    ['3', '3P14159f73E4gFr7JterCCQh9QjiTjiZrG'],
    ['1', '1BoatSLRHtKNngkdXEeobR76b53LETtpyT'],
  ] as const)('accepts a Bitcoin address that starts with "%s"', ([, address]) => {
    expect(() => checkBitcoinAddress(parseBitcoinAddress(address), 'mainnet')).not.toThrow();
  });

  test("refuses a Bitcoin address of a network other than the profile's", () => {
    const testnet = parseBitcoinAddress('tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx');
    expect(() => checkBitcoinAddress(testnet, 'mainnet')).toThrow(
      'this is a testnet address, but your payments are on mainnet',
    );
    expect(() => checkBitcoinAddress(testnet, 'any')).not.toThrow();
  });

  test('refuses a Bitcoin address with an undefined witness version', () => {
    const unknown = parseBitcoinAddress('bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs');
    expect(() => checkBitcoinAddress(unknown, 'mainnet')).toThrow(/witness version/);
  });

  test('refuses an on-chain amount below 1 000 sat', () => {
    expect(() => checkOnchainAmount(parseAmount('999sat'))).toThrow(
      /999 sat is too little.*1 000 sat/,
    );
    expect(() => checkOnchainAmount(parseAmount('1000sat'))).not.toThrow();
  });
});

describe('USDT destination', () => {
  test('refuses the USDT contract as a destination', () => {
    expect(() => checkTronAddress('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t')).toThrow(/USDT contract/);
    expect(() => checkTronAddress('TJCnKsPa7y5okkXvQAidZBzqx3QyQ6sxMW')).not.toThrow();
  });

  const warnings: string[] = [];
  const warn = (line: string): void => void warnings.push(line);
  const failing = (kind: 'not-found' | 'temporary', status: number) => () =>
    Promise.reject(new ServiceError(kind, 'no', { status, reason: 'no' }));

  test("refuses the account's own deposit address as a destination", async () => {
    const own = async () => ({ staticOnchainAddress: 'T-mine' });
    await expect(refuseOwnAddress('tron:T-mine', own, warn)).rejects.toThrow(
      /your own deposit address/,
    );
    await expect(refuseOwnAddress('tron:T-other', own, warn)).resolves.toBeUndefined();
  });

  test("accepts a USDT destination if svcpay cannot read the account's own deposit address", async () => {
    await expect(
      refuseOwnAddress('tron:T-other', failing('not-found', 404), warn),
    ).resolves.toBeUndefined();
    expect(warnings).toEqual([]);
    // A failed lookup of the account's own deposit address does not stop the payment.
    await expect(
      refuseOwnAddress('tron:T-other', failing('temporary', 503), warn),
    ).resolves.toBeUndefined();
    expect(warnings).toEqual([
      'svcpay could not check whether this is your own deposit address. no',
    ]);
    await expect(
      refuseOwnAddress('tron:T-other', () => Promise.reject(new Failure('interrupted', 'x')), warn),
    ).rejects.toThrow('x');
  });
});
