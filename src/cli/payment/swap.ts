// Swaps between two of the account's own wallets. Specification: endpoint 6, rule 8.
import { parseAmount } from '../../formats/amount.js';
import type { Ask, Back } from '../../terminal/ask/ask.js';
import { stepFor, walk } from '../../terminal/ask/wizard.js';
import { paymentFields } from '../../terminal/views/transaction-fields.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { flag, phrase } from '../values.js';
import { runGuided, walletChoices, answersForm, askingUnder, type WalletChoice } from './guided.js';
import { demandAnswers, runPayment } from './payment-flow.js';
import { paymentOptions, type PaymentFlags } from './payment-options.js';
import { swapPresentation } from './payment-screen.js';
import {
  missingOf,
  planSwap,
  readSwapWords,
  swapExample,
  swapOrderOf,
  type SwapWords,
} from './plan-swap.js';

export const swap = defineCommand({
  fields: paymentFields,
  arguments: {
    words: phrase('AMOUNT FROM TO')
      .describe(
        'amount, source wallet (or as the unit of AMOUNT, e.g. 25usdt) and destination wallet',
      )
      .suggesting('wallet'),
  },
  options: {
    receive: flag().describe('AMOUNT is received in TO, not debited from FROM'),
    ...paymentOptions,
  },
  examples: [
    ['svcpay swap', 'asks for both wallets and the amount'],
    ['svcpay swap 25 USDT BTC', 'sell 25 USDT for bitcoin'],
    ['svcpay swap 25usdt BTC --yes --json', 'the same, in a script'],
    ['svcpay swap 100000sat USDT BTC --receive', 'buy exactly 100 000 sat'],
  ],
  async run({ words: given = '', receive, ...flags }, context) {
    const words = readSwapWords(given, receive);
    const missing = missingOf(words);
    const run = (answers: SwapWords): Promise<void> => paySwap(answers, receive, flags, context);
    if (missing.length === 0) return run(words);
    demandAnswers(missing, flags, context, `Write it like: ${swapExample(words, receive)}`);
    const wallets = await walletChoices(context);
    const flow = {
      ask: (answers: SwapWords, before?: SwapWords) =>
        askSwap(answers, receive, wallets, context.ask.steps, before),
      run,
      changes: [
        {
          name: 'Change the amount',
          forget: (answers: SwapWords) => ({ ...answers, amount: undefined }),
        },
        {
          name: 'Change the wallets',
          forget: () => ({ amount: undefined, from: undefined, to: undefined }),
        },
      ],
    };
    await runGuided(words, flow, flags.ref, context);
  },
});

async function paySwap(
  words: SwapWords,
  receive: boolean,
  flags: PaymentFlags,
  context: Context,
): Promise<void> {
  const planned = planSwap(words, receive);
  const about = [{ label: 'Swap', value: `${planned.from} to ${planned.to}` }];
  await runPayment(swapOrderOf(planned), flags, { about, ...swapPresentation }, context);
}

const ownStep = stepFor<SwapWords>();

function askSwap(
  start: SwapWords,
  receive: boolean,
  wallets: readonly WalletChoice[],
  steps: Ask['steps'],
  before: SwapWords | undefined,
): Promise<SwapWords | Back> {
  let known = start;
  const ask = askingUnder(
    () => answersForm('Swap', [known.from && `from ${known.from}`, known.to && `to ${known.to}`]),
    steps,
  );
  const step: typeof ownStep = (name, question) =>
    ownStep(name, (soFar, before) => {
      known = soFar;
      return question(soFar, before);
    });
  return walk(
    start,
    [
      step('from', ({ to }, before) => {
        const choices = wallets.filter(({ value, isEmpty }) => value !== to && !isEmpty);
        return ask.select({ message: 'From', flag: 'FROM', choices, default: before?.from });
      }),
      step('to', ({ from }, before) => {
        const choices = wallets.filter(({ value }) => value !== from);
        return ask.select({ message: 'To', flag: 'TO', choices, default: before?.to });
      }),
      step('amount', ({ from, to }, before) => {
        const ccy = receive ? to : from;
        const message = `Amount to ${receive ? 'get' : 'give'}${ccy === 'BTC' ? '' : `, in ${ccy}`}`;
        const example = ccy === 'BTC' ? 'e.g. 50000sat' : undefined;
        const parse = (amount: string): string => {
          parseAmount(amount, ccy);
          return amount;
        };
        return ask.parsed({ message, example, flag: 'AMOUNT', default: before?.amount, parse });
      }),
    ],
    before,
  );
}
