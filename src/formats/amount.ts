// Amounts of money, which are exact decimals with a currency. svcpay parses amounts from user
// input, and writes them for screens and the wire.
import Big from 'big.js';
import { type Failure, invalid } from './failure.js';
import { didYouMean, nearest, clip, counted, entryOf } from './text.js';

/** An amount in the main unit of its currency, such as BTC instead of satoshis. */
export interface Money {
  readonly ccy: string;
  readonly value: Big;
}

/** The brand of the type {@link DecimalText}. */
export declare const decimal: unique symbol;

/** A decimal as text, because the decimal has more digits than a JSON number can hold. */
export type DecimalText = string & { readonly [decimal]: true };

/** A number from the service: a JSON number if a JSON number holds every digit, otherwise text. */
export type WireNumber = number | DecimalText;

const withoutDecimals = new Set(
  'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'.split(' '),
);

/**
 * Matches digits with an optional fraction. Spaces may group the digits, as in the numbers that
 * svcpay prints.
 */
const number = String.raw`(?:\d+|\d{1,3}(?: \d{3})+)(?:\.\d+)?`;
const amountPattern = new RegExp(`^(${number}) ?([a-z]*)$`, 'i');
const unitlessPattern = new RegExp(`^${number}$`);

/** The maximum length of a text that svcpay reads as an amount, longer than every valid amount. */
const maxLength = 32;
const satsPerBtc = '1e8';
const btcPerSat = '1e-8';
const msatPerBtc = '1e11';
/** The maximum supply of bitcoin, which a double still holds exactly in satoshis. */
const bitcoinSupply = '21000000';
/** The largest number of digits with which every decimal survives the conversion to a double. */
const exactDigits = 15;
const thousandsSeparator = ' ';

/**
 * Makes an amount in the main unit of the currency, such as `money('BTC', '0.0005')`. For user
 * input, use {@link parseAmount}. Throws Failure `usage` for an invalid number.
 */
export function money(ccy: string, value: Big | string | number): Money {
  return { ccy: ccy.toUpperCase(), value: decimalOf(value) };
}

/**
 * The number of decimals of a currency: 8 for BTC, 6 for USDT, 0 for currencies such as VND, and 2
 * for all others.
 */
export function decimalsOf(ccy: string): number {
  if (ccy === 'BTC') return 8;
  if (ccy === 'USDT') return 6;
  return withoutDecimals.has(ccy) ? 0 : 2;
}

export const isFiat = (ccy: string): boolean =>
  isCurrency(ccy) && ccy !== 'BTC' && !tokens.has(ccy);

/**
 * Reads the currency code USDT, or a currency code of three letters such as BTC, in any letter
 * case. Throws Failure `usage` for a text that is not a currency code.
 */
export function parseCurrency(text: string): string {
  const ccy = text.toUpperCase();
  if (/^(?:usdt|(?!sat)[a-z]{3})$/i.test(text)) return ccy;
  throw invalid(
    `"${clip(text)}" is not a currency code.` +
      (didYouMean(text, ['BTC', 'USDT']) || ' Write a code such as BTC, USDT or VND.'),
  );
}

/** The codes of tokens that are worth one dollar or one euro. */
const tokens: ReadonlySet<string> = new Set(['USDT', 'USDC', 'EURT', 'EURC']);

/** Whether the text is exactly a currency code, unlike `btc` and `XBT`. */
export const isCurrency = (ccy: string): boolean =>
  ccy === 'BTC' || tokens.has(ccy) || Intl.supportedValuesOf('currency').includes(ccy);

export const isUnitless = (text: string): boolean => unitlessPattern.test(text);

/**
 * Reads an amount by the grammar `digits[.digits]unit`. The unit may have any letter case, and
 * `sat` and `sats` are units of BTC. Spaces are allowed between thousands and before the unit, as
 * in the amounts that svcpay prints. If `ccy` is given, the unit must be a unit of `ccy`. If `ccy`
 * is not BTC, the unit is optional. svcpay refuses a bare number of bitcoin, because the number
 * could mean satoshis. Throws Failure `usage` for an invalid amount, for zero, and for more
 * decimals than the unit has.
 */
