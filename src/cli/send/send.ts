// Pays any destination. Each payment method also has its own command. Specification: endpoint 6,
// rules 3, 5 and 6.
import { defineCommand, record } from '../define.js';
import { currency, phrase, text } from '../values.js';
import {
  deductFees,
  paymentOptions,
  sendArguments,
  sendOptions,
  spend,
} from '../payment/payment-options.js';
import { paidView } from '../payment/payment-flow.js';
import { runSend } from '../payment/send-flow.js';

/** How each command that sends shows the transaction that it paid. */
const paying = { changes: true, view: record(paidView) } as const;

/** The option of the paying wallet, with the default and the conversion in words. */
const payer = (which: string) => currency().optional().describe(`wallet that pays ${which}`);

export const send = defineCommand({
  ...paying,
  arguments: sendArguments,
  options: { ...sendOptions, ...paymentOptions },
  examples: [
    ['svcpay send', 'asks for everything, one question at a time; Esc goes back'],
    ['svcpay send lnbc25u1…', 'pays the amount of the invoice'],
    ['svcpay send bc1q… all', 'sends the whole balance of the wallet, fees included'],
    [
      'svcpay send satoshi@example.com 10usd --from btc',
      'sends 10 USD worth of bitcoin, at the current rate',
    ],
    [
      "svcpay send 'bitcoin:bc1q…&lightning=lnbc10m1…' --via onchain",
      'pays on-chain; without --via, svcpay pays over Lightning',
    ],
  ],
  run: ({ destination, amount, ...flags }, context) =>
    runSend(undefined, destination, amount, flags, context),
});

export const sendLnurl = defineCommand({
  ...paying,
  arguments: {
    address: text('ADDRESS')
      .optional()
      .describe('a Lightning Address or an LNURL, or - to read it from stdin'),
    amount: phrase('AMOUNT').describe('amount to send, e.g. 50000sat or 5usdt, or all'),
  },
  options: {
    from: payer(
      "(default: wallet of the amount's currency); if the BTC wallet pays, " +
        'svcpay converts an amount in USDT or fiat at the current rate',
    ),
    deductFees: deductFees(),
    ...paymentOptions,
  },
  examples: [
    [
      'svcpay send lnurl satoshi@example.com 50000sat',
      'shows the full cost, then asks for approval',
    ],
    ['svcpay send lnurl LNURL1… 5usdt --yes --json', 'pays from the USDT wallet, in a script'],
  ],
  run: ({ address, amount, ...flags }, context) =>
    runSend('lnurl', address, amount, flags, context),
});

export const sendOnchain = defineCommand({
  ...paying,
  arguments: {
    address: text('ADDRESS').optional().describe('a Bitcoin address, or - to read it from stdin'),
    amount: phrase('AMOUNT').describe(
      'amount the recipient gets, e.g. 0.01btc, at least 1000sat; or all',
    ),
  },
  options: {
    from: payer(
      '(default BTC); svcpay converts from a USDT or fiat wallet at the ' +
        'quoted rate, shown before you agree',
    ),
    deductFees: deductFees(),
    ...paymentOptions,
  },
  examples: [
    ['svcpay send onchain bc1q… 0.01btc', 'shows the full cost, then asks for approval'],
    [
      'svcpay send onchain bc1q… 0.01btc --deduct-fees --yes --no-wait --json',
      'pays in a script, without waiting',
    ],
  ],
  run: ({ address, amount, ...flags }, context) =>
    runSend('onchain', address, amount, flags, context),
});

export const sendUsdt = defineCommand({
  ...paying,
  arguments: {
    address: text('ADDRESS').optional().describe('a TRON address, or - to read it from stdin'),
    amount: phrase('AMOUNT').describe('amount the recipient gets, e.g. 25usdt, or all'),
  },
  options: {
    spend: spend(),
    from: payer(
      '(default USDT; with --spend, the wallet of the currency to spend); ' +
        'svcpay converts from a BTC or fiat wallet at the quoted rate',
    ),
    deductFees: deductFees(),
    ...paymentOptions,
  },
  examples: [
    ['svcpay send usdt TQn9… 25usdt', 'shows the full cost, then asks for approval'],
    [
      'svcpay send usdt TQn9… 25usdt --from BTC --yes --json',
      'pays from the bitcoin wallet, in a script',
    ],
    [
      'svcpay send usdt TQn9… --spend 250000vnd',
      'debits exactly this amount; the rate sets the amount received',
    ],
  ],
  run: ({ address, amount, ...flags }, context) => runSend('usdt', address, amount, flags, context),
});

export const sendLightning = defineCommand({
  ...paying,
  arguments: {
    invoice: text('INVOICE').optional().describe('a BOLT11 invoice, or - to read it from stdin'),
  },
  options: {
    from: payer('(default BTC); svcpay converts from a USDT or fiat wallet at the quoted rate'),
    ...paymentOptions,
  },
  examples: [
    ['svcpay send lightning lnbc25u1…', 'shows the full cost, then asks for approval'],
    [
      'svcpay send lightning lnbc25u1… --ref order-118 --max-fee 1% --yes --json',
      'pays in a script that can safely run again',
    ],
    ['cat invoice.txt | svcpay send lightning - --yes', 'reads the invoice from a pipe'],
  ],
  run: ({ invoice, ...flags }, context) => runSend('lightning', invoice, undefined, flags, context),
});
