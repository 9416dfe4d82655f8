// Asks how to be paid, and for how much: every way of `receive` behind one question.
import { defineCommand } from '../define.js';
import { leftAtOnce } from '../exit-with.js';
import { back, type Back } from '../../terminal/ask/ask.js';
import { paymentFields } from '../../terminal/views/transaction-fields.js';
import { showAddress, type Permanent } from './receive-address.js';
import { phrase } from '../values.js';
import { receiveOptions, runReceive, type ReceiveMethod } from './receive-flow.js';

type Way = { readonly method: ReceiveMethod } | { readonly address: Permanent };

const ways: readonly { readonly name: string; readonly value: Way; readonly description: string }[] = [
  { name: 'Over Lightning', value: { method: 'lightning' }, description: 'an invoice, paid in seconds' },
  { name: 'On-chain', value: { method: 'on-chain' }, description: 'an address for one payment' },
  { name: 'To my Bitcoin address', value: { address: { ccy: 'btc' } }, description: 'permanent' },
  { name: 'USDT on TRON', value: { address: { ccy: 'usdt', chain: 'tron' } }, description: 'permanent' },
  { name: 'USDT on Ethereum', value: { address: { ccy: 'usdt', chain: 'eth' } }, description: 'permanent' },
];

export const receive = defineCommand({
  fields: [...paymentFields, 'payTo'],
  arguments: { amount: phrase('AMOUNT').describe('what to ask for; asked for when missing') },
  options: receiveOptions,
  examples: [
    ['svcpay receive', 'asks how and how much; Esc goes back'],
    ['svcpay receive lightning 50000sat', 'says both'],
  ],
  async run({ amount, ...flags }, context) {
    context.ask.demand(['lightning, onchain or address'], `svcpay receive lightning ${amount ?? '50000sat'}`);
    const choices = amount === undefined ? ways : ways.filter(({ value }) => 'method' in value);
    for (let before: Way | undefined; ; ) {
      const way: Way | Back = await context.ask.steps.select<Way>({ message: 'How', flag: 'METHOD', choices, default: before });
      if (way === back) throw leftAtOnce(context, 'Nothing was asked for');
      if ('address' in way) return showAddress(way.address, flags.qrFile, context);
      if ((await runReceive(way.method, amount, flags, context)) !== back) return;
      before = way;
    }
  },
});
