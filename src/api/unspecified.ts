// Every guess of the client about details that are "not shown" in the specification.

/**
 * Endpoint 8. Its response is not shown either; 404 and 405 mean that the service has no such
 * operation.
 */
export const cancelPath = (txnId: string): string => `/api/v2/transaction/${txnId}/cancel`;

/** Endpoint 16. */
export const ratesPath = '/api/v2/rate';

/** Endpoint 10: an array is a repeated parameter, `txnStatuses=quoted&txnStatuses=expired`. */
export const arrayParameter = (name: string, values: readonly string[]): [string, string][] =>
  values.map((value) => [name, value]);

/**
 * Endpoint 6: the two further booleans, one per kind of fee, that deduct it from the destination.
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

/** The confirmations of a transfer and the needed number, under any of the likely names. */
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

/** `msg` is that of an event (specification: Events); the others are likely names. */
const reasonNames = [
  'msg',
  'reason',
  'failureReason',
  'failReason',
  'errorMessage',
  'statusMessage',
] as const;

/** Why a transaction failed, if the service reports it in the transaction or one of its sides. */
export const failureReasonOf = (txn: {
  readonly sourceReq: object;
  readonly destReq: object;
}): string | undefined =>
  [txn, txn.destReq, txn.sourceReq]
    .flatMap((fields) => reasonNames.map((name): unknown => Reflect.get(fields, name)))
    .find((value): value is string => typeof value === 'string' && value.trim() !== '');
