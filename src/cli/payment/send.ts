// Pays to whatever the destination is: an invoice, an address, an LNURL, a Lightning Address or a URI of those.
import { money, type Money } from '../../formats/amount.js';
import type { BitcoinAddress } from '../../formats/address/bitcoin-address.js';
import type { Invoice } from '../../formats/bolt11/decode.js';
import { detectDestination, type Bip21Destination } from '../../formats/destination.js';
import { Failure } from '../../formats/failure.js';
import type { TronAddress } from '../../formats/address/tron-address.js';
import type { Fact } from '../../terminal/cards/card.js';
import { sanitize } from '../../terminal/sanitize.js';
import type { Context } from '../context.js';
import { defineCommand, type ValuesOf } from '../define.js';
import { checkSameAmount, invoiceAmount, neededAmount, notYetAvailable } from './destination.js';
import { paymentOptions, type PaymentFlags } from './payment-options.js';
import { wordOrStdin } from '../stdin.js';
import { choice, currency, text } from '../values.js';
import { payInvoice } from './send-lightning.js';
import { payLnurl } from './send-lnurl.js';
import { deductFees, payOnchain } from './send-onchain.js';
import { payUsdt } from './send-usdt.js';

const ways = ['lightning', 'onchain'] as const;
type Way = (typeof ways)[number];

const ownOptions = {
  from: currency().optional().describe('wallet to pay from (default BTC; for a TRON address USDT)'),
  via: choice(ways, 'WAY').optional().describe('lightning or onchain, for a bitcoin: URI that offers both'),
  deductFees: deductFees(),
};

export const send = defineCommand({
  arguments: {
    destination: text('DESTINATION').describe('an invoice, any address, LNURL or bitcoin: URI; - for stdin'),
    amount: text('AMOUNT').optional().describe('what to send, where the destination does not say'),
  },
  options: { ...ownOptions, ...paymentOptions },
  examples: [
    ['svcpay send lnbc25u1…', 'an invoice says the amount itself'],
    ['svcpay send satoshi@example.com 50000sat', 'a Lightning Address'],
    ["svcpay send 'bitcoin:bc1q…&lightning=lnbc10m1…' --via lightning --yes", 'one of two ways, in a script'],
  ],
  async run({ destination, amount, from, via, deductFees, ...flags }, context) {
    const found = detectDestination(await wordOrStdin(destination, context));
    const asked = { amount, from, via, deductFees, flags };
    refuseIdleFlags(found.kind, asked);
    switch (found.kind) {
      case 'bolt11':
        return payBolt11(found.value, asked, context);
      case 'lightning-address':
      case 'lnurl':
        return payLnurl(found, neededAmount(amount, from ?? 'BTC'), flags, context);
      case 'bitcoin-address':
        return payAddress(found.value, neededAmount(amount, 'BTC'), asked, context);
      case 'tron-address':
        return payTron(found.value, asked, context);
      case 'evm-address':
        throw notYetAvailable();
      case 'bip21':
        return payBip21(found.value, asked, context);
    }
  },
});

interface Asked extends ValuesOf<typeof ownOptions> {
  readonly amount: string | undefined;
  readonly flags: PaymentFlags;
}

/** A flag that would do nothing was meant to do something. */
function refuseIdleFlags(kind: string, { via, deductFees }: Asked): void {
  if (via !== undefined && kind !== 'bip21') {
    throw new Failure('usage', 'Not sent: --via chooses between the ways of a bitcoin: URI, and this is none.');
  }
  if (deductFees && kind !== 'bitcoin-address' && kind !== 'bip21') throw onlyOnchain();
}

const onlyOnchain = (): Failure =>
  new Failure('usage', 'Not sent: --deduct-fees is for on-chain payments. Leave it out.');

async function payBolt11(invoice: Invoice, asked: Asked, context: Context): Promise<void> {
  const { amount, from, deductFees, flags } = asked;
  if (deductFees) throw onlyOnchain();
  const named = invoiceAmount(invoice);
  if (named !== undefined) checkSameAmount(amount, named, 'this invoice');
  return payInvoice(invoice, from ?? 'BTC', flags, context);
}

async function payTron(address: TronAddress, { amount, from, flags }: Asked, context: Context): Promise<void> {
  return payUsdt({ address, amount: neededAmount(amount, 'USDT'), from: from ?? 'USDT' }, flags, context);
}

async function payAddress(
  address: BitcoinAddress,
  amount: Money,
  { from, deductFees, flags }: Asked,
  context: Context,
  about: readonly Fact[] = [],
): Promise<void> {
  return payOnchain({ address, amount, from: from ?? 'BTC', deductFees, about }, flags, context);
}

async function payBip21(uri: Bip21Destination, asked: Asked, context: Context): Promise<void> {
  const { bitcoin } = uri;
  const invoice = uri.invoice !== null && isPayable(uri.invoice, context.now()) ? uri.invoice : null;
  const way = asked.via ?? (await chooseWay({ onchain: bitcoin !== null, lightning: invoice !== null }, context));
  if (way === 'lightning') {
    if (uri.invoice === null) throw new Failure('usage', 'Not sent: this bitcoin: URI has no Lightning invoice.');
    return payBolt11(uri.invoice, asked, context);
  }
  if (bitcoin === null) throw new Failure('usage', 'Not sent: this bitcoin: URI has no address.');
  const named = uri.amount === undefined ? undefined : money('BTC', uri.amount);
  if (named !== undefined) checkSameAmount(asked.amount, named, 'this bitcoin: URI');
  return payAddress(bitcoin, named ?? neededAmount(asked.amount, 'BTC'), asked, context, aboutUri(uri));
}

/** The service pays only invoices that name an amount; one that has expired leaves the address. */
const isPayable = (invoice: Invoice, now: number): boolean => invoice.amountMsat !== null && invoice.expiresAt > now;

async function chooseWay(offered: Record<Way, boolean>, { ask }: Context): Promise<Way> {
  if (!offered.onchain) return 'lightning';
  if (!offered.lightning) return 'onchain';
  return ask.select({
    message: 'This URI can be paid in two ways. Which one?',
    flag: '--via lightning|onchain',
    choices: [
      { value: 'lightning', name: 'Lightning', description: 'settles in seconds' },
      { value: 'onchain', name: 'On-chain', description: 'settles after confirmations, 10 to 60 minutes' },
    ],
  });
}

function aboutUri({ label, message }: Bip21Destination): Fact[] {
  const note = 'as the URI says';
  return [label, message].flatMap((said) => (said ? [{ label: 'Pay', value: sanitize(said), note }] : []));
}
