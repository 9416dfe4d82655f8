// Collects every assumption of the client about details that the specification does not show.

/**
 * The path of endpoint 8, which the specification does not show. The statuses 404 and 405 mean that
 * the service does not offer cancellation.
 */
export const cancelPath = (txnId: string): string => `/api/v2/transaction/${txnId}/cancel`;

export const ratesPath = '/api/v2/rate';

/**
 * Writes an array in a query of endpoint 10 as a repeated parameter, as in
 * `txnStatuses=quoted&txnStatuses=expired`.
 */
export const arrayParameter = (name: string, values: readonly string[]): [string, string][] =>
  values.map((value) => [name, value]);

/**
 * Two further flags of a create request (endpoint 6), each of which deducts one type of fee from
 * the destination amount.
 */
export interface FurtherDeductions {
  deductServicepayFees?: boolean | undefined;
  deductNetworkFees?: boolean | undefined;
}

const seenNames = ['confirmations', 'confirmationCount', 'numConfirmations'] as const;
const neededNames = [
  'requiredConfirmations',
  'confirmationsRequired',
  'confirmationsNeeded',
  'minConfirmations',
] as const;

/**
 * Returns how many confirmations an on-chain transfer has, and how many it needs. svcpay tries
 * several likely names of the fields.
 */
export function confirmationsOf(side: {
  readonly reqDetails?: Readonly<Record<string, unknown>> | null | undefined;
}) {
  const count = (names: readonly string[]): number | undefined =>
    [side, side.reqDetails ?? {}]
      .flatMap((fields) => names.map((name): unknown => Reflect.get(fields, name)))
      .find(
        (value): value is number =>
          typeof value === 'number' && Number.isInteger(value) && value >= 0,
      );
  const seen = count(seenNames);
  return seen === undefined ? undefined : { seen, needed: count(neededNames) };
}

/**
 * The names of fields that may contain the reason for a failure. The specification names only `msg`
 * (section Events), and svcpay guesses the other names.
 */
const reasonNames = [
  'msg',
  'reason',
  'failureReason',
  'failReason',
  'errorMessage',
  'statusMessage',
] as const;

/**
 * Returns the reason why a transaction failed, if the transaction or one of its sides reports a
 * reason.
 */
export const failureReasonOf = (txn: {
  readonly sourceReq: object;
  readonly destReq: object;
}): string | undefined =>
  [txn, txn.destReq, txn.sourceReq]
    .flatMap((fields) => reasonNames.map((name): unknown => Reflect.get(fields, name)))
    .find((value): value is string => typeof value === 'string' && value.trim() !== '');
