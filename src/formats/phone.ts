// Telephone numbers with a country code, in E.164 notation.
import { Failure } from './failure.js';
import { clip } from './text.js';

/**
 * Reads a telephone number such as `+84 912 345 678`. Removes spaces, dashes, dots and parentheses.
 * Throws Failure `usage` for a number without a country code.
 */
export function parsePhone(text: string): string {
  const number = withoutMarks(text);
  if (/^\+[1-9]\d{6,14}$/.test(number)) return number;
  const why = number.startsWith('+') ? 'is not a phone number' : 'has no country code';
  throw new Failure('usage', `"${clip(text)}" ${why}. Write a number such as +84 912 345 678.`);
}

/**
 * Reads a telephone number of the given country. Unlike `parsePhone`, accepts a number that begins
 * with the country code without `+`.
 */
export function parsePhoneIn(text: string, callingCode: string): string {
  const number = withoutMarks(text).replace(/^\+/, '');
  if (new RegExp(`^${callingCode}\\d{6,12}$`).test(number) && number.length <= longestNumber)
    return `+${number}`;
  throw new Failure(
    'usage',
    `"${clip(text)}" is not a mobile number with the country code: it must begin with ` +
      `+${callingCode}.`,
  );
}

const longestNumber = 15;

const withoutMarks = (text: string): string => text.trim().replace(/[\s().-]/g, '');
