// Payout countries and methods as data (specification, section Supported fiat payout destinations).
// A new payout method or a new country needs only one line in its table.
import { Failure } from '../../formats/failure.js';
import type { Numbering } from '../../formats/country.js';
import { didYouMean, clip, plainLetters } from '../../formats/text.js';

export interface PayoutCountry extends Numbering {
  /** The country code in ISO 3166-1 alpha-2. */
  readonly code: string;
  readonly name: string;
  readonly ccy: string;
}

/** The digits of mobile numbers are from the national numbering plans (ITU E.164). */
export const payoutCountries: readonly PayoutCountry[] = [
  { code: 'CA', name: 'Canada', ccy: 'CAD', callingCode: '1' },
  { code: 'IN', name: 'India', ccy: 'INR', callingCode: '91' },
  { code: 'ID', name: 'Indonesia', ccy: 'IDR', callingCode: '62' },
  { code: 'KE', name: 'Kenya', ccy: 'KES', callingCode: '254', mobileDigits: [9] },
  { code: 'MY', name: 'Malaysia', ccy: 'MYR', callingCode: '60', mobileDigits: [9, 10] },
  { code: 'NG', name: 'Nigeria', ccy: 'NGN', callingCode: '234', mobileDigits: [10] },
  { code: 'PH', name: 'Philippines', ccy: 'PHP', callingCode: '63' },
  { code: 'RW', name: 'Rwanda', ccy: 'RWF', callingCode: '250', mobileDigits: [9] },
  { code: 'SG', name: 'Singapore', ccy: 'SGD', callingCode: '65' },
  { code: 'KR', name: 'South Korea', ccy: 'KRW', callingCode: '82' },
  { code: 'TH', name: 'Thailand', ccy: 'THB', callingCode: '66' },
  { code: 'VN', name: 'Vietnam', ccy: 'VND', callingCode: '84' },
  { code: 'BJ', name: 'Benin', ccy: 'XOF', callingCode: '229', mobileDigits: [10] },
  { code: 'CI', name: "Côte d'Ivoire", ccy: 'XOF', callingCode: '225', mobileDigits: [10] },
  { code: 'GH', name: 'Ghana', ccy: 'GHS', callingCode: '233', mobileDigits: [9] },
  { code: 'SN', name: 'Senegal', ccy: 'XOF', callingCode: '221', mobileDigits: [9] },
  { code: 'TW', name: 'Taiwan', ccy: 'TWD', callingCode: '886', mobileDigits: [9] },
  { code: 'KH', name: 'Cambodia', ccy: 'USD', callingCode: '855', mobileDigits: [8, 9] },
];

type Account = 'bank' | 'mobile' | 'interac';

/** The format of an account number, and its description. */
interface AccountFormat {
  readonly pattern: RegExp;
  readonly words: string;
  /** The number of digits, if all account numbers of the method have the same length. */
  readonly length?: number;
}

const digits = (least: number, most: number): AccountFormat => ({
  pattern: new RegExp(`^\\d{${least},${most}}$`),
  words: least === most ? `${least} digits` : `${least} to ${most} digits`,
  ...(least === most && { length: least }),
});

/** The format of a phone number with country code. */
const phone: AccountFormat = {
  pattern: /^\+?\d{7,15}$/,
  words: 'a mobile number with country code',
};
const interac: AccountFormat = {
  pattern: /^(?:[^@\s]+@[^@\s.]+(?:\.[^@\s.]+)+|\+?\d{5,34})$/,
  words: 'an e-mail address or a number',
};

/**
 * The arrival time of a payout, by the speed of its method. The specification states no arrival
 * time for `unspecified` methods.
 */
const arrivals = {
  instant: 'within minutes',
  standard: '1 to 3 business days',
  unspecified: undefined,
} as const;

type Row = readonly [
  code: string,
  country: string,
  account: Account,
  speed: keyof typeof arrivals,
  format: AccountFormat,
];

