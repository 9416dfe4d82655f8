// Reads the words of `svcpay swap`: the amount, the paying wallet and the receiving wallet. Pure.
import { isUnitless, parseAmount, parseCurrency } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { clip } from '../../formats/text.js';
import type { CardDetail } from '../../terminal/cards/card.js';
import { type Instruction, isAll } from '../../wallet/instruction/instruction.js';
import type { SwapWords } from '../../wallet/instruction/swap.js';
import { flag, phrase } from '../values.js';

export const swapArguments = {
  words: phrase('AMOUNT FROM TO')
    .describe(
      'amount or all, wallet to debit (not needed if AMOUNT has a unit, e.g. 25usdt), ' +
        'and wallet to credit',
    )
    .suggesting('wallet'),
};

export const swapOptions = {
  receive: flag().describe('AMOUNT is what TO receives, not what FROM pays'),
};

/** The line of the card that names both wallets. */
export const aboutSwap = ({ from, to, amount }: Instruction): CardDetail[] => [
  { label: 'Swap', value: amount === 'all' ? `all of ${from} to ${to}` : `${from} to ${to}` },
];

const wallets = '(?: (?<second>[a-z]+))?(?: (?<third>[a-z]+))?$';
const wholePattern = new RegExp(`^all${wallets}`, 'i');
const amountAndUnit = '(?<digits>[\\d.]+(?: [\\d.]+)*)(?<gap> ?)(?<first>[a-z]+)?';
const pattern = new RegExp(`^${amountAndUnit}${wallets}`, 'i');
const isSats = (name: string): boolean => /^sats?$/i.test(name);

/**
 * Reads the words of a swap, `AMOUNT FROM TO` or, with the wallet as the unit, `AMOUNTfrom TO`.
 * Returns undefined for each word that is missing from the swap.
 */
export function readSwapWords(given: string, receive: boolean): SwapWords {
  const text = given.trim().replaceAll(/ +/g, ' ');
  if (text === '') return { amount: undefined, from: undefined, to: undefined };
  const whole = wholePattern.exec(text)?.groups;
  if (whole !== undefined)
    return { amount: 'all', from: wallet(whole['second']), to: wallet(whole['third']) };
  const { digits, gap, first, second, third } = pattern.exec(text)?.groups ?? {};
  if (digits === undefined) {
    throw usage(
      `"${clip(text)}" does not name an amount and two wallets. For example: ` +
        `svcpay swap 25usdt BTC`,
    );
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
  if (receive && hasUnit)
    throw usage('name both wallets, e.g. svcpay swap 100000sat USDT BTC --receive');
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
  if (isSats(name)) throw usage(`"${name}" is a unit of the BTC wallet. Write BTC.`);
  return parseCurrency(name);
}

/** Returns the missing arguments, named as in the help. */
export const missingOf = ({ amount, from, to }: SwapWords): string[] =>
  Object.entries({ AMOUNT: amount, FROM: from, TO: to }).flatMap(([name, word]) =>
    word === undefined ? [name] : [],
  );

/** Returns a complete example command that contains the given arguments. */
export function swapExample({ amount = '25', from, to }: SwapWords, receive: boolean): string {
  const ccy = (receive ? to : from) ?? from ?? to ?? 'USDT';
  const other = ccy === 'BTC' ? 'USDT' : 'BTC';
  const unit = isUnitless(amount) && ccy === 'BTC' ? 'btc' : '';
  const wallets = receive ? `${other} ${ccy} --receive` : `${ccy} ${other}`;
  return `svcpay swap ${amount}${unit} ${wallets}`;
}

/** Refuses a paid amount in the received currency, and a received amount in the paid currency. */
function refuseOtherSide(amount: string, other: string | undefined, receive: boolean): void {
  const unit = /(?<![a-z])[a-z]+$/i.exec(amount)?.[0].toUpperCase();
  if (isAll(amount) || unit === undefined || other === undefined) return;
  if (unit !== other && !(other === 'BTC' && /^SATS?$/.test(unit))) return;
  const [verb, hint] = receive
    ? ['receive', `To debit ${amount}, remove --receive.`]
    : ['pay', `To receive ${amount}, add --receive.`];
  throw new Failure(
    'usage',
    `${amount} is in ${other}, but you must name the amount that you ${verb}.`,
    { money: 'Not sent', hint },
  );
}

const usage = (why: string): Failure => new Failure('usage', why, { money: 'Not sent' });
