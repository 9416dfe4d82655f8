// Tests the parsing of phone numbers in international and national notation.
import { describe, expect, test } from 'vitest';
import { parseMobile, parsePhone } from '../../src/formats/country.js';
import { findCountry } from '../../src/wallet/payout/methods.js';

describe('parseMobile', () => {
  test.for([
    ['KE', '+254 712 345 678', '+254712345678'],
    ['KE', '254712345678', '+254712345678'],
    ['KE', '0712 345 678', '+254712345678'],
    ['KE', '712345678', '+254712345678'],
    ['BJ', '01 61 23 45 67', '+2290161234567'],
    ['MY', '011-1234 5678', '+601112345678'],
  ] as const)('reads a number of %s written as %s', ([country, given, number]) => {
    expect(parseMobile(given, findCountry(country))).toBe(number);
  });

  test.for(['+254 712 345', '0712345', '+84 912 345 678', '07123456789', 'Wanjiku'])(
    'refuses %s as a Kenyan number',
    (given) => {
      expect(() => parseMobile(given, findCountry('KE'))).toThrow(
        'after +254, its numbers have 9 digits.',
      );
    },
  );
});

test('parsePhone reads the national form only for a country whose mobile numbers svcpay knows', () => {
  expect(parsePhone('0712345678', findCountry('KE'))).toBe('+254712345678');
  expect(() => parsePhone('0912345678', findCountry('VN'))).toThrow('has no country code');
});
