// Pays to a Bitcoin address; checksum, network, kind and smallest amount are checked here. Endpoint 6, rule 5.
import type { Money } from '../../formats/amount.js';
import type { BitcoinAddress } from '../../formats/address/bitcoin-address.js';
import type { Fact } from '../../terminal/cards/card.js';
import { checkBitcoinAddress, checkOnchainAmount, refuseOwnAddress } from '../../wallet/plan/destinations.js';
import { onchainOrder } from '../../wallet/payment/orders.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { neededAmount, readDestination } from './destination.js';
import { runPayment } from './payment-flow.js';
import { paymentOptions, type PaymentFlags } from './payment-options.js';
import { currency, flag, text } from '../values.js';

export const deductFees = () => flag().describe('take the fees out of the amount, so that the recipient gets less');

export const sendOnchain = defineCommand({
  arguments: {
    address: text('ADDRESS').describe('a Bitcoin address, or - to read it from stdin'),
    amount: text('AMOUNT').describe('what the recipient gets, as in 0.01btc; at least 1000sat'),
  },
  options: {
    from: currency().otherwise('BTC').describe('wallet to pay from'),
    deductFees: deductFees(),
    ...paymentOptions,
  },
  examples: [
    ['svcpay send onchain bc1q… 0.01btc', 'shows the full cost, then asks'],
    ['svcpay send onchain bc1q… 0.01btc --deduct-fees --yes --no-wait --json', 'in a script, without waiting'],
  ],
  async run({ address, amount, from, deductFees, ...flags }, context) {
    const { value } = await readDestination(address, ['bitcoin-address'], context);
    await payOnchain({ address: value, amount: neededAmount(amount, 'BTC'), from, deductFees }, flags, context);
  },
});

export interface OnchainPayment {
  readonly address: BitcoinAddress;
  /** In BTC. */
  readonly amount: Money;
  readonly from: string;
  readonly deductFees: boolean;
  /** What else the destination says, above the address. */
  readonly about?: readonly Fact[];
}

/** Pays to an address that was parsed already. */
export async function payOnchain(payment: OnchainPayment, flags: PaymentFlags, context: Context): Promise<void> {
  const { address, amount, from, deductFees, about = [] } = payment;
  checkBitcoinAddress(address, context.settings.network);
  checkOnchainAmount(amount);
  const client = await context.ownClient();
  await refuseOwnAddress(address.address, () => client.bitcoinAddress());
  const facts: Fact[] = [...about, { label: 'To', value: address.address, whole: true }];
  const fees: Fact[] = deductFees ? [{ label: 'Fees', value: 'taken out of the amount' }] : [];
  const order = onchainOrder(address.address, amount, from, deductFees);
  await runPayment(order, flags, { about: [...facts, ...fees] }, context);
}
