// A send from the words of a command line to the money: what is missing is asked for where somebody can be asked.
import type { Back } from '../../terminal/ask/ask.js';
import { taking, walk, type Step } from '../../terminal/ask/wizard.js';
import { shortened } from '../../terminal/views/transaction-view.js';
import { ownAddressGuard } from '../../wallet/plan/destinations.js';
import { planSend, planSendNow, type Missing, type SendKind, type SendPlan, type SendWords, type PlanEnvironment } from '../../wallet/plan/send.js';
import type { Context } from '../context.js';
import { wordOrStdin } from '../stdin.js';
import { aboutSend } from './about-send.js';
import { runGuided } from './guided.js';
import { demandAnswers, runPayment } from './payment-flow.js';
import type { PaymentFlags } from './payment-options.js';
import { answersForm, askingUnder } from './under-form.js';

export interface SendFlags extends PaymentFlags, Omit<SendWords, 'to' | 'amount' | 'kind'> {}

/** Throws Failure `usage` for what is no payment. */
export async function runSend(
  kind: SendKind | undefined,
  destination: string | undefined,
  amount: string | undefined,
  flags: SendFlags,
  context: Context,
): Promise<void> {
  const to = destination === undefined ? undefined : await wordOrStdin(destination, context);
  const { spend, from, via, deductFees } = flags;
  const words = { kind, to, amount, spend, from, via, deductFees };
  const environment = { network: context.settings.network, now: context.now() };
  const planned = planSend(words, environment);
  if (planned.missing === undefined) return paySend(planned.plan, flags, context);
  const { missing, ccy } = planned;
  if (missing === 'way' && !context.terminal.canPrompt) return paySend(planSendNow(words, environment), flags, context);
  demandAnswers(missingWords(words, missing, ccy), flags, context);
  const flow = {
    ask: (answers: SendWords, before?: SendWords) => askSend(answers, environment, context, before),
    run: (answers: SendWords) => paySend(planSendNow(answers, environment), flags, context),
    changes: [
      ...(missing === 'way' ? [] : [{ name: 'Change the amount', forget: withoutAmount }]),
      ...(missing === 'destination' ? [{ name: 'Pay somebody else', forget: withoutDestination }] : []),
    ],
  };
  await runGuided(words, flow, flags.ref, context);
}

/** As the help of the command writes them. */
function missingWords({ kind, amount, spend }: SendWords, missing: Missing, ccy: string | undefined): string[] {
  const needsAmount = missing === 'amount' || (amount === undefined && spend === undefined && kind !== undefined && kind !== 'lightning');
  return [
    ...(missing === 'destination' ? [destinationWords[kind ?? 'any']] : []),
    ...(needsAmount ? [`AMOUNT (as in ${ccy === 'USDT' || kind === 'usdt' ? '25usdt' : '50000sat'})`] : []),
  ];
}

const destinationWords = { any: 'DESTINATION', lightning: 'INVOICE', lnurl: 'ADDRESS', onchain: 'ADDRESS', usdt: 'ADDRESS' } as const;

const withoutAmount = (words: SendWords): SendWords => ({ ...words, amount: undefined, spend: undefined });
const withoutDestination = (words: SendWords): SendWords => ({ ...withoutAmount(words), to: undefined, via: undefined });

async function paySend(plan: SendPlan, flags: PaymentFlags, context: Context): Promise<void> {
  const { order } = plan;
  await ownAddressGuard(context.account, context.out.say)(order);
  await runPayment(order, flags, { about: aboutSend(plan), expiresAt: order.expiresAt }, context);
}

/** An answer that makes no payment is refused where it is typed. */
function askSend(
  start: SendWords,
  environment: PlanEnvironment,
  { ask }: Context,
  before: SendWords | undefined,
): Promise<SendWords | Back> {
  const parse = (soFar: SendWords, name: 'to' | 'amount') => (text: string): SendWords => {
    const next = { ...soFar, [name]: text };
    planSend(next, environment);
    return next;
  };
  let known = start;
  const steps = askingUnder(() => answersForm('Send', [known.to && `to ${shortened(known.to)}`, known.via && wayNames[known.via]]), ask.steps);
  type Question = (soFar: SendWords, before: SendWords | undefined, ccy: string | undefined) => Promise<SendWords | Back>;
  const asking = (missing: Missing, question: Question): Step<SendWords> => (soFar, before) => {
    known = soFar;
    const planned = planSend(soFar, environment);
    return planned.missing === missing ? question(soFar, before, planned.ccy) : undefined;
  };
  return walk<SendWords>(start, [
    asking('destination', (soFar, before) =>
      steps.parsed({ message: 'Pay to', example: exampleOf(soFar.kind), flag: 'DESTINATION', default: before?.to, parse: parse(soFar, 'to') })),
    asking('way', (soFar, before) =>
      taking(steps.select({ ...wayQuestion, default: before?.via }), (via) => ({ ...soFar, via }))),
    asking('amount', (soFar, before, ccy) =>
      steps.parsed({ ...amountQuestion(ccy), flag: 'AMOUNT', default: before?.amount, parse: parse(soFar, 'amount') })),
  ], before);
}

const destinationNames: Readonly<Record<SendKind, string>> = {
  lightning: 'an invoice',
  lnurl: 'a Lightning Address or an LNURL',
  onchain: 'a Bitcoin address',
  usdt: 'a TRON address',
};

const exampleOf = (kind: SendKind | undefined): string =>
  kind === undefined ? 'an invoice, an address, a Lightning Address' : destinationNames[kind];

const amountQuestion = (ccy: string | undefined) => {
  if (ccy === undefined) return { message: 'Amount', example: 'as in 50000sat or 5usdt' };
  return ccy === 'BTC' ? { message: 'Amount', example: 'as in 50000sat' } : { message: `Amount in ${ccy}` };
};

const wayNames = { lightning: 'over Lightning', onchain: 'on-chain' } as const;

const wayQuestion = {
  message: 'This URI can be paid in two ways. Which one?',
  flag: '--via lightning|onchain',
  choices: [
    { value: 'lightning', name: 'Lightning', description: 'settles in seconds' },
    { value: 'onchain', name: 'On-chain', description: 'settles after confirmations, 10 to 60 minutes' },
  ],
} as const;
