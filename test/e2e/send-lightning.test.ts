// Tests svcpay send lightning in scripts and at a terminal.
import { describe, expect } from 'vitest';
import { svcpay, svcpayTty } from '../support/in-process.js';
import { createRequests } from '../support/orders.js';
import { svcpay as started, test } from '../support/svcpay.js';

describe('svcpay send lightning', () => {
  test('pays an invoice and prints the completed transaction', async ({ around }) => {
    const invoice = await around.sandbox.invoice('1000sat');
    const run = await started(['send', 'lightning', invoice, '--yes', '--json'], around);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.json()).toMatchObject({ txnState: 'completed', destReq: { amtSettled: 0.00001 } });
  });

  test('sends a create request without an amount on either side', async ({ around }) => {
    const invoice = await around.sandbox.invoice('1000sat');
    await svcpay(['send', 'lightning', invoice, '--yes'], around);
    const [request] = around.sandbox.requests('POST', '/api/v2/transaction');
    expect(JSON.parse(request?.requestBody ?? '')).toEqual({
      sourceReq: { ccy: 'BTC', method: 'servicepay', reqDetails: {} },
      destReq: { ccy: 'BTC', method: 'lightning', reqDetails: { paymentRequest: invoice } },
      extRefId: expect.stringMatching(/^bolt11-[0-9a-f]{64}$/),
    });
  });

  test('ends with exit 9 and sends no create request if there is neither a terminal nor --yes', async ({
    around,
  }) => {
    const invoice = await around.sandbox.invoice('1000sat');
    const run = await svcpay(['send', 'lightning', invoice], around);
    expect(run).toMatchObject({ exitCode: 9, stdout: '' });
    expect(run.stderr).toContain('--yes');
    expect(createRequests(around.sandbox)).toHaveLength(0);
  });

  test('shows the full cost of an invoice at a terminal and pays after the person confirms', async ({
    around,
  }) => {
    const invoice = await around.sandbox.invoice('2500sat', {
      description: 'Coffee House, order 118',
    });
    const tty = svcpayTty(['send', 'lightning', invoice], around);
    await tty.waitFor('Coffee House, order 118');
    await tty.waitFor(/You pay\s+0\.00002507 BTC/);
    await tty.waitFor(/Left in wallet/);
    await tty.waitFor(/Pay 0\.00002507 BTC/);
    tty.type('y\r');
    expect(await tty.ended).toBe(0);
    expect(tty.text()).toMatch(/✓ Paid 0\.00002507 BTC/);
  });

  test('sends no confirmation of the payment if the person declines', async ({ around }) => {
    const invoice = await around.sandbox.invoice('2500sat');
    const tty = svcpayTty(['send', 'lightning', invoice], around);
    await tty.waitFor(/Pay 0\.00002507 BTC/);
    tty.type('\r');
    expect(await tty.ended).toBe(9);
    expect(around.sandbox.requests('PUT')).toHaveLength(0);
  });
});
