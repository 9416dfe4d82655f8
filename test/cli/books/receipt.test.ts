// A receipt as a page: amount, recipient, fees, total, states with times; without scripts and resources.
import { describe, expect } from 'vitest';
import { svcpay } from '../../support/in-process.js';
import { test } from '../../support/svcpay.js';

const cells = (html: string): Record<string, string> =>
  Object.fromEntries(
    [...html.matchAll(/<th>([^<]*)<\/th><td>([^<]*)<\/td>/g)].map(([, label = '', value = '']) => [
      label,
      value,
    ]),
  );

describe('svcpay tx get -o html', () => {
  test('is a receipt in one file that loads nothing', async ({ around }) => {
    const invoice = await around.sandbox.invoice('1000sat', { description: 'Coffee' });
    const note = `<script>alert(1)</script> & "tea" \u001b[31m`;
    const { stdout } = await svcpay(
      ['send', 'lightning', invoice, '--ref', 'order-118', '--note', note, '--yes', '-q'],
      around,
    );
    const run = await svcpay(['tx', 'get', stdout.trim(), '-o', 'html'], around);
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    const html = run.stdout;
    expect(cells(html)).toMatchObject({
      Amount: '0.00001000 BTC',
      'Service fee': '0.00000002 BTC',
      'Network fee': '0.00000001 BTC',
      Total: '0.00001003 BTC',
      Invoice: invoice,
      Reference: 'order-118',
      Transaction: stdout.trim(),
      quoted: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      settled: expect.any(String),
    });
    expect(html).toMatch(/<h1>Lightning send: \w+<\/h1>/);
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt; &amp; "tea"');
    // oxlint-disable-next-line no-control-regex
    expect(html).not.toMatch(/<script|<link|<img|https?:|url\(|\u001b/);
  });

  test('of a failed payment reports that nothing was deducted', async ({ around }) => {
    await around.sandbox.faults.add({ kind: 'payment', outcome: 'no-route' });
    const invoice = await around.sandbox.invoice('1000sat');
    const failed = await svcpay(
      ['send', 'lightning', invoice, '--ref', 'order-119', '--yes', '--json'],
      around,
    );
    expect(failed.exitCode).toBe(6);
    expect((await svcpay(['tx', 'get', 'order-119', '-o', 'html'], around)).stdout).toContain(
      'Nothing was deducted.',
    );
  });
});