export function parseAmount(text: string, ccy?: string): Money {
  if (typeof text !== 'string')
    throw invalid(
      `${String(text)} is not an amount. Write a string with a unit, such as ${example()}.`,
    );
  const expected = ccy === undefined ? undefined : parseCurrency(ccy);
  const [, grouped, unit] = (text.length <= maxLength && amountPattern.exec(text)) || [];
  if (
    grouped === undefined ||
    unit === undefined ||
    (unit === '' && text.endsWith(' ')) ||
    /^k(?:sats?)?$/i.test(unit)
  ) {
    checkGrouping(text);
    const meant = spelled(text);
    if (meant !== undefined)
      throw invalid(
        `"${clip(text)}" contains "${meant.sign}", which is not allowed in an amount. ` +
          `Write ${meant.spelling}.`,
      );
    const seen = /[^ -~]/.test(text)
      ? ' The input contains a character that only looks like a digit, a letter or a space.'
      : '';
    throw invalid(
      `"${clip(text)}" is not an amount.${seen} Write digits and a unit, ` +
        `such as ${example(expected)}.`,
    );
  }
  const digits = grouped.replaceAll(thousandsSeparator, '');
  // Refuses `1.000`, which may mean a thousand, because programs omit the final zeros of a decimal.
  // Accepts `1.234` as a decimal.
  if (digits.endsWith('0')) checkGrouping(text);
  if (unit === '' && (expected === undefined || expected === 'BTC'))
    throw bareNumber(digits, expected);

  const inSats = /^sats?$/i.test(unit);
  const actual = unit === '' ? (expected ?? 'BTC') : inSats ? 'BTC' : parseUnit(unit, digits, text);
  if (expected !== undefined && actual !== expected) {
    throw invalid(
      `"${text}" is an amount in ${actual}, but the amount must be in ${expected}. ` +
        `Write an amount such as ${example(expected)}.`,
    );
  }
  checkDecimals(text, digits, inSats ? 0 : decimalsOf(actual), inSats ? 'sat' : actual);
  const value = inSats ? new Big(digits).times(btcPerSat) : new Big(digits);
  checkSize(text, actual, value);
  return { ccy: actual, value };
}

/**
 * Throws Failure `usage` for an amount such as `1.000` or `1,234`, because the point or comma can
 * begin the decimals or separate thousands.
 * @param inCell the unit of the amount, if a separate cell has it
 */
export function checkGrouping(text: string, inCell = ''): void {
  const [, units = '', sign, thousands = '', unit = ''] =
    /^([1-9]\d{0,2})([.,])(\d{3}) ?([a-z]*)$/i.exec(text.trim()) ?? [];
  const hasDecimals = unit === '' || (!/^sats?$/i.test(unit) && decimalsOf(unit.toUpperCase()) > 0);
  if (sign === undefined || !hasDecimals) return;
  const written = fixed(new Big(`${units}.${thousands}`));
  throw invalid(
    `"${clip(text)}" can mean ${written} or ${units}${thousands}. ` +
      `Write ${written}${unit || inCell} or ${units}${thousands}${unit || inCell}.`,
  );
}

/**
 * Returns the currency in the text of an amount, or undefined for a bare number and for a text that
 * is not an amount.
 */
export function currencyOf(text: string): string | undefined {
  const unit = amountPattern.exec(text)?.[2] ?? '';
  if (/^sats?$/i.test(unit)) return 'BTC';
  return /^(?:usdt|[a-z]{3})$/i.test(unit) ? unit.toUpperCase() : undefined;
}

/** Writes an amount in plain decimal digits with full precision, without an exponent. */
export const fixed = (value: Big): string => value.toFixed();

const isDecimalText = (text: string): text is DecimalText =>
  text.length <= 64 && /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,2})?$/i.test(text);

/**
 * Reads a decimal from a string. Returns a JavaScript number if it represents the decimal exactly,
 * otherwise the string. Returns undefined for a string that is not a decimal.
 */
export function readDecimal(text: string): WireNumber | undefined {
  if (!isDecimalText(text)) return undefined;
  const number = Number(text);
  return new Big(String(number)).eq(text) ? number : text;
}

/**
 * The exact decimal of a number from the service. Throws Failure `usage` for a value that JSON
 * cannot contain but a caller can pass, such as `NaN`.
 */
export const fromWire = (n: WireNumber): Big => decimalOf(n);

function decimalOf(value: Big | string | number): Big {
  try {
    return new Big(typeof value === 'number' ? String(value) : value);
  } catch {
    throw invalid(`${String(value)} is not a decimal number.`);
  }
}

/**
 * The exact decimal of a number from the service, or undefined if the service omitted the number.
 */
export const givenFromWire = (n: WireNumber | null | undefined): Big | undefined =>
  n === null || n === undefined ? undefined : fromWire(n);

/**
 * Makes an amount from a number and a currency that the service sent. Returns undefined if the
 * number or the currency is missing.
 */
export const moneyFromWire = (
  ccy: string | null | undefined,
  n: WireNumber | null | undefined,
): Money | undefined =>
  n === null || n === undefined || !ccy ? undefined : money(ccy, fromWire(n));

