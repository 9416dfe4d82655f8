// Runs a `send` command, from its arguments to the payment.
import type { Transaction } from '../../api/types.js';
import { railProperties, type Rail, railTo } from '../../formats/rails.js';
import { didYouMean } from '../../formats/text.js';
import { invalid } from '../../formats/failure.js';
import { contactNamed, type Contact } from '../../store/profile/profiles.js';
import {
  readSend,
  readSendNow,
  type Missing,
  type ReadSend,
  type SendRequest,
  type SendWords,
} from '../../wallet/instruction/send.js';
import { journalFirst, named } from '../../wallet/payment/pay.js';
import type { Context } from '../context.js';
import type { Deps } from '../define.js';
import { readStdin } from '../process.js';
import { demandAnswers, runPayment } from './payment-flow.js';
import type { PaymentFlags } from './payment-options.js';
import { btcFromMsat, money } from '../../formats/amount.js';
import type { Invoice } from '../../formats/bolt11/decode.js';
import type { CardLine } from '../../terminal/cards/card.js';

export interface SendFlags
  extends PaymentFlags, Omit<SendWords, 'to' | 'name' | 'amount' | 'rail' | 'note'> {}

/** Runs a send. Throws Failure `usage` for an invalid destination or amount. */
export const runSend = (
  rail: Rail | undefined,
  destination: string | undefined,
  amount: string | undefined,
  flags: SendFlags,
  context: Context,
): Promise<Transaction> =>
  journalFirst(named(flags.ref), context.journal, () =>
    readAndPay(rail, destination, amount, flags, context),
  );

async function readAndPay(
  rail: Rail | undefined,
  destination: string | undefined,
  amount: string | undefined,
  flags: SendFlags,
  context: Context,
): Promise<Transaction> {
  const to = destination === '-' ? (await readStdin(context)).trim() : destination;
  const { spend, from, via, deductFees } = flags;
  const recipient = rail === undefined && payoutContact(to, context);
  if (recipient) {
    if (spend !== undefined || via !== undefined || deductFees === true)
      throw invalid(`${recipient} gets payouts, which have no --spend, --via or --deduct-fees.`);
    const { payContact } = await import('../payout/payout.js');
    return payContact(recipient, amount, from, flags, context);
  }
  const words = { rail, to, amount, spend, from, via, deductFees };
  const environment = {
    network: context.settings.network,
    now: context.now(),
    asksWay: context.terminal.canPrompt,
  };
  const plan = (answers: SendWords): ReadSend =>
    readSend(withContact(answers, context), environment);
  const read = planOrSuggest(words, plan, context);
  if (read.missing === undefined) return paySend(read.request, flags, context);
  const { missing, ccy } = read;
  demandAnswers(missingWords(words, missing, ccy), flags, context);
  // svcpay loads the wizard only to ask a question, because most payments ask no question.
  const { guideSend } = await import('./send-wizard.js');
  const run = (answers: SendWords): Promise<Transaction> =>
    paySend(readSendNow(withContact(answers, context), environment), flags, context);
  return guideSend(words, missing, { plan, run, ref: flags.ref }, context);
}

/** Plans a send. If the destination is a misspelt name of a contact, suggests the contact. */
function planOrSuggest(
  words: SendWords,
  plan: (answers: SendWords) => ReadSend,
  { config }: Context,
): ReadSend {
  try {
    return plan(words);
  } catch (error) {
    const { to = '' } = words;
    const meant = contactName.test(to) ? didYouMean(to, Object.keys(config.read().contacts)) : '';
    if (meant === '') throw error;
    throw invalid(`"${to}" is not in your contacts.${meant}`, { cause: error });
  }
}

/** Matches a text that may be the name of a contact. */
const contactName = /^[^.:@]{1,64}$/;

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

/** Returns the name and the data of the contact that the text names. */
function contactOf(
  to: string | undefined,
  { config }: Deps<'config'>,
): readonly [name?: string, contact?: Contact] {
  if (to === undefined || !contactName.test(to)) return [];
  return contactNamed(config.read().contacts, to) ?? [];
}

/** Returns the name of the contact if svcpay pays the contact by payouts. */
function payoutContact(to: string | undefined, context: Context): string | undefined {
  const [name, contact] = contactOf(to, context);
  return typeof contact === 'object' ? name : undefined;
}

/** Replaces the name of a contact with the saved destination. */
export function withContact(words: SendWords, context: Deps<'config'>): SendWords {
  const [name, contact] = contactOf(words.to, context);
  return typeof contact === 'string' ? { ...words, to: contact, name } : words;
}

export async function paySend(
  request: SendRequest,
  flags: PaymentFlags,
  context: Context,
): Promise<Transaction> {
  const { pays } = request;
  const expiresAt = pays.kind === 'bolt11' ? pays.value.expiresAt : undefined;
  return runPayment(request.instruction, flags, { about: aboutSend(request), expiresAt }, context);
}

/** Returns the lines of the card that describe the recipient and the amount. */
function aboutSend(request: SendRequest): CardLine[] {
  const { amount, from, name } = request.instruction;
  const whole = amount === 'all' ? `the whole balance of your ${from} wallet` : '';
  return [
    { label: 'Contact', value: name },
    ...aboutDestination(request),
    { label: 'Amount', value: whole },
  ];
}

function aboutDestination({ pays, uriTexts, instruction }: SendRequest): CardLine[] {
  if (pays.kind === 'bolt11') return aboutInvoice(pays.value);
  const fees = { label: 'Fees', value: instruction.deductFees ? 'deducted from the amount' : '' };
  if (pays.kind === 'lnurl')
    return [
      { label: 'To', value: new URL(pays.value.url).host, note: 'host of the LNURL' },
      { label: 'LNURL', value: pays.text, whole: true },
      fees,
    ];
  const { note } = railProperties(railTo(pays.kind));
  return [
    ...uriTexts.map((value) => ({ label: 'Pay', value, note: 'text from the URI' })),
    { label: 'To', value: pays.text, note, whole: true },
    fees,
  ];
}

const payeeEnds = 8;

export function aboutInvoice({ payee, description, amountMsat }: Invoice): CardLine[] {
  const short = `${payee.slice(0, payeeEnds)}…${payee.slice(-payeeEnds)}`;
  const amount = amountMsat === null ? undefined : money('BTC', btcFromMsat(amountMsat));
  return [
    { label: 'Pay', value: description || amount, note: description && 'text from the invoice' },
    { label: 'To', value: short },
  ];
}
