// The results of the tools, as JSON Schema. Services omit fields and add others, so the schema
// requires only the fields that every response has. Every client reads the whole schema, so it
// explains a transaction only once.

export interface OutputSchema {
  readonly type: 'object';
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}

/** An object. A field whose name ends in `!` is always present. */
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

/** A command's array, as an object with one name. */
export const list = (name: string, items: OutputSchema): OutputSchema =>
  object({ [`${name}!`]: { type: 'array', items } });

/** The name of the rows. Undefined for a result without rows. */
export const rowsName = ({ properties = {} }: OutputSchema): string | undefined =>
  Object.keys(properties).find((name) => 'items' in (properties[name] ?? {}));

/** The result of a tool, or its error. Older clients check errors against the schema too. */
export const orError = ({ type, properties, required = [] }: OutputSchema) => ({
  type,
  properties: {
    ...properties,
    error: { type: 'object', required: ['kind', 'message', 'exitCode'] },
  },
  ...(required.length > 0 && { anyOf: [{ required }, { required: ['error'] }] }),
});

const described = (schema: object, description: string | undefined): object =>
  description === undefined ? schema : { ...schema, description };
const text = (description?: string): object => described({ type: ['string', 'null'] }, description);
const word = (description?: string): object => described({ type: 'string' }, description);
/** An amount. A number that does not fit into a JSON number is a text. */
const amount = (description?: string): object =>
  described({ type: ['number', 'string', 'null'] }, description);
const any = (description?: string): object => described({}, description);

/** A record with fields that the service chooses. */
export const record: OutputSchema = { type: 'object' };

export const wallet = object({
  'ccy!': word(),
  amount: amount('total, with what is reserved'),
  availableBalance: amount('spendable now'),
});

/** A transaction. For a payment whose end is not known yet, it has `outcome`. */
export const transaction = object({
  txnId: word(),
  txnState: word(),
  outcome: { enum: ['pending'] },
});

const side =
  'ccy, method, amtRequested and amtSettled in whole units of ccy, servicepayFees, ' +
  'networkFees, reqDetails, expiresAt (epoch ms)';

export const fullTransaction = object({
  ...transaction.properties,
  txnState: word(
    'quoted; srcintent, srccreated, destsent: on the way; completed: paid; failed, rejected, ' +
      'error, expired, usercanceled: not paid',
  ),
  extRefId: text('the ref'),
  note: text(),
  sourceReq: { type: 'object', description: `where the money comes from: ${side}` },
  destReq: { type: 'object', description: 'where it goes, alike' },
  fxRate: amount('destination units for one of the source'),
  createdAt: amount('epoch ms'),
});

export const page = object({
  'transactions!': { type: 'array', items: { type: 'object' } },
  'page!': { type: 'integer' },
  total: { type: ['integer', 'null'] },
  'more!': { type: 'boolean' },
});

export const spending = object({
  'spending!': {
    type: 'array',
    items: object({
      'ccy!': word(),
      'kind!': { enum: ['receive', 'send', 'swap'] },
      count: { type: 'integer' },
      in: amount(),
      out: amount('without fees'),
      fee: amount(),
    }),
  },
  'ties!': { type: 'boolean', description: 'false: sums and balances differ, see message' },
});

export const quote = object({
  ...transaction.properties,
  total: amount('leaves the wallet, fees included, in sourceReq.ccy'),
});

export const rate = object({ 'pair!': word(), base: text(), quote: text(), rate: amount() });
export const decoded = object({
  'kind!': word('bolt11, bitcoin-address, tron-address, lnurl, lightning-address, bip21 …'),
});
export const depositAddress = object({ staticOnchainAddress: text(), lightningAddress: text() });
export const institution = object({
  'institutionCode!': word(),
  institutionType: text('bank or mobile'),
  institutionName: text(),
});
export const payoutMethod = object({
  'country!': word(),
  'method!': word(),
  ccy: text(),
  institutionType: text(),
});
export const limit = object({
  rule: text('per payment, per day or destination'),
  ccy: text(),
  amount: amount(),
  left: amount(),
});
export const pendingPayment = object({
  'ref!': word(),
  txnId: text(),
  txnState: text(),
  ccy: text(),
  amount: any(),
});
