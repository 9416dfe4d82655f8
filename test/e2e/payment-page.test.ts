// Tests the payment page of the sandbox in a real browser: every state, narrow phones and dark
// mode.
import jsqr from 'jsqr';
import { chromium, type Browser, type Page } from 'playwright-core';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Sandbox } from '../../src/sandbox/server.js';
import { connect, lightningReceive } from '../sandbox/support.js';
import { findProgram, isInstalled } from '../support/installed.js';
import { runsAll } from '../support/part.js';
import type { ShapedOptions } from '../support/live-shapes/apply.js';
import { test as base } from '../support/svcpay.js';

const runs = runsAll && isInstalled('chromium');
const executablePath = findProgram('chromium') ?? 'chromium';

let browser: Browser;
beforeAll(async () => {
  if (runs) browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
});
afterAll(async () => {
  if (runs) await browser.close();
});

const onchainReceive = {
  sourceReq: { ccy: 'BTC', method: 'on-chain', reqDetails: {} },
  destReq: { ccy: 'BTC', method: 'servicepay', amtRequested: 0.25, reqDetails: {} },
};

/**
 * A browser page that fails its test on a console message or an error, such as a blocked request.
 */
const test = base.extend<{ page: Page; sandboxOptions: ShapedOptions }>({
  // Live response formats do not change the payment page, so this sandbox always returns responses
  // as specified.
  sandboxOptions: { autoPay: 'off', liveShapes: [] },
  page: async ({}, use) => {
    const page = await browser.newPage({ viewport: { width: 320, height: 640 } });
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await use(page);
    await page.close();
    expect(complaints).toEqual([]);
  },
});

const receive = async (sandbox: Sandbox, body: object) =>
  (await connect(fetch, sandbox.url, sandbox)).run(body);
const pageUrl = (txn: { sourceReq: { reqDetails: { invoicePageUrl: string } } }): string =>
  txn.sourceReq.reqDetails.invoicePageUrl;
const heading = (page: Page) => page.locator('.status h2:visible');

const pixels = v.object({ width: v.number(), height: v.number(), data: v.string() });

/** Returns the text that the camera of a phone reads from the screen. */
async function scan(page: Page): Promise<string | undefined> {
  const picture = (await page.locator('.qr').screenshot()).toString('base64');
  const blank = await browser.newPage();
  const read = v.parse(
    pixels,
    await blank.evaluate(`(async () => {
    const image = await createImageBitmap(await (await fetch('data:image/png;base64,${picture}')).blob());
    const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
    canvas.drawImage(image, 0, 0);
    const { width, height, data } = canvas.getImageData(0, 0, image.width, image.height);
    let text = '';
    for (const byte of data) text += String.fromCharCode(byte);
    return { width, height, data: btoa(text) };
  })()`),
  );
  await blank.close();
  return jsqr.default(
    Uint8ClampedArray.from(Buffer.from(read.data, 'base64')),
    read.width,
    read.height,
  )?.data;
}

