// Tests LNURLs and Lightning Addresses: spelling, checksum, and the web addresses that they may
// contain.
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { decodeLnurl, encodeLnurl, parseLightningAddress } from '../../src/formats/destination.js';
import { loadVectors } from '../support/vectors.js';
import { refusal } from './support.js';

const schema = v.object({ valid: v.array(v.object({ url: v.string(), lnurl: v.string() })) });
const vectors = loadVectors('lud01.json', schema);

test('decodeLnurl and encodeLnurl agree with the official LUD-01 vector', () => {
  for (const { url, lnurl } of vectors.valid) {
    expect(decodeLnurl(lnurl)).toBe(url);
    expect(decodeLnurl(lnurl.toLowerCase())).toBe(url);
    expect(encodeLnurl(url)).toBe(lnurl);
  }
});

describe('decodeLnurl', () => {
  test('reads every https URL that encodeLnurl writes', () => {
    fc.assert(
      fc.property(fc.webUrl({ validSchemes: ['https'], withQueryParameters: true }), (url) => {
        expect(decodeLnurl(encodeLnurl(url))).toBe(url);
      }),
    );
  });

  test.for([
    'http://pay7qq3f3xyz.onion/lnurl',
    'http://127.0.0.1:8080/lnurlp/alice',
    'http://localhost/x',
    'http://[::1]:1/x',
  ])('accepts %s, which needs no certificate', (url) => {
    expect(decodeLnurl(encodeLnurl(url))).toBe(url);
  });

  test.for([
    'http://example.com/x',
    'http://127.0.0.1.example.com',
    'http://notlocalhost',
    'ftp://example.com',
    'javascript:alert(1)',
    'not a url',
    '',
  ])('refuses an LNURL that contains "%s"', (url) => {
    expect(refusal(() => decodeLnurl(encodeLnurl(url)))).toContain(
      'does not lead to an https address',
    );
  });

  test.for([
    ['a Lightning invoice', 'lnbc1', 'not an LNURL'],
    [
      'an LNURL with a wrong checksum',
      'LNURL1DP68GURN8GHJ7UM9WFMXJCM99E3K7MF0',
      'the checksum is wrong',
    ],
    ['an LNURL in mixed case', 'LNURL1DP68GURN8GHJ7um9', 'mixes upper-case and lower-case'],
    [
      'an LNURL with a character outside bech32',
      'LNURL1DP68GURN8GHJ7UM9B',
      'it contains "b", which is not allowed',
    ],
    ['an lnurlp: URI', 'lnurlp://example.com/x', 'was changed or cut off'],
    ['an LNURL of 5,006 characters', 'LNURL1' + 'Q'.repeat(5000), 'too long'],
  ] as const)('refuses %s', ([, text, reason]) => {
    expect(refusal(() => decodeLnurl(text))).toContain(reason);
  });
});

describe('parseLightningAddress', () => {
  test.for([
    ['alice@example.com', 'alice', 'example.com'],
    ['Alice.B-c_d+tag@Pay.Example.CO.UK', 'alice.b-c_d+tag', 'pay.example.co.uk'],
    ['7@xn--bcher-kva.example', '7', 'xn--bcher-kva.example'],
    ['bob@localhost:8080', 'bob', 'localhost:8080'],
    ['bob@sandbox.localhost', 'bob', 'sandbox.localhost'],
    ['bob@127.0.0.1:3000', 'bob', '127.0.0.1:3000'],
  ] as const)('reads the Lightning Address %s', ([text, user, domain]) => {
    expect(parseLightningAddress(text)).toEqual({ user, domain, address: `${user}@${domain}` });
  });

  test.for([
    'alice',
    '@example.com',
    'alice@',
    'alice@example',
    'alice@@example.com',
    'a@b.com@c.com',
    'al ice@example.com',
    'alice@-example.com',
    'alice@example..com',
    'alice@example.com/path',
    'alice@example.com:',
    'ali/ce@example.com',
    `${'a'.repeat(65)}@example.com`,
    `a@${'b.'.repeat(130)}com`,
    'ålice@example.com',
    'bo\u212a@example.com',
  ])('refuses "%s" as a Lightning Address', (text) => {
    expect(refusal(() => parseLightningAddress(text))).toContain('is not a Lightning Address');
  });
});
