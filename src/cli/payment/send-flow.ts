// A send from the command line to the payment; asks for missing parts at a terminal.
import Big from 'big.js';
import type { Rates } from '../../api/types.js';
import { fixed } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { railOf, type SendKind } from '../../formats/rails.js';
import type { Back } from '../../terminal/ask/ask.js';
import { taking, walk, type Step } from '../../terminal/ask/wizard.js';
import { shortened } from '../../terminal/views/transaction-view.js';
import { decodeOrder } from '../../wallet/order/order-record.js';
import { isForeign } from '../../wallet/receive/asked.js';
import { ownAddressGuard } from '../../wallet/plan/destinations.js';
import {
  planSend,
  planSendNow,
  type Missing,
  type SendPlan,
  type SendWords,
  type PlanEnvironment,
} from '../../wallet/plan/send.js';
import type { Context } from '../context.js';
import { paymentNamed } from '../history/resolve-id.js';
import { wordOrStdin } from '../stdin.js';
import { aboutSend } from './about-send.js';
import { runGuided, answersForm, askingUnder } from './guided.js';
import { demandAnswers, runPayment } from './payment-flow.js';
import type { PaymentFlags } from './payment-options.js';

export interface SendFlags extends PaymentFlags, Omit<SendWords, 'to' | 'amount' | 'kind'> {}

/** Throws Failure `usage` for an invalid destination or amount. */
export async function runSend(
  kind: SendKind | undefined,
  destination: string | undefined,
  amount: string | undefined,
  flags: SendFlags,
  context: Context,
): Promise<void> {
  const to = destination === undefined ? undefined : await wordOrStdin(destination, context);
  const { spend, from, via, deductFees } = flags;
  const words = {
    kind,
    to,
    amount: (await submittedAmount(flags.ref, amount, context)) ?? amount,
    spend,
    from,
    via,
    deductFees,
  };
  const environment = {
    network: context.settings.network,
    now: context.now(),
    rates: await ratesFor(words, context),
  };
  const planned = planSend(withContact(words, context), environment);
  if (planned.missing === undefined) return paySend(planned.plan, words, flags, context);
  const { missing, ccy } = planned;
  if (missing === 'way' && !context.terminal.canPrompt)
    return paySend(planSendNow(withContact(words, context), environment), words, flags, context);
  demandAnswers(missingWords(words, missing, ccy), flags, context);
  const flow = {
    ask: (answers: SendWords, before?: SendWords) => askSend(answers, environment, context, before),
    run: (answers: SendWords) =>
      paySend(planSendNow(withContact(answers, context), environment), answers, flags, context),
    changes: [
      ...(missing === 'way' ? [] : [{ name: 'Change the amount', forget: withoutAmount }]),
      ...(missing === 'destination'
        ? [{ name: 'Change the recipient', forget: withoutDestination }]
        : []),
    ],
  };
  await runGuided(words, flow, flags.ref, context);
}

/** Names of the missing parts, as in help. */
function missingWords(
  { kind, amount, spend }: SendWords,
  missing: Missing,
  ccy: string | undefined,
): string[] {
  const rail = kind && railOf(kind);
  const needsAmount =
    missing === 'amount' ||
    (amount === undefined &&
      spend === undefined &&
      rail !== undefined &&
      rail.amount !== 'in invoice');
  return [
    ...(missing === 'destination' ? [rail?.argument ?? 'DESTINATION'] : []),
    ...(needsAmount
      ? [`AMOUNT (e.g. ${rail?.exampleAmount ?? (ccy === 'USDT' ? '25usdt' : '50000sat')})`]
      : []),
  ];
}

const withoutAmount = (words: SendWords): SendWords => ({
  ...words,
  amount: undefined,
  spend: undefined,
});
const withoutDestination = (words: SendWords): SendWords => ({
  ...withoutAmount(words),
  to: undefined,
  via: undefined,
});

/** Replaces a name of the address book with its destination. */
function withContact(words: SendWords, { config }: Context): SendWords {
  if (words.to === undefined || !/^[^.:@]{1,64}$/.test(words.to)) return words;
  const { contacts } = config.read();
  const to = Object.hasOwn(contacts, words.to) ? contacts[words.to] : undefined;
  return to === undefined ? words : { ...words, to };
}

