// Requests a payment over Lightning, on-chain or at a permanent address. Asks for the payment
// method if the command line does not name a method.
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import type { View } from '../show.js';
import { leftAtOnce } from '../exit-with.js';
import { back, type Back } from '../../terminal/ask/ask.js';
import { depositView } from '../../terminal/cards/invoice-card.js';
import { paymentFields } from '../../terminal/views/transaction-view.js';
import { readAddress, type PermanentAddress } from './address.js';
import { phrase } from '../values.js';
import {
  receiveOptions,
  runReceive,
  showRequest,
  type ReceiveFlags,
  type ReceiveMethod,
  type Requested,
} from './receive-flow.js';

const fields = [...paymentFields, 'payTo'];

const requestView: View<Requested> = {
  fields,
  dataOf: ({ txn, request }) => ({ ...txn, payTo: request.text }),
  print: (requested, _parts, context) => showRequest(requested, context),
};

export const receiveLightning = defineCommand({
  changes: true,
  arguments: {
    amount: phrase('AMOUNT').describe(
      'amount to request, e.g. 50000sat, or 10usd at the current rate',
    ),
  },
  options: receiveOptions,
  examples: [
    ['svcpay receive lightning 50000sat', 'shows a QR code and waits for the payment'],
    ['svcpay receive lightning 10usd', 'requests 10 USD worth of bitcoin'],
    ['svcpay receive lightning 50000sat -q', 'prints only the invoice'],
    ['svcpay receive lightning 50000sat --wait --json', 'ends when the invoice is paid'],
  ],
  run: ({ amount, ...flags }, context) => receiveOver('lightning', amount, flags, context),
  view: requestView,
});

export const receiveOnchain = defineCommand({
  changes: true,
  arguments: { amount: phrase('AMOUNT').describe('amount to request, e.g. 0.01btc') },
  options: receiveOptions,
  examples: [
    ['svcpay receive onchain 0.01btc', 'shows a QR code and waits until the payment is confirmed'],
    ['svcpay receive onchain 0.01btc -q', 'prints only the address'],
  ],
  run: ({ amount, ...flags }, context) => receiveOver('on-chain', amount, flags, context),
  view: requestView,
});

async function receiveOver(
  method: ReceiveMethod,
  amount: string | undefined,
  flags: ReceiveFlags,
  context: Context,
): Promise<Requested> {
  const requested = await runReceive(method, amount, flags, context);
  if (requested === back) throw leftAtOnce(context, 'Nothing was requested');
  return requested;
}

type ReceiveChoice = { readonly method: ReceiveMethod } | { readonly address: PermanentAddress };

const ways: readonly {
  readonly name: string;
  readonly value: ReceiveChoice;
  readonly description: string;
}[] = [
  {
    name: 'Over Lightning',
    value: { method: 'lightning' },
    description: 'an invoice, paid in seconds',
  },
  { name: 'On-chain', value: { method: 'on-chain' }, description: 'an address for one payment' },
  { name: 'To my Bitcoin address', value: { address: { ccy: 'btc' } }, description: 'permanent' },
  {
    name: 'USDT on TRON',
    value: { address: { ccy: 'usdt', chain: 'tron' } },
    description: 'permanent',
  },
  {
    name: 'USDT on Ethereum',
    value: { address: { ccy: 'usdt', chain: 'eth' } },
    description: 'permanent',
  },
];

export const receive = defineCommand({
  fields,
  arguments: { amount: phrase('AMOUNT').describe('amount to request') },
  options: receiveOptions,
  examples: [
    ['svcpay receive', 'asks for method and amount; Esc goes back'],
    ['svcpay receive lightning 50000sat', 'requests this amount over Lightning'],
  ],
  async run({ amount, ...flags }, context) {
    if (context.terminal.canPrompt) await context.client();
    context.ask.demand(
      ['lightning, onchain or address'],
      `svcpay receive lightning ${amount ?? '50000sat'}`,
    );
    const choices = amount === undefined ? ways : ways.filter(({ value }) => 'method' in value);
    for (let before: ReceiveChoice | undefined; ;) {
      const choice: ReceiveChoice | Back = await context.ask.steps.select<ReceiveChoice>({
        message: 'How do you want to be paid?',
        flag: 'METHOD',
        choices,
        default: before,
      });
      if (choice === back) throw leftAtOnce(context, 'Nothing was requested');
      if ('address' in choice) {
        const { answer, deposit } = await readAddress(choice.address, flags.qrFile, context);
        return context.out.record(answer, depositView(deposit));
      }
      const requested = await runReceive(choice.method, amount, flags, context);
      if (requested !== back) return showRequest(requested, context);
      before = choice;
    }
  },
});
