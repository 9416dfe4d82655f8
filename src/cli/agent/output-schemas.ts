// What the tools give, as JSON Schema. Services leave fields out and add others, so only what every answer has is required.

export interface OutputSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, object>>;
  readonly required: readonly string[];
}

/** A name that ends in `!` is always there. */
export const object = (fields: Readonly<Record<string, object>>): OutputSchema => ({
  type: 'object',
  properties: Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [name.replace('!', ''), schema]),
  ),
  required: Object.keys(fields)
    .filter((name) => name.endsWith('!'))
    .map((name) => name.slice(0, -1)),
});

/** What a command prints as an array is an object with one name here. */
export const list = (name: string, items: OutputSchema): OutputSchema => ({
  type: 'object',
  properties: { [name]: { type: 'array', items } },
  required: [name],
});

export const listName = ({ properties, required: [name] }: OutputSchema): string | undefined =>
  name !== undefined && 'items' in (properties[name] ?? {}) ? name : undefined;

const error = {
  type: 'object',
  description: 'instead of all else, if the call failed',
  properties: {
    kind: { type: 'string' },
    message: { type: 'string' },
    exitCode: { type: 'integer' },
    txnId: { type: 'string' },
    hint: { type: 'string' },
    next: {
      type: 'array',
      description: 'commands and tools to call next',
      items: { type: 'object' },
    },
  },
  required: ['kind', 'message', 'exitCode', 'next'],
};

/** What a tool returns: earlier clients check errors against it too. */
export const orError = ({ type, properties, required }: OutputSchema) => ({
  type,
  properties: { ...properties, error },
  anyOf: [{ required: [...required] }, { required: ['error'] }],
});

const text = (description: string): object => ({ type: ['string', 'null'], description });
const amount = (description: string): object => ({
  type: ['number', 'string', 'null'],
  description,
});
const always = (description: string): object => ({ type: 'string', description });

export const wallet = object({
  'ccy!': always('BTC, USDT or a fiat currency'),
  amount: amount('total in whole units, with what is reserved'),
  availableBalance: amount('spendable now, in whole units'),
});

const side = (what: string): object => ({
  type: 'object',
  description: `${what}: ccy, method, amtRequested and amtSettled in whole units of ccy, servicepayFees, networkFees, reqDetails, expiresAt in epoch ms`,
});

const transactionFields = {
  extRefId: text('the reference'),
  note: text('own note'),
  sourceReq: side('where the money comes from'),
  destReq: side('where it goes'),
  fxRate: amount('units of the destination currency for one of the source'),
  createdAt: amount('epoch ms'),
};
const state =
  'quoted, srcintent, srccreated and destsent are on the way; completed has paid; failed and rejected have not';

export const transaction = object({
  'txnId!': always('transaction id'),
  'txnState!': always(state),
  ...transactionFields,
});

/** The transaction, or that its end is not known yet. */
export const outcome = object({
  outcome: { enum: ['pending'], description: 'its end is not known yet: do not pay again' },
  message: text('why it is pending'),
  txnId: text('transaction id'),
  txnState: text(state),
  next: { type: 'array', description: 'tools or commands to call next' },
  ...transactionFields,
});

export const quote = object({
  ...transaction.properties,
  'txnId!': always('transaction id'),
  total: amount(
    'what leaves the wallet, fees included, in sourceReq.ccy; missing where the service does not name the amount',
  ),
});

export const rate = object({
  'pair!': always('such as BTCUSD'),
  base: text('currency'),
  quote: text('currency'),
  rate: amount('price of one base in quote'),
});
export const decoded = object({
  'kind!': always(
    'bolt11, bitcoin-address, tron-address, evm-address, lnurl, lightning-address or bip21',
  ),
});
export const depositAddress = object({
  staticOnchainAddress: text('the address'),
  lightningAddress: text('the Lightning Address'),
});
export const institution = object({
  'institutionCode!': always('code for payouts'),
  institutionType: text('bank or mobile'),
  institutionName: text('name'),
});
export const payoutMethod = object({
  'country!': always('ISO 3166-1 alpha-2'),
  'method!': always('method code'),
  ccy: text('currency'),
  institutionType: text('bank or mobile'),
});
export const limit = object({
  rule: text('per payment, per day or destination'),
  ccy: text('currency'),
  amount: amount('limit'),
  left: amount('not used yet'),
});
export const pendingPayment = object({
  ref: text('the reference'),
  txnId: text('transaction id, once there is one'),
  txnState: text(state),
});