describe.runIf(runs)('the payment page of the sandbox', () => {
  test('shows the amount, a countdown and a QR code of the invoice', async ({ sandbox, page }) => {
    const txn = await receive(sandbox, lightningReceive(0.0005));
    await page.goto(pageUrl(txn));
    expect(await page.locator('.amount').textContent()).toBe('0.00050000 BTC');
    expect(await page.locator('.left').textContent()).toMatch(/^(59:\d\d|1 h) left$/);
    expect((await scan(page))?.toLowerCase()).toBe(
      `lightning:${txn.sourceReq.reqDetails.paymentRequest}`,
    );
    await expect
      .poll(() => page.locator('.left').textContent())
      .not.toBe(await page.locator('.left').textContent());
  });

  test('shows "Paid" as soon as the invoice is paid', async ({ sandbox, page }) => {
    const txn = await receive(sandbox, lightningReceive(0.0005));
    await page.goto(pageUrl(txn));
    expect(await heading(page).textContent()).toBe('Waiting for the payment');
    await sandbox.pay(txn.sourceReq.reqDetails.paymentRequest);
    await expect.poll(() => heading(page).textContent()).toBe('Paid');
    expect(await page.locator('.qr, .pay').filter({ visible: true }).count()).toBe(0);
  });

  test('pays the invoice when a person presses "Pay now"', async ({ sandbox, page }) => {
    const client = await connect(fetch, sandbox.url, sandbox);
    const txn = await client.run(lightningReceive(0.0005));
    await page.goto(pageUrl(txn));
    await page.getByRole('button', { name: 'Pay now' }).click();
    await expect.poll(() => heading(page).textContent()).toBe('Paid');
    expect((await client.get(txn.txnId)).body.txnState).toBe('completed');
    expect((await client.wallet('BTC')).amount).toBe(1.0005);
  });

  test('shows "Expired" instead of the QR code after the expiry', async ({ sandbox, page }) => {
    const txn = await receive(sandbox, lightningReceive(0.0005));
    await page.goto(pageUrl(txn));
    await sandbox.clock.advance('61m');
    await expect.poll(() => heading(page).textContent()).toBe('Expired');
    expect(await page.locator('.qr').isVisible()).toBe(false);
  });

  test('opens automatically when the request is confirmed', async ({ sandbox, page }) => {
    const client = await connect(fetch, sandbox.url, sandbox);
    const quote = (await client.create(lightningReceive(0.0005))).body;
    await page.goto(`${sandbox.url}/pay/${quote.txnId}`);
    expect(await heading(page).textContent()).toBe('Not open yet');
    await client.confirm(quote.txnId);
    await expect.poll(() => page.locator('.qr').isVisible()).toBe(true);
  });

  test('waits for confirmations after an on-chain payment', async ({ sandbox, page }) => {
    const txn = await receive(sandbox, onchainReceive);
    await page.goto(pageUrl(txn));
    expect((await scan(page))?.toLowerCase()).toBe(txn.sourceReq.reqDetails.invoice);
    expect(await page.locator('.code code').textContent()).toBe(txn.sourceReq.reqDetails.address);
    await page.getByRole('button', { name: 'Pay now' }).click();
    await expect.poll(() => heading(page).textContent()).toBe('Payment seen');
    await sandbox.clock.advance('2h');
    await expect.poll(() => heading(page).textContent()).toBe('Paid');
  });

  test('stops its countdown while the sandbox clock is frozen', async ({ sandbox, page }) => {
    const txn = await receive(sandbox, lightningReceive(0.0005));
    await sandbox.clock.freeze();
    await page.goto(pageUrl(txn));
    const left = await page.locator('.left').textContent();
    await page.waitForEvent('load');
    await page.waitForEvent('load');
    expect(await page.locator('.left').textContent()).toBe(left);
  });

  test('stops reloading itself after the payment', async ({ sandbox, page }) => {
    const txn = await receive(sandbox, lightningReceive(0.0005));
    await page.goto(pageUrl(txn));
    expect(await page.locator('meta[http-equiv=refresh]').count()).toBe(1);
    await sandbox.pay(txn.sourceReq.reqDetails.paymentRequest);
    await expect.poll(() => heading(page).textContent()).toBe('Paid');
    expect(await page.locator('meta[http-equiv=refresh]').count()).toBe(0);
  });

  const themes = ['light', 'dark'] as const;
  test.for(themes)(
    'fits a narrow phone and has a scannable QR code in %s mode',
    async (colorScheme, { sandbox, page }) => {
      const txn = await receive(sandbox, lightningReceive(0.12345678));
      await page.emulateMedia({ colorScheme });
      await page.goto(pageUrl(txn));
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
      expect((await scan(page))?.toLowerCase()).toBe(
        `lightning:${txn.sourceReq.reqDetails.paymentRequest}`,
      );
    },
  );

  test('shows a payee name that contains HTML as plain text', async ({ sandbox, page }) => {
    const displayName = '<img src=x onerror=alert(1)> & "Söhne"';
    const admin = await connect(fetch, sandbox.url, sandbox);
    const { body: account } = await admin.control('POST', 'accounts', { displayName });
    const shop = await connect(fetch, sandbox.url, account);
    await page.goto(pageUrl(await shop.run(lightningReceive(0.0005))));
    expect(await page.locator('.payee strong').textContent()).toBe(displayName);
  });
});
