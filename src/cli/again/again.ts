// Pays again: a contact, an earlier payee, or the payee of an earlier payment.
import type { Transaction } from '../../api/types.js';
import { isUnitless, parseAmount, shortAmount } from '../../formats/amount.js';
import { Failure, invalid } from '../../formats/failure.js';
import { didYouMean, plainLetters } from '../../formats/text.js';
import { back } from '../../terminal/ask/questions.js';
import { repeatable, written, type Instruction } from '../../wallet/instruction/instruction.js';
import { instructionOf } from '../../wallet/payout/methods.js';
import { payeeChoices, readPayees, type KnownPayee } from '../contacts/payees.js';
import type { Context } from '../context.js';
import { defineCommand, record } from '../define.js';
import { leftAtOnce } from '../process.js';
import { paidView, runPayment } from '../payment/payment-flow.js';
import { swapPresentation } from '../payment/payment-screen.js';
import { aboutSwap, paymentOptions, type PaymentFlags } from '../payment/payment-options.js';
import { runSend } from '../payment/send-flow.js';
import { runPayoutInstruction } from '../payout/payout-flow.js';
import { paymentOf } from '../tx/payments.js';
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
    const found = who === undefined ? payees : named(who, payees);
    if (who !== undefined && found.length === 0) {
      const instruction = await paidBefore(who, payees, context);
      const asked = amount === undefined ? instruction : withAmount(instruction, amount);
      return payAgain(asked, flags, context);
    }
    return payPayee(await onlyOf(found, who !== undefined, context), amount, flags, context);
  },
  view: record(paidView),
});

/** Returns the payee that a person named, or chooses among several. */
async function onlyOf(
  payees: readonly KnownPayee[],
  isNamed: boolean,
  context: Context,
): Promise<KnownPayee> {
  const { ask } = context;
  const [first, ...others] = payees;
  if (first === undefined)
    throw new Failure('not-found', 'There is no contact and no payment to repeat yet.', {
      next: { do: 'run', command: 'send' },
    });
  if (isNamed && others.length === 0) return first;
  ask.demand(['WHO']);
  const chosen = await ask.pose({
    isSearch: true,
    message: 'Pay again',
    flag: 'WHO',
    choices: await payeeChoices(payees, context),
    default: first,
  });
  if (chosen === back) throw leftAtOnce(context);
  return chosen;
}

/** Returns the payee of this name, otherwise the payees that contain the text. */
function named(who: string, payees: readonly KnownPayee[]): readonly KnownPayee[] {
  const wanted = plainLetters(who);
  const those = (fits: (text: string) => boolean): readonly KnownPayee[] =>
    payees.filter(({ name, destination }) => [name, destination].map(plainLetters).some(fits));
  const exact = those((text) => text === wanted);
  return exact.length > 0 ? exact : those((text) => text.includes(wanted));
}

/** Returns the instruction of the payment with this id or reference. */
async function paidBefore(
  who: string,
  payees: readonly KnownPayee[],
  context: Context,
): Promise<Instruction> {
  const txnId = await resolveLocally(who, context);
  const payment = txnId && (await paymentOf(txnId, context));
  const names = payees.map(({ name, destination }) => name || destination);
  if (!payment)
    throw new Failure(
      'not-found',
      `This home has no contact, payee or payment "${who}".${didYouMean(who, names)}`,
      { next: { do: 'run', command: 'contacts list' } },
    );
  const instruction = repeatable(payment);
  if (instruction !== undefined) return instruction;
  throw invalid('an invoice can be paid only once. Ask for a new one.', {
    money: 'Not sent',
  });
}

/** Pays a payee with the given amount. At a terminal, svcpay asks and suggests the last amount. */
async function payPayee(
  { chosen, contact, last, lastAmount }: KnownPayee,
  given: string | undefined,
  flags: PaymentFlags,
  context: Context,
): Promise<Transaction> {
  const amount = given ?? (await askAmount(last, lastAmount && shortAmount(lastAmount), context));
  if (typeof contact === 'string') {
    const from = { ...flags, from: last?.from };
    return runSend(undefined, chosen || contact, withUnit(amount, last), from, context);
  }
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
      if (text !== 'all') parseAmount(withUnit(text, last));
      return text;
    },
  });
  if (amount === back) throw leftAtOnce(context);
  return amount;
}

/** Adds the currency of the last payment to a bare number, unless the last payment was in BTC. */
function withUnit(amount: string, last: Instruction | undefined): string {
  const ccy = typeof last?.amount === 'object' ? last.amount.ccy : 'BTC';
  return isUnitless(amount) && ccy !== 'BTC' ? `${amount}${ccy.toLowerCase()}` : amount;
}

function withAmount(instruction: Instruction, text: string): Instruction {
  const { amount, payout, note } = instruction;
  const asked = withUnit(text, instruction);
  if (payout !== undefined)
    return instructionOf(payout, parseAmount(asked, payout.destReq.ccy), note);
  return {
    ...instruction,
    amount: written(asked, typeof amount === 'object' ? amount.side : 'gets'),
  };
}

/** Runs an instruction once more, as a new payment. */
export async function payAgain(
  instruction: Instruction,
  flags: PaymentFlags,
  context: Context,
): Promise<Transaction> {
  const { verb, payout, to, name } = instruction;
  if (payout !== undefined) return runPayoutInstruction(instruction, flags, context);
  if (verb === 'swap') {
    const presentation = { about: aboutSwap(instruction), ...swapPresentation };
    return runPayment(instruction, flags, presentation, context);
  }
  const about = [
    { label: 'Contact', value: name },
    { label: 'To', value: to, whole: true },
  ];
  return runPayment(instruction, flags, { about }, context);
}

/** The flags of a payment that a menu starts. */
export const noFlags = (): PaymentFlags => readAll(paymentOptions, {});
