// Tests signatures with the vectors of RFC 4231 whose keys are text, and the explanations of a
// wrong signature.
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

describe('explanation of a wrong signature', () => {
  const body = Buffer.from('{"txnId":"a","msg":"Gr\u00fc\u00dfe","updatedAt":1}');
  const secret = 'whsec_cafe';
  const sign = (
    text: string | Buffer,
    key: string | Buffer = secret,
    encoding: 'hex' | 'base64' = 'hex',
  ): string => createHmac('sha256', key).update(text).digest(encoding);

  test.for([
    ['a signature in upper case', 'encoding', 'uppercase hex', sign(body).toUpperCase()],
    ['a signature in base64', 'encoding', 'base64', sign(body, secret, 'base64')],
    ['a signature with the prefix "sha256="', 'encoding', 'prefix', `sha256=${sign(body)}`],
    ['a signature with a trailing line break', 'encoding', 'white space', `${sign(body)}\n`],
    [
      'a signature by SHA-512',
      'encoding',
      'SHA-512',
      createHmac('sha512', secret).update(body).digest('hex'),
    ],
    ['a signature that is not hex', 'encoding', '64 hex digits', 'hello'],
    ['an empty signature', 'encoding', 'empty', ''],
    ['a secret with a trailing line break', 'secret', 'line break', sign(body, `${secret}\n`)],
    ['a signature with the API secret', 'secret', 'the API secret', sign(body, 'api-secret')],
    [
      'a body that lost its last line break',
      'body',
      'line break at the end of the body was removed',
      sign(`${body.toString()}\n`),
    ],
    [
      'a body whose JSON lost its spaces and escapes',
      'body',
      'JSON of the body was rewritten',
      sign('{"txnId": "a", "msg": "Gr\\u00fc\\u00dfe", "updatedAt": 1}'),
    ],
    [
      'a body whose JSON lost its indentation',
      'body',
      'JSON of the body was rewritten',
      sign(JSON.stringify(JSON.parse(body.toString()), null, 2)),
    ],
    [
      'the signature of another body as unknown',
      'unknown',
      'does not show which',
      sign('another body'),
    ],
    [
      'a signature with another secret as unknown',
      'unknown',
      'does not show which',
      sign(body, 'another secret'),
    ],
  ] as const)('explainSignature explains %s', ([, cause, words, signature]) => {
    const explanation = explainSignature(body, signature, secret, [
      { name: 'the API secret', secret: 'api-secret' },
    ]);
    expect(explanation).toMatchObject({ cause, reason: expect.stringContaining(words) });
    expect(explanation?.reason).not.toContain(secret);
  });

  test('explainSignature explains that the secret was read as hex', () => {
    expect(
      explainSignature(body, sign(body, Buffer.from('cafe', 'hex')), 'cafe')?.reason,
    ).toContain('decoded as hex');
  });

  test('explainSignature explains that bytes were added after the body', () => {
    const longer = Buffer.concat([body, Buffer.from('\n')]);
    expect(explainSignature(longer, sign(body), secret)).toMatchObject({ cause: 'body' });
  });

  test('explainSignature returns no explanation for a right signature', () => {
    expect(explainSignature(body, sign(body), secret)).toBeUndefined();
  });
});
