// Payout countries and methods as data (specification, section Supported fiat payout destinations),
// the payee of a payout, and its instruction. A new payout method or a new country needs
// only one line in its table.
import { invalid } from '../../formats/failure.js';
import { type Numbering, parseMobile } from '../../formats/country.js';
import { didYouMean, clip, plainLetters, entryOf, isFields } from '../../formats/text.js';
import type { DetailName, RequestSide, Institution } from '../../api/types.js';
import { fixed, type Money } from '../../formats/amount.js';
import type { Instruction, PayoutDetails } from '../instruction/instruction.js';

export interface PayoutCountry extends Numbering {
  /** The country code in ISO 3166-1 alpha-2. */
  readonly code: string;
  readonly name: string;
  readonly ccy: string;
}

type CountryRow = readonly [
  code: string,
  name: string,
  ccy: string,
  callingCode: string,
  mobileDigits?: readonly number[],
];

/** The digits of mobile numbers are from the national numbering plans (ITU E.164). */
const countryRows: readonly CountryRow[] = [
  ['CA', 'Canada', 'CAD', '1'],
  ['IN', 'India', 'INR', '91'],
  ['ID', 'Indonesia', 'IDR', '62'],
  ['KE', 'Kenya', 'KES', '254', [9]],
  ['MY', 'Malaysia', 'MYR', '60', [9, 10]],
  ['NG', 'Nigeria', 'NGN', '234', [10]],
  ['PH', 'Philippines', 'PHP', '63'],
  ['RW', 'Rwanda', 'RWF', '250', [9]],
  ['SG', 'Singapore', 'SGD', '65'],
  ['KR', 'South Korea', 'KRW', '82'],
  ['TH', 'Thailand', 'THB', '66'],
  ['VN', 'Vietnam', 'VND', '84'],
  ['BJ', 'Benin', 'XOF', '229', [10]],
  ['CI', "Côte d'Ivoire", 'XOF', '225', [10]],
  ['GH', 'Ghana', 'GHS', '233', [9]],
  ['SN', 'Senegal', 'XOF', '221', [9]],
  ['TW', 'Taiwan', 'TWD', '886', [9]],
  ['KH', 'Cambodia', 'USD', '855', [8, 9]],
];

export const payoutCountries: readonly PayoutCountry[] = countryRows.map(
  ([code, name, ccy, callingCode, mobileDigits]) => ({
    code,
    name,
    ccy,
    callingCode,
    ...(mobileDigits && { mobileDigits }),
  }),
);

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

/** A method without a format pays to mobile wallets, and any other method to bank accounts. */
type Row = readonly [
  code: string,
  country: string,
  format?: AccountFormat,
  account?: Account,
  speed?: keyof typeof arrivals,
];

const table: readonly Row[] = [
  ['cad-interac', 'CA', interac, 'interac'],
  ['inr-bank', 'IN', digits(8, 18)],
  ['idr-bank', 'ID', digits(8, 18)],
  ['ke-kes-mobile', 'KE'],
  ['myr-bank', 'MY', digits(6, 17)],
  ['myr-mobile', 'MY'],
  ['ng-ngn-bank', 'NG', digits(10, 10)],
  ['ng-ngn-mobile', 'NG'],
  ['ph-php-bank', 'PH', digits(6, 18)],
  ['rw-rwf-mobile', 'RW'],
  ['rw-rwf-bank', 'RW', digits(6, 20)],
  ['sg-sgd-bank', 'SG', digits(6, 14)],
  ['krw-bank', 'KR', digits(8, 16)],
  ['thb-bank', 'TH', digits(8, 16)],
  [
    'vnd-instant',
    'VN',
    { pattern: /^[0-9A-Za-z]{4,19}$/, words: '4 to 19 digits or letters' },
    'bank',
    'instant',
  ],
  ['bj-xof-mobile', 'BJ'],
  ['ci-xof-mobile', 'CI'],
  ['gh-ghs-mobile', 'GH'],
  ['sn-xof-mobile', 'SN'],
  ['tw-twd-mobile', 'TW'],
  ['kh-usd-mobile', 'KH'],
];

export interface PayoutMethod {
  /** The code of the method, such as `vnd-instant`. */
  readonly code: string;
  readonly country: PayoutCountry;
  readonly account: Account;
  readonly format: AccountFormat;
  /** The type of institution that the method requires. */
  readonly institutionType: (typeof institutionTypes)[number];
  readonly takesDays: boolean;
  /** The time until the money arrives, or undefined if the specification states no time. */
  readonly arrives: string | undefined;
}