/**
 * Writes a finite number as exact text in fixed notation. Creates a `Big` only for a string or for
 * a number in exponent notation, because an export may write a million numbers.
 */
export function plainNumber(n: WireNumber): string {
  const text = String(n);
  return typeof n === 'string' || text.includes('e') ? fixed(new Big(text)) : text;
}

/**
 * Writes an amount for a screen, with its currency, such as `1 250.50000000 BTC`, `10 000.00 USDT`
 * or `500 000 VND`.
 */
export const formatAmount = (amount: Money): string => `${formatNumber(amount)} ${amount.ccy}`;

/** Writes amounts in several currencies, such as `0.01000000 BTC and 25.00 USDT`. */
export const formatAmounts = (amounts: readonly Money[]): string =>
  amounts.map(formatAmount).join(' and ');

/**
 * Writes the number of an amount, for a column that has the currency next to it. Writes all
 * decimals of the amount, without rounding.
 */
export function formatNumber({ ccy, value }: Money): string {
  const usual = ccy === 'USDT' ? 2 : decimalsOf(ccy);
  const exact = fixed(value);
  const written = exact.includes('.') ? exact.length - exact.indexOf('.') - 1 : 0;
  return group(written < usual ? value.toFixed(usual) : exact);
}

/** Writes a value in BTC as satoshis, such as `50 000 sat`. */
export const formatSats = (value: Big): string => `${group(fixed(value.times(satsPerBtc)))} sat`;

/** Formats an amount briefly, with bitcoin in satoshis. */
export const shortAmount = (amount: Money): string =>
  amount.ccy === 'BTC' ? formatSats(amount.value) : formatAmount(amount);

/**
 * Formats an amount of bitcoin such as `0.00050000 BTC (50 000 sat)`. Amounts of currencies other
 * than BTC have no text in parentheses.
 */
export const amountWithSats = (amount: Money): string =>
  amount.ccy === 'BTC'
    ? `${formatAmount(amount)} (${formatSats(amount.value)})`
    : formatAmount(amount);

/** Converts a value in BTC to satoshis. Throws Failure `usage` for a fraction of a satoshi. */
export const satsOf = (value: Big): bigint => whole(value.times(satsPerBtc), value, 'satoshis');

/**
 * Converts a value in BTC to millisatoshis. Throws Failure `usage` for a fraction of a
 * millisatoshi.
 */
export const msatOf = (value: Big): bigint =>
  whole(value.times(msatPerBtc), value, 'millisatoshis');

/** Converts millisatoshis to bitcoin, exactly. */
export const btcFromMsat = (msat: bigint): Big => new Big(msat).times('1e-11');

function whole(scaled: Big, value: Big, unit: string): bigint {
  const digits = fixed(scaled);
  if (digits.includes('.')) throw invalid(`${fixed(value)} BTC is not a whole number of ${unit}.`);
  return BigInt(digits);
}

function parseUnit(unit: string, digits: string, text: string): string {
  const ccy = unit.toUpperCase();
  if (ccy === 'BTC' || ccy === 'USDT') return ccy;
  const word = unit.toLowerCase();
  // A unit with another first letter, such as msat, is no misspelling.
  const similar = ['sat', 'btc', 'usdt'].filter((each) => each[0] === word[0]);
  const meant = similar.find((each) => word.startsWith(each)) ?? nearest(word, similar);
  if (meant !== undefined && !isCurrency(ccy))
    throw invalid(`"${unit}" in "${text}" is not a unit. Did you mean ${digits}${meant}?`);
  if (ccy.length === 3) return ccy;
  throw invalid(
    `"${unit}" in "${text}" is not a unit. Write sat, btc, usdt or a currency code such as vnd.`,
  );
}

const signs: Readonly<Record<string, string>> = {
  '€': 'eur',
  $: 'usd',
  '£': 'gbp',
  '¥': 'jpy',
  '₫': 'vnd',
  '₦': 'ngn',
  '₹': 'inr',
  '₿': 'btc',
};

/**
 * Rewrites a foreign notation of an amount, such as `10€`, `$10`, `50k` or `50,000sat`, in svcpay's
 * notation for a hint.
 */
