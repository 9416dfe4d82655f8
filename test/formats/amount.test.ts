// Tests the notations in which people may type amounts. Amounts keep every digit in requests and on
// the screen.
import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  btcFromMsat,
  decimalsOf,
  fixed,
  formatAmount,
  formatNumber,
  formatSats,
  fromWire,
  money,
  msatOf,
  parseAmount,
  parseCurrency,
  plainNumber,
  satsOf,
} from '../../src/formats/amount.js';
import { Failure } from '../../src/formats/failure.js';
import { refusal } from './support.js';

const payoutCurrencies = 'CAD INR IDR KES MYR NGN PHP RWF SGD KRW THB VND XOF GHS TWD USD'.split(
  ' ',
);
const currencies = ['BTC', 'USDT', ...payoutCurrencies];

/** Generates random amounts of a currency, within the range of the API. */
const amountOf = (ccy: string) => {
  const max = ccy === 'BTC' ? 21n * 10n ** 14n : 10n ** 15n - 1n;
  return fc.bigInt(1n, max).map((units) => new Big(units).times(`1e-${decimalsOf(ccy)}`));
};
const anyMoney = fc
  .constantFrom(...currencies)
  .chain((ccy) => amountOf(ccy).map((value) => money(ccy, value)));

describe('parseAmount', () => {
  test.for([
    ['50000sat', '0.0005 BTC'],
    ['1SAT', '0.00000001 BTC'],
    ['2sats', '0.00000002 BTC'],
    ['0.0005btc', '0.0005 BTC'],
    ['25usdt', '25 USDT'],
    ['0.000001USDT', '0.000001 USDT'],
    ['500000vnd', '500000 VND'],
    ['007cad', '7 CAD'],
    ['12.34chf', '12.34 CHF'],
    ['50 000 sat', '0.0005 BTC'],
    ['50 000sat', '0.0005 BTC'],
    ['0.00050000 BTC', '0.0005 BTC'],
    ['10 000.00 USDT', '10000 USDT'],
  ] as const)('reads "%s" as %s', ([text, expected]) => {
    const { ccy, value } = parseAmount(text);
    expect(`${fixed(value)} ${ccy}`).toBe(expected);
  });

  test.for([
    ['21000000BTC', 'BTC', '21000000 BTC'],
    ['2100000000000000sat', 'btc', '21000000 BTC'],
    ['25', 'USDT', '25 USDT'],
    ['25.10', 'usdt', '25.1 USDT'],
    ['500000', 'VND', '500000 VND'],
    ['500 000', 'VND', '500000 VND'],
  ] as const)('reads "%s" in the currency %s as %s', ([text, given, expected]) => {
    const { ccy, value } = parseAmount(text, given);
    expect(`${fixed(value)} ${ccy}`).toBe(expected);
  });

  test.for([
    ['', 'is not an amount'],
    ['sat', 'is not an amount'],
    ['-1sat', 'is not an amount'],
    ['+1sat', 'is not an amount'],
    ['1e3sat', 'is not an amount'],
    ['.5btc', 'is not an amount'],
    ['5.btc', 'is not an amount'],
    ['1,000sat', 'Write 1000sat.'],
    ['10 00sat', 'is not an amount'],
    ['1000 000sat', 'is not an amount'],
    ['1  000sat', 'is not an amount'],
    ['0.000 5btc', 'is not an amount'],
    ['1 000 ', 'is not an amount'],
    ['1_000sat', 'is not an amount'],
    ['1  sat', 'is not an amount'],
    ['0x10sat', 'is not an amount'],
    ['١sat', 'is not an amount'],
    ['1.2.3btc', 'is not an amount'],
    ['1sat\n', 'is not an amount'],
    ['5msat', '"msat" in "5msat" is not a unit'],
    ['1000satt', 'Did you mean 1000sat?'],
    ['1 000 satoshis', 'Did you mean 1000sat?'],
    ['1000sta', 'Did you mean 1000sat?'],
    ['1000sast', 'Did you mean 1000sat?'],
    ['1000sa', 'Did you mean 1000sat?'],
    ['0.1bct', 'Did you mean 0.1btc?'],
    ['5usdtt', 'Did you mean 5usdt?'],
    ['5ſat', 'is not an amount'],
    ['5k', 'Write 5000sat.'],
    ['0sat', 'more than zero'],
    ['0.00btc', 'more than zero'],
    ['1.5sat', '1 decimal, but sat has no decimals'],
    ['0.123456789btc', '9 decimals, but BTC has at most 8 decimals'],
    ['0.100000000btc', '9 decimals, but BTC has at most 8 decimals'],
    ['1.2345678usdt', '7 decimals, but USDT has at most 6 decimals'],
    ['1.5vnd', '1 decimal, but VND has no decimals'],
    ['1.234cad', '3 decimals, but CAD has at most 2 decimals'],
    ['21000000.00000001btc', 'more than the 21 million bitcoin'],
    ['2100000000000001sat', 'more than the 21 million bitcoin'],
    ['1000000000000000vnd', 'too large for an amount in VND'],
    ['1000000000usdt', 'too large for an amount in USDT'],
    ['50000', '50000 has no unit. Write 50000sat (0.0005 BTC) or 50000usd.'],
    ['10€', '"10€" contains "€", which is not allowed in an amount. Write 10eur.'],
    ['₿0.001', '"₿0.001" contains "₿", which is not allowed in an amount. Write 0.001btc.'],
    ['$10', '"$10" contains "$", which is not allowed in an amount. Write 10usd.'],
    ['50k', '"50k" contains "k", which is not allowed in an amount. Write 50000sat.'],
    ['50,000sat', '"50,000sat" contains ",", which is not allowed in an amount. Write 50000sat.'],
    ['0,001btc', '"0,001btc" contains ",", which is not allowed in an amount. Write 0.001btc.'],
    ['0.0005', '0.0005 has no unit. Write 0.0005btc (50 000 sat).'],
  ] as const)('refuses %j with the message "%s"', ([text, reason]) => {
    expect(refusal(() => parseAmount(text))).toContain(reason);
  });

  test('refuses an amount of 10,000 digits', () => {
    expect(refusal(() => parseAmount('9'.repeat(10_000) + 'sat'))).toContain('is not an amount');
  });

  test('refuses a number without a unit even if BTC is expected', () => {
    expect(refusal(() => parseAmount('50000', 'BTC'))).toBe(
      '50000 has no unit. Write 50000sat (0.0005 BTC).',
    );
  });

  test('refuses the unit of an unexpected currency', () => {
    expect(refusal(() => parseAmount('25usdt', 'BTC'))).toBe(
      '"25usdt" is an amount in USDT, but the amount must be in BTC. Write an amount such as 50000sat or 0.0005btc.',
    );
    expect(refusal(() => parseAmount('5sat', 'VND'))).toContain(
      'an amount in BTC, but the amount must be in VND',
    );
  });

  test('reads back every amount that `fixed` and `satsOf` write', () => {
    fc.assert(
      fc.property(anyMoney, ({ ccy, value }) => {
        const unit = ccy.toLowerCase();
        expect(parseAmount(`${fixed(value)}${unit}`)).toEqual({ ccy, value });
        if (ccy === 'BTC') expect(parseAmount(`${satsOf(value)}sat`).value).toEqual(value);
        else expect(parseAmount(fixed(value), ccy)).toEqual({ ccy, value });
      }),
    );
  });

  test('returns a positive amount or a usage failure for any text', () => {
    const nearly = fc.stringMatching(/^[0-9.,eE+ -]{0,12}[a-zA-Z]{0,5}$/);
    fc.assert(
      fc.property(fc.oneof(fc.string(), nearly), (text) => {
        try {
          expect(parseAmount(text).value.gt(0)).toBe(true);
        } catch (error) {
          expect(error).toSatisfy((e) => e instanceof Failure && e.kind === 'usage');
        }
      }),
    );
  });
});