const payoutMethods: readonly PayoutMethod[] = table.map(
  ([
    code,
    country,
    format = phone,
    account = format === phone ? 'mobile' : 'bank',
    speed = account === 'bank' ? 'standard' : 'unspecified',
  ]) => ({
    code,
    country: findCountry(country),
    account,
    format,
    institutionType: account === 'mobile' ? 'mobile' : 'bank',
    takesDays: speed === 'standard',
    arrives: arrivals[speed],
  }),
);

/** Where a payout goes, as its flags name the place. */
export interface Place {
  /** The code of a payout country. */
  readonly country?: string | undefined;
  /** The code of a payout method, or `mobile` or `bank`. */
  readonly method?: string | undefined;
}

/** Returns the payout methods that a place allows, or all payout methods. */
export const methodsIn = ({ country, method }: Place = {}): readonly PayoutMethod[] =>
  payoutMethods.filter(
    (each) =>
      (country === undefined || country === each.country.code) &&
      (method === undefined || method === each.code || method === each.institutionType),
  );

/**
 * Returns the only payout method that a place allows, or undefined if the place allows several
 * methods. Throws Failure `usage` if the country does not have the method.
 */
export function methodAt({ country, method }: Place): PayoutMethod | undefined {
  const [only, ...others] = methodsIn({ country, method });
  if (only !== undefined) return others.length === 0 ? only : undefined;
  const { name, code } = findCountry(country ?? '');
  const other = payoutMethods.find((each) => each.code === method);
  const what =
    other === undefined
      ? `There is no such payout method for ${name}`
      : `${other.code} pays out to ${other.country.name}, not to ${name}`;
  const methods = methodsIn({ country })
    .map((each) => `${each.code} (${each.institutionType})`)
    .join(' or ');
  throw invalid(`${what}: use ${methods}.`, {
    next: { do: 'run', command: 'payout methods', argument: code },
  });
}

/** Returns the country that a place names, by itself or by its payout method. */
export const countryAt = (place: Place): PayoutCountry | undefined =>
  place.country === undefined ? methodAt(place)?.country : findCountry(place.country);

export const institutionTypes = ['mobile', 'bank'] as const;

/**
 * Reads the name of a payout method: its code, or `mobile` or `bank`. Throws Failure `usage` for an
 * unknown name.
 */
