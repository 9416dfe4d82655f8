// A send from the command line to the payment. At a terminal, it asks for missing parts.
import type { Rates } from '../../api/types.js';
import { formatAmount, type Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { railProperties, type Rail } from '../../formats/rails.js';
import { back, type Ask, type Back } from '../../terminal/ask/ask.js';
import { taking, walk, type Step } from '../../terminal/ask/wizard.js';
import { shortened } from '../../terminal/views/transaction-view.js';
import { savedName } from '../../store/profile/profiles.js';
import { isForeign } from '../../wallet/receive/asked.js';
import {
  isConverted,
  planSend,
  planSendNow,
  submittedAmount,
  type Missing,
  type PlanEnvironment,
  type SendWords,
} from '../../wallet/plan/send.js';
import { journalFirst, named } from '../../wallet/payment/journal-first.js';
import { checkWithin } from '../../wallet/plan/spend-all.js';
import type { Context } from '../context.js';
import { wordOrStdin } from '../stdin.js';
import { aboutSend } from './about-send.js';
import { runGuided, answersForm, askingUnder } from './guided.js';
import {
  knownChoices,
  knownDestinations,
  latestPayments,
  type Known,
} from './known-destinations.js';
import { paymentNamed } from '../history/resolve-id.js';
import { shownBalances, wholeBalance } from './whole-balance.js';
import { demandAnswers, runPayment } from './payment-flow.js';
import type { PaymentFlags } from './payment-options.js';

export interface SendFlags extends PaymentFlags, Omit<SendWords, 'to' | 'amount' | 'rail'> {}

/** Throws Failure `usage` for an invalid destination or amount. */
export const runSend = (
  rail: Rail | undefined,
  destination: string | undefined,
  amount: string | undefined,
  flags: SendFlags,
  context: Context,
): Promise<void> =>
  journalFirst(named(flags.ref), context.journal, () =>
    planAndPay(rail, destination, amount, flags, context),
  );

async function planAndPay(
  rail: Rail | undefined,
  destination: string | undefined,
  amount: string | undefined,
  flags: SendFlags,
  context: Context,
): Promise<void> {
  const to = destination === undefined ? undefined : await wordOrStdin(destination, context);
  const { spend, from, via, deductFees } = flags;
  const words = {
    rail,
    to,
    amount: (await amountUnder(flags.ref, amount, context)) ?? amount,
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
  const run = (answers: SendWords): Promise<void> => paySend(answers, environment, flags, context);
  if (planned.missing === undefined || planned.missing === 'balance') return run(words);
  const { missing, ccy } = planned;
  if (missing === 'way' && !context.terminal.canPrompt) return run(words);
  demandAnswers(missingWords(words, missing, ccy), flags, context);
  const flow = {
    ask: (answers: SendWords, before?: SendWords) => askSend(answers, environment, context, before),
    run,
    changes: [
      ...(missing === 'way' ? [] : [{ name: 'Change the amount', forget: withoutAmount }]),
      ...(missing === 'destination'
        ? [{ name: 'Change the recipient', forget: withoutDestination }]
        : []),
    ],
  };
  await runGuided(words, flow, flags.ref, context);
}

/** The names of the missing parts, as in help. */
function missingWords(
  { rail, amount, spend }: SendWords,
  missing: Missing,
  ccy: string | undefined,
): string[] {
  const properties = rail && railProperties(rail);
  const needsAmount =
    missing === 'amount' ||
    (amount === undefined &&
      spend === undefined &&
      properties !== undefined &&
      properties.amount !== 'in invoice');
  return [
    ...(missing === 'destination' ? [properties?.argument ?? 'DESTINATION'] : []),
    ...(needsAmount
      ? [`AMOUNT (e.g. ${properties?.exampleAmount ?? (ccy === 'USDT' ? '25usdt' : '50000sat')})`]
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
  const name = savedName(contacts, words.to);
  return name === undefined ? words : { ...words, to: contacts[name] };
}

/**
 * The rates, if an amount must be converted, or if the person may still type an amount in another
 * currency.
 */
export async function ratesFor(
  words: SendWords,
  { client, terminal }: Context,
): Promise<Rates | undefined> {
  const { to, amount, from } = words;
  const mayBeTyped = terminal.canPrompt && (to === undefined || amount === undefined);
  if (!isConverted(words) && !(from === 'BTC' && mayBeTyped)) return undefined;
  return client()
    .then((service) => service.rates())
    .catch((error: unknown) => {
      if (error instanceof Failure) return undefined;
      throw error;
    });
}

/** The converted amount of an earlier payment under the reference. */
async function amountUnder(
  ref: string | undefined,
  amount: string | undefined,
  context: Context,
): Promise<string | undefined> {
  if (ref === undefined || amount === undefined || !isForeign(amount)) return undefined;
  const { scope, journal } = await context.account();
  const payment = await paymentNamed(ref, scope, await journal());
  return payment && submittedAmount(payment);
}

async function paySend(
  words: SendWords,
  environment: PlanEnvironment,
  flags: PaymentFlags,
  context: Context,
): Promise<void> {
  const { to } = words;
  const known = withContact(words, context);
  const planned = planSend(known, environment);
  const held =
    planned.missing === 'balance' ? await wholeBalance(planned.ccy, flags.ref, context) : undefined;
  const plan = planSendNow(known, { ...environment, held });
  const { order } = plan;
  const contact = to === undefined ? undefined : savedName(context.config.read().contacts, to);
  const whole = held && { label: 'Amount', value: `all of your ${held.ccy} wallet` };
  const about = [...aboutSend(plan, contact), ...(whole === undefined ? [] : [whole])];
  await runPayment(order, flags, { about, expiresAt: order.expiresAt }, context);
}

/** Asks for missing parts. Refuses an invalid answer at its question. */
async function askSend(
  start: SendWords,
  environment: PlanEnvironment,
  context: Context,
  before: SendWords | undefined,
): Promise<SendWords | Back> {
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
      return planned.missing === missing
        ? question(soFar, before, 'ccy' in planned ? planned.ccy : undefined)
        : undefined;
    };
  return walk<SendWords>(
    start,
    [
      asking('destination', (soFar, before) =>
        askDestination(soFar, before, environment, steps, context),
      ),
      asking('way', (soFar, before) =>
        taking(steps.select({ ...wayQuestion, default: before?.via }), (via) => ({
          ...soFar,
          via,
        })),
      ),
      asking('amount', async (soFar, before, ccy) => {
        const balances = await shownBalances(context);
        const parse = (amount: string): SendWords => {
          const next = { ...soFar, amount };
          const planned = planSend(withContact(next, context), environment);
          if (planned.missing === undefined) checkWithin(planned.plan.order, balances);
          return next;
        };
        const question = amountQuestion(ccy, soFar.from, balances);
        return steps.parsed({ ...question, flag: 'AMOUNT', default: before?.amount, parse });
      }),
    ],
    before,
  );
}

/**
 * Asks for the destination: a search among known destinations, or a plain question in a new home.
 */
async function askDestination(
  soFar: SendWords,
  before: SendWords | undefined,
  environment: PlanEnvironment,
  steps: Ask['steps'],
  context: Context,
): Promise<SendWords | Back> {
  const parse = (to: string): SendWords => {
    const next = { ...soFar, to };
    planSend(withContact(next, context), environment);
    return next;
  };
  const question = { message: 'Pay to', flag: 'DESTINATION' };
  const isPayable = ({ value }: Known<string>): boolean => readable(() => parse(value));
  const known = (await readKnown(context)).filter(isPayable);
  if (known.length === 0) {
    const example = exampleOf(soFar.rail);
    return steps.parsed({ ...question, example, default: before?.to, parse });
  }
  const to = await steps.search({
    ...question,
    choices: knownChoices(known, context),
    default: before?.to,
    typed: (text) => {
      parse(text);
      return { value: text, name: text, description: 'not paid from here yet' };
    },
  });
  return to === back ? back : parse(to);
}

/** The contacts, and the destinations of the latest sends. */
async function readKnown(context: Context): Promise<Known<string>[]> {
  const book = Object.entries(context.config.read().contacts).map(([name, destination]) => ({
    key: destination,
    name,
    destination,
    value: name,
  }));
  return knownDestinations(book, await latestPayments(context), ({ kind, destination }) =>
    kind.startsWith('send ')
      ? { key: destination, name: '', destination, value: destination }
      : undefined,
  );
}

function readable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

const exampleOf = (rail: Rail | undefined): string =>
  rail === undefined
    ? 'an invoice, an address, a Lightning Address'
    : railProperties(rail).destination;

/**
 * The amount question, with the balance of the paying wallet next to it. If any wallet may pay,
 * with the first two balances.
 */
function amountQuestion(ccy: string | undefined, from: string | undefined, balances: Money[]) {
  const payer = from ?? ccy;
  const shown = balances.filter((held) => payer === undefined || held.ccy === payer);
  const available = shown.filter(({ value }) => value.gt(0)).slice(0, 2);
  const beside =
    available.length === 0 ? '' : ` · ${available.map(formatAmount).join(', ')} available`;
  if (ccy === undefined)
    return { message: `Amount${beside}`, example: 'e.g. 50000sat or 5usdt, or all' };
  return ccy === 'BTC'
    ? { message: `Amount${beside}`, example: 'e.g. 50000sat, or all' }
    : { message: `Amount in ${ccy}${beside}`, example: 'or all' };
}

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
