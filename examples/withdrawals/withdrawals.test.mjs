// Runs the withdrawals against the sandbox. Each withdrawal is paid once, even after a lost answer
// or a restart.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openMemoryJournal, WalletClient } from 'svcpay';
import { startSandbox } from 'svcpay/sandbox';
import { openWithdrawals } from './withdrawals.mjs';

let sandbox, client, journal, withdrawals;

before(async () => {
  sandbox = await startSandbox({ autoPay: 'off' });
  client = new WalletClient({
    baseUrl: sandbox.url,
    apiKey: sandbox.apiKey,
    apiSecret: sandbox.apiSecret,
  });
  journal = await openMemoryJournal();
  withdrawals = openWithdrawals({ client, journal });
});

after(async () => {
  await journal.close();
  await client.close();
  await sandbox.stop();
});

const confirmations = () =>
  sandbox.requests('PUT').filter(({ path }) => path.endsWith('/confirm')).length;

test('a withdrawal is paid once, however often a customer requests it', async () => {
  const to = await sandbox.invoice('1000sat');
  const first = await withdrawals.pay({ id: 'w-1', to });
  assert.equal(first.state, 'completed');
  assert.deepEqual(await withdrawals.pay({ id: 'w-1', to }), first);
  assert.equal(confirmations(), 1);
});

test('a withdrawal is paid once if the answer to its confirmation is lost', async () => {
  const before = confirmations();
  await sandbox.faults.add({ kind: 'drop-after-commit', method: 'PUT' });
  const { state } = await withdrawals.pay({ id: 'w-2', to: await sandbox.invoice('1000sat') });
  assert.equal(state, 'completed');
  assert.equal(confirmations(), before + 1);
});

test('a payment without a route is reported as failed, and nothing is deducted', async () => {
  const balance = async () => (await client.wallets()).find(({ ccy }) => ccy === 'BTC').amount;
  const had = await balance();
  const { state, why } = await withdrawals.pay({
    id: 'w-3',
    to: 'no-route@shop.example',
    amount: '1000sat',
  });
  assert.equal(state, 'payment-failed');
  assert.match(why, /no route|failed/);
  assert.deepEqual(await balance(), had);
});

test('a payment beyond the daily limit is not sent', async () => {
  const before = confirmations();
  const { state } = await withdrawals.pay({ id: 'w-4', to: await sandbox.invoice('2000000sat') });
  assert.equal(state, 'limit');
  assert.equal(confirmations(), before);
});
