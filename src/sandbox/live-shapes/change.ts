// Small changes of JSON answers, from which the live shapes are made. Numbers are exact decimals.
import Big from 'big.js';

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Big);

/** Changes the fields of an object; other values stay. */
export const fieldsOf = (change: (fields: Fields) => unknown) => (value: unknown): unknown =>
  isFields(value) ? change(value) : value;

/** What `data` holds, or the answer itself. */
export const unwrapped = fieldsOf((answer) => ('data' in answer ? answer['data'] : answer));

/** Inside `data`, unless it is there already. */
export const wrapped = fieldsOf((answer) => ('data' in answer ? answer : { resultStatus: 'success', data: answer }));

export const without = (...names: readonly string[]) => fieldsOf((fields) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name))));

/** Other names for fields; where there is none of the old name, there is none of the new one. */
export const renamed = (names: Readonly<Record<string, string>>) => fieldsOf((fields) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [names[name] ?? name, value])));

/** Changes those of these fields that are there and not null. */
export const withEach = (names: readonly string[], change: (value: unknown) => unknown) => fieldsOf((fields) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) =>
    [name, names.includes(name) && value !== null && value !== undefined ? change(value) : value])));

/** Changes a transaction, or every one of a list. */
export const transactionOf = (change: (txn: Fields) => unknown) => fieldsOf((answer) => {
  if ('txnId' in answer) return change(answer);
  const { data } = answer;
  return Array.isArray(data) ? { ...answer, data: data.map((each: unknown) => (isFields(each) ? change(each) : each)) } : answer;
});

/** Changes a transaction and both of its sides alike. */
export const throughout = (change: (value: unknown) => unknown) => transactionOf((txn) =>
  withEach(['sourceReq', 'destReq'], change)(change(txn)));

export const asText = (value: unknown): unknown => (value instanceof Big ? value.toFixed() : value);

export const asIso = (value: unknown): unknown => (value instanceof Big ? new Date(Number(value)).toISOString() : value);

export const asSeconds = (value: unknown): unknown => (value instanceof Big ? value.div(1000).round(0, Big.roundDown) : value);
