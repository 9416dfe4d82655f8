// Reads a swap: paying wallet, receiving wallet, and the side of the amount.
import { isUnitless, parseAmount, parseCurrency, type Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { swapOrder, type Order } from '../../wallet/order/orders.js';
import { clip } from '../../formats/text.js';

export interface Swap {
  readonly from: string;
  readonly to: string;
  readonly amount: Money;
  /** The amount is received, not paid. */
  readonly receive: boolean;
}

export type SwapWords = Readonly<Record<'amount' | 'from' | 'to', string | undefined>>;

export const swapOrderOf = ({ from, to, amount, receive }: Swap): Order =>
  swapOrder(from, to, amount, receive ? 'dest' : 'source');

const pattern =
  /^(?<digits>[\d.]+(?: [\d.]+)*)(?<gap> ?)(?<first>[a-z]+)?(?: (?<second>[a-z]+))?(?: (?<third>[a-z]+))?$/i;
const isSats = (name: string): boolean => /^sats?$/i.test(name);

/** `AMOUNT FROM TO`, or `AMOUNTfrom TO` with the wallet as the unit; any part may be missing. */
export function readSwapWords(given: string, receive: boolean): SwapWords {
  const text = given.trim().replaceAll(/ +/g, ' ');
  if (text === '') return { amount: undefined, from: undefined, to: undefined };
  const { digits, gap, first, second, third } = pattern.exec(text)?.groups ?? {};
  if (digits === undefined) {
    throw usage(`Not sent: "${clip(text)}" is not a swap. Write it like svcpay swap 25usdt BTC`);
  }
  if (first === undefined) return { amount: digits, from: undefined, to: undefined };
  if (third !== undefined)
    return sides({ amount: digits + first, from: second, to: third }, receive);
  const hasUnit = gap === '' || isSats(first);
  const amount = hasUnit ? digits + first : digits;
  const named = hasUnit ? parseAmount(amount).ccy : first;
  if (second === undefined)
    return sides(
      { amount, from: receive ? undefined : named, to: receive ? named : undefined },
      receive,
    );
  if (receive && hasUnit) throw usage('Name both wallets, e.g. swap 100000sat USDT BTC --receive.');
  return sides({ amount, from: named, to: second }, receive);
}

function sides({ amount, from, to }: SwapWords, receive: boolean): SwapWords {
  const words = { amount, from: wallet(from), to: wallet(to) };
  const other = receive ? words.from : words.to;
  if (amount !== undefined && words.from !== words.to) refuseOtherSide(amount, other, receive);
  return words;
}

function wallet(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  if (isSats(name)) throw usage(`Not sent: "${name}" is a unit. The wallet is called BTC.`);
  return parseCurrency(name);
}

/** Throws Failure `usage` for equal wallets and invalid amounts. */
export function planSwap({ amount, from, to }: SwapWords, receive: boolean): Swap {
  if (amount === undefined || from === undefined || to === undefined)
    throw new Error('A swap is missing an argument.');
  if (from === to) throw usage(`Not sent: a swap needs two different wallets; both are ${from}.`);
  return { from, to, amount: parseAmount(amount, receive ? to : from), receive };
}

/** Names of the missing parts, as in help. */
export const missingOf = ({ amount, from, to }: SwapWords): string[] =>
  Object.entries({ AMOUNT: amount, FROM: from, TO: to }).flatMap(([name, word]) =>
    word === undefined ? [name] : [],
  );

/** A complete example with the known parts. */
export function swapExample({ amount = '25', from, to }: SwapWords, receive: boolean): string {
  const known = (receive ? to : from) ?? from ?? to ?? 'USDT';
  const other = known === 'BTC' ? 'USDT' : 'BTC';
  const unit = isUnitless(amount) && known === 'BTC' ? 'btc' : '';
  return `svcpay swap ${amount}${unit} ${receive ? `${other} ${known} --receive` : `${known} ${other}`}`;
}

/** Refuses an amount in the currency of the other side. */
function refuseOtherSide(amount: string, other: string | undefined, receive: boolean): void {
  const unit = /(?<![a-z])[a-z]+$/i.exec(amount)?.[0].toUpperCase();
  if (unit === undefined || other === undefined) return;
  if (unit !== other && !(other === 'BTC' && /^SATS?$/.test(unit))) return;
  const [what, advice] = receive
    ? ['what leaves', 'Leave --receive out']
    : ['what arrives in', 'Add --receive'];
  throw new Failure('usage', `Not sent: ${amount} is ${what} the ${other} wallet.`, {
    hint: `${advice} if that is what you mean.`,
  });
}

const usage = (message: string): Failure => new Failure('usage', message);