function spelled(text: string): { readonly sign: string; readonly spelling: string } | undefined {
  const trimmed = text.trim();
  const [, opening = '', bare = '', closing = ''] =
    /^(\D?) *(\d{1,15}(?:\.\d{1,8})?) *(\D?)$/.exec(trimmed) ?? [];
  const unit = entryOf(signs, opening + closing);
  if (unit !== undefined) return { sign: opening + closing, spelling: bare + unit };
  const [, whole, rest = '', named] =
    /^([1-9]\d{0,2}(?:,\d{3}){1,5})(\.\d{1,8})? ?([a-z]{0,4})$/i.exec(trimmed) ?? [];
  if (whole !== undefined)
    return { sign: ',', spelling: `${whole.replaceAll(',', '')}${rest}${named || 'sat'}` };
  const [, units, decimals, after] = /^(\d{1,15}),(\d{1,8}) ?([a-z]{0,4})$/i.exec(trimmed) ?? [];
  if (units !== undefined) return { sign: ',', spelling: `${units}.${decimals}${after || 'btc'}` };
  const [, thousands, of] = /^(\d{1,12}(?:\.\d{1,3})?) ?k ?([a-z]{0,4})$/i.exec(trimmed) ?? [];
  return thousands === undefined
    ? undefined
    : { sign: 'k', spelling: `${fixed(new Big(thousands).times(1000))}${of || 'sat'}` };
}

/**
 * The failure for a number without a unit. For a whole number without a unit, the advice suggests
 * satoshis, because a payment of whole bitcoins is unlikely. For a number with decimals but without
 * a unit, the advice suggests BTC.
 */
function bareNumber(digits: string, expected: string | undefined): Failure {
  const asSats = new Big(digits).times(btcPerSat);
  const inSats =
    `Write ${digits}sat (${fixed(asSats)} ` +
    `BTC)${expected === undefined ? ` or ${digits}usd` : ''}.`;
  const inBtc = `Write ${digits}btc (${formatSats(new Big(digits))}).`;
  return invalid(`${digits} has no unit. ${digits.includes('.') ? inBtc : inSats}`);
}

function checkDecimals(text: string, digits: string, allowed: number, unit: string): void {
  const written = digits.split('.')[1]?.length ?? 0;
  if (written <= allowed) return;
  const rule =
    allowed === 0 ? `${unit} has no decimals` : `${unit} has at most ${allowed} decimals`;
  throw invalid(`"${text}" has ${counted(written, 'decimal')}, but ${rule}.`);
}

/**
 * Throws for zero, for more bitcoin than exist, and for an amount with more digits than a JSON
 * number holds.
 */
function checkSize(text: string, ccy: string, value: Big): void {
  if (value.eq(0)) throw invalid(`"${text}" is zero. The amount must be more than zero.`);
  if (ccy === 'BTC' && value.gt(bitcoinSupply)) {
    throw invalid(`"${text}" is more than the 21 million bitcoin that exist.`);
  }
  if (ccy !== 'BTC' && value.gte(`1e${exactDigits - decimalsOf(ccy)}`)) {
    throw invalid(`"${text}" is too large for an amount in ${ccy}.`);
  }
}

function example(ccy = 'BTC'): string {
  if (ccy === 'BTC') return '50000sat or 0.0005btc';
  return decimalsOf(ccy) === 0 ? `500000${ccy.toLowerCase()}` : `25${ccy.toLowerCase()}`;
}

function group(digits: string): string {
  const [integer = '', fraction] = digits.split('.');
  const grouped = integer.replace(/\B(?=(\d{3})+$)/g, thousandsSeparator);
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

interface RatedSide {
  readonly ccy?: string | null | undefined;
  readonly amtRequested?: WireNumber | null | undefined;
  readonly amtSettled?: WireNumber | null | undefined;
}

interface Exchange {
  readonly fxRate?: WireNumber | null | undefined;
  readonly sourceReq: RatedSide;
  readonly destReq: RatedSide;
}

/**
 * Returns the exchange rate of a quote, or undefined if both sides have the same currency or the
 * service omits the rate.
 */
export function exchangeRate({ fxRate, sourceReq, destReq }: Exchange): Big | undefined {
  if (sourceReq.ccy === destReq.ccy || fxRate === null || fxRate === undefined) return undefined;
  const given = fromWire(fxRate);
  if (given.lte(0)) return undefined;
  return isInverse(given, sourceReq, destReq) ? new Big(1).div(given) : given;
}

/**
 * Whether the service reports the inverse of the exchange rate. If both amounts are present,
 * `isInverse` compares the reported rate with the amounts.
 */
function isInverse(given: Big, source: RatedSide, dest: RatedSide): boolean {
  const [sent, gets] = [amountMoved(source), amountMoved(dest)];
  if (sent.gt(0) && gets.gt(0))
    return (given.gt(1) && gets.lt(sent)) || (given.lt(1) && gets.gt(sent));
  return (source.ccy === 'BTC' && given.lt(1)) || (dest.ccy === 'BTC' && given.gt(1));
}

const amountMoved = ({ amtRequested, amtSettled }: RatedSide): Big =>
  fromWire(amtRequested ?? amtSettled ?? 0);
