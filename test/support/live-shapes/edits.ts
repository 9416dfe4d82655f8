// Edits JSON to match the response formats of live services, with exact decimals.
import Big from 'big.js';
import { encodeLnurl } from '../../../src/formats/destination.js';
import type { WireNames } from '../../../src/sandbox/wire.js';

type Fields = Readonly<Record<string, unknown>>;
type Change = (value: unknown) => unknown;

/**
 * A change to a response. `in` names the part of the response that changes. Without `in`, the
 * change applies to the whole response.
 */
export type Edit = { readonly in?: keyof typeof places } & (
  | { readonly drop: readonly string[] }
  | { readonly rename: Readonly<Record<string, string>> }
  | { readonly set: Fields }
  /** The new value of a field, for each field name and old value. */
  | { readonly replace: Readonly<Record<string, Readonly<Record<string, string>>>> }
  /**
   * Converts each field in `fields` that is neither absent nor null. If `fields` is not given, the
   * edit converts the whole object.
   */
  | { readonly fields?: readonly string[]; readonly as: keyof typeof conversions }
);

export function applyEdit(edit: Edit, body: unknown, { feeField }: WireNames): unknown {
  return places[edit.in ?? 'answer'](changeOf(edit, feeField))(body);
}

function changeOf(edit: Edit, feeField: string): Change {
  if ('drop' in edit)
    return eachField((name, value) => (edit.drop.includes(name) ? [] : [[name, value]]));
  if ('rename' in edit) return eachField((name, value) => [[edit.rename[name] ?? name, value]]);
  if ('set' in edit) return fieldsOf((fields) => ({ ...fields, ...edit.set }));
  if ('replace' in edit)
    return eachField((name, value) => [[name, edit.replace[name]?.[String(value)] ?? value]]);
  const convert: Change = conversions[edit.as];
  const names = edit.fields?.map((name) => (name === 'servicepayFees' ? feeField : name));
  return names === undefined ? convert : withEach(names, convert);
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Big);

/** Changes a value that is an object, and returns any other value unchanged. */
const fieldsOf =
  (change: (fields: Fields) => unknown): Change =>
  (value) =>
    isFields(value) ? change(value) : value;

const eachField = (change: (name: string, value: unknown) => [string, unknown][]): Change =>
  fieldsOf((fields) =>
    Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => change(name, value))),
  );

const withEach = (names: readonly string[], change: Change): Change =>
  eachField((name, value) => [
    [name, names.includes(name) && value !== null && value !== undefined ? change(value) : value],
  ]);

/** Changes a transaction, or each transaction of a list, if `isMeant` accepts the transaction. */
const transactionsOf =
  (isMeant: (txn: Fields) => boolean = () => true) =>
  (change: Change): Change => {
    const changed = fieldsOf((txn) => (isMeant(txn) ? change(txn) : txn));
    return fieldsOf((answer) => {
      if ('txnId' in answer) return changed(answer);
      const { data } = answer;
      return Array.isArray(data) ? { ...answer, data: data.map(changed) } : answer;
    });
  };

const methodOf = (txn: Fields, side: 'sourceReq' | 'destReq'): string => {
  const { [side]: request } = txn;
  return isFields(request) ? String(request['method']) : '';
};
const isReceive = (txn: Fields): boolean =>
  ['lightning', 'on-chain'].includes(methodOf(txn, 'sourceReq'));
const isPayout = (txn: Fields): boolean =>
  !isReceive(txn) &&
  methodOf(txn, 'destReq') !== 'on-chain' &&
  methodOf(txn, 'destReq').includes('-');

const transactions = transactionsOf();
const sources = (change: Change): Change => transactions(withEach(['sourceReq'], change));

const places = {
  answer: (change: Change): Change => change,
  data: (change: Change): Change => withEach(['data'], change),
  transactions,
  sources,
  /** Changes each transaction and both of its sides. */
  throughout: (change: Change): Change =>
    transactions((txn) => withEach(['sourceReq', 'destReq'], change)(change(txn))),
  receives: transactionsOf(isReceive),
  receiveDetails: (change: Change): Change =>
    transactionsOf(isReceive)(withEach(['sourceReq'], withEach(['reqDetails'], change))),
  payouts: transactionsOf(isPayout),
  otherSends: transactionsOf((txn) => !isReceive(txn) && !isPayout(txn)),
  lnurlDetails: (change: Change): Change =>
    transactionsOf((txn) => methodOf(txn, 'destReq') === 'lnurl')(
      withEach(['destReq'], withEach(['reqDetails'], change)),
    ),
};

const iso = (value: unknown): unknown =>
  value instanceof Big ? new Date(Number(value)).toISOString() : value;

const conversions = {
  iso,
  isoWithoutZone: (value: unknown): unknown => String(iso(value)).replace(/Z$/, ''),
  seconds: (value: unknown): unknown =>
    value instanceof Big ? value.div(1000).round(0, Big.roundDown) : value,
  text: (value: unknown): unknown => (value instanceof Big ? value.toFixed() : value),
  lnurl: (value: unknown): string => bech32Of(String(value)),
  null: () => null,
  nullIfEmpty: (value: unknown): unknown =>
    Array.isArray(value) && value.length === 0 ? null : value,
  /** Sets every field of an object to null. */
  emptied: eachField((name) => [[name, null]]),
  ok: () => ({ message: 'OK' }),
  wrapped: fieldsOf((answer) =>
    'data' in answer ? answer : { resultStatus: 'success', data: answer },
  ),
  unwrapped: fieldsOf((answer) => ('data' in answer ? answer['data'] : answer)),
  oneList: fieldsOf(({ banks, mobiles }) => [banks, mobiles].flat()),
  /** Converts a refusal to the format with an error code and metadata. */
  coded: fieldsOf(withCode),
};

function bech32Of(address: string): string {
  const [user = '', domain] = address.split('@');
  return domain === undefined
    ? address
    : encodeLnurl(`https://${domain}/.well-known/lnurlp/${user}`);
}

/**
 * The error codes, each with a pattern of error texts. The first pattern that matches an error text
 * determines the error code.
 */
const codes: readonly (readonly [RegExp, string])[] = [
  [/^invalid API key/, '1001'],
  [/^invalid api signature/, '1002'],
  [/^invalid token/, '1003'],
  [/^insufficient balance/, '2001'],
  [/amtRequested|the amount|minimum/, '2002'],
  [/no way from|unsupported|not available/, '2003'],
  [/expired/, '2006'],
  [/invoice|address|institution|LNURL/i, '2007'],
  [/callback/, '3001'],
];

function withCode(body: Fields): Fields {
  const { error, message } = body;
  if ('code' in body || typeof error !== 'string') return body;
  const text = error === 'bad request' && typeof message === 'string' ? message : error;
  const [, code] = codes.find(([pattern]) => pattern.test(text)) ?? [];
  if (code === undefined) return body;
  return {
    resultStatus: 'error',
    code,
    error: text,
    errorMetadata: { params: JSON.stringify({ message: text }) },
  };
}
