// Pays again: a contact, an earlier payee, or the payee of an earlier payment.
import type { Transaction } from '../../api/types.js';
import { isUnitless, parseAmount, shortAmount } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { didYouMean, plainLetters } from '../../formats/text.js';
import { back } from '../../terminal/ask/questions.js';
import type { CardDetail } from '../../terminal/cards/card.js';
import { repeatable } from '../../wallet/history/earlier-payments.js';
import type { Instruction } from '../../wallet/instruction/instruction.js';
import { instructionOf } from '../../wallet/payout/order.js';
import { payeeChoices, readPayees, type KnownPayee } from '../contacts/payees.js';
import type { Context } from '../context.js';
import { defineCommand, record } from '../define.js';
import { leftAtOnce } from '../process.js';
import { paidView, runPayment } from '../payment/payment-flow.js';
import { swapPresentation } from '../payment/payment-screen.js';
import { paymentOptions, type PaymentFlags } from '../payment/payment-options.js';
import { runSend } from '../payment/send-flow.js';
import { runPayoutInstruction } from '../payout/payout-flow.js';
import { resolveLocally } from '../tx/resolve-id.js';
import { phrase, readAll, text } from '../values.js';

export const again = defineCommand({
  arguments: {
    who: text('WHO')
      .suggesting('contact')
      .optional()
      .describe('a contact, an earlier payee, or the id or the reference of a payment'),
    amount: phrase('AMOUNT').describe('amount to send (default: the amount of the last payment)'),
  },
  options: paymentOptions,
  changes: true,
  examples: [
    ['svcpay again', 'offers contacts and earlier payees, with their last amounts'],
    ['svcpay again wanjiku 1500kes', 'pays the payee of this name again, with another amount'],
    ['svcpay again 890d5621', 'repeats a payment under a new reference'],
  ],
  async run({ who, amount, ...flags }, context): Promise<Transaction> {
    const payees = await readPayees(context);
    if (who === undefined) return payPayee(await choose(payees, context), amount, flags, context);
    const found = named(who, payees);
    const [only] = found;
    if (only !== undefined)
      return payPayee(
        found.length === 1 ? only : await choose(found, context),
        amount,
        flags,
        context,
      );
    const instruction = await paidBefore(who, payees, context);
    return payAgain(
      amount === undefined ? instruction : withAmount(instruction, amount),
      flags,
      context,
    );
  },
  view: record(paidView),
});

async function choose(payees: readonly KnownPayee[], context: Context): Promise<KnownPayee> {
  const { ask } = context;
  if (payees.length === 0)
    throw new Failure('not-found', 'There is no contact and no payment to repeat yet.', {
      next: { do: 'run', command: 'send' },
    });
  ask.demand(['WHO']);
  const chosen = await ask.pose({
    isSearch: true,
    message: 'Pay again',
    flag: 'WHO',
    choices: await payeeChoices(payees, context),
    default: payees[0],
  });
  if (chosen === back) throw leftAtOnce(context);
  return chosen;
}

/** Returns the payee of this name, otherwise the payees that contain the text. */
function named(who: string, payees: readonly KnownPayee[]): readonly KnownPayee[] {
  const wanted = plainLetters(who);
  const texts = ({ name, destination }: KnownPayee): string[] =>
    [name, destination].map(plainLetters);
  const exact = payees.filter((each) => texts(each).includes(wanted));
  return exact.length > 0
    ? exact
    : payees.filter((each) => texts(each).some((part) => part.includes(wanted)));
}

/** Returns the instruction of the payment with this id or reference. */
async function paidBefore(
  who: string,
  payees: readonly KnownPayee[],
  context: Context,
): Promise<Instruction> {
  const { scope, journal } = await context.account();
  const txnId = await resolveLocally(who, context);
  const payment = txnId && (await (await journal()).find(scope, txnId));
  const names = payees.map(({ name, destination }) => name || destination);
  if (!payment)
    throw new Failure(
      'not-found',
      `This home has no contact, payee or payment "${who}".${didYouMean(who, names)}`,
      { next: { do: 'run', command: 'contacts list' } },
    );
  const instruction = repeatable(payment);
  if (instruction !== undefined) return instruction;
  throw new Failure('usage', 'an invoice can be paid only once. Ask for a new one.', {
    money: 'Not sent',
  });
}

/** Pays a payee with the given amount. At a terminal, svcpay asks and suggests the last amount. */
async function payPayee(
  { value, last, lastAmount }: KnownPayee,
  given: string | undefined,
  flags: PaymentFlags,
  context: Context,
): Promise<Transaction> {
  const { chosen, contact } = value;
  const amount = given ?? (await askAmount(last, lastAmount && shortAmount(lastAmount), context));
  if (typeof contact === 'string')
    return runSend(
      undefined,
      chosen || contact,
      written(amount, last),
      { ...flags, from: last?.from },
      context,
    );
  if (last?.payout !== undefined) return payAgain(withAmount(last, amount), flags, context);
  const { payContact } = await import('../payout/payout.js');
  return payContact(chosen, amount, undefined, flags, context);
}

async function askAmount(
  last: Instruction | undefined,
  lastAmount: string | undefined,
  context: Context,
): Promise<string> {
  const { ask, globals, terminal } = context;
  if (lastAmount !== undefined && (globals.yes || !terminal.canPrompt)) return lastAmount;
  ask.demand(['AMOUNT']);
  const amount = await ask.pose({
    message: 'Amount',
    flag: 'AMOUNT',
    example: lastAmount === undefined ? 'e.g. 50000sat' : 'the same, or another amount',
    default: lastAmount,
    parse(text) {
      if (text !== 'all') parseAmount(written(text, last));
      return text;
    },
  });
  if (amount === back) throw leftAtOnce(context);
  return amount;
}

/** Adds the currency of the last payment to a bare number, unless the last payment was in BTC. */
function written(amount: string, last: Instruction | undefined): string {
  const ccy = typeof last?.amount === 'object' ? last.amount.ccy : 'BTC';
  return isUnitless(amount) && ccy !== 'BTC' ? `${amount}${ccy.toLowerCase()}` : amount;
}

function withAmount(instruction: Instruction, text: string): Instruction {
  const { amount, payout, note } = instruction;
  const { ccy, value } = parseAmount(written(text, instruction));
  if (payout !== undefined) {
    const expected = payout.destReq.ccy ?? ccy;
    return instructionOf(payout, parseAmount(written(text, instruction), expected), note);
  }
  const side = typeof amount === 'object' ? amount.side : 'gets';
  return { ...instruction, amount: { ccy, value, written: text, side } };
}

/** Runs an instruction once more, as a new payment. */
export async function payAgain(
  instruction: Instruction,
  flags: PaymentFlags,
  context: Context,
): Promise<Transaction> {
  const { verb, payout, from, to, name } = instruction;
  if (payout !== undefined) return runPayoutInstruction(instruction, flags, context);
  const about: CardDetail[] =
    verb === 'swap'
      ? [{ label: 'Swap', value: `${from} to ${to}` }]
      : [
          ...(name === undefined ? [] : [{ label: 'Contact', value: name }]),
          { label: 'To', value: to, whole: true },
        ];
  const presentation = verb === 'swap' ? swapPresentation : {};
  return runPayment(instruction, flags, { about, ...presentation }, context);
}

/** The flags of a payment that a menu starts. */
export const noFlags = (): PaymentFlags => readAll(paymentOptions, {});
