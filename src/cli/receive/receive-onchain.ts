// Asks for an on-chain payment: the address, checked, with its QR code, and the wait until the payment is confirmed.
import type { Transaction } from '../../api/types.js';
import { parseAmount, type Money } from '../../formats/amount.js';
import { sanitize } from '../../terminal/sanitize.js';
import { receiveBody } from '../../wallet/payment/orders.js';
import { requestMoney } from '../../wallet/receive/lightning.js';
import { checkedOnchainRequest } from '../../wallet/receive/onchain.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { pageFact, receiveOptions, runReceive, type PaymentRequest } from './receive-flow.js';
import { text } from '../values.js';

export const receiveOnchain = defineCommand({
  arguments: { amount: text('AMOUNT').describe('what to ask for, as in 0.01btc') },
  options: receiveOptions,
  examples: [
    ['svcpay receive onchain 0.01btc', 'shows a QR code and waits until the payment is confirmed'],
    ['svcpay receive onchain 0.01btc -q', 'prints the address alone'],
  ],
  async run({ amount, ...flags }, context) {
    const asked = parseAmount(amount, 'BTC');
    const service = await context.ownClient();
    const body = { ...receiveBody('on-chain', asked), note: flags.note };
    const txn = await requestMoney(body, flags.ref, { ...context, service });
    await runReceive(txn, requestOf(txn, asked, service.serviceNow(), context), flags, context);
  },
});

/** Only a checked address is shown; one of an earlier run that is paid is not shown again. */
function requestOf(txn: Transaction, amount: Money, now: number, { settings }: Context): PaymentRequest {
  const { address, uri, expiresAt } = checkedOnchainRequest(txn, amount, settings.network, now);
  const facts = [{ label: 'URI', value: sanitize(uri), whole: true }, ...pageFact(txn, settings)];
  return { how: 'on-chain', amount, code: uri, text: address, facts, expiresAt };
}
