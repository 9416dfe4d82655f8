// Describes an instruction in the words of sentences, cards and lists, and prints the command that
// asks for it. Pure.
import { formatAmount, shortAmount, type Money, fixed } from '../../formats/amount.js';
import { shortened } from '../../formats/text.js';
import { payeeOf, methodOf } from '../payout/methods.js';
import { type Instruction, uriRails } from './instruction.js';
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
  ({ amount, ...each }) =>
    `${inWords({ amount, ...each })}, as the amount ` +
    `${typeof amount === 'string' || amount.side === 'debits' ? 'debited' : 'received'}`,
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
  swap: ({ amount, from, to }) => ({
    argument: [typeof amount === 'string' ? amount : amount.written, from, to],
    options: {
      '--receive': typeof amount !== 'string' && amount.side === 'gets' ? true : undefined,
    },
  }),
  payout: printPayout,
};

function printSend({ to, amount, from, ways, deductFees }: Instruction): Printed {
  const { kind } = detectDestination(to);
  const isSpent = kind === 'tron-address' && typeof amount !== 'string' && amount.side === 'debits';
  const text =
    amount === 'invoice' ? undefined : typeof amount === 'string' ? amount : amount.written;
  const usual = kind === 'tron-address' ? 'USDT' : 'BTC';
  const isForeign = typeof amount !== 'string' && amount.ccy !== usual;
  return {
    argument: text === undefined || isSpent ? to : [to, text],
    options: {
      '--spend': isSpent ? text : undefined,
      '--from': from === usual && !isForeign ? undefined : from,
      '--via': ways === undefined || ways.length === uriRails.length ? undefined : ways[0],
      '--deduct-fees': deductFees && amount !== 'all' ? true : undefined,
    },
  };
}

function printPayout({ payout, amount, from }: Instruction): Printed {
  if (payout === undefined || typeof amount === 'string')
    throw new Error('The instruction of a payout lacks its details or its amount.');
  const { sourceReq, destReq, sourceOfFunds } = payout;
  const { account, institutionCode, institutionName } = payeeOf({ destReq });
  const { acctName } = destReq.reqDetails ?? {};
  const code = (value: number | undefined) => (value === undefined ? undefined : String(value));
  return {
    options: {
      '--method': methodOf(destReq)?.code ?? destReq.method,
      '--institution': institutionCode,
      '--institution-name': institutionName,
      '--acct-num': account,
      '--acct-name': typeof acctName === 'string' ? acctName : undefined,
      '--amount': `${fixed(amount.value)}${amount.ccy.toLowerCase()}`,
      '--from': from === 'BTC' ? undefined : from,
      '--purpose': code(sourceOfFunds?.purpose),
      '--source': code(sourceOfFunds?.source),
      '--relationship': code(sourceOfFunds?.relationship),
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
