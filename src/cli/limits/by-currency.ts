// Reads the amounts of a flag that is given once for each currency.
import { fixed, isCurrency, type Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';

/** Throws Failure `usage` for a currency that is unknown or was given twice. */
export function byCurrency(amounts: readonly Money[], flag: string): Record<string, string> {
  const twice = amounts.find(
    ({ ccy }, index) => amounts.findIndex((each) => each.ccy === ccy) !== index,
  );
  if (twice !== undefined)
    throw new Failure('usage', `No limit was set: ${flag} was given twice for ${twice.ccy}.`);
  const other = amounts.find(({ ccy }) => !isCurrency(ccy));
  if (other !== undefined)
    throw new Failure(
      'usage',
      `No limit was set: ${other.ccy} is not a currency, so the limit would never apply.`,
    );
  return Object.fromEntries(amounts.map(({ ccy, value }) => [ccy, fixed(value)]));
}
