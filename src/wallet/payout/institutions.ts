// Finds banks and mobile wallets by country, method and code. Specification: endpoint 15.
import type { Institution } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import type { PayoutMethod } from './methods.js';
import { clip } from '../../formats/text.js';

export interface PayoutInstitution {
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
  throw new Failure('usage', why, { next: { do: 'see-institutions', country: country.code } });
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
