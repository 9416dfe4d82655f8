// Detecting a destination: every kind in every spelling, and a plain word on each that is broken.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeInvoice } from '../../src/formats/bolt11/encode.js';
import { describeDestination } from '../../src/formats/describe.js';
import { detectDestination } from '../../src/formats/destination.js';
import { Failure } from '../../src/formats/failure.js';
import { encodeLnurl } from '../../src/formats/lnurl.js';
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
    [invoice, 'bolt11', invoice],
    [invoice.toUpperCase(), 'bolt11', invoice],
    [`lightning:${invoice}`, 'bolt11', invoice],
    [`LIGHTNING:${invoice.toUpperCase()}`, 'bolt11', invoice],
    [`  ${invoice}\r\n`, 'bolt11', invoice],
    [
      `${invoice.slice(0, 70)}\r\n    ${invoice.slice(70, 140)} ${invoice.slice(140)}\n`,
      'bolt11',
      invoice,
    ],
    [`lightning: ${invoice.slice(0, 9)}\u200B${invoice.slice(9)}`, 'bolt11', invoice],
    [`lightning:${invoice}?label=Coffee House&x=1`, 'bolt11', invoice],
    [`LIGHTNING://${invoice.toUpperCase()}/#top`, 'bolt11', invoice],
    [`lightning://${lnurl}?x=1#top`, 'lnurl', lnurl],
    ['lightning:alice@example.com?x=1', 'lightning-address', 'alice@example.com'],
    ['alice@exam\n  ple.com', 'lightning-address', 'alice@example.com'],
    [`${segwit.slice(0, 20)}\n\t${segwit.slice(20)}`, 'bitcoin-address', segwit],
    [`${tron.slice(0, 4)} ${tron.slice(4)}`, 'tron-address', tron],
    [
      `bitcoin:${segwit}\n  ?amount=0.01 &label=two words`,
      'bip21',
      `bitcoin:${segwit}?amount=0.01&label=two words`,
    ],
    [onRegtest, 'bolt11', onRegtest],
    [lnurl, 'lnurl', lnurl],
    [lnurl.toLowerCase(), 'lnurl', lnurl],
    [`lightning:${lnurl}`, 'lnurl', lnurl],
    ['lnurlp://example.com/pay', 'lnurl', lnurl],
    ['LNURLP://pay2onion.onion/a', 'lnurl', encodeLnurl('http://pay2onion.onion/a')],
    [`https://shop.example/pay?item=1&lightning=${lnurl.toLowerCase()}#top`, 'lnurl', lnurl],
    ['Alice@Example.com', 'lightning-address', 'alice@example.com'],
    ['lnbc1@example.com', 'lightning-address', 'lnbc1@example.com'],
    ['lightning:alice@example.com', 'lightning-address', 'alice@example.com'],
    [segwit, 'bitcoin-address', segwit],
    [segwit.toUpperCase(), 'bitcoin-address', segwit],
    [testnet.toUpperCase(), 'bitcoin-address', testnet],
    [legacy, 'bitcoin-address', legacy],
    ['3EktnHQD7RiAE6uzMj2ZifT9YgRrkSgzQX', 'bitcoin-address', '3EktnHQD7RiAE6uzMj2ZifT9YgRrkSgzQX'],
    ['mk2QpYatsKicvFVuTAQLBryyccRXMUaGHP', 'bitcoin-address', 'mk2QpYatsKicvFVuTAQLBryyccRXMUaGHP'],
    [tron, 'tron-address', tron],
    [evm, 'evm-address', evm],
    [evm.toLowerCase(), 'evm-address', evm],
    [`bitcoin:${segwit}`, 'bip21', `bitcoin:${segwit}`],
    [`bitcoin:?lightning=${invoice}`, 'bip21', `bitcoin:?lightning=${invoice}`],
    [
      `bitcoin:${testnet}?lightning=${onSignet}`,
      'bip21',
      `bitcoin:${testnet}?lightning=${onSignet}`,
    ],
  ] as const)('reads %s as %s', ([text, kind, spelled]) => {
    expect(detectDestination(text)).toMatchObject({ kind, text: spelled });
  });

  test('finds the checked address and invoice of a bitcoin: URI', () => {
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
      invoice.replace('lnbc500u', 'lnbc600u'),
      'This Lightning invoice was changed or cut off: its checksum is wrong',
    ],
    [invoice.slice(0, -1), 'its checksum is wrong'],
    [`lightning:${segwit}`, 'is not a destination'],
    [lnurl.slice(0, -1), 'This LNURL was changed or cut off: its checksum is wrong'],
    [
      segwit.replace('f3t4', 'f3t5'),
      'This Bitcoin address was changed or cut off: its checksum is wrong',
    ],
    ['175tWpb8K1S7NmH4Zx6rewF9WQrcZv245W', 'its checksum is wrong'],
    [
      'bitcoin:175tWpb8K1S7NmH4Zx6rewF9WQrcZv245W?amount=20.3&label=Luke-Jr',
      'its checksum is wrong',
    ],
    [`bitcoin:${segwit}?bc=${taproot.slice(0, -1)}q`, 'its checksum is wrong'],
    ['bitcoin:?lightning=lnbc420bogusinvoice', 'the "1" after its prefix is missing'],
    ['bitcoin:?lno=lno1bogusoffer', 'no address and no Lightning invoice'],
    [`bitcoin:${testnet}?lightning=${invoice}`, 'different networks'],
    [`bitcoin:${legacy}?tb=${testnet}`, 'different networks'],
    [
      `bitcoin:${segwit}?amount=0.0006&lightning=${invoice}`,
      'asks for 0.0006 BTC, but its invoice for 0.0005 BTC',
    ],
    [`${tron.slice(0, -1)}u`, 'This TRON address was changed or cut off: its checksum is wrong'],
    [`${tron}89`, '36 characters instead of 34'],
    [evm.replace('aA', 'AA'), 'This Ethereum address was changed or cut off: its checksum'],
    ['0xff4d6793F584a473', 'is not an Ethereum address'],
    ['alice@', 'is not a Lightning Address'],
    [
      'lno1pqps7sjqpgtyzm3qv4uxzmtsd3jjqer9wd3hy6tsw35k7msjzfpy7nz5yqcnygrfdej82um5wf5k2',
      'BOLT12 offer',
    ],
    ['sp1qqgste7k9hx0qftg6qmwlkqtwuy6cycyavzmzj85c6qdfhjdpdjtdgqjuexzk', 'silent payment'],
    ['https://example.com/pay', 'is a web address'],
    ['bd839e4f6fadb293ba580df5dea7814399989983', 'write 0x before it'],
    ['', 'The destination is empty'],
    ['   ', 'The destination is empty'],
    ['50000sat', 'is an amount: the destination comes first'],
    ['x'.repeat(9000), 'too long'],
  ] as const)('refuses %s: %s', ([text, reason]) => {
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

  test('returns every field of an invoice, the amount as text', () => {
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

  test('reports an invoice as expired from that millisecond on', () => {
    expect(described(invoice, 1_700_003_599_999)).toMatchObject({ expired: false });
    expect(described(invoice, 1_700_003_600_000)).toMatchObject({ expired: true });
  });

  test.for([
    [taproot, { kind: 'bitcoin-address', address: taproot, network: 'mainnet', type: 'p2tr' }],
    [tron, { kind: 'tron-address', address: tron }],
    [evm, { kind: 'evm-address', address: evm, checksummed: true }],
    [evm.toLowerCase(), { kind: 'evm-address', address: evm, checksummed: false }],
    [lnurl, { kind: 'lnurl', url: 'https://example.com/pay' }],
    ['a@b.co', { kind: 'lightning-address', user: 'a', domain: 'b.co', address: 'a@b.co' }],
    [
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
  ] as const)('describes %s', ([text, expected]) => {
    expect(described(text)).toEqual(expected);
  });
});
