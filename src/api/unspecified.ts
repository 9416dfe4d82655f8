// Collects every assumption of the client about details that the specification does not show.

/**
 * The path of endpoint 8, which the specification does not show. 404 and 405 mean that the service
 * cannot cancel.
 */
export const cancelPath = (txnId: string): string => `/api/v2/transaction/${txnId}/cancel`;

export const ratesPath = '/api/v2/rate';

/**
 * Writes an array of endpoint 10 as a repeated parameter, `txnStatuses=quoted&txnStatuses=expired`.
 */
export const arrayParameter = (name: string, values: readonly string[]): [string, string][] =>
  values.map((value) => [name, value]);

/**
 * Two further flags of endpoint 6, one for each type of fee, that deduct the fee from the
 * destination.
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

/** The confirmations of a transfer and the required number, under any likely name. */
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
 * The fields that may contain the reason for a failure. Events have `msg` (specification, section
 * Events). The other names are guesses.
 */
const reasonNames = [
  'msg',
  'reason',
  'failureReason',
  'failReason',
  'errorMessage',
  'statusMessage',
] as const;

/** The reason for a failed transaction, if the transaction or one of its sides reports it. */
export const failureReasonOf = (txn: {
  readonly sourceReq: object;
  readonly destReq: object;
}): string | undefined =>
  [txn, txn.destReq, txn.sourceReq]
    .flatMap((fields) => reasonNames.map((name): unknown => Reflect.get(fields, name)))
    .find((value): value is string => typeof value === 'string' && value.trim() !== '');