describe('fromWire', () => {
  test('reads every amount from its JSON number without loss', () => {
    fc.assert(
      fc.property(anyMoney, ({ value }) => {
        const parsed: unknown = JSON.parse(fixed(value));
        expect(typeof parsed === 'number' && fromWire(parsed).eq(value)).toBe(true);
      }),
    );
  });

  test.for([
    [1e-8, '0.00000001'],
    [-1e-8, '-0.00000001'],
    [1e21, '1000000000000000000000'],
    [-0, '0'],
    [70796.845, '70796.845'],
  ] as const)('reads the JSON number %s as %s', ([n, text]) => {
    expect(fixed(fromWire(n))).toBe(text);
  });

  test('refuses an infinite number', () => {
    expect(() => fromWire(Number('1e999'))).toThrow(Failure);
  });
});

describe('the amount format', () => {
  test.for([
    ['BTC', '1.245', '1.24500000 BTC'],
    ['BTC', '0.00000001', '0.00000001 BTC'],
    ['BTC', '20999999.5', '20 999 999.50000000 BTC'],
    ['BTC', '0.00000000001', '0.00000000001 BTC'],
    ['BTC', '0', '0.00000000 BTC'],
    ['BTC', '-1234.5', '-1 234.50000000 BTC'],
    ['USDT', '10000', '10 000.00 USDT'],
    ['USDT', '0.123456', '0.123456 USDT'],
    ['VND', '50000000', '50 000 000 VND'],
    ['CAD', '999.5', '999.50 CAD'],
    ['CAD', '1000', '1 000.00 CAD'],
  ] as const)('shows an amount in %s of %s as %s', ([ccy, value, shown]) => {
    expect(formatAmount(money(ccy, value))).toBe(shown);
  });

  test('shows every digit of an amount', () => {
    fc.assert(
      fc.property(anyMoney, (amount) => {
        expect(new Big(formatNumber(amount).replaceAll(' ', ''))).toEqual(amount.value);
      }),
    );
  });

  test('shows bitcoin in satoshis, with a fraction if the amount has one', () => {
    expect(formatSats(new Big('0.0005'))).toBe('50 000 sat');
    expect(formatSats(new Big('0.00967878534'))).toBe('967 878.534 sat');
  });
});

