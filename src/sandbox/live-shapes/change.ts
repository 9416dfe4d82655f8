// Building blocks of live shapes: small changes of JSON with exact decimals.
import Big from 'big.js';

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Big);

/** Changes objects; other values stay. */
export const fieldsOf =
  (change: (fields: Fields) => unknown) =>
  (value: unknown): unknown =>
    isFields(value) ? change(value) : value;

/** The content of `data`, or the response itself. */
export const unwrapped = fieldsOf((answer) => ('data' in answer ? answer['data'] : answer));

export const wrapped = fieldsOf((answer) =>
  'data' in answer ? answer : { resultStatus: 'success', data: answer },
);

export const without = (...names: readonly string[]) =>
  fieldsOf((fields) =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name))),
  );

/** Renames existing fields. */
export const renamed = (names: Readonly<Record<string, string>>) =>
  fieldsOf((fields) =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [names[name] ?? name, value])),
  );

/** Changes the named fields that are present and not null. */
export const withEach = (names: readonly string[], change: (value: unknown) => unknown) =>
  fieldsOf((fields) =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [
        name,
        names.includes(name) && value !== null && value !== undefined ? change(value) : value,
      ]),
    ),
  );

/** Changes a transaction, or each in a list. */
export const transactionOf = (change: (txn: Fields) => unknown) =>
  fieldsOf((answer) => {
    if ('txnId' in answer) return change(answer);
    const { data } = answer;
    return Array.isArray(data)
      ? { ...answer, data: data.map((each: unknown) => (isFields(each) ? change(each) : each)) }
      : answer;
  });

/** Changes a transaction and both of its sides. */
export const throughout = (change: (value: unknown) => unknown) =>
  transactionOf((txn) => withEach(['sourceReq', 'destReq'], change)(change(txn)));

export const asText = (value: unknown): unknown => (value instanceof Big ? value.toFixed() : value);

export const asIso = (value: unknown): unknown =>
  value instanceof Big ? new Date(Number(value)).toISOString() : value;

export const asSeconds = (value: unknown): unknown =>
  value instanceof Big ? value.div(1000).round(0, Big.roundDown) : value;
