// Describes an instruction in the words of sentences, cards and lists, and prints the command that
// asks for it. Pure.
import { formatAmount, shortAmount, type Money, fixed } from '../../formats/amount.js';
import { shortened } from '../../formats/text.js';
import { payeeOf, methodOf } from '../payout/methods.js';
import { exact, type Instruction, uriRails } from './instruction.js';
import type { Kyc } from '../../api/types.js';
import { detectDestination } from '../../formats/destination.js';
import type { NextStep } from '../../formats/failure.js';
import { invoiceReference, type PaymentTerms } from '../../store/journal/payment.js';

/** The instruction in a few words, such as `2 500 sat to ada@example.com`. */
export const inWords = (instruction: Instruction): string =>
  instruction.amount === 'invoice'
    ? `the invoice ${payeeInWords(instruction)}`
    : `${amountAsked(instruction)} to ${payeeInWords(instruction)}`;

/** The amount as it was asked for. */
export function amountAsked({ amount, from }: Instruction): string {
  if (amount === 'all') return `all of the ${from} wallet`;
  if (amount === 'invoice') return 'the amount of the invoice';
  return shortAmount(amount);
}

/** Says that a payment takes the reference of another instruction. */
export const replacedText = (earlier: Instruction): string =>
  `This replaces the payment of ${inWords(earlier)}, which was never sent.`;

/** Says that a payment of a whole balance resumes an earlier quote. */
export const keptText = (total: Money): string =>
  `The earlier quote is still valid, so this payment keeps its total of ${formatAmount(total)}.`;

/** The payee by name, otherwise by the destination as written, or by the address of a URI. */
export function payeeInWords({ verb, to, keys, name, payout }: Instruction): string {
  if (verb === 'swap') return `your ${to} wallet`;
  const address = keys.find((key) => key.startsWith('onchain:'))?.slice('onchain:'.length);
  return name ?? ((payout && payeeOf(payout).name) || shortened(address ?? to));
}

/** The ways to tell two instructions apart, the shortest first. */
const distinctions: readonly ((instruction: Instruction) => string)[] = [
  inWords,
  (each) => `${amountAsked(each)} to ${each.to}`,
  (each) => `${inWords(each)} from your ${each.from} wallet`,
  (each) => `${inWords(each)}, ${each.deductFees ? 'minus' : 'plus'} the fees`,
  (each) =>
    `${inWords(each)}, as the amount ${exact(each)?.side === 'gets' ? 'received' : 'debited'}`,
];

/** Describes two different instructions by what distinguishes them. */
export function bothInWords(one: Instruction, other: Instruction): readonly [string, string] {
  const words = distinctions.find((each) => each(one) !== each(other)) ?? inWords;
  const isSame = words(one) === words(other);
  return [words(one), isSame ? `${words(other)} with other details` : words(other)];
}

type RunStep = Extract<NextStep, { readonly do: 'run' }>;
type Options = NonNullable<RunStep['options']>;

/** The command that asks for this instruction under this reference, within these terms. */
export function commandOf(
  instruction: Instruction,
  ref: string,
  { maxFee, maxRateLoss }: PaymentTerms = {},
): RunStep {
  const { once, note, verb } = instruction;
  const isOwn = once !== null && ref === invoiceReference(once);
  const { argument, options } = printers[verb](instruction);
  return {
    do: 'run',
    command: verb,
    argument,
    options: {
      ...options,
      '--note': note,
      '--max-fee':
        maxFee && ('percent' in maxFee ? `${maxFee.percent}%` : maxFee.amount + maxFee.ccy),
      '--max-rate-loss': maxRateLoss && `${maxRateLoss}%`,
      '--ref': isOwn ? undefined : ref,
    },
  };
}

type Printed = Pick<RunStep, 'argument' | 'options'>;

const printers: Readonly<Record<Instruction['verb'], (instruction: Instruction) => Printed>> = {
  send: printSend,
  swap: (each) => ({
    argument: [exact(each)?.written ?? 'all', each.from, each.to],
    options: { '--receive': exact(each)?.side === 'gets' || undefined },
  }),
  payout: printPayout,
};

function printSend({ to, amount, from, ways, deductFees }: Instruction): Printed {
  const isUsdt = detectDestination(to).kind === 'tron-address';
  const asked = exact({ amount });
  const isSpent = isUsdt && asked?.side === 'debits';
  const text = asked?.written ?? (amount === 'all' ? 'all' : undefined);
  const usual = isUsdt ? 'USDT' : 'BTC';
  const isUsual = from === usual && (asked?.ccy ?? usual) === usual;
  return {
    argument: text === undefined || isSpent ? to : [to, text],
    options: {
      '--spend': isSpent ? text : undefined,
      '--from': isUsual ? undefined : from,
      '--via': ways === undefined || ways.length === uriRails.length ? undefined : ways[0],
      '--deduct-fees': (deductFees && amount !== 'all') || undefined,
    },
  };
}

function printPayout({ payout, from, ...asked }: Instruction): Printed {
  const amount = exact(asked);
  if (payout === undefined || amount === undefined)
    throw new Error('The instruction of a payout lacks its details or its amount.');
  const { sourceReq, destReq, sourceOfFunds } = payout;
  const { account, institutionCode, institutionName } = payeeOf({ destReq });
  const { acctName } = destReq.reqDetails ?? {};
  return {
    options: {
      '--method': methodOf(destReq)?.code ?? destReq.method,
      '--institution': institutionCode,
      '--institution-name': institutionName,
      '--acct-num': account,
      '--acct-name': typeof acctName === 'string' ? acctName : undefined,
      '--amount': `${fixed(amount.value)}${amount.ccy.toLowerCase()}`,
      '--from': from === 'BTC' ? undefined : from,
      '--purpose': sourceOfFunds?.purpose.toString(),
      '--source': sourceOfFunds?.source.toString(),
      '--relationship': sourceOfFunds?.relationship.toString(),
      ...partyOptions('sender', sourceReq.kyc),
      ...partyOptions('recipient', destReq.kyc),
    },
  };
}

const partyOptions = (whose: string, kyc: Kyc | undefined): Options => ({
  [`--${whose}-type`]: kyc?.type,
  [`--${whose}-name`]: kyc?.details.legalFullName,
  [`--${whose}-country`]: kyc?.details.countryCode,
  [`--${whose}-phone`]: kyc?.details.contactNumber,
  [`--${whose}-address`]: kyc?.details.address1,
});
