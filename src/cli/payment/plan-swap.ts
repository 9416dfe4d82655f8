// A swap as it is written: which wallet pays, which receives, and on which of the two the amount stands.
import { parseAmount, type Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';

/** `AMOUNT FROM TO`, or `AMOUNTfrom TO`, where the amount names the wallet that it belongs to. */
export function readSwap(text: string, first: string, second: string | undefined, receive: boolean): Swap {
  if (second === undefined) {
    if (isBare(text)) throw oneWallet(text, first, receive);
    const value = parseAmount(text);
    if (receive) throw new Failure('usage', 'Name both wallets, as in: swap 100000sat USDT BTC --receive.');
    return different({ from: value.ccy, to: first, value });
  }
  const [named, other] = receive ? [second, first] : [first, second];
  if (first !== second) refuseOtherSide(text, other, receive);
  return different({ from: first, to: second, value: parseAmount(text, named) });
}

const isBare = (text: string): boolean => /^[\d.]+$/.test(text);

/** `swap 25 USDT`: the other wallet is missing, not the unit. */
function oneWallet(text: string, ccy: string, receive: boolean): Failure {
  const other = ccy === 'BTC' ? 'USDT' : 'BTC';
  const [missing, pair] = receive ? ['out of', `${other} ${ccy} --receive`] : ['into', `${ccy} ${other}`];
  const hint = `svcpay swap ${text}${ccy === 'BTC' ? 'btc' : ''} ${pair}`;
  return new Failure('usage', `Not sent: ${text} ${ccy} ${missing} which wallet? Name both.`, { hint });
}

/** An amount of the other wallet was meant for the other side. */
function refuseOtherSide(text: string, other: string, receive: boolean): void {
  const unit = /[a-z]+$/i.exec(text)?.[0].toUpperCase();
  if (unit !== other && !(other === 'BTC' && /^SATS?$/.test(unit ?? ''))) return;
  const [what, advice] = receive ? ['what leaves', 'Leave --receive out'] : ['what arrives in', 'Add --receive'];
  throw new Failure('usage', `Not sent: ${text} is ${what} the ${other} wallet.`, {
    hint: `${advice} if that is what you mean.`,
  });
}

export interface Swap {
  readonly from: string;
  readonly to: string;
  readonly value: Money;
}

function different(swap: Swap): Swap {
  if (swap.from !== swap.to) return swap;
  throw new Failure('usage', `Not sent: a swap needs two different wallets, and both are ${swap.from}.`);
}
