// Signatures: the vectors of RFC 4231 whose keys are text, and why a wrong one is wrong.
import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { explainSignature } from '../../src/webhooks/explain.js';
import { signatureHeader, signBody, verifyBody } from '../../src/webhooks/sign.js';

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

describe('a signature', () => {
  test.for(rfc4231)('is the HMAC-SHA256 of RFC 4231 for "$data"', ({ key, data, hex }) => {
    expect(signBody(Buffer.from(data), key)).toBe(hex);
    expect(verifyBody(Buffer.from(data), hex, key)).toBe(true);
  });

  test('is made over raw bytes, valid UTF-8 or not', () => {
    const body = Buffer.from([0x7b, 0xff, 0x00, 0x7d]);
    expect(verifyBody(body, signBody(body, 's'), 's')).toBe(true);
    expect(verifyBody(Buffer.from(body.toString('utf8')), signBody(body, 's'), 's')).toBe(false);
  });

  const body = Buffer.from('{"txnId":"a"}');
  const right = signBody(body, 'secret');
  test.for([
    ['uppercase hex', right.toUpperCase()],
    ['white space', ` ${right}`],
    ['one digit too few', right.slice(1)],
    ['another digit', right.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))],
    ['nothing', ''],
    ['something else of the same length', 'z'.repeat(64)],
  ] as const)('is refused with %s', ([, signature]) => {
    expect(verifyBody(body, signature, 'secret')).toBe(false);
  });

  test('is sent in a header with the name of the maker', () => {
    expect([signatureHeader('service'), signatureHeader('acme')]).toEqual([
      'X-Servicepay-Signature',
      'X-Acmepay-Signature',
    ]);
  });
});

describe('a wrong signature is explained', () => {
  const body = Buffer.from('{"txnId":"a","msg":"Gr\u00fc\u00dfe","updatedAt":1}');
  const secret = 'whsec_cafe';
  const sign = (
    text: string | Buffer,
    key: string | Buffer = secret,
    encoding: 'hex' | 'base64' = 'hex',
  ): string => createHmac('sha256', key).update(text).digest(encoding);

  test.for([
    ['encoding', 'uppercase hex', sign(body).toUpperCase()],
    ['encoding', 'base64', sign(body, secret, 'base64')],
    ['encoding', 'prefix', `sha256=${sign(body)}`],
    ['encoding', 'white space', `${sign(body)}\n`],
    ['encoding', 'SHA-512', createHmac('sha512', secret).update(body).digest('hex')],
    ['encoding', 'not hex', 'hello'],
    ['encoding', 'empty', ''],
    ['secret', 'line break', sign(body, `${secret}\n`)],
    ['secret', 'the API secret', sign(body, 'api-secret')],
    ['body', 'line break at its end is gone', sign(`${body.toString()}\n`)],
    [
      'body',
      'JSON was rewritten',
      sign('{"txnId": "a", "msg": "Gr\\u00fc\\u00dfe", "updatedAt": 1}'),
    ],
    ['body', 'JSON was rewritten', sign(JSON.stringify(JSON.parse(body.toString()), null, 2))],
    ['unknown', 'cannot tell', sign('another body')],
    ['unknown', 'cannot tell', sign(body, 'another secret')],
  ] as const)('as %s: %s', ([cause, words, signature]) => {
    const explanation = explainSignature(body, signature, secret, [
      { name: 'the API secret', secret: 'api-secret' },
    ]);
    expect(explanation).toMatchObject({ cause, reason: expect.stringContaining(words) });
    expect(explanation?.reason).not.toContain(secret);
  });

  test('by the secret read as hex', () => {
    expect(
      explainSignature(body, sign(body, Buffer.from('cafe', 'hex')), 'cafe')?.reason,
    ).toContain('read as hex');
  });

  test('by bytes added after the body', () => {
    const longer = Buffer.concat([body, Buffer.from('\n')]);
    expect(explainSignature(longer, sign(body), secret)).toMatchObject({ cause: 'body' });
  });

  test('and a right one is not', () => {
    expect(explainSignature(body, sign(body), secret)).toBeUndefined();
  });
});
