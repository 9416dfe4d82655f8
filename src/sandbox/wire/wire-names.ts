// The names on the wire that contain the service name instead of the specification's `service`.

export interface WireNames {
  /** The value of `method` for the internal wallet, such as `servicepay`. */
  readonly method: string;
  /** The name of the fee field, such as `servicepayFees`. */
  readonly feeField: string;
  /**
   * The name of the flag that deducts the service fee from the sent amount, such as
   * `deductServicepayFees`. The name of the flag for the service fee is an assumption, because the
   * specification does not show the name.
   */
  readonly feeDeduction: string;
  /** The name of the webhook signature header, such as `X-Servicepay-Signature`. */
  readonly signatureHeader: string;
}

/** Derives the names on the wire from a service name in lower-case letters and digits. */
export function wireNamesOf(name: string): WireNames {
  if (!/^[a-z][a-z0-9]{0,31}$/.test(name)) throw new RangeError(`"${name}" is not a service name.`);
  const capital = name.charAt(0).toUpperCase() + name.slice(1);
  return {
    method: `${name}pay`,
    feeField: `${name}payFees`,
    feeDeduction: `deduct${capital}payFees`,
    signatureHeader: `X-${capital}pay-Signature`,
  };
}
