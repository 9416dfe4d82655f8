// Countries with their ISO 3166-1 alpha-2 codes, and telephone numbers in E.164 notation.
import { invalid } from './failure.js';
import { nearest, clip, plainLetters } from './text.js';

/** All 249 officially assigned country codes. */
export const countryCodes: readonly string[] = (
  'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ ' +
  'BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM ' +
  'DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS ' +
  'GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN ' +
  'KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ ' +
  'MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM ' +
  'PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV ' +
  'SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI ' +
  'VN VU WF WS YE YT ZA ZM ZW'
).split(' ');

/**
 * Reads a country by its code or its English name, in any letter case. Throws Failure `usage` for
 * an unknown country.
 */
export function parseCountryCode(text: string): string {
  const wanted = text.trim();
  const code = countryCodes.find(
    (each) =>
      each === wanted.toUpperCase() || plainLetters(countryName(each)) === plainLetters(wanted),
  );
  if (code !== undefined) return code;
  const named = nearest(wanted, countryCodes.map(countryName));
  const meant = countryCodes.find((each) => countryName(each) === named);
  throw invalid(
    `"${clip(text)}" is not a country code. ` +
      (meant === undefined ? 'Write two letters, as in VN or DE.' : `Did you mean ${meant}?`),
  );
}

/** The English name of a country, or the code if the platform has no name. */
export const countryName = (code: string): string =>
  new Intl.DisplayNames(['en'], { type: 'region' }).of(code) ?? code;

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
  throw invalid(`"${clip(text)}" ${why}. Write a number such as +84 912 345 678.`);
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
  throw invalid(
    `"${clip(text)}" is not a mobile number of this country: after +${callingCode}, its numbers ` +
      `have ${mobileDigits.join(' or ')} digits.`,
  );
}

const withoutMarks = (text: string): string => text.trim().replace(/[\s().-]/g, '');
