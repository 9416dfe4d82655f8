// The shop's own tests, with Node's test runner and the sandbox in place of the service: node
// --test examples/shop/*.test.mjs
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { signWebhook, WalletClient } from 'svcpay';
import { startSandbox } from 'svcpay/sandbox';
import { createShop } from './shop.mjs';

const webhookSecret = 'whsec_of_the_tests';
let sandbox;
let client;
let shop;
let url;

before(async () => {
  // The sandbox pays no invoice automatically, and webhooks may come over plain http to this machine.
  sandbox = await startSandbox({ autoPay: 'off', allowHttpCallbacks: true });
  client = new WalletClient({
    baseUrl: sandbox.url,
    apiKey: sandbox.apiKey,
    apiSecret: sandbox.apiSecret,
  });
  shop = createShop({ client, webhookSecret }).listen(0, '127.0.0.1');
  await once(shop, 'listening');
  url = `http://127.0.0.1:${shop.address().port}`;
  await client.createWebhook({ callback: `${url}/webhook`, secret: webhookSecret });
});

after(async () => {
  shop.closeAllConnections();
  shop.close();
  await client.close();
  await sandbox.stop();
});

const json = async (response) => (await response).json();
const order = (product) => json(fetch(`${url}/orders/${product}`, { method: 'POST' }));
const read = (id) => json(fetch(`${url}/orders/${id}`));

/** Waits until the order has this state, because a webhook arrives a moment after the payment. */
async function until(id, state) {
  for (let tries = 0; tries < 100; tries += 1) {
    if ((await read(id)).state === state) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`order ${id} did not become ${state}`);
}

test('an order is paid after its invoice is paid', async () => {
  const { id, invoice, state } = await order('coffee');
  assert.equal(state, 'unpaid');
  await sandbox.pay(invoice);
  await until(id, 'paid');
});

test('an order expires if its invoice is not paid', async () => {
  const { id } = await order('cake');
  await sandbox.clock.advance('2h');
  await until(id, 'expired');
});

test('an event with a wrong signature changes nothing', async () => {
  const { id, txnId } = await order('coffee');
  const body = JSON.stringify({
    txnId,
    extRefId: id,
    txnState: 'completed',
    msg: '',
    updatedAt: Date.now(),
  });
  const send = (secret) =>
    fetch(`${url}/webhook`, {
      method: 'POST',
      headers: { 'X-Servicepay-Signature': signWebhook(body, secret) },
      body,
    });
  assert.equal((await send('a guess')).status, 401);
  // A correctly signed but false event does not change the order, because the shop reads the state
  // from the service.
  assert.equal((await send(webhookSecret)).status, 200);
  assert.equal((await read(id)).state, 'unpaid');
});