describe('satoshis and millisatoshis', () => {
  test('msatOf returns exactly the millisatoshis that btcFromMsat converted', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 21n * 10n ** 17n), (msat) => {
        expect(msatOf(btcFromMsat(msat))).toBe(msat);
      }),
    );
  });

  test('satsOf and msatOf refuse an amount with a fraction of their unit', () => {
    expect(satsOf(new Big('0.00000001'))).toBe(1n);
    expect(refusal(() => satsOf(new Big('0.000000001')))).toBe(
      '0.000000001 BTC is not a whole number of satoshis.',
    );
    expect(refusal(() => msatOf(new Big('0.000000000001')))).toContain('millisatoshis');
  });
});

describe('currency codes', () => {
  test('decimalsOf returns the number of decimals of each currency', () => {
    expect(decimalsOf('BTC')).toBe(8);
    expect(decimalsOf('USDT')).toBe(6);
    expect(payoutCurrencies.filter((ccy) => decimalsOf(ccy) === 0)).toEqual([
      'RWF',
      'KRW',
      'VND',
      'XOF',
    ]);
  });

  test('parseCurrency reads a currency code in any letter case', () => {
    expect(parseCurrency('usdt')).toBe('USDT');
    for (const text of ['', 'sat', 'US', 'USDTT', 'U$D', 'uſd']) {
      expect(refusal(() => parseCurrency(text))).toContain('is not a currency code');
    }
  });
});

test('plainNumber writes a number in the same notation as fixed(fromWire(number))', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (n) => {
      expect(plainNumber(n)).toBe(fixed(fromWire(n)));
    }),
  );
  for (const n of [0, -0, 1e-7, 1.2e-7, -1e-8, 1e21, 123.456])
    expect(plainNumber(n)).toBe(fixed(fromWire(n)));
});
