// Reads the instruction of a swap from its amount and its two wallets. Pure.
import { Failure } from '../../formats/failure.js';
import { type Instruction, isAll, written } from './instruction.js';
import { walletKey } from './keys.js';

export type SwapWords = Readonly<Record<'amount' | 'from' | 'to', string | undefined>>;

/** Reads a swap. Throws Failure `usage` if both wallets are the same, and for invalid amounts. */
export function readSwap(
  { amount, from, to }: SwapWords,
  receive: boolean,
  note?: string | undefined,
): Instruction {
  if (amount === undefined || from === undefined || to === undefined)
    throw new Error('The swap lacks an amount or one of its two wallets.');
  if (from === to) throw usage(`a swap needs two different wallets; both are ${from}.`);
  if (isAll(amount) && receive)
    throw usage('"all" means the whole balance of the paying wallet. Remove --receive.');
  return {
    verb: 'swap',
    to,
    keys: [walletKey(to)],
    once: null,
    amount: isAll(amount)
      ? 'all'
      : written(amount, receive ? 'gets' : 'debits', receive ? to : from),
    from,
    deductFees: isAll(amount),
    ...(note !== undefined && { note }),
  };
}

const usage = (why: string): Failure => new Failure('usage', why, { money: 'Not sent' });
