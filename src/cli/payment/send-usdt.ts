// Pays USDT to a TRON address, checked here. Specification: endpoint 6, rule 6.
import type { Money } from '../../formats/amount.js';
import type { TronAddress } from '../../formats/address/tron-address.js';
import { checkTronAddress, refuseOwnAddress } from '../../wallet/plan/destinations.js';
import { usdtOrder } from '../../wallet/payment/orders.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { neededAmount, notYetAvailable, readDestination } from './destination.js';
import { runPayment } from './payment-flow.js';
import { paymentOptions, type PaymentFlags } from './payment-options.js';
import { choice, currency, text } from '../values.js';

export const sendUsdt = defineCommand({
  arguments: {
    address: text('ADDRESS').describe('a TRON address, or - to read it from stdin'),
    amount: text('AMOUNT').describe('what the recipient gets, as in 25usdt'),
  },
  options: {
    from: currency().otherwise('USDT').describe('wallet to pay from'),
    chain: choice(['tron', 'eth'], 'CHAIN').otherwise('tron').describe('tron; eth is announced, not yet available'),
    ...paymentOptions,
  },
  examples: [
    ['svcpay send usdt TQn9… 25usdt', 'shows the full cost, then asks'],
    ['svcpay send usdt TQn9… 25usdt --from BTC --yes --json', 'paid from the bitcoin wallet, in a script'],
  ],
  async run({ address, amount, from, chain, ...flags }, context) {
    const found = await readDestination(address, ['tron-address', 'evm-address'], context);
    if (chain === 'eth' || found.kind === 'evm-address') throw notYetAvailable();
    await payUsdt({ address: found.value, amount: neededAmount(amount, 'USDT'), from }, flags, context);
  },
});

interface UsdtPayment {
  readonly address: TronAddress;
  /** In USDT. */
  readonly amount: Money;
  readonly from: string;
}

/** Pays to an address that was parsed already. */
export async function payUsdt(payment: UsdtPayment, flags: PaymentFlags, context: Context): Promise<void> {
  const { amount, from } = payment;
  const { address } = payment.address;
  checkTronAddress(address);
  const client = await context.ownClient();
  await refuseOwnAddress(address, () => client.usdtAddress('TRON'));
  const about = [{ label: 'To', value: address, note: 'USDT on TRON', whole: true }];
  await runPayment(usdtOrder(address, amount, from), flags, { about }, context);
}
