// findRate reads a currency pair in any notation, and inverts the rate if the service has only the
// other direction.
import { expect, test } from 'vitest';
import { allRates, findRate } from '../../../src/wallet/quote/quote.js';

const rates = { BTCUSD: 70796.845, BTCUSDT: 70800, USDTVND: 25000, strange: 7 };

test.for([
  ['BTCUSD', '70796.845'],
  ['btc/usd', '70796.845'],
  ['USDT-VND', '25000'],
  ['BTC_USDT', '70800'],
] as const)('findRate finds the rate for the pair "%s"', ([pair, rate]) => {
  const found = findRate(rates, pair);
  expect(found.rate.toFixed()).toBe(rate);
  expect(found.from).toBeUndefined();
});

test('findRate inverts a pair that exists only in the other direction', () => {
  expect(findRate(rates, 'VND/USDT')).toMatchObject({
    pair: 'VNDUSDT',
    base: 'VND',
    quote: 'USDT',
    from: 'USDTVND',
  });
  expect(findRate(rates, 'VND/USDT').rate.toFixed()).toBe('0.00004');
});

test.for(['nonsense', 'BTC', 'BTCBTC', 'BTC/USD/VND'])(
  'findRate refuses "%s" as a currency pair',
  (pair) => {
    expect(() => findRate(rates, pair)).toThrow(expect.objectContaining({ kind: 'usage' }));
  },
);

test('findRate reports a pair that the service lacks', () => {
  expect(() => findRate(rates, 'EURVND')).toThrow(expect.objectContaining({ kind: 'not-found' }));
});

test('allRates lists a pair even if the name of the pair contains no currencies', () => {
  expect(allRates(rates).map(({ base, quote }) => [base, quote])).toEqual([
    ['BTC', 'USD'],
    ['BTC', 'USDT'],
    ['USDT', 'VND'],
    [null, null],
  ]);
});
