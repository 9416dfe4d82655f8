// Where fiat can be paid out to and how (specification: Supported fiat payout destinations).
import { Failure } from '../../formats/failure.js';

/** A row of the specification's table. */
export interface PayoutCountry {
  /** ISO 3166-1 alpha-2. */
  readonly code: string;
  readonly name: string;
  readonly ccy: string;
  /** E.164 country code: mobile accounts are numbers that begin with it. */
  readonly callingCode: string;
  readonly methods: readonly string[];
}

export const payoutCountries: readonly PayoutCountry[] = [
  { code: 'CA', name: 'Canada', ccy: 'CAD', callingCode: '1', methods: ['cad-interac'] },
  { code: 'IN', name: 'India', ccy: 'INR', callingCode: '91', methods: ['inr-bank'] },
  { code: 'ID', name: 'Indonesia', ccy: 'IDR', callingCode: '62', methods: ['idr-bank'] },
  { code: 'KE', name: 'Kenya', ccy: 'KES', callingCode: '254', methods: ['ke-kes-mobile'] },
  { code: 'MY', name: 'Malaysia', ccy: 'MYR', callingCode: '60', methods: ['myr-bank', 'myr-mobile'] },
  { code: 'NG', name: 'Nigeria', ccy: 'NGN', callingCode: '234', methods: ['ng-ngn-bank', 'ng-ngn-mobile'] },
  { code: 'PH', name: 'Philippines', ccy: 'PHP', callingCode: '63', methods: ['ph-php-bank'] },
  { code: 'RW', name: 'Rwanda', ccy: 'RWF', callingCode: '250', methods: ['rw-rwf-mobile', 'rw-rwf-bank'] },
  { code: 'SG', name: 'Singapore', ccy: 'SGD', callingCode: '65', methods: ['sg-sgd-bank'] },
  { code: 'KR', name: 'South Korea', ccy: 'KRW', callingCode: '82', methods: ['krw-bank'] },
  { code: 'TH', name: 'Thailand', ccy: 'THB', callingCode: '66', methods: ['thb-bank'] },
  { code: 'VN', name: 'Vietnam', ccy: 'VND', callingCode: '84', methods: ['vnd-instant'] },
  { code: 'BJ', name: 'Benin', ccy: 'XOF', callingCode: '229', methods: ['bj-xof-mobile'] },
  { code: 'CI', name: "Cote d'Ivoire", ccy: 'XOF', callingCode: '225', methods: ['ci-xof-mobile'] },
  { code: 'GH', name: 'Ghana', ccy: 'GHS', callingCode: '233', methods: ['gh-ghs-mobile'] },
  { code: 'SN', name: 'Senegal', ccy: 'XOF', callingCode: '221', methods: ['sn-xof-mobile'] },
  { code: 'TW', name: 'Taiwan', ccy: 'TWD', callingCode: '886', methods: ['tw-twd-mobile'] },
  { code: 'KH', name: 'Cambodia', ccy: 'USD', callingCode: '855', methods: ['kh-usd-mobile'] },
];

export interface PayoutMethod {
  /** As the wire names it: `vnd-instant`. */
  readonly code: string;
  readonly country: PayoutCountry;
  /** Which kind of institution the look-up must give. */
  readonly institutionType: 'bank' | 'mobile';
  /** When the money is there, in words; undefined where the specification does not say. */
  readonly arrives: string | undefined;
}

const payoutMethods: readonly PayoutMethod[] = payoutCountries.flatMap((country) =>
  country.methods.map((code) => ({
    code,
    country,
    institutionType: code.endsWith('-mobile') ? 'mobile' : 'bank',
    arrives: arrivalOf(code),
  })),
);

/** The specification tells of instant methods and of bank transfers, and of no others. */
function arrivalOf(code: string): string | undefined {
  if (code.endsWith('-instant')) return 'within minutes';
  return code.endsWith('-bank') ? '1 to 3 business days' : undefined;
}

/** The methods of one country, or of all. */
export const methodsIn = (country?: PayoutCountry): readonly PayoutMethod[] =>
  country === undefined ? payoutMethods : payoutMethods.filter((method) => method.country === country);

/** A country by its code or name, in any letter case. Throws `Failure` usage for one without payouts. */
export function findCountry(text: string): PayoutCountry {
  const wanted = text.trim().toLowerCase();
  const found = payoutCountries.find(({ code, name }) => code.toLowerCase() === wanted || name.toLowerCase() === wanted);
  if (found !== undefined) return found;
  const codes = payoutCountries.map(({ code }) => code).join(', ');
  throw new Failure('usage', `There are no payouts to "${text.slice(0, 40)}". There are to ${codes}.`, {
    next: { do: 'see-payout-methods' },
  });
}

/** A method by its code. Throws `Failure` usage for an unknown one. */
export function findMethod(text: string): PayoutMethod {
  const found = payoutMethods.find(({ code }) => code === text.trim().toLowerCase());
  if (found !== undefined) return found;
  throw new Failure('usage', `There is no payout method "${text.slice(0, 40)}".`, { next: { do: 'see-payout-methods' } });
}
