// Describes the results of the tools as JSON Schema. Services omit and add fields, so the schema
// requires only the fields that every response has. Every client reads the whole schema, so the
// schema describes the fields of a transaction only once.
import { institutionFields, usdtAddressFields, walletFields } from '../../api/reading/objects.js';
import {
  count,
  decimal,
  fields,
  flag,
  text,
  type FieldsOf,
  type Reader,
  type Readers,
} from '../../api/reading/readers.js';
import { transactionFields } from '../../api/reading/transaction.js';
import { methodFields } from '../../terminal/views/payout-lists.js';
import { pendingFields } from '../../terminal/views/pending-view.js';
import { rateFields } from '../../terminal/views/rate-view.js';
import { limitFields } from '../../terminal/views/settings-views.js';
import type { MovementSum } from './answers.js';

export interface OutputSchema {
  readonly type: 'object';
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}

/** Describes an object. A `!` at the end of a name means that the field is always present. */
export const object = (fields: Readonly<Record<string, object>>): OutputSchema => {
  const required = Object.keys(fields)
    .filter((name) => name.endsWith('!'))
    .map((name) => name.slice(0, -1));
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(fields).map(([name, schema]) => [name.replace('!', ''), schema]),
    ),
    ...(required.length > 0 && { required }),
  };
};

/** Describes a command's array as an object with one field, because a tool result is an object. */
export const list = (name: string, items: OutputSchema): OutputSchema =>
  object({ [`${name}!`]: { type: 'array', items } });

/** Returns the name of the field that holds the rows, or undefined for a result without rows. */
export const rowsName = ({ properties = {} }: OutputSchema): string | undefined =>
  Object.keys(properties).find((name) => 'items' in (properties[name] ?? {}));

/**
 * Describes the result of a tool or the error of the tool, because older clients check an error
 * against the schema too.
 */
export const orError = ({ type, properties, required = [] }: OutputSchema) => ({
  type,
  properties: {
    ...properties,
    error: { type: 'object', required: ['kind', 'message', 'exitCode'] },
  },
  ...(required.length > 0 && { anyOf: [{ required }, { required: ['error'] }] }),
});

/** @param isAlways whether the service always sends the field, so that it is never null */
const field = (
  { types }: Pick<Reader<unknown>, 'types'>,
  description = '',
  isAlways = false,
): object => ({
  type: isAlways && types.length === 1 ? types[0] : [...types, ...(isAlways ? [] : ['null'])],
  ...(description !== '' && { description }),
});

/**
 * Selects the fields that a language model needs, each with its meaning. A `!` marks a field that
 * is always present (see {@link object}).
 */
const from = <F extends Readers>(
  fields: F,
  meanings: { readonly [Name in keyof F & string as Name | `${Name}!`]?: string },
): OutputSchema =>
  object(
    Object.fromEntries(
      Object.entries<string | undefined>(meanings).flatMap(([name, meaning]) => {
        const reader = fields[name.replace('!', '')];
        return reader === undefined ? [] : [[name, field(reader, meaning, name.endsWith('!'))]];
      }),
    ),
  );

/** Describes an object whose fields the service chooses. */
export const record: OutputSchema = { type: 'object' };

export const wallet = from(walletFields, {
  'ccy!': '',
  amount: 'total, including reserved money',
  availableBalance: 'spendable now',
});

/**
 * Describes a transaction. The field `outcome` is present if the outcome of the payment is not
 * known yet (`pending`), or if only a person can find it out (`unknown`).
 */
export const transaction = object({
  txnId: field(text, '', true),
  txnState: field(text, '', true),
  outcome: { enum: ['pending', 'unknown'] },
});

const side =
  'ccy, method, amtRequested and amtSettled in whole units of ccy, servicepayFees, ' +
  'networkFees, reqDetails, expiresAt (epoch ms)';

export const fullTransaction = object({
  ...transaction.properties,
  txnState: field(
    text,
    'quoted; srcintent, srccreated, destsent: in flight; completed: paid; failed, rejected: ' +
      'not paid; error: unknown; expired, usercanceled: not paid unless it was submitted',
    true,
  ),
  ...from(transactionFields, {
    extRefId: 'the ref',
    note: '',
    fxRate: 'rate: units of the destination currency for one unit of the source currency',
    createdAt: 'epoch ms',
  }).properties,
  sourceReq: field(fields, `where the money comes from: ${side}`, true),
  destReq: field(fields, 'where the money goes, with the same fields as sourceReq', true),
});

export const page = object({
  'transactions!': { type: 'array', items: { type: 'object' } },
  'page!': field(count, '', true),
  total: field(count),
  'more!': field(flag, '', true),
});

const sum = {
  ccy: text,
  kind: text,
  count,
  in: decimal,
  out: decimal,
  fee: decimal,
} satisfies FieldsOf<MovementSum>;

export const spending = object({
  'spending!': {
    type: 'array',
    items: from(sum, { 'ccy!': '', 'kind!': '', count: '', in: '', out: 'without fees', fee: '' }),
  },
  'ties!': field(flag, 'false: sums and balances differ, see message', true),
});

export const quote = object({
  ...transaction.properties,
  total: field(decimal, 'amount debited in sourceReq.ccy, fees included'),
});

export const rate = from(rateFields, { 'pair!': '', base: '', quote: '', rate: '' });
export const decoded = object({
  'kind!': field(
    text,
    'bolt11, bitcoin-address, tron-address, lnurl, lightning-address, bip21 …',
    true,
  ),
});
export const depositAddress = object({
  ...from(usdtAddressFields, { staticOnchainAddress: '' }).properties,
  lightningAddress: field(text),
});
export const institution = from(institutionFields, {
  'institutionCode!': '',
  institutionType: 'bank or mobile',
  institutionName: '',
});
export const payoutMethod = from(methodFields, {
  'country!': '',
  'method!': '',
  ccy: '',
  institutionType: '',
});
export const limit = from(limitFields, {
  rule: 'what the rule limits: per payment, per day, or destination',
  ccy: '',
  amount: '',
  left: '',
});
export const explained = object({
  'ref!': { type: 'string' },
  txnId: { type: ['string', 'null'] },
  'status!': { type: 'string' },
  'end!': { type: 'string', description: 'where the money is' },
  'steps!': { type: 'array', items: { type: 'object' } },
});
export const pendingPayment = from(pendingFields, {
  'ref!': '',
  txnId: '',
  txnState: '',
  ccy: '',
  amount: '',
});
