// The payout methods: the specification's table of countries, currencies and method codes.

export type InstitutionType = 'bank' | 'mobile';

/**
 * The data of each method: code, country (ISO 3166-1 alpha-2), currency, calling code of mobile
 * numbers, and type of institution. The last value of each row states whether a payout arrives
 * within minutes, or after the 1 to 3 business days of a standard bank transfer.
 */
const table: readonly (readonly [
  string,
  string,
  string,
  string,
  InstitutionType,
  'minutes' | 'days',
])[] = [
  ['cad-interac', 'CA', 'CAD', '1', 'bank', 'minutes'],
  ['inr-bank', 'IN', 'INR', '91', 'bank', 'days'],
  ['idr-bank', 'ID', 'IDR', '62', 'bank', 'days'],
  ['ke-kes-mobile', 'KE', 'KES', '254', 'mobile', 'minutes'],
  ['myr-bank', 'MY', 'MYR', '60', 'bank', 'days'],
  ['myr-mobile', 'MY', 'MYR', '60', 'mobile', 'minutes'],
  ['ng-ngn-bank', 'NG', 'NGN', '234', 'bank', 'days'],
  ['ng-ngn-mobile', 'NG', 'NGN', '234', 'mobile', 'minutes'],
  ['ph-php-bank', 'PH', 'PHP', '63', 'bank', 'days'],
  ['rw-rwf-mobile', 'RW', 'RWF', '250', 'mobile', 'minutes'],
  ['rw-rwf-bank', 'RW', 'RWF', '250', 'bank', 'days'],
  ['sg-sgd-bank', 'SG', 'SGD', '65', 'bank', 'days'],
  ['krw-bank', 'KR', 'KRW', '82', 'bank', 'days'],
  ['thb-bank', 'TH', 'THB', '66', 'bank', 'days'],
  ['vnd-instant', 'VN', 'VND', '84', 'bank', 'minutes'],
  ['bj-xof-mobile', 'BJ', 'XOF', '229', 'mobile', 'minutes'],
  ['ci-xof-mobile', 'CI', 'XOF', '225', 'mobile', 'minutes'],
  ['gh-ghs-mobile', 'GH', 'GHS', '233', 'mobile', 'minutes'],
  ['sn-xof-mobile', 'SN', 'XOF', '221', 'mobile', 'minutes'],
  ['tw-twd-mobile', 'TW', 'TWD', '886', 'mobile', 'minutes'],
  ['kh-usd-mobile', 'KH', 'USD', '855', 'mobile', 'minutes'],
];

const payoutMethods = table.map(([method, country, ccy, callingCode, institutionType, speed]) => ({
  method,
  country,
  ccy,
  callingCode,
  institutionType,
  instant: speed === 'minutes',
}));

export type PayoutMethod = (typeof payoutMethods)[number];

/**
 * The method code for any mobile-money service. With the method code `mobile`, the currency and the
 * institution determine the country of the payout.
 */
const anyMobile = 'mobile';

export const payoutMethodNames: readonly string[] = [
  ...payoutMethods.map(({ method }) => method),
  anyMobile,
];

export const isPayoutMethod = (method: string): boolean => payoutMethodNames.includes(method);

/**
 * Finds the payout methods with the given method code and currency. For the method code `mobile`,
 * finds all mobile-money methods with the currency.
 */
export function findPayoutMethods(method: string, ccy: string): PayoutMethod[] {
  const meant = (payoutMethod: PayoutMethod): boolean =>
    method === anyMobile
      ? payoutMethod.institutionType === 'mobile'
      : payoutMethod.method === method;
  return payoutMethods.filter((payoutMethod) => payoutMethod.ccy === ccy && meant(payoutMethod));
}
