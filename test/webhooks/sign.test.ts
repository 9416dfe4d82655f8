// Tests signatures with the vectors of RFC 4231 whose keys are text.
import { describe, expect, test } from 'vitest';
import { signatureHeader, signBody, verifyBody } from '../../src/webhooks/events.js';

const rfc4231 = [
  {
    key: '\u000b'.repeat(20),
    data: 'Hi There',
    hex: 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
  },
  {
    key: 'Jefe',
    data: 'what do ya want for nothing?',
    hex: '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  },
];

describe('webhook signature', () => {
  test.for(rfc4231)('equals the HMAC-SHA256 of RFC 4231 for $data', ({ key, data, hex }) => {
    expect(signBody(Buffer.from(data), key)).toBe(hex);
    expect(verifyBody(Buffer.from(data), hex, key)).toBe(true);
  });

  test('covers the raw bytes of a body even if they are invalid UTF-8', () => {
    const body = Buffer.from([0x7b, 0xff, 0x00, 0x7d]);
    expect(verifyBody(body, signBody(body, 's'), 's')).toBe(true);
    expect(verifyBody(Buffer.from(body.toString('utf8')), signBody(body, 's'), 's')).toBe(false);
  });

  const body = Buffer.from('{"txnId":"a"}');
  const right = signBody(body, 'secret');
  test.for([
    ['uppercase hex', right.toUpperCase()],
    ['leading white space', ` ${right}`],
    ['a missing digit', right.slice(1)],
    ['a wrong digit', right.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))],
    ['no digits', ''],
    ['other characters than hex digits', 'z'.repeat(64)],
  ] as const)('verifyBody refuses a signature with %s', ([, signature]) => {
    expect(verifyBody(body, signature, 'secret')).toBe(false);
  });

  test('signatureHeader contains the service name', () => {
    expect([signatureHeader('service'), signatureHeader('acme')]).toEqual([
      'X-Servicepay-Signature',
      'X-Acmepay-Signature',
    ]);
  });
});
