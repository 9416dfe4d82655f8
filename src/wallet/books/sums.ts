// Adds up movements by wallet and by a name, such as the kind or the payment method.
import Big from 'big.js';
import type { Movement } from './movement.js';

export interface MovementSum<Name extends string> {
  readonly ccy: string;
  readonly name: Name;
  readonly count: number;
  readonly in: Big;
  /** The money that left the wallet, without fees. */
  readonly out: Big;
  readonly serviceFee: Big;
  readonly networkFee: Big;
  readonly fee: Big;
}

type Amount = 'in' | 'out' | 'serviceFee' | 'networkFee' | 'fee';
const zero = new Big(0);

/** @param nameOf returns the name under which a movement counts, or undefined to leave it out */
export function sumsOf<Name extends string>(
  movements: Iterable<Movement>,
  nameOf: (movement: Movement) => Name | undefined,
): MovementSum<Name>[] {
  const sums = new Map<string, MovementSum<Name>>();
  for (const movement of movements) {
    const { ccy } = movement;
    const name = nameOf(movement);
    if (name === undefined) continue;
    const before = sums.get(`${ccy} ${name}`);
    const plus = (of: Amount): Big => movement[of].plus(before?.[of] ?? zero);
    sums.set(`${ccy} ${name}`, {
      ccy,
      name,
      count: (before?.count ?? 0) + 1,
      in: plus('in'),
      out: plus('out'),
      serviceFee: plus('serviceFee'),
      networkFee: plus('networkFee'),
      fee: plus('fee'),
    });
  }
  return [...sums.values()];
}
