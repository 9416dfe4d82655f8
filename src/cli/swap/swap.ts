// Swaps money between two wallets of the account. Specification: endpoint 6, rule 8.
import type { Transaction } from '../../api/types.js';
import { formatAmount, parseAmount } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { type Questions, stepFor } from '../../terminal/ask/questions.js';
import { formAbove } from '../../terminal/cards/card.js';
import { journalFirst, named } from '../../wallet/payment/pay.js';
import {
  checkHeld,
  isAll,
  readSwap,
  type SwapWords,
} from '../../wallet/instruction/instruction.js';
import type { Context } from '../context.js';
import { defineCommand, record } from '../define.js';
import { guide, walletChoices, type WalletChoice } from '../payment/guided.js';
import { demandAnswers, paidView, runPayment } from '../payment/payment-flow.js';
import {
  paymentOptions,
  type PaymentFlags,
  aboutSwap,
  missingOf,
  readSwapWords,
  swapArguments,
  swapExample,
  swapOptions,
} from '../payment/payment-options.js';
import { swapPresentation } from '../payment/payment-screen.js';

export const swap = defineCommand({
  arguments: swapArguments,
  options: { ...swapOptions, ...paymentOptions },
  changes: true,
  examples: [
    ['svcpay swap', 'asks for both wallets and the amount'],
    ['svcpay swap 25 USDT BTC', 'sells 25 USDT for bitcoin'],
    ['svcpay swap 25usdt BTC --yes --json', 'the same swap, in a script'],
    ['svcpay swap all USDT BTC', 'swaps the whole balance, fees included'],
    ['svcpay swap 100000sat USDT BTC --receive', 'buys exactly 100 000 sat'],
  ],
  run: ({ words, receive, ...flags }, context) =>
    journalFirst(named(flags.ref), context.journal, () => runSwap(words, receive, flags, context)),
  view: record(paidView),
});

async function runSwap(
  given: string | undefined,
  receive: boolean,
  flags: PaymentFlags,
  context: Context,
): Promise<Transaction> {
  const words = readSwapWords(given ?? '', receive);
  const missing = missingOf(words);
  const run = (answers: SwapWords): Promise<Transaction> =>
    paySwap(answers, receive, flags, context);
  if (missing.length === 0) return run(words);
  demandAnswers(missing, flags, context, `For example: ${swapExample(words, receive)}`);
  const wallets = await walletChoices(context);
  refuseWithout(wallets);
  const flow = {
    questions: () => swapQuestions(receive, wallets),
    run,
    changes: {
      'Change the amount': ['amount'],
      'Change the wallets': ['amount', 'from', 'to'],
    } as const,
  };
  return guide(words, flow, flags.ref, context);
}

async function paySwap(
  words: SwapWords,
  receive: boolean,
  flags: PaymentFlags,
  context: Context,
): Promise<Transaction> {
  const instruction = readSwap(words, receive);
  return runPayment(
    instruction,
    flags,
    { about: aboutSwap(instruction), ...swapPresentation },
    context,
  );
}

/** Throws Failure `limit` if the account has no money to swap or no second wallet. */
function refuseWithout(wallets: readonly WalletChoice[]): void {
  if (wallets.every(({ isEmpty }) => isEmpty))
    throw new Failure('limit', 'all your wallets are empty.', {
      money: 'Not sent',
      hint: 'Receive money first',
      next: { do: 'run', command: 'receive' },
    });
  if (wallets.length > 1) return;
  const [only] = wallets.map(({ value }) => value);
  throw new Failure('limit', `a swap needs two wallets, but you have only a ${only} wallet.`, {
    money: 'Not sent',
  });
}

const step = stepFor<SwapWords>();

const swapQuestions = (
  receive: boolean,
  wallets: readonly WalletChoice[],
): Questions<SwapWords> => ({
  onStep: ({ from, to }) => formAbove('Swap', [from && `from ${from}`, to && `to ${to}`]),
  steps: [
    step('from', ({ to }) => {
      const choices = wallets.filter(({ value, isEmpty }) => value !== to && !isEmpty);
      return { message: 'From', flag: 'FROM', choices };
    }),
    step('to', ({ from }) => {
      const choices = wallets.filter(({ value }) => value !== from);
      return { message: 'To', flag: 'TO', choices };
    }),
    step('amount', ({ from, to }) => {
      const ccy = receive ? to : from;
      const held = receive ? undefined : wallets.find(({ value }) => value === from)?.held;
      const beside = held === undefined ? '' : ` · ${formatAmount(held)} available`;
      const unit = ccy === 'BTC' ? '' : `, in ${ccy}`;
      const message = `Amount to ${receive ? 'get' : 'give'}${unit}${beside}`;
      const examples = [ccy === 'BTC' && 'e.g. 50000sat', !receive && 'or all'];
      const example = examples.filter((text) => text !== false).join(', ') || undefined;
      const parse = (amount: string): string => {
        if (!receive && isAll(amount)) return amount;
        const asked = parseAmount(amount, ccy);
        checkHeld(asked, held === undefined ? [] : [held]);
        return amount;
      };
      return { message, example, flag: 'AMOUNT', parse };
    }),
  ],
});
