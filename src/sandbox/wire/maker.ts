// The maker's name on the wire: the one place that turns the specification's `service` into another name.

export interface Maker {
  /** Value of `method` for the internal wallet, such as `servicepay`. */
  readonly method: string;
  /** Name of the fee field, such as `servicepayFees`. */
  readonly feeField: string;
  /** Name of the flag that takes this fee out of what is sent, such as `deductServicepayFees`: a guess. */
  readonly feeDeduction: string;
  /** Name of the webhook signature header, such as `X-Servicepay-Signature`. */
  readonly signatureHeader: string;
}

/** The names for a maker, given in lower-case letters and digits. */
export function makerNames(name: string): Maker {
  if (!/^[a-z][a-z0-9]{0,31}$/.test(name)) throw new RangeError(`"${name}" is not a maker's name.`);
  const capital = name.charAt(0).toUpperCase() + name.slice(1);
  return {
    method: `${name}pay`,
    feeField: `${name}payFees`,
    feeDeduction: `deduct${capital}payFees`,
    signatureHeader: `X-${capital}pay-Signature`,
  };
}