/** Rates are needed only with `--from BTC` and an amount in another currency. */
async function ratesFor(
  { to, amount, from }: SendWords,
  { client, terminal }: Context,
): Promise<Rates | undefined> {
  const mayBeTyped = terminal.canPrompt && (to === undefined || amount === undefined);
  if (from !== 'BTC' || (!mayBeTyped && (amount === undefined || !isForeign(amount))))
    return undefined;
  return client()
    .then((service) => service.rates())
    .catch((error: unknown) => {
      if (error instanceof Failure) return undefined;
      throw error;
    });
}

/** The converted amount of an earlier payment under the reference. */
async function submittedAmount(
  ref: string | undefined,
  amount: string | undefined,
  context: Context,
): Promise<string | undefined> {
  if (ref === undefined || amount === undefined || !isForeign(amount)) return undefined;
  const { scope, journal } = await context.account();
  const payment = await paymentNamed(ref, scope, await journal());
  if (payment === undefined) return undefined;
  const { sourceReq, destReq } = decodeOrder(payment.request).body;
  const side = sourceReq.amtRequested === undefined ? destReq : sourceReq;
  return side.ccy === 'BTC' && side.amtRequested !== undefined
    ? `${fixed(new Big(side.amtRequested))}btc`
    : undefined;
}

async function paySend(
  plan: SendPlan,
  { to }: SendWords,
  flags: PaymentFlags,
  context: Context,
): Promise<void> {
  const { order } = plan;
  const contact =
    to !== undefined && Object.hasOwn(context.config.read().contacts, to) ? to : undefined;
  await ownAddressGuard(context.account, context.out.say)(order);
  await runPayment(
    order,
    flags,
    { about: aboutSend(plan, contact), expiresAt: order.expiresAt },
    context,
  );
}

/** Refuses an invalid answer at its question. */
function askSend(
  start: SendWords,
  environment: PlanEnvironment,
  context: Context,
  before: SendWords | undefined,
): Promise<SendWords | Back> {
  const parse =
    (soFar: SendWords, name: 'to' | 'amount') =>
    (text: string): SendWords => {
      const next = { ...soFar, [name]: text };
      planSend(withContact(next, context), environment);
      return next;
    };
  const { ask } = context;
  let known = start;
  const steps = askingUnder(
    () =>
      answersForm('Send', [
        known.to && `to ${shortened(known.to)}`,
        known.via && wayNames[known.via],
      ]),
    ask.steps,
  );
  type Question = (
    soFar: SendWords,
    before: SendWords | undefined,
    ccy: string | undefined,
  ) => Promise<SendWords | Back>;
  const asking =
    (missing: Missing, question: Question): Step<SendWords> =>
    (soFar, before) => {
      known = soFar;
      const planned = planSend(withContact(soFar, context), environment);
      return planned.missing === missing ? question(soFar, before, planned.ccy) : undefined;
    };
  return walk<SendWords>(
    start,
    [
      asking('destination', (soFar, before) =>
        steps.parsed({
          message: 'Pay to',
          example: exampleOf(soFar.kind),
          flag: 'DESTINATION',
          default: before?.to,
          parse: parse(soFar, 'to'),
        }),
      ),
      asking('way', (soFar, before) =>
        taking(steps.select({ ...wayQuestion, default: before?.via }), (via) => ({
          ...soFar,
          via,
        })),
      ),
      asking('amount', (soFar, before, ccy) =>
        steps.parsed({
          ...amountQuestion(ccy),
          flag: 'AMOUNT',
          default: before?.amount,
          parse: parse(soFar, 'amount'),
        }),
      ),
    ],
    before,
  );
}

const exampleOf = (kind: SendKind | undefined): string =>
  kind === undefined ? 'an invoice, an address, a Lightning Address' : railOf(kind).destination;

const amountQuestion = (ccy: string | undefined) => {
  if (ccy === undefined) return { message: 'Amount', example: 'e.g. 50000sat or 5usdt' };
  return ccy === 'BTC'
    ? { message: 'Amount', example: 'e.g. 50000sat' }
    : { message: `Amount in ${ccy}` };
};

const wayNames = { lightning: 'over Lightning', onchain: 'on-chain' } as const;

const wayQuestion = {
  message: 'Pay this URI over Lightning or on-chain?',
  flag: '--via lightning|onchain',
  choices: [
    { value: 'lightning', name: 'Lightning', description: 'settles in seconds' },
    {
      value: 'onchain',
      name: 'On-chain',
      description: 'settles after confirmations, 10 to 60 minutes',
    },
  ],
} as const;
