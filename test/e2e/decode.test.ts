// svcpay decode shows an invoice that cannot be paid, and svcpay send refuses to pay it.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect } from 'vitest';
import { svcpay } from '../support/in-process.js';
import { test } from '../support/svcpay.js';

const vectors: { invalid: { title: string; invoice: string }[] } = JSON.parse(
  readFileSync(join(resolve(import.meta.dirname, '../vectors'), 'bolt11-official.json'), 'utf8'),
);

describe('svcpay decode', () => {
  test.for([
    [
      'invalid unknown feature 100',
      'the invoice requires feature 100, which svcpay does not support',
    ],
    ['Missing required `s` field', 'the invoice has no payment secret'],
  ] as const)(
    'explains why the official test invoice "%s" cannot be paid, and svcpay send refuses it',
    async ([title, why], { around }) => {
      const invoice = vectors.invalid.find((each) => each.title.includes(title))?.invoice ?? '';
      const decoded = await svcpay(['decode', invoice, '--json'], around);
      expect(decoded).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(why) });
      expect(decoded.json()).toMatchObject({
        kind: 'bolt11',
        payee: expect.stringMatching(/^0[23]/),
        unpayable: why,
      });
      const sent = await svcpay(['send', invoice, '--yes', '--json'], around);
      expect(sent).toMatchObject({ exitCode: 2, stdout: '' });
      expect(sent.error().message).toBe(
        `This Lightning invoice cannot be paid: ${why}. Ask for a new invoice.`,
      );
      expect(around.sandbox.requests('POST', '/api/v2/transaction')).toHaveLength(0);
    },
  );
});

describe('svcpay with SVCPAY_MAKER=acme', () => {
  test.override({ sandboxOptions: { maker: 'acme', autoPay: 'off' } });

  test('accepts the names acmepay and servicepay in --fields and in filters', async ({
    around,
  }) => {
    const env = { SVCPAY_MAKER: 'acme' };
    await svcpay(['send', 'ann@example.com', '1000sat', '--yes', '--ref', 'a'], { ...around, env });
    const got = await svcpay(
      ['tx', 'get', 'a', '--json', '--fields', 'txnState,sourceReq.acmepayFees'],
      { ...around, env },
    );
    expect(got.json()).toEqual({ txnState: 'completed', 'sourceReq.servicepayFees': 2e-8 });
    for (const method of ['acmepay', 'servicepay']) {
      const listed = await svcpay(
        ['tx', 'list', '--src-method', method, '--json', '--fields', 'extRefId'],
        { ...around, env },
      );
      expect(listed.json()).toEqual([{ extRefId: 'a' }]);
    }
  });
});

test('the sandbox accepts a used signature again after a reset', async ({ sandbox }) => {
  const { createHmac } = await import('node:crypto');
  const { apiKey, apiSecret, url } = sandbox;
  const signature = createHmac('sha256', apiSecret).update(`${apiKey}&payload={}`).digest('hex');
  const signIn = async (): Promise<number> => {
    const headers = {
      'content-type': 'application/json',
      'x-api-key': apiKey,
      'x-api-signature': signature,
    };
    return (
      await fetch(`${url}/api/v2/authentication/token-signature`, {
        method: 'POST',
        headers,
        body: '{}',
      })
    ).status;
  };
  expect([await signIn(), await signIn()]).toEqual([200, 401]);
  await sandbox.reset();
  expect(await signIn()).toBe(200);
});
