// Asks how to be paid, and for how much: every way of `receive` behind one question.
import { defineCommand } from '../define.js';
import { Failure } from '../../formats/failure.js';
import { back } from '../../terminal/ask/ask.js';
import { paymentFields } from '../../terminal/views/transaction-fields.js';
import { showAddress, type Permanent } from './receive-address.js';
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
  arguments: {},
  options: receiveOptions,
  examples: [['svcpay receive', 'asks how and how much; Esc goes back']],
  async run(flags, context) {
    context.ask.demand(['lightning, onchain or address'], 'svcpay receive --help');
    const way = await context.ask.steps.select({ message: 'How', flag: 'METHOD', choices: ways });
    if (way === back) throw new Failure('declined', 'You went back from the first question.');
    if ('method' in way) return runReceive(way.method, undefined, flags, context);
    await showAddress(way.address, flags.qrFile, context);
  },
});
