// readSwap reads the words of `svcpay swap` in the forms that people write.
import { expect, test } from 'vitest';
import { missingOf, readSwapWords, swapExample } from '../../../src/cli/payment/payment-options.js';
import { readSwap } from '../../../src/wallet/instruction/instruction.js';

test.for(
  [
    { words: ['25', 'USDT', 'BTC'], from: 'USDT', to: 'BTC', value: '25', ccy: 'USDT' },
    { words: ['25usdt', 'BTC'], from: 'USDT', to: 'BTC', value: '25', ccy: 'USDT' },
    { words: ['25', 'usdt', 'btc'], from: 'USDT', to: 'BTC', value: '25', ccy: 'USDT' },
    { words: ['50', '000', 'sat', 'USDT'], from: 'BTC', to: 'USDT', value: '0.0005', ccy: 'BTC' },
    { words: ['50 000sat', 'USDT'], from: 'BTC', to: 'USDT', value: '0.0005', ccy: 'BTC' },
    {
      words: ['10', '000.00', 'USDT', 'BTC'],
      from: 'USDT',
      to: 'BTC',
      value: '10000',
      ccy: 'USDT',
    },
    {
      words: ['50', '000', 'sat', 'USDT', 'BTC'],
      receive: true,
      from: 'USDT',
      to: 'BTC',
      value: '0.0005',
      ccy: 'BTC',
    },
    {
      words: ['1000sat', 'USDT', 'BTC'],
      receive: true,
      from: 'USDT',
      to: 'BTC',
      value: '0.00001',
      ccy: 'BTC',
    },
  ].map(
    (each) =>
      [
        [...each.words, ...(each.receive ? ['--receive'] : [])].join(' '),
        each.from,
        each.to,
        each,
      ] as const,
  ),
)(
  'readSwap reads "svcpay swap %s" as a swap from %s to %s',
  ([, , , { words, receive = false, from, to, value, ccy }]) => {
    const swap = readSwap(readSwapWords(words.join(' '), receive), receive);
    const amount = typeof swap.amount === 'string' ? undefined : swap.amount;
    expect([swap.from, swap.to, amount?.value.toFixed(), amount?.ccy]).toEqual([
      from,
      to,
      value,
      ccy,
    ]);
  },
);

test.for(
  [
    {
      words: ['25', 'usdt', 'sats'],
      message: 'Not sent: "sats" is a unit of the BTC wallet. Write BTC.',
    },
    { words: ['50000', 'BTC', 'USDT'], message: '50000 has no unit. Write 50000sat (0.0005 BTC).' },
    {
      words: ['5', '0sat', 'USDT'],
      message: '"5 0sat" is not an amount. Write digits and a unit, such as 50000sat or 0.0005btc.',
    },
    {
      words: ['25usdt', 'USDT'],
      message: 'Not sent: a swap needs two different wallets; both are USDT.',
    },
    {
      words: ['1000sat', 'USDT', 'BTC'],
      message: 'Not sent: 1000sat is in BTC, but you must name the amount that you pay.',
    },
  ].map((each) => [each.words.join(' '), each] as const),
)('readSwap refuses "svcpay swap %s"', ([, { words, message }]) => {
  const failure = expect.objectContaining({ message });
  expect(() => readSwap(readSwapWords(words.join(' '), false), false)).toThrow(failure);
});

test.for(
  [
    { given: '', missing: ['AMOUNT', 'FROM', 'TO'], example: 'svcpay swap 25 USDT BTC' },
    { given: '25 USDT', missing: ['TO'], example: 'svcpay swap 25 USDT BTC' },
    {
      given: '25 USDT',
      receive: true,
      missing: ['FROM'],
      example: 'svcpay swap 25 BTC USDT --receive',
    },
    { given: '0.1 BTC', missing: ['TO'], example: 'svcpay swap 0.1btc BTC USDT' },
  ].map(
    (each) => [`${each.given}${each.receive ? ' --receive' : ''}`, each.example, each] as const,
  ),
)(
  'swapExample completes "svcpay swap %s" to "%s"',
  ([, , { given, receive = false, missing, example }]) => {
    const words = readSwapWords(given, receive);
    expect([missingOf(words), swapExample(words, receive)]).toEqual([missing, example]);
  },
);