const table: readonly Row[] = [
  ['cad-interac', 'CA', 'interac', 'unspecified', interac],
  ['inr-bank', 'IN', 'bank', 'standard', digits(8, 18)],
  ['idr-bank', 'ID', 'bank', 'standard', digits(8, 18)],
  ['ke-kes-mobile', 'KE', 'mobile', 'unspecified', phone],
  ['myr-bank', 'MY', 'bank', 'standard', digits(6, 17)],
  ['myr-mobile', 'MY', 'mobile', 'unspecified', phone],
  ['ng-ngn-bank', 'NG', 'bank', 'standard', digits(10, 10)],
  ['ng-ngn-mobile', 'NG', 'mobile', 'unspecified', phone],
  ['ph-php-bank', 'PH', 'bank', 'standard', digits(6, 18)],
  ['rw-rwf-mobile', 'RW', 'mobile', 'unspecified', phone],
  ['rw-rwf-bank', 'RW', 'bank', 'standard', digits(6, 20)],
  ['sg-sgd-bank', 'SG', 'bank', 'standard', digits(6, 14)],
  ['krw-bank', 'KR', 'bank', 'standard', digits(8, 16)],
  ['thb-bank', 'TH', 'bank', 'standard', digits(8, 16)],
  [
    'vnd-instant',
    'VN',
    'bank',
    'instant',
    { pattern: /^[0-9A-Za-z]{4,19}$/, words: '4 to 19 digits or letters' },
  ],
  ['bj-xof-mobile', 'BJ', 'mobile', 'unspecified', phone],
  ['ci-xof-mobile', 'CI', 'mobile', 'unspecified', phone],
  ['gh-ghs-mobile', 'GH', 'mobile', 'unspecified', phone],
  ['sn-xof-mobile', 'SN', 'mobile', 'unspecified', phone],
  ['tw-twd-mobile', 'TW', 'mobile', 'unspecified', phone],
  ['kh-usd-mobile', 'KH', 'mobile', 'unspecified', phone],
];

export interface PayoutMethod {
  /** The code of the method, such as `vnd-instant`. */
  readonly code: string;
  readonly country: PayoutCountry;
  readonly account: Account;
  readonly format: AccountFormat;
  /** The type of institution that the method requires. */
  readonly institutionType: 'bank' | 'mobile';
  readonly takesDays: boolean;
  /** The time until the money arrives, or undefined if the specification states no time. */
  readonly arrives: string | undefined;
}

const payoutMethods: readonly PayoutMethod[] = table.map(
  ([code, countryCode, account, speed, format]) => ({
    code,
    country: findCountry(countryCode),
    account,
    format,
    institutionType: account === 'mobile' ? 'mobile' : 'bank',
    takesDays: speed === 'standard',
    arrives: arrivals[speed],
  }),
);

/** Returns the payout methods of one country, or of all countries. */
export const methodsIn = (country?: PayoutCountry): readonly PayoutMethod[] =>
  country === undefined
    ? payoutMethods
    : payoutMethods.filter((method) => method.country === country);

/**
 * Finds a country by its code or name, in any letter case. Throws Failure `usage` for a country
 * that has no payout method.
 */
export function findCountry(text: string): PayoutCountry {
  const wanted = plainLetters(text.trim());
  const found = payoutCountries.find(({ code, name }) =>
    [code, name].some((each) => plainLetters(each) === wanted),
  );
  if (found !== undefined) return found;
  const meant = didYouMean(
    text,
    payoutCountries.map(({ name }) => name),
  );
  const countries = payoutCountries.map(({ code, name }) => `${name} (${code})`).join(', ');
  throw new Failure(
    'usage',
    `There are no payouts to "${clip(text)}".${meant || ` Payout countries: ${countries}.`}`,
    {
      next: { do: 'see-payout-methods' },
    },
  );
}

/** The type of account to which a method pays, in words. */
export const accountWords = ({ account }: PayoutMethod): string => accounts[account];

const accounts: Readonly<Record<Account, string>> = {
  bank: 'bank account',
  mobile: 'mobile wallet',
  interac: 'Interac',
};

/** Finds a method by its code. Throws Failure `usage` for an unknown method code. */
export function findMethod(text: string): PayoutMethod {
  const found = payoutMethods.find(({ code }) => code === text.trim().toLowerCase());
  if (found !== undefined) return found;
  const meant = didYouMean(
    text,
    payoutMethods.map(({ code }) => code),
  );
  throw new Failure('usage', `There is no payout method "${clip(text)}".${meant}`, {
    next: { do: 'see-payout-methods' },
  });
}

/** Finds a country's method for payouts to bank accounts or to mobile wallets. */
export const methodOfKind = (
  account: 'bank' | 'mobile',
  country: PayoutCountry,
): PayoutMethod | undefined =>
  methodsIn(country).find(({ institutionType }) => institutionType === account);
