// Where fiat can be paid out to: the specification's table of countries, currencies and method codes.

export type InstitutionType = 'bank' | 'mobile';

export interface Rail {
  /** Method code. */
  readonly method: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  readonly ccy: string;
  readonly institutionType: InstitutionType;
  /** Settles within minutes; a standard bank transfer takes 1 to 3 business days. */
  readonly instant: boolean;
  /** Of the country: mobile numbers begin with it. */
  readonly callingCode: string;
}

/** Country, currency, calling code, method codes. */
const table: readonly (readonly [string, string, string, readonly string[]])[] = [
  ['CA', 'CAD', '1', ['cad-interac']],
  ['IN', 'INR', '91', ['inr-bank']],
  ['ID', 'IDR', '62', ['idr-bank']],
  ['KE', 'KES', '254', ['ke-kes-mobile']],
  ['MY', 'MYR', '60', ['myr-bank', 'myr-mobile']],
  ['NG', 'NGN', '234', ['ng-ngn-bank', 'ng-ngn-mobile']],
  ['PH', 'PHP', '63', ['ph-php-bank']],
  ['RW', 'RWF', '250', ['rw-rwf-mobile', 'rw-rwf-bank']],
  ['SG', 'SGD', '65', ['sg-sgd-bank']],
  ['KR', 'KRW', '82', ['krw-bank']],
  ['TH', 'THB', '66', ['thb-bank']],
  ['VN', 'VND', '84', ['vnd-instant']],
  ['BJ', 'XOF', '229', ['bj-xof-mobile']],
  ['CI', 'XOF', '225', ['ci-xof-mobile']],
  ['GH', 'GHS', '233', ['gh-ghs-mobile']],
  ['SN', 'XOF', '221', ['sn-xof-mobile']],
  ['TW', 'TWD', '886', ['tw-twd-mobile']],
  ['KH', 'USD', '855', ['kh-usd-mobile']],
];

const rails: readonly Rail[] = table.flatMap(([country, ccy, callingCode, methods]) =>
  methods.map((method) => ({
    method,
    country,
    ccy,
    institutionType: method.endsWith('-mobile') ? 'mobile' : 'bank',
    instant: !method.endsWith('-bank'),
    callingCode,
  })));

/** Stands for any mobile-money method of the currency; the institution then tells the country. */
const anyMobile = 'mobile';

export function isPayoutMethod(method: string): boolean {
  return method === anyMobile || rails.some((rail) => rail.method === method);
}

/** The rails that a method means in a currency: one, for `mobile` perhaps several, none when there is no such way. */
export function findRails(method: string, ccy: string): Rail[] {
  const meant = (rail: Rail): boolean =>
    method === anyMobile ? rail.institutionType === 'mobile' : rail.method === method;
  return rails.filter((rail) => rail.ccy === ccy && meant(rail));
}
