// The table of payout methods matches the table in the specification row by row.
import { describe, expect, test } from 'vitest';
import {
  findCountry,
  methodsIn,
  payoutCountries,
  readMethod,
} from '../../../src/wallet/payout/methods.js';

const specification = `
| Canada | CAD | cad-interac |
| India | INR | inr-bank |
| Indonesia | IDR | idr-bank |
| Kenya | KES | ke-kes-mobile |
| Malaysia | MYR | myr-bank, myr-mobile |
| Nigeria | NGN | ng-ngn-bank, ng-ngn-mobile |
| Philippines | PHP | ph-php-bank |
| Rwanda | RWF | rw-rwf-mobile, rw-rwf-bank |
| Singapore | SGD | sg-sgd-bank |
| South Korea | KRW | krw-bank |
| Thailand | THB | thb-bank |
| Vietnam | VND | vnd-instant |
| Benin | XOF | bj-xof-mobile |
| Cote d'Ivoire | XOF | ci-xof-mobile |
| Ghana | GHS | gh-ghs-mobile |
| Senegal | XOF | sn-xof-mobile |
| Taiwan | TWD | tw-twd-mobile |
| Cambodia | USD | kh-usd-mobile |
`;

const plain = (name: string): string => name.normalize('NFD').replace(/\p{M}/gu, '');

describe('payout table', () => {
  test('matches the payout countries and methods of the specification', () => {
    const rows = payoutCountries.map((country) => {
      const methods = methodsIn({ country: country.code }).map(({ code }) => code);
      return `| ${plain(country.name)} | ${country.ccy} | ${methods.join(', ')} |`;
    });
    expect(rows).toEqual(specification.trim().split('\n'));
  });

  test('contains the country code that belongs to each country name', () => {
    const names = new Intl.DisplayNames(['en'], { type: 'region' });
    expect(payoutCountries.map(({ code }) => names.of(code)?.replace('’', "'"))).toEqual(
      payoutCountries.map(({ name }) => name),
    );
  });

  test.each([
    ['a bank that is paid within minutes', 'vnd-instant', 'within minutes', 'bank'],
    ['a bank that is paid in 1 to 3 business days', 'rw-rwf-bank', '1 to 3 business days', 'bank'],
    ['a mobile wallet without a stated arrival time', 'ke-kes-mobile', undefined, 'mobile'],
    ['a bank without a stated arrival time', 'cad-interac', undefined, 'bank'],
  ])('the method describes %s', (_why, method, arrives, institutionType) => {
    expect(methodsIn({ method })[0]).toMatchObject({ arrives, institutionType });
  });

  test.each(['VN', 'vn', 'Vietnam', ' vietnam '])('findCountry reads "%s" as Vietnam', (text) => {
    expect(methodsIn({ country: findCountry(text).code }).map(({ code }) => code)).toEqual([
      'vnd-instant',
    ]);
  });

  test.each(['FR', '', 'VNM'])(
    'findCountry refuses %j and lists the countries with payouts',
    (text) => {
      expect(() => findCountry(text)).toThrow(
        /Payout countries: Canada \(CA\), India \(IN\), .*\(KH\)\.$/,
      );
    },
  );

  test('readMethod refuses an unknown payout method', () => {
    expect(() => readMethod('fr-eur-bank')).toThrow('There is no payout method "fr-eur-bank".');
  });
});
