// Telephone numbers with a country code, in E.164 notation.
import { Failure } from './failure.js';
import { clip } from './text.js';

/** A country whose mobile numbers svcpay also reads in the national form. */
export interface Numbering {
  /** The E.164 country code. */
  readonly callingCode: string;
  /** The numbers of digits that mobile numbers have after the country code. */
  readonly mobileDigits?: readonly number[];
}

/**
 * Reads a telephone number such as `+84 912 345 678`. Removes spaces, dashes, dots and parentheses.
 * Throws Failure `usage` for a number without a country code, unless `country` has mobile numbers.
 */
export function parsePhone(text: string, country?: Numbering): string {
  const number = withoutMarks(text);
  if (country?.mobileDigits !== undefined && !number.startsWith('+'))
    return parseMobile(text, country);
  if (/^\+[1-9]\d{6,14}$/.test(number)) return number;
  const why = number.startsWith('+') ? 'is not a phone number' : 'has no country code';
  throw new Failure('usage', `"${clip(text)}" ${why}. Write a number such as +84 912 345 678.`);
}

/** Reads a mobile number of a country, with or without the country code and the leading 0. */
export function parseMobile(text: string, { callingCode, mobileDigits = [] }: Numbering): string {
  const [, plus, digits = ''] = /^(\+|00)?(\d+)$/.exec(withoutMarks(text)) ?? [];
  const after = digits.startsWith(callingCode) ? [digits.slice(callingCode.length)] : [];
  const national = plus === undefined ? [...after, digits] : after;
  const number = national
    .flatMap((each) => [each, each.replace(/^0/, '')])
    .find(({ length }) => mobileDigits.includes(length));
  if (number !== undefined) return `+${callingCode}${number}`;
  throw new Failure(
    'usage',
    `"${clip(text)}" is not a mobile number of this country: after +${callingCode}, its numbers ` +
      `have ${mobileDigits.join(' or ')} digits.`,
  );
}

const withoutMarks = (text: string): string => text.trim().replace(/[\s().-]/g, '');
