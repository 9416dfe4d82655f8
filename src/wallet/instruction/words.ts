// Describes an instruction in the words of sentences, cards and lists. Pure.
import { formatAmount, shortAmount, type Money } from '../../formats/amount.js';
import { shortened } from '../../formats/text.js';
import { payeeOf } from '../payout/methods.js';
import type { Instruction } from './instruction.js';

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
