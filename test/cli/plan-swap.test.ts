// A swap as people write it.
import { expect, test } from 'vitest';
import { readSwap } from '../../src/cli/payment/plan-swap.js';

test.for([
  { words: ['25', 'USDT', 'BTC'], from: 'USDT', to: 'BTC', value: '25', ccy: 'USDT' },
  { words: ['25usdt', 'BTC'], from: 'USDT', to: 'BTC', value: '25', ccy: 'USDT' },
  { words: ['1000sat', 'USDT', 'BTC'], receive: true, from: 'USDT', to: 'BTC', value: '0.00001', ccy: 'BTC' },
])('reads "$words"', ({ words: [amount = '', first = '', second], receive = false, from, to, value, ccy }) => {
  const swap = readSwap(amount, first, second, receive);
  expect([swap.from, swap.to, swap.value.value.toFixed(), swap.value.ccy]).toEqual([from, to, value, ccy]);
});

test.for([
  { words: ['25', 'USDT'], message: 'Not sent: 25 USDT into which wallet? Name both.', hint: 'svcpay swap 25 USDT BTC' },
  { words: ['25', 'USDT'], receive: true, message: 'Not sent: 25 USDT out of which wallet? Name both.', hint: 'svcpay swap 25 BTC USDT --receive' },
  { words: ['0.1', 'BTC'], message: 'Not sent: 0.1 BTC into which wallet? Name both.', hint: 'svcpay swap 0.1btc BTC USDT' },
  { words: ['25usdt', 'USDT'], message: 'Not sent: a swap needs two different wallets, and both are USDT.' },
  { words: ['1000sat', 'USDT', 'BTC'], message: 'Not sent: 1000sat is what arrives in the BTC wallet.' },
])('refuses "$words" and says what is missing', ({ words: [amount = '', first = '', second], receive = false, message, hint }) => {
  const failure = expect.objectContaining({ message, ...(hint !== undefined && { hint }) });
  expect(() => readSwap(amount, first, second, receive)).toThrow(failure);
});
