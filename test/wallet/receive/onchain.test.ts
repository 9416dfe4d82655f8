// svcpay shows a returned payment address only if each part of the response matches the request.
import { describe, expect, test } from 'vitest';
import type { Transaction } from '../../../src/api/types.js';
import { parseAmount } from '../../../src/formats/amount.js';
import {
  checkedBitcoinDeposit,
  checkedRequest,
  checkedUsdtDeposit,
} from '../../../src/wallet/receive/request.js';

const address = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const other = 'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7';
const mainnet = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const unknownWitness = 'bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs';
const asked = parseAmount('0.01btc');
const now = Date.UTC(2026, 2, 1);

const details = {
  address,
  amount: 0.01,
  invoice: `bitcoin:${address}?amount=0.01`,
  expiredAt: '2026-03-01T01:00:00.000Z',
};

const transaction = (changes: Record<string, unknown>, txnState = 'srcintent'): Transaction => ({
  txnId: 'txn-1',
  txnState,
  sourceReq: { ccy: 'BTC', method: 'on-chain', reqDetails: { ...details, ...changes } },
  destReq: { ccy: 'BTC', method: 'servicepay', amtRequested: 0.01 },
});

describe('on-chain payment request', () => {
  test('accepts an address if its URI and expiry agree with the request', () => {
    expect(checkedRequest(transaction({}), asked, 'testnet', now)).toEqual({
      text: address,
      code: details.invoice,
      expiresAt: Date.UTC(2026, 2, 1, 1),
    });
  });

  test('accepts a URI in upper case as in QR codes', () => {
    const invoice = `BITCOIN:${address.toUpperCase()}?amount=0.01`;
    expect(checkedRequest(transaction({ invoice }), asked, 'any', now)).toMatchObject({
      text: address,
      code: invoice,
    });
  });

  test.for([
    ['omits the URI', undefined],
    ['returns null as the URI', null],
  ] as const)('builds a URI if the service %s', ([, invoice]) => {
    expect(checkedRequest(transaction({ invoice }), asked, 'testnet', now)).toMatchObject({
      text: address,
      code: details.invoice,
    });
  });

  test.for([
    ['a missing address', { address: null }, /no address/],
    ['a URI that is not text', { invoice: {} }, /no URI/],
    ['a broken checksum', { address: `${address.slice(0, -1)}q` }, /checksum/],
    [
      'an address of another network',
      { address: mainnet, invoice: `bitcoin:${mainnet}?amount=0.01` },
      /on mainnet/,
    ],
    ['an address that anyone can spend from', { address: unknownWitness }, /on mainnet|no meaning/],
    ['another amount', { amount: 0.02 }, /different amount/],
    ['another amount as text', { amount: '0.02' }, /different amount/],
    ['an amount that is not a number', { amount: 'all' }, /different amount/],
    [
      'another address in the URI',
      { invoice: `bitcoin:${other}?amount=0.01` },
      /URI with a different address/,
    ],
    [
      'a missing address in the URI',
      { invoice: `bitcoin:?amount=0.01&tb=${address}` },
      /not a Bitcoin address/,
    ],
    [
      'another amount in the URI',
      { invoice: `bitcoin:${address}?amount=0.1` },
      /URI with a different amount/,
    ],
    [
      'a missing amount in the URI',
      { invoice: `bitcoin:${address}` },
      /URI with a different amount/,
    ],
    [
      'a second payment method in the URI',
      { invoice: `${details.invoice}&tb=${other}` },
      /additional ways/,
    ],
    [
      'an invoice in the URI',
      { invoice: `${details.invoice}&lightning=lntb1x` },
      /additional ways/,
    ],
    ['an invalid URI', { invoice: address }, /URI/],
    ['an expiry in the past', { expiredAt: '2026-02-28T23:59:59.999Z' }, /expired/],
    [
      'an expiry in the past, given in seconds',
      { expiredAt: Date.UTC(2026, 1, 28) / 1000 },
      /expired/,
    ],
  ] as const)('refuses a payment request with %s', ([, changes, why]) => {
    expect(() => checkedRequest(transaction(changes), asked, 'testnet', now)).toThrow(
      expect.objectContaining({
        kind: 'refused',
        txnId: 'txn-1',
        message: expect.stringMatching(
          new RegExp(`^Not usable: the service returned .*(?:${why.source})`),
        ),
      }),
    );
  });

  const sameInstant = [
    '2026-03-01T01:00:00',
    '2026-03-01 01:00:00.000',
    Date.UTC(2026, 2, 1, 1),
    `${Date.UTC(2026, 2, 1, 1) / 1000}`,
  ];
  test.for(sameInstant)('reads the expiry "%s" of a payment request', (expiredAt) => {
    expect(
      checkedRequest(transaction({ expiredAt, amount: '0.0100' }), asked, 'testnet', now),
    ).toMatchObject({
      expiresAt: Date.UTC(2026, 2, 1, 1),
    });
  });

  test('accepts an expired payment request if a payment was detected', () => {
    const late = Date.UTC(2026, 2, 2);
    expect(checkedRequest(transaction({}, 'srccreated'), asked, 'any', late)).toMatchObject({
      text: address,
    });
  });
});

describe('permanent deposit address', () => {
  const usdt = {
    staticOnchainAddress: 'TJCnKsPa7y5okkXvQAidZBzqx3QyQ6sxMW',
    walletCcy: 'USDT',
    chainId: 'TRON',
    accountId: 'ne01-mine',
  };
  const ether = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

  test('accepts a Bitcoin deposit address only on the network of the profile', () => {
    expect(checkedBitcoinDeposit({ staticOnchainAddress: mainnet }, 'mainnet')).toBe(mainnet);
    expect(() => checkedBitcoinDeposit({ staticOnchainAddress: address }, 'mainnet')).toThrow(
      /on testnet/,
    );
  });

  test('refuses a Bitcoin deposit address that anyone can spend from', () => {
    expect(() => checkedBitcoinDeposit({ staticOnchainAddress: unknownWitness }, 'any')).toThrow(
      /undefined witness version/,
    );
  });

  test('accepts a USDT deposit address on the requested chain', () => {
    expect(checkedUsdtDeposit(usdt, 'TRON', usdt.accountId)).toBe(usdt.staticOnchainAddress);
    const lower = { ...usdt, chainId: 'ETH', staticOnchainAddress: ether.toLowerCase() };
    expect(checkedUsdtDeposit(lower, 'ETH', undefined)).toBe(ether);
  });

  test.for([
    ['another chain', { chainId: 'ETH' }, /USDT on ETH/],
    ['another currency', { walletCcy: 'BTC' }, /BTC on TRON/],
    [
      'an address in the format of another chain',
      { staticOnchainAddress: ether },
      /not a TRON address/,
    ],
    [
      'a broken checksum',
      { staticOnchainAddress: 'TJCnKsPa7y5okkXvQAidZBzqx3QyQ6sxMX' },
      /checksum/,
    ],
    ['another account', { accountId: 'ne01-other' }, /of the account ne01-other/],
    [
      'the contract of the token as the address',
      { staticOnchainAddress: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
      /contract/,
    ],
  ] as const)('refuses a USDT deposit answer with %s', ([, changes, why]) => {
    expect(() => checkedUsdtDeposit({ ...usdt, ...changes }, 'TRON', usdt.accountId)).toThrow(why);
  });
});
