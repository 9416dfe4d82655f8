// What a model may always do: look, decode, and ask for quotes, which move nothing.
import type { Context } from '../context.js';
import { describeDestination } from '../../formats/describe.js';
import { detectDestination } from '../../formats/destination.js';
import { allRates, findRate } from '../../wallet/quote/rates.js';
import { knownStates } from '../../formats/states.js';
import { periods } from '../history/history-options.js';
import { choice, currency, text, whole } from '../values.js';
import { plannedSend, plannedSwap, quoteOf, sendArguments, swapArguments } from './orders.js';
import { defineTool, type Tool } from './tool.js';

export function readingTools(context: Context): Tool[] {
  const { account, now } = context;
  return [
    defineTool({
      name: 'wallets',
      title: 'Balances',
      description: 'What is available, reserved and in total, per currency, in whole units (BTC, not satoshis).',
      effect: 'reads',
      arguments: { ccy: currency().optional().describe('only this currency, such as BTC') },
      async run({ ccy }) {
        const all = await (await account()).client.wallets();
        return { wallets: ccy === undefined ? all : all.filter((wallet) => wallet.ccy === ccy) };
      },
    }),
    defineTool({
      name: 'transactions',
      title: 'History',
      description: 'The latest transactions, a page at a time.',
      effect: 'reads',
      arguments: {
        state: choice(knownStates).optional().describe('only this state'),
        time: choice(periods).optional().describe('how far back (default 7d)'),
        limit: whole(1, 100).otherwise(20).describe('how many on a page (default 20)'),
        page: whole(1, 1_000_000).otherwise(1).describe('which page (default 1)'),
      },
      async run({ state, time, limit, page }) {
        const txnStatuses = state === undefined ? undefined : [state];
        const { data, pagination } = await (await account()).client.transactions({ txnStatuses, time, limit, page });
        return { transactions: data, pagination };
      },
    }),
    defineTool({
      name: 'transaction',
      title: 'One transaction',
      description: 'A transaction in its present state.',
      effect: 'reads',
      arguments: { txnId: text().describe('the transaction id') },
      run: async ({ txnId }) => (await account()).client.transaction(txnId),
    }),
    defineTool({
      name: 'decode',
      title: 'Decode',
      description: 'Reads an invoice, address, LNURL, Lightning Address or bitcoin: URI offline.',
      effect: 'reads',
      arguments: { text: text().describe('what to read') },
      run: async ({ text }) => describeDestination(detectDestination(text), now()),
    }),
    defineTool({
      name: 'rates',
      title: 'Exchange rates',
      description: 'The price of one unit of the base currency in the quote currency.',
      effect: 'reads',
      arguments: { pair: text().optional().describe('only this pair, such as BTC/USD') },
      async run({ pair }) {
        const known = await (await account()).client.rates();
        return { rates: pair === undefined ? allRates(known) : [findRate(known, pair)] };
      },
    }),
    defineTool({
      name: 'quote',
      title: 'Quote a payment',
      description: 'What a payment would cost in full, fees included. Moves nothing.',
      effect: 'quotes',
      arguments: sendArguments,
      run: async (words, signal) => quoteOf(plannedSend(words, context), signal, context),
    }),
    defineTool({
      name: 'quote_swap',
      title: 'Quote a swap',
      description: 'What an exchange between two own wallets would bring, fees included. Moves nothing.',
      effect: 'quotes',
      arguments: swapArguments,
      run: async (words, signal) => quoteOf(plannedSwap(words), signal, context),
    }),
  ];
}
