// Swaps between two of the account's own wallets. Specification: endpoint 6, rule 8.
import { parseAmount, type Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { swapOrder } from '../../wallet/orders.js';
import { defineCommand } from '../define.js';
import { runPayment } from '../payment-flow.js';
import { paymentOptions } from '../payment-options.js';
import { currency, flag, text } from '../values.js';

export const swap = defineCommand({
  arguments: {
    amount: text('AMOUNT').describe('what to swap, as in 25usdt; a bare number where FROM names the currency'),
    first: currency('FROM').describe('the wallet to take it from; may be left out when AMOUNT names it'),
    second: currency('TO').optional().describe('the wallet to put it in'),
  },
  options: {
    receive: flag().describe('AMOUNT is what shall arrive in TO, not what leaves FROM'),
    ...paymentOptions,
  },
  examples: [
    ['svcpay swap 25 USDT BTC', 'sell 25 USDT for bitcoin'],
    ['svcpay swap 25usdt BTC --yes --json', 'the same, in a script'],
    ['svcpay swap 100000sat USDT BTC --receive', 'buy exactly 100 000 sat'],
  ],
  async run({ amount, first, second, receive, ...flags }, context) {
    const { from, to, value } = readSwap(amount, first, second, receive);
    await runPayment(
      swapOrder(from, to, value, receive ? 'dest' : 'source'),
      flags,
      { about: [{ label: 'Swap', value: `${from} to ${to}` }], getsLabel: 'You get' },
      context,
    );
  },
});

/** `AMOUNT FROM TO`, or `AMOUNTfrom TO`, where the amount names the wallet that it belongs to. */
function readSwap(text: string, first: string, second: string | undefined, receive: boolean): Swap {
  if (second === undefined) {
    const value = parseAmount(text);
    if (receive) throw new Failure('usage', 'Name both wallets, as in: swap 100000sat USDT BTC --receive.');
    return different({ from: value.ccy, to: first, value });
  }
  const [named, other] = receive ? [second, first] : [first, second];
  if (first !== second) refuseOtherSide(text, other, receive);
  return different({ from: first, to: second, value: parseAmount(text, named) });
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

interface Swap {
  readonly from: string;
  readonly to: string;
  readonly value: Money;
}

function different(swap: Swap): Swap {
  if (swap.from !== swap.to) return swap;
  throw new Failure('usage', `Not sent: a swap needs two different wallets, and both are ${swap.from}.`);
}