export function readMethod(text: string): string {
  const name = text
    .trim()
    .toLowerCase()
    .replace(/ (?:account|wallet)$/, '');
  if (methodsIn({ method: name }).length > 0) return name;
  const meant = didYouMean(
    text,
    payoutMethods.map(({ code }) => code),
  );
  throw invalid(`There is no payout method "${clip(text)}".${meant}`, {
    next: { do: 'see-payout-methods' },
  });
}

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
  throw invalid(
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

export interface Payee {
  readonly name: string;
  readonly account: string;
  readonly institutionCode: string;
  readonly institutionName: string | undefined;
}

type PayeeSide = Pick<RequestSide, 'method' | 'ccy'> & {
  readonly reqDetails?: Readonly<Partial<Record<DetailName, unknown>>> | null | undefined;
  readonly kyc?: { readonly details?: unknown } | null | undefined;
};

/**
 * Returns the recipient of a payout, from either of the two sets of account fields in the
 * specification.
 */
export function payeeOf({ destReq }: { readonly destReq: PayeeSide }): Payee {
  const detail = (field: DetailName): string | undefined => textIn(destReq.reqDetails, field);
  return {
    name: detail('acctName') ?? textIn(destReq.kyc?.details, 'legalFullName') ?? '',
    account: detail('acctNum') ?? detail('bankAcctNum') ?? '',
    institutionCode: detail('institutionCode') ?? '',
    institutionName: detail('institutionName'),
  };
}

function textIn(fields: unknown, name: string): string | undefined {
  const value = isFields(fields) ? entryOf(fields, name) : undefined;
  return typeof value === 'string' ? value : undefined;
}

/**
 * Finds the payout method of a destination, or undefined for a method that svcpay does not know. If
 * the method is `mobile`, as in an example of the specification, the recipient's country and
 * currency determine the payout method.
 */
export function methodOf({ method, ccy, kyc }: PayeeSide): PayoutMethod | undefined {
  const country = textIn(kyc?.details, 'countryCode');
  return methodsIn().find((each) =>
    method === 'mobile'
      ? each.institutionType === 'mobile' &&
        each.country.ccy === ccy &&
        each.country.code === country
      : each.code === method,
  );
}

/** The destination key of a payout: `bank:COUNTRY/METHOD/INSTITUTION:ACCOUNT`. */
export function bankKey(destReq: PayeeSide): string {
  const method = methodOf(destReq);
  const { institutionCode, account } = payeeOf({ destReq });
  const number = method?.institutionType === 'mobile' ? account.replace(/^\+/, '') : account;
  const place = `${method?.country.code ?? ''}/${method?.code ?? destReq.method ?? ''}`;
  return `bank:${place}/${institutionCode.toUpperCase()}:${number}`;
}

interface PayoutInstitution {
  readonly code: string;
  /** The name of the institution, or undefined if the service does not report the name. */
  readonly name: string | undefined;
}

/** Returns the institutions to which a payout method pays. */
export const institutionsFor = (method: PayoutMethod, all: readonly Institution[]): Institution[] =>
  all.filter(
    ({ institutionType }) => (institutionType ?? method.institutionType) === method.institutionType,
  );

/**
 * Finds an institution by its code in the service's list for the country. If the service's list is
 * empty, svcpay accepts any code. Throws Failure `usage` for a code that is not in the service's
 * list.
 */
export function findInstitution(
  code: string,
  method: PayoutMethod,
  all: readonly Institution[],
): PayoutInstitution {
  if (all.length === 0) return { code, name: undefined };
  const matching = all.filter(
    ({ institutionCode }) => institutionCode.toLowerCase() === code.toLowerCase(),
  );
  const found = institutionsFor(method, matching)[0];
  if (found !== undefined)
    return { code: found.institutionCode, name: found.institutionName ?? undefined };
  const { country } = method;
  const other = matching[0];
  const why =
    other === undefined
      ? `There is no institution "${clip(code)}" in ${country.name}.${withZeros(code, all)}`
      : `${other.institutionName ?? 'The institution'} (${code}) has the type ` +
        `${other.institutionType ?? '?'}, to which ${method.code} does not pay.`;
  throw invalid(why, { next: { do: 'see-institutions', country: country.code } });
}

/**
 * Returns a hint if the leading zeros of a code are missing, because spreadsheets remove the
 * leading zeros of a number.
 */
function withZeros(code: string, all: readonly Institution[]): string {
  const zeroless = (text: string): string => text.replace(/^0+/, '').toLowerCase();
  const whole = all.find(({ institutionCode }) => zeroless(institutionCode) === zeroless(code));
  return whole === undefined
    ? ''
    : ` With its leading zeros, the code is ${whole.institutionCode}.`;
}

/** The instruction of a payout with the details of a create request. */
export function instructionOf(
  details: PayoutDetails,
  amount: Money,
  note?: string | undefined,
): Instruction {
  const { destReq } = details;
  const text = `${fixed(amount.value)}${amount.ccy.toLowerCase()}`;
  return {
    verb: 'payout',
    to: payeeOf(details).account,
    keys: [bankKey(destReq)],
    once: null,
    amount: { ...amount, written: text, side: 'gets' },
    from: details.sourceReq.ccy,
    deductFees: false,
    payout: details,
    ...(note !== undefined && { note }),
  };
}

/**
 * Reads an account number in the format of the payout method. Removes spaces, and also dashes if
 * the format has no dashes. The account number of a mobile wallet is the phone number, which may
 * lack its country code. Throws Failure `usage` for an invalid account number.
 */
export function parseAccountNumber(
  text: string,
  { code, country, institutionType, format }: PayoutMethod,
): string {
  if (institutionType === 'mobile') return parseMobile(text, country);
  const groups = text.trim().split(/\s+/);
  // Refuses an account number next to a word, because the word is probably a name that was copied
  // with the number.
  const isOther = groups.length > 1 && groups.some((group) => /^\p{L}+$/u.test(group));
  const spaceless = isOther ? '' : groups.join('');
  const account = [spaceless, spaceless.replaceAll('-', '')].find((each) =>
    format.pattern.test(each),
  );
  if (account !== undefined) return account;
  throw invalid(
    `"${clip(text)}" cannot be an account number for ${code}, which requires ${format.words}.` +
      lostZero(spaceless, format.length),
  );
}

/**
 * Returns the hint about a leading zero that a spreadsheet removed, because the spreadsheet read
 * the account number as a number.
 */
function lostZero(digits: string, length = 0): string {
  const whole = digits.padStart(length, '0');
  if (!/^\d+$/.test(digits) || digits.length >= length || digits.length < length - 3) return '';
  return ` If a spreadsheet removed leading zeros, write ${whole}.`;
}

const longestText = 140;

/**
 * Reads a name or an address, which must be one line with letters. Throws Failure `usage` for a
 * text that is too long, has several lines or has no letters.
 */
export function parseLine(text: string): string {
  const line = text.trim().replace(/ {2,}/g, ' ');
  if (
    line !== '' &&
    line.length <= longestText &&
    /\p{L}/u.test(line) &&
    !/[\p{Cc}\p{Cf}]/u.test(line)
  )
    return line;
  throw invalid(
    `"${clip(text)}" cannot be a name or an address. Write one line with letters, of at ` +
      `most ${longestText} characters.`,
  );
}

export const partyTypes = ['individual', 'business'] as const;

/** The highest accepted source-of-funds code. */
export const highestCode = 999_999;
