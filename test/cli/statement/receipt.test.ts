// svcpay tx get -o html writes a receipt as a page without scripts or external resources.
import Big from 'big.js';
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
  test('writes a receipt as one HTML file that loads nothing', async ({ around }) => {
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
      quoted: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+$/),
      Approved: '0.00001003 BTC for 0.00001000 BTC',
      Arrived: '0.00001000 BTC',
      Payer: 'Sandbox',
      settled: expect.any(String),
    });
    expect(html).toMatch(/<h1>Lightning send: \w+<\/h1>/);
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;tea&quot;');
    // oxlint-disable-next-line no-control-regex
    expect(html).not.toMatch(/<script|<link|<img|https?:|url\(|\u001b/);
  });

  test('shows the parties, amounts, fiat values and times of a payout', async ({ around }) => {
    await svcpay(['config', 'set', 'fiat', 'usd'], around);
    const line =
      'payout --country VN --institution 970436 --acct-num 0123456789 --amount 500000vnd ' +
      '--from BTC --yes --purpose 1 --source 1 --relationship 1 --recipient-type individual ' +
      '--recipient-country VN --sender-type individual --sender-country CA -q --no-wait';
    const names = ['--acct-name', 'LE VAN A', '--recipient-name', 'Le Van A'];
    const payout = [...line.split(' '), ...names, '--sender-name', 'Jane Roe'];
    const { stdout } = await svcpay(payout, around);
    await around.sandbox.clock.advance('1d');
    const { stdout: html } = await svcpay(['tx', 'get', stdout.trim(), '-o', 'html'], around);
    const rate = (await svcpay(['rates', 'BTCUSD', '-q'], around)).stdout.trim();
    const worth = new Big('0.000201').times(rate).toFixed(2);
    expect(cells(html)).toMatchObject({
      Payer: 'Jane Roe, Canada',
      Recipient: 'Le Van A, Vietnam',
      'Account name': 'LE VAN A',
      Approved: '0.00020100 BTC for 500 000 VND',
      Arrived: '500 000 VND',
      Total: '0.00020100 BTC',
      Worth: expect.stringMatching(new RegExp(`^${worth} USD, 1 BTC = ${rate} USD on \\d{4}-`)),
    });
    const times = [...html.matchAll(/<td>(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) \S+<\/td>/g)];
    expect(times.length).toBeGreaterThan(2);
    expect(times.map(([, time]) => time)).toEqual(times.map(([, time]) => time).toSorted());
  });

  test('shows that a failed payment deducted nothing', async ({ around }) => {
    await around.sandbox.faults.add({ kind: 'payment', outcome: 'no-route' });
    const invoice = await around.sandbox.invoice('1000sat');
    const failed = await svcpay(
      ['send', 'lightning', invoice, '--ref', 'order-119', '--yes', '--json'],
      around,
    );
    expect(failed.exitCode).toBe(6);
    expect((await svcpay(['tx', 'get', 'order-119', '-o', 'html'], around)).stdout).toContain(
      'Nothing was taken from your BTC wallet.',
    );
  });
});
