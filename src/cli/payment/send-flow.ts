// Runs a `send` command, from its arguments to the payment.
import type { Rates } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { railProperties, type Rail, railTo } from '../../formats/rails.js';
import { savedName } from '../../store/profile/profiles.js';
import { isForeign } from '../../wallet/receive/asked.js';
import {
  isConverted,
  planSend,
  planSendNow,
  submittedAmount,
  type Missing,
  type PlanEnvironment,
  type Planned,
  type SendWords,
  type SendPlan,
} from '../../wallet/plan/send.js';
import { journalFirst, named } from '../../wallet/payment/journal-first.js';
import type { Context } from '../context.js';
import { readStdin } from '../stdin.js';
import { paymentNamed } from '../tx/resolve-id.js';
import { wholeBalance } from './whole-balance.js';
import { demandAnswers, runPayment } from './payment-flow.js';
import type { PaymentFlags } from './payment-options.js';
import { btcFromMsat, formatAmount, money } from '../../formats/amount.js';
import type { Invoice } from '../../formats/bolt11/decode.js';
import { optionalDetail, type CardDetail } from '../../terminal/cards/card.js';
import { rateText } from '../../terminal/cards/quote-card.js';

export interface SendFlags extends PaymentFlags, Omit<SendWords, 'to' | 'amount' | 'rail'> {}

/** Runs a send. Throws Failure `usage` for an invalid destination or amount. */
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
  const to = destination === '-' ? (await readStdin(context)).trim() : destination;
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
  const plan = (answers: SendWords): Planned =>
    planSend(withContact(answers, context), environment);
  const planned = plan(words);
  const payPlanned = (answers: SendWords, planned: Planned): Promise<void> =>
    paySend(answers, planned, environment, flags, context);
  if (planned.missing === undefined || planned.missing === 'balance')
    return payPlanned(words, planned);
  const { missing, ccy } = planned;
  if (missing === 'way' && !context.terminal.canPrompt) return payPlanned(words, planned);
  demandAnswers(missingWords(words, missing, ccy), flags, context);
  // svcpay loads the wizard only to ask a question, because most payments ask no question.
  const { guideSend } = await import('./send-wizard.js');
  const run = (answers: SendWords): Promise<void> => payPlanned(answers, plan(answers));
  await guideSend(words, missing, { plan, run, ref: flags.ref }, context);
}

/** Returns the names of the missing arguments, as help shows the names. */
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

/** Replaces the name of a contact with the saved destination. */
function withContact(words: SendWords, { config }: Context): SendWords {
  if (words.to === undefined || !/^[^.:@]{1,64}$/.test(words.to)) return words;
  const { contacts } = config.read();
  const name = savedName(contacts, words.to);
  return name === undefined ? words : { ...words, to: contacts[name] };
}

/**
 * Reads the exchange rates if an amount must be converted, or if the person may still type an
 * amount in another currency.
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

/**
 * Returns the amount of the earlier payment under the same reference, so that svcpay does not
 * convert a foreign amount again.
 */
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

/**
 * Pays a send.
 * @param planned the plan of the send, passed on because planning again would parse the invoice and
 * recover the signer again
 */
async function paySend(
  words: SendWords,
  planned: Planned,
  environment: PlanEnvironment,
  flags: PaymentFlags,
  context: Context,
): Promise<void> {
  const { to } = words;
  const held =
    planned.missing === 'balance' ? await wholeBalance(planned.ccy, flags.ref, context) : undefined;
  const plan =
    planned.missing === undefined
      ? planned.plan
      : planSendNow(withContact(words, context), { ...environment, held });
  const { order } = plan;
  const contact = to === undefined ? undefined : savedName(context.config.read().contacts, to);
  const whole = held && { label: 'Amount', value: `the whole balance of your ${held.ccy} wallet` };
  const about = [...aboutSend(plan, contact), ...(whole === undefined ? [] : [whole])];
  await runPayment(order, flags, { about, expiresAt: order.expiresAt }, context);
}

/**
 * Returns the lines of the card that describe the recipient.
 * @param contact the saved name of the destination
 */
function aboutSend(plan: SendPlan, contact?: string): CardDetail[] {
  const { worth } = plan;
  const asked =
    worth === undefined
      ? []
      : [
          {
            label: 'Worth',
            value: formatAmount(worth.given),
            note: `at ${rateText({ base: 'BTC', quote: worth.given.ccy, value: worth.rate })}`,
          },
        ];
  return [...optionalDetail('Contact', contact), ...aboutDestination(plan), ...asked];
}

function aboutDestination({ pays, uriTexts, order }: SendPlan): CardDetail[] {
  const texts = uriTexts.map((value) => ({ label: 'Pay', value, note: 'text from the URI' }));
  const fees =
    order.body.deductNetworkFeesFromDest === true
      ? [{ label: 'Fees', value: 'deducted from the amount' }]
      : [];
  switch (pays.kind) {
    case 'bolt11':
      return aboutInvoice(pays.value);
    case 'lnurl':
      return [
        { label: 'To', value: new URL(pays.value.url).host, note: 'host of the LNURL' },
        { label: 'LNURL', value: pays.text, whole: true },
        ...fees,
      ];
    default:
      return [
        ...texts,
        { label: 'To', value: order.destination, note: railTo(pays.kind)?.note, whole: true },
        ...fees,
      ];
  }
}

const payeeEnds = 8;

export function aboutInvoice({ payee, description, amountMsat }: Invoice): CardDetail[] {
  const short = `${payee.slice(0, payeeEnds)}…${payee.slice(-payeeEnds)}`;
  const amount = amountMsat === null ? '' : formatAmount(money('BTC', btcFromMsat(amountMsat)));
  return [
    {
      label: 'Pay',
      value: description === null || description === '' ? amount : description,
      ...(description !== null && description !== '' && { note: 'text from the invoice' }),
    },
    { label: 'To', value: short },
  ];
}
