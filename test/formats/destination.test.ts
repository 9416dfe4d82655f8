// detectDestination reads every kind of destination in every spelling, and explains each refusal.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeInvoice } from '../../src/formats/bolt11/encode.js';
import { describeDestination } from '../../src/formats/describe.js';
import { detectDestination, encodeLnurl } from '../../src/formats/destination.js';
import { Failure } from '../../src/formats/failure.js';
import { refusal } from './support.js';

const key = new Uint8Array(32).fill(3);
const terms = {
  network: 'mainnet',
  paymentHash: '01'.repeat(32),
  paymentSecret: '02'.repeat(32),
  description: 'tea',
  timestamp: 1_700_000_000,
} as const;
const invoice = encodeInvoice({ ...terms, amountMsat: 50_000_000n }, key);
const onSignet = encodeInvoice({ ...terms, network: 'signet' }, key);
const onRegtest = encodeInvoice({ ...terms, network: 'regtest' }, key);
const lnurl = encodeLnurl('https://example.com/pay');
const segwit = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const taproot = 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0';
const testnet = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const legacy = '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa';
const tron = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const evm = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

describe('detectDestination', () => {
  test.for([
    ['a Lightning invoice', invoice, 'bolt11', invoice],
    ['a Lightning invoice in upper case', invoice.toUpperCase(), 'bolt11', invoice],
    ['a lightning: URI with an invoice', `lightning:${invoice}`, 'bolt11', invoice],
    [
      'a LIGHTNING: URI with an invoice in upper case',
      `LIGHTNING:${invoice.toUpperCase()}`,
      'bolt11',
      invoice,
    ],
    ['a Lightning invoice between spaces and a line break', `  ${invoice}\r\n`, 'bolt11', invoice],
    [
      'a Lightning invoice that is broken over lines',
      `${invoice.slice(0, 70)}\r\n    ${invoice.slice(70, 140)} ${invoice.slice(140)}\n`,
      'bolt11',
      invoice,
    ],
    [
      'a lightning: URI with a zero-width space in its invoice',
      `lightning: ${invoice.slice(0, 9)}\u200B${invoice.slice(9)}`,
      'bolt11',
      invoice,
    ],
    [
      'a lightning: URI with a label after its invoice',
      `lightning:${invoice}?label=Coffee House&x=1`,
      'bolt11',
      invoice,
    ],
    [
      'a LIGHTNING:// URI with a slash and a fragment after its invoice',
      `LIGHTNING://${invoice.toUpperCase()}/#top`,
      'bolt11',
      invoice,
    ],
    [
      'a lightning:// URI with an LNURL, a query and a fragment',
      `lightning://${lnurl}?x=1#top`,
      'lnurl',
      lnurl,
    ],
    [
      'a lightning: URI with a Lightning Address and a query',
      'lightning:alice@example.com?x=1',
      'lightning-address',
      'alice@example.com',
    ],
    [
      'a Lightning Address that is broken over lines',
      'alice@exam\n  ple.com',
      'lightning-address',
      'alice@example.com',
    ],
    [
      'a Bitcoin address that is broken over lines',
      `${segwit.slice(0, 20)}\n\t${segwit.slice(20)}`,
      'bitcoin-address',
      segwit,
    ],
    ['a TRON address with a space', `${tron.slice(0, 4)} ${tron.slice(4)}`, 'tron-address', tron],
    [
      'a bitcoin: URI that is broken over lines',
      `bitcoin:${segwit}\n  ?amount=0.01 &label=two words`,
      'bip21',
      `bitcoin:${segwit}?amount=0.01&label=two words`,
    ],
    ['a Lightning invoice on regtest', onRegtest, 'bolt11', onRegtest],
    ['an LNURL', lnurl, 'lnurl', lnurl],
    ['an LNURL in lower case', lnurl.toLowerCase(), 'lnurl', lnurl],
    ['a lightning: URI with an LNURL', `lightning:${lnurl}`, 'lnurl', lnurl],
    ['an lnurlp:// URI as an LNURL', 'lnurlp://example.com/pay', 'lnurl', lnurl],
    [
      'an LNURLP:// URI of an onion service as an LNURL',
      'LNURLP://pay2onion.onion/a',
      'lnurl',
      encodeLnurl('http://pay2onion.onion/a'),
    ],
    [
      'a web address with an LNURL in its query',
      `https://shop.example/pay?item=1&lightning=${lnurl.toLowerCase()}#top`,
      'lnurl',
      lnurl,
    ],
    [
      'a Lightning Address in mixed case',
      'Alice@Example.com',
      'lightning-address',
      'alice@example.com',
    ],
    [
      'a Lightning Address that starts like an invoice',
      'lnbc1@example.com',
      'lightning-address',
      'lnbc1@example.com',
    ],
    [
      'a lightning: URI with a Lightning Address',
      'lightning:alice@example.com',
      'lightning-address',
      'alice@example.com',
    ],
    ['a segwit address', segwit, 'bitcoin-address', segwit],
    ['a segwit address in upper case', segwit.toUpperCase(), 'bitcoin-address', segwit],
    ['a testnet address in upper case', testnet.toUpperCase(), 'bitcoin-address', testnet],
    ['a P2PKH address', legacy, 'bitcoin-address', legacy],
    [
      'a P2SH address',
      '3EktnHQD7RiAE6uzMj2ZifT9YgRrkSgzQX',
      'bitcoin-address',
      '3EktnHQD7RiAE6uzMj2ZifT9YgRrkSgzQX',
    ],
    [
      'a testnet P2PKH address',
      'mk2QpYatsKicvFVuTAQLBryyccRXMUaGHP',
      'bitcoin-address',
      'mk2QpYatsKicvFVuTAQLBryyccRXMUaGHP',
    ],
    ['a TRON address', tron, 'tron-address', tron],
    ['an Ethereum address with a checksum', evm, 'evm-address', evm],
    ['an Ethereum address in lower case', evm.toLowerCase(), 'evm-address', evm],
    ['a bitcoin: URI with an address', `bitcoin:${segwit}`, 'bip21', `bitcoin:${segwit}`],
    [
      'a bitcoin: URI with an invoice only',
      `bitcoin:?lightning=${invoice}`,
      'bip21',
      `bitcoin:?lightning=${invoice}`,
    ],
    [
      'a bitcoin: URI with an address on testnet and an invoice on signet',
      `bitcoin:${testnet}?lightning=${onSignet}`,
      'bip21',
      `bitcoin:${testnet}?lightning=${onSignet}`,
    ],
  ] as const)('reads %s', ([, text, kind, spelled]) => {
    expect(detectDestination(text)).toMatchObject({ kind, text: spelled });
  });

  test('returns the address and the invoice of a bitcoin: URI', () => {
    const both = detectDestination(
      `BITCOIN:${segwit.toUpperCase()}?AMOUNT=0.0005&LIGHTNING=${invoice.toUpperCase()}`,
    );
    expect(both).toMatchObject({
      kind: 'bip21',
      value: { bitcoin: { address: segwit }, invoice: { invoice } },
    });
    const second = detectDestination(`bitcoin:?bc=${segwit}&bc=${taproot}&lno=lno1x`);
    expect(second).toMatchObject({
      value: { bitcoin: { address: segwit }, invoice: null, otherMethods: ['lno'] },
    });
  });

  test.for([
    [
      'a Lightning invoice with a changed amount',
      invoice.replace('lnbc500u', 'lnbc600u'),
      'This Lightning invoice was changed or cut off: the checksum is wrong',
    ],
    [
      'a Lightning invoice without its last character',
      invoice.slice(0, -1),
      'the checksum is wrong',
    ],
    [
      'a lightning: URI with a Bitcoin address',
      `lightning:${segwit}`,
      'is not an invoice, address',
    ],
    [
      'an LNURL without its last character',
      lnurl.slice(0, -1),
      'This LNURL was changed or cut off: the checksum is wrong',
    ],
    [
      'a segwit address with a changed character',
      segwit.replace('f3t4', 'f3t5'),
      'This Bitcoin address was changed or cut off: the checksum is wrong',
    ],
    [
      'a base58 address with a wrong checksum',
      '175tWpb8K1S7NmH4Zx6rewF9WQrcZv245W',
      'the checksum is wrong',
    ],
    [
      'a bitcoin: URI whose address has a wrong checksum',
      'bitcoin:175tWpb8K1S7NmH4Zx6rewF9WQrcZv245W?amount=20.3&label=Luke-Jr',
      'the checksum is wrong',
    ],
    [
      'a bitcoin: URI whose second address has a wrong checksum',
      `bitcoin:${segwit}?bc=${taproot.slice(0, -1)}q`,
      'the checksum is wrong',
    ],
    [
      'a bitcoin: URI with a bogus invoice',
      'bitcoin:?lightning=lnbc420bogusinvoice',
      'the "1" after the prefix is missing',
    ],
    [
      'a bitcoin: URI with a BOLT12 offer only',
      'bitcoin:?lno=lno1bogusoffer',
      'no address and no Lightning invoice',
    ],
    [
      'a bitcoin: URI with an address on testnet and an invoice on mainnet',
      `bitcoin:${testnet}?lightning=${invoice}`,
      'different networks',
    ],
    [
      'a bitcoin: URI with addresses on two networks',
      `bitcoin:${legacy}?tb=${testnet}`,
      'different networks',
    ],
    [
      'a bitcoin: URI whose amount differs from the amount of its invoice',
      `bitcoin:${segwit}?amount=0.0006&lightning=${invoice}`,
      'asks for 0.0006 BTC, but its invoice asks for 0.0005 BTC',
    ],
    [
      'a TRON address with a changed character',
      `${tron.slice(0, -1)}u`,
      'This TRON address was changed or cut off: the checksum is wrong',
    ],
    ['a TRON address with two extra characters', `${tron}89`, '36 characters instead of 34'],
    [
      'an Ethereum address with the wrong letter case',
      evm.replace('aA', 'AA'),
      'This Ethereum address was changed or cut off: the checksum',
    ],
    ['an Ethereum address that is too short', '0xff4d6793F584a473', 'is not an Ethereum address'],
    ['a Lightning Address without a domain', 'alice@', 'is not a Lightning Address'],
    [
      'a BOLT12 offer',
      'lno1pqps7sjqpgtyzm3qv4uxzmtsd3jjqer9wd3hy6tsw35k7msjzfpy7nz5yqcnygrfdej82um5wf5k2',
      'BOLT12 offer',
    ],
    [
      'a silent payment address',
      'sp1qqgste7k9hx0qftg6qmwlkqtwuy6cycyavzmzj85c6qdfhjdpdjtdgqjuexzk',
      'silent payment',
    ],
    ['a web address without an LNURL', 'https://example.com/pay', 'is a web address'],
    [
      'an Ethereum address without 0x',
      'bd839e4f6fadb293ba580df5dea7814399989983',
      'write 0x before it',
    ],
    ['an empty text', '', 'The destination is empty'],
    ['a text of spaces', '   ', 'The destination is empty'],
    ['an amount instead of a destination', '50000sat', 'is an amount. Write the destination first'],
    ['a text of 9,000 characters', 'x'.repeat(9000), 'too long'],
  ] as const)('refuses %s', ([, text, reason]) => {
    expect(refusal(() => detectDestination(text))).toContain(reason);
  });

  test('returns a destination or a usage failure for any text', () => {
    const starts = [
      '',
      'bitcoin:',
      'bitcoin:?',
      'lightning:',
      'lnbc',
      'lnurl1',
      'bc1q',
      '0x',
      'T',
      '1',
      '@',
    ];
    const start = fc.constantFrom(...starts);
    const rest = fc.oneof(fc.string(), fc.webQueryParameters(), fc.stringMatching(/^\w*$/));
    fc.assert(
      fc.property(start, rest, (a, b) => {
        try {
          expect(detectDestination(a + b).text).not.toBe('');
        } catch (error) {
          expect(error).toSatisfy((e) => e instanceof Failure && e.kind === 'usage');
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('describeDestination', () => {
  const now = 1_700_000_000_000;
  const described = (text: string, at = now): unknown =>
    JSON.parse(JSON.stringify(describeDestination(detectDestination(text), at)));

  test('returns every field of an invoice, and its amount as text', () => {
    expect(described(invoice)).toEqual({
      kind: 'bolt11',
      network: 'mainnet',
      amountMsat: '50000000',
      paymentHash: '01'.repeat(32),
      payee: '02531fe6068134503d2723133227c867ac8fa6c83c537e9a44c3c5bdbdcb1fe337',
      description: 'tea',
      descriptionHash: null,
      timestamp: 1_700_000_000,
      expiry: 3600,
      expiresAt: 1_700_003_600_000,
      expired: false,
      minFinalCltvExpiry: 18,
      features: [8, 14],
      routeHints: [],
      fallbackAddress: null,
    });
  });

  test('reports an invoice as expired from the exact millisecond at which it expires', () => {
    expect(described(invoice, 1_700_003_599_999)).toMatchObject({ expired: false });
    expect(described(invoice, 1_700_003_600_000)).toMatchObject({ expired: true });
  });

  test.for([
    [
      'a taproot address',
      taproot,
      { kind: 'bitcoin-address', address: taproot, network: 'mainnet', type: 'p2tr' },
    ],
    ['a TRON address', tron, { kind: 'tron-address', address: tron }],
    [
      'an Ethereum address with a checksum',
      evm,
      { kind: 'evm-address', address: evm, checksummed: true },
    ],
    [
      'an Ethereum address in lower case',
      evm.toLowerCase(),
      { kind: 'evm-address', address: evm, checksummed: false },
    ],
    ['an LNURL', lnurl, { kind: 'lnurl', url: 'https://example.com/pay' }],
    [
      'a Lightning Address',
      'a@b.co',
      { kind: 'lightning-address', user: 'a', domain: 'b.co', address: 'a@b.co' },
    ],
    [
      'a bitcoin: URI with an address',
      `bitcoin:${segwit.toUpperCase()}?amount=0.00000001&label=x`,
      {
        kind: 'bip21',
        address: segwit,
        amount: '0.00000001',
        label: 'x',
        message: null,
        lightning: null,
      },
    ],
    [
      'a bitcoin: URI with an invoice only',
      `bitcoin:?lightning=${invoice.toUpperCase()}&message=hi`,
      {
        kind: 'bip21',
        address: null,
        amount: null,
        label: null,
        message: 'hi',
        lightning: invoice,
      },
    ],
  ] as const)('describes %s', ([, text, expected]) => {
    expect(described(text)).toEqual(expected);
  });
});
