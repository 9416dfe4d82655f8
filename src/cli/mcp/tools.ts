// Defines the tools for agents in a single table, and reads their inputs. Each tool is a command of
// the command line, with its inputs, its effect on money and its meaning for an agent.
import { currencyOf, parseAmount } from '../../formats/amount.js';
import { columnOf, clip, nearest, isFields } from '../../formats/text.js';
import {
  type RawValues,
  valueSchema,
  whole,
  type RawValue,
  type Value,
  type Values,
  type ValueSchema,
} from '../values.js';
import { asFailure, invalid } from '../../formats/failure.js';
import type { Command } from '../define.js';
import { stringify } from 'csv-stringify/sync';

/**
 * The effect of a tool on money. A tool with `reads` changes nothing. A tool with `asks` creates a
 * quote or a payment request, which moves no money. A tool with `proposes` writes a proposal, and
 * works without a secret. A tool with `pays` may move money.
 */
export type Effect = 'reads' | 'asks' | 'proposes' | 'pays';

/**
 * The inputs that a tool takes from its command, each with its description for an agent. The value
 * `ofCommand` means the command's own description. An empty description means that a similar tool
 * describes the input.
 */
type TakenInputs = Readonly<Record<string, string | typeof ofCommand>>;
const ofCommand = undefined;

/** A tool: a command, the inputs that an agent may pass, and their meaning for an agent. */
export interface ToolRow {
  readonly name: string;
  readonly title: string;
  /** The command that the tool runs, by default the command with its name. */
  readonly command?: string;
  /** The command that the tool runs instead if the call has the input `txnId`. */
  readonly paysQuote?: string;
  /** By default `reads`. */
  readonly effect?: Effect;
  readonly takes?: TakenInputs;
  /** The names of the required inputs. */
  readonly needs?: readonly string[];
  /** The highest value of an input, if it is lower than the command's own. */
  readonly most?: Readonly<Record<string, number>>;
  /** The inputs that the command always receives, and the global option `yes`. */
  readonly always?: RawValues | undefined;
  /** The fields of each row in the input `rows`, which the command reads as a CSV file on stdin. */
  readonly rows?: Readonly<Record<string, string>>;
  /** Converts the inputs of the tool to the inputs of the command, if their names differ. */
  readonly as?: (given: RawValues) => RawValues;
  /** The fields of each row, by default all fields. */
  readonly fields?: readonly string[];
  readonly about: string;
}

const shortWait: RawValues = { waitTimeout: '20s' };

const ref = 'your name for the purpose, e.g. order-118; svcpay pays each ref only once';
const maxFee = "maximum fee, e.g. 100sat or 1%; the server's own maximum also applies";
const differentFrom = 'txnId of an earlier identical payment, if you intend to pay again';
const request = { amount: ofCommand, ref, note: ofCommand };

const send: TakenInputs = {
  destination: 'invoice, address, LNURL, Lightning Address or bitcoin: URI',
  amount: 'amount with unit: 50000sat, 25usdt, or 10usd if from is BTC; omit for an invoice',
  spend: 'amount to debit; use it instead of the input `amount` (USDT, LNURL)',
  from: 'wallet that pays: BTC, USDT …',
  via: ofCommand,
  deductFees: ofCommand,
  ref,
};

const swap: TakenInputs = {
  amount: 'amount, e.g. 25usdt: debited in the currency of `from`, or received in that of `to`',
  from: 'wallet that pays',
  to: 'wallet that receives',
  ref,
};

const parties = ['sender', 'recipient'].flatMap((who) =>
  ['Name', 'Country', 'Phone', 'Address'].map((what) => [`${who}${what}`, ''] as const),
);
const payout: TakenInputs = {
  amount: ofCommand,
  country: ofCommand,
  method: 'method from payout_methods, if the country has several',
  institution: 'institutionCode from institutions',
  institutionName: ofCommand,
  acctNum: ofCommand,
  acctName: ofCommand,
  recipient: "name of a saved recipient, instead of the recipient's fields",
  senderType: '',
  recipientType: '',
  ...Object.fromEntries(parties),
  purpose: ofCommand,
  source: ofCommand,
  relationship: ofCommand,
  from: 'wallet that pays (default BTC)',
  ref,
};

const unexplained = (inputs: TakenInputs): TakenInputs =>
  Object.fromEntries(Object.keys(inputs).map((name) => [name, '']));

/** The currency of a swap's amount decides whether the swap debits or receives the amount. */
function swapWords({ amount, from, to, ...given }: RawValues): RawValues {
  const [debited, received] = [from, to].map((each) => String(each).toUpperCase());
  const ccy = currencyOf(String(amount));
  const words = `${String(amount)} ${debited} ${received}`;
  return { ...given, words, receive: ccy === received && ccy !== debited };
}

const batchRows: Readonly<Record<string, string>> = {
  ref: 'your name for the payment',
  to: 'destination',
  amount: 'amount with unit',
  from: 'wallet that pays',
  note: '',
  ...Object.fromEntries(
    ['recipient', 'institution', 'acctNum', 'acctName', 'country', 'purpose', 'source']
      .concat('relationship', 'recipientType', 'recipientName', 'recipientCountry')
      .map((name) => [columnOf(name), '']),
  ),
};

const txnId = 'txnId or ref of the quote or payment';
const costs =
  'total is the debit with all fees. If payable is false, why names the reason. Moves no money. ' +
  'To pay the quote at its price, call pay with its txnId.';
const once =
  'Irreversible. Stays within the budget and the limits that a person has set. A repeated ref ' +
  'reports or resumes the same payment. ' +
  'If outcome is "awaiting-approval", the owner decides: call again later with the same ref. ' +
  'If outcome is "pending", call resume and never pay again. ' +
  'If outcome is "unknown", ask a person and never pay again.';

export const tools: readonly ToolRow[] = [
  {
    name: 'wallets',
    title: 'Balances',
    takes: { ccy: ofCommand },
    about:
      'Balances per currency, in whole units (BTC, not satoshis): availableBalance is spendable ' +
      'now, amount includes reserved money.',
  },
  {
    name: 'account',
    title: 'Account',
    about: 'The account record.',
  },
  {
    name: 'rates',
    title: 'Exchange rates',
    takes: { pair: ofCommand },
    about:
      'Exchange rates. Each is the price of one unit of the base currency in the quote currency.',
  },
  {
    name: 'decode',
    title: 'Decode',
    takes: { text: 'invoice, address, LNURL or bitcoin: URI' },
    needs: ['text'],
    about: 'Decodes a destination offline: kind, payee, amount and expiry.',
  },
  {
    name: 'transactions',
    title: 'History',
    command: 'tx list',
    always: { format: 'page' },
    takes: {
      search: ofCommand,
      since: ofCommand,
      until: ofCommand,
      state: 'e.g. completed, failed',
      srcMethod: ofCommand,
      destMethod: ofCommand,
      excludeSrcMethod: ofCommand,
      excludeDestMethod: ofCommand,
      limit: 'rows per page (default 20)',
      page: '',
    },
    most: { limit: 100 },
    fields: [
      'txnId',
      'txnState',
      'time',
      'what',
      'with',
      'sourceReq.ccy',
      'sourceAmount',
      'destReq.ccy',
      'destAmount',
      'extRefId',
    ],
    about:
      'Transactions, newest first; `with` is the payee, extRefId the ref. If more is true, ' +
      'request the next page.',
  },
  {
    name: 'transaction',
    title: 'One transaction',
    command: 'tx get',
    takes: { id: ofCommand },
    needs: ['id'],
    about:
      'One transaction in its current state. sourceReq is where the money comes from, destReq ' +
      'where it goes: ccy, method, amtRequested and amtSettled in whole units of ccy, ' +
      'servicepayFees, networkFees, reqDetails, expiresAt (epoch ms). extRefId is the ref. ' +
      'Other tools return transactions with the same fields.',
  },
  {
    name: 'spending',
    title: 'Spending',
    command: 'statement totals',
    takes: {
      from: ofCommand,
      to: ofCommand,
    },
    about:
      'Sums of the money received (in), sent without fees (out) and paid as fees, per currency ' +
      'and kind. If message is present, the sums and the balances differ.',
  },
  {
    name: 'watch',
    title: 'Wait for a transaction',
    command: 'tx watch',
    always: shortWait,
    takes: { id: txnId },
    needs: ['id'],
    as: ({ id }) => ({ ids: id }),
    about:
      'Waits up to 20 s until a transaction is final. If outcome is "pending", call watch again.',
  },
  {
    name: 'pending',
    title: 'Unfinished payments',
    command: 'tx pending',
    about: 'Unfinished payments of this wallet.',
  },
  {
    name: 'explain',
    title: 'Story of a payment',
    command: 'tx explain',
    takes: { id: ofCommand },
    needs: ['id'],
    about: 'Who asked for a payment and approved it, what happened, and where the money is.',
  },
  {
    name: 'receive_lightning',
    title: 'Lightning invoice',
    command: 'receive lightning',
    effect: 'asks',
    takes: request,
    needs: ['amount'],
    about: 'Creates a Lightning invoice and returns it in payTo.',
  },
  {
    name: 'receive_onchain',
    title: 'Bitcoin address for one payment',
    command: 'receive onchain',
    effect: 'asks',
    takes: unexplained(request),
    needs: ['amount'],
    about: 'Creates a Bitcoin address for one payment and returns it in payTo.',
  },
  {
    name: 'receive_address',
    title: 'Permanent address',
    command: 'receive address',
    takes: { ccy: '', chain: ofCommand },
    needs: ['ccy'],
    about: 'Shows a permanent deposit address.',
  },
  {
    name: 'payout_methods',
    title: 'Payout methods',
    command: 'payout methods',
    takes: { country: ofCommand },
    about: 'Countries, currencies and methods of fiat payouts.',
  },
  {
    name: 'institutions',
    title: 'Banks and mobile wallets',
    command: 'payout institutions',
    takes: { country: ofCommand },
    needs: ['country'],
    about: 'Banks and mobile wallets of a country that can receive payouts.',
  },
  {
    name: 'limits',
    title: 'Limits',
    command: 'limits list',
    about:
      'The spending limits that a person has set (per payment, per day, destinations), and how ' +
      'much is left.',
  },
  {
    name: 'budget',
    title: 'Budget',
    command: 'budget show',
    about:
      'The budget of this server: its figures, what is spent, and the amount above which the ' +
      'owner approves each payment.',
  },
  {
    name: 'quote',
    title: 'Quote a payment',
    command: 'send',
    always: { quoteOnly: true },
    effect: 'asks',
    takes: send,
    needs: ['destination'],
    about: `The full cost of a payment: ${costs}`,
  },
  {
    name: 'quote_swap',
    title: 'Quote a swap',
    command: 'swap',
    always: { quoteOnly: true },
    effect: 'asks',
    takes: swap,
    needs: ['amount', 'from', 'to'],
    as: swapWords,
    about: 'The amounts of an exchange between two of your wallets, as a quote.',
  },
  {
    name: 'quote_payout',
    title: 'Quote a payout',
    command: 'payout',
    always: { quoteOnly: true },
    effect: 'asks',
    takes: payout,
    needs: ['amount'],
    about:
      'The full cost of a fiat payout to a bank account or mobile wallet, as a quote. Requires ' +
      'the account, both parties (type, name, country; sometimes phone and address) and the ' +
      'codes, or a saved recipient.',
  },
  {
    name: 'cancel',
    title: 'Cancel a quote',
    command: 'tx cancel',
    effect: 'asks',
    takes: { id: ofCommand },
    needs: ['id'],
    about: 'Cancels an unpaid quote.',
  },
  {
    name: 'pay',
    title: 'Pay',
    command: 'send',
    paysQuote: 'tx confirm',
    always: { yes: true, ...shortWait },
    effect: 'pays',
    takes: {
      txnId: 'id of a quote, paid at the quoted price; omit destination and amount',
      ...unexplained(send),
      maxFee,
      note: ofCommand,
      differentFrom,
    },
    about:
      'Pays a quote, named by txnId, at the quoted price; or pays a destination at the current ' +
      `price, given ref and the inputs of the tool \`quote\`. ${once}`,
  },
  {
    name: 'swap',
    title: 'Swap',
    always: { yes: true, ...shortWait },
    effect: 'pays',
    takes: { ...unexplained(swap), maxFee: '', note: '' },
    needs: ['amount', 'from', 'to', 'ref'],
    as: swapWords,
    about:
      'Exchanges money between two of your wallets. Takes the inputs of `quote_swap` and follows ' +
      'the rules of `pay`.',
  },
  {
    name: 'payout',
    title: 'Pay out',
    always: { yes: true, ...shortWait },
    effect: 'pays',
    takes: { ...unexplained(payout), maxFee: '', note: '', differentFrom: '' },
    needs: ['amount', 'ref'],
    about:
      'Pays out fiat to a bank account or mobile wallet. Takes the inputs of `quote_payout` and ' +
      'follows the rules of `pay`.',
  },
  {
    name: 'pay_many',
    title: 'Pay many',
    command: 'batch',
    always: { file: '-', yes: true, waitTimeout: '20s', concurrency: '4' },
    effect: 'pays',
    takes: {
      name: 'your name for this run, e.g. salaries-2026-11; the same name resumes the run',
      dryRun: 'only check the rows, and return their total',
      acceptChanges: 'also pay rows that repeat an earlier row, and new payees',
      maxFee: ofCommand,
    },
    rows: batchRows,
    needs: ['name'],
    about:
      'Pays many payments and payouts as one run, each once. First call it with dryRun: true, ' +
      'and show the person the total. failures lists the rows that failed.',
  },
  {
    name: 'resume',
    title: 'Resume a payment',
    command: 'tx resume',
    always: shortWait,
    effect: 'pays',
    takes: { id: txnId },
    needs: ['id'],
    about: 'Finishes or reports an unfinished payment, and never pays a second time.',
  },
];

const proposed = {
  maxTotal: 'highest total with fees, in the currency of the wallet that pays: 20000sat',
  reason: ofCommand,
  note: ofCommand,
};

const withoutRef = ({ ref: _ref, ...inputs }: TakenInputs): TakenInputs => inputs;

/** The tools of a server that only proposes. The server adds the folder of the proposals. */
export const proposingTools: readonly ToolRow[] = [
  ...tools.filter(({ name }) => name === 'decode'),
  {
    name: 'propose',
    title: 'Propose a payment',
    command: 'propose send',
    effect: 'proposes',
    takes: { ...withoutRef(send), ...proposed },
    needs: ['destination', 'maxTotal'],
    about:
      'Writes a proposal that the owner of the wallet pays or refuses. Moves no money, and needs ' +
      'no secret. Ask the tool `proposal` for the outcome.',
  },
  {
    name: 'propose_swap',
    title: 'Propose a swap',
    command: 'propose swap',
    effect: 'proposes',
    takes: { ...withoutRef(swap), ...unexplained(proposed) },
    needs: ['amount', 'from', 'to', 'maxTotal'],
    as: swapWords,
    about: 'Like `propose`, for an exchange between two wallets of the owner.',
  },
  {
    name: 'propose_payout',
    title: 'Propose a payout',
    command: 'propose payout',
    effect: 'proposes',
    takes: { ...withoutRef(payout), ...unexplained(proposed) },
    needs: ['amount', 'maxTotal'],
    about: 'Like `propose`, for a fiat payout to a bank account or mobile wallet.',
  },
  {
    name: 'propose_many',
    title: 'Propose many payments',
    command: 'propose batch',
    always: { file: '-' },
    effect: 'proposes',
    takes: { name: 'your name for this run', ...unexplained(proposed) },
    rows: batchRows,
    needs: ['maxTotal'],
    about: 'Like `propose`, for many payments and payouts that the owner approves as a whole.',
  },
  {
    name: 'proposal',
    title: 'Outcome of a proposal',
    command: 'propose status',
    effect: 'proposes',
    takes: { id: ofCommand },
    needs: ['id'],
    about: 'Whether the owner has paid or refused a proposal, or whether it is open or expired.',
  },
];

export type GivenInputs = Readonly<Record<string, unknown>>;

/** Returns the values of a command's inputs, with the limits that the tool sets. */
const valuesOf = ({ most = {} }: ToolRow, { arguments: words, options }: Command): Values => ({
  ...words,
  ...options,
  ...Object.fromEntries(Object.entries(most).map(([name, highest]) => [name, whole(1, highest)])),
});

/** Returns the inputs of a tool as JSON Schema. An input that its command lacks is a text. */
export function inputSchema(row: ToolRow, command: Command) {
  const { takes = {}, needs = [] } = row;
  const values = valuesOf(row, command);
  const properties = Object.entries(takes).map(([name, given]) => {
    const { description: summary, enum: _read, ...schema } = schemaOf(values[name]);
    const description = given ?? summary;
    const offers = values[name]?.shape.offers;
    return [
      name,
      {
        ...schema,
        ...(offers !== undefined && schema.items === undefined && { enum: offers }),
        ...(schema.items && { items: { type: schema.items.type } }),
        ...(description !== '' && { description }),
      },
    ] as const;
  });
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(properties),
      ...(row.rows && { rows: rowsSchema(row.rows) }),
    },
    ...(needs.length > 0 && { required: row.rows ? ['rows', ...needs] : needs }),
  } as const;
}

const rowsSchema = (columns: Readonly<Record<string, string>>) => ({
  type: 'array',
  items: {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(columns).map(([name, description]) => [
        name,
        { type: 'string', ...(description !== '' && { description }) },
      ]),
    ),
  },
});

/** Writes the input `rows` as a CSV file. Throws Failure `usage` for an unsuitable row. */
export function rowsAsCsv(
  tool: string,
  columns: Readonly<Record<string, string>>,
  rows: unknown,
): string {
  if (!Array.isArray(rows) || rows.length === 0)
    throw invalid('Not called: rows must be a list of objects.');
  const names = Object.keys(columns);
  rows.forEach((row: unknown, i) => {
    const wrong = isFields(row) ? Object.keys(row).find((name) => !names.includes(name)) : '';
    if (wrong !== undefined)
      throw invalid(`Not called: rows: row ${i + 1}: ${unknownInput(tool, names, wrong)}`);
  });
  const used = names.filter((name) => rows.some((row) => isFields(row) && row[name] != null));
  return stringify(rows, { header: true, columns: used, cast: { boolean: String } });
}

/** An agent passes a phrase such as an amount as one text. */
const schemaOf = (value: Value<unknown> | undefined): ValueSchema =>
  value === undefined || value.shape.joins === true
    ? { type: 'string', description: value?.shape.summary ?? '' }
    : valueSchema(value);

/** Aliases that agents use for an input, keyed by the input's name. */
const alsoCalled: Readonly<Record<string, readonly string[]>> = {
  ref: ['reference', 'extRefId'],
  id: ['txnId', 'ref', 'reference', 'extRefId', 'ids'],
  since: ['from'],
  until: ['to'],
  from: ['since'],
  to: ['until'],
  txnId: ['id', 'quoteId'],
};

/**
 * Reads the inputs of a tool call, and replaces each alias with the input's own name. Throws one
 * Failure `usage` that lists all invalid inputs.
 */
export function readInputs(row: ToolRow, command: Command, given: GivenInputs): RawValues {
  const { name: tool, takes = {}, needs = [] } = row;
  const values = valuesOf(row, command);
  const problems: string[] = [];
  const read = new Map<string, RawValue>();
  for (const [word, value] of Object.entries(given)) {
    if (value === null || value === undefined) continue;
    const own = Object.hasOwn(takes, word)
      ? word
      : Object.keys(takes).find((name) => alsoCalled[name]?.includes(word));
    if (own === undefined) {
      problems.push(unknownInput(tool, Object.keys(takes), word));
      continue;
    }
    try {
      const isAmount = own === 'amount' || own === 'spend';
      const raw = rawOf(value, isAmount ? 'integer' : schemaOf(values[own]).type);
      values[own]?.read(raw);
      if (isAmount) parseAmount(String(raw));
      if (read.has(own) && read.get(own) !== raw) problems.push(`${own} has two different values.`);
      read.set(own, raw);
    } catch (error) {
      problems.push(`${own}: ${asFailure(error).why}`);
    }
  }
  const missing = needs.filter((name) => !read.has(name));
  const explained = missing.map((name) => {
    const description = takes[name] ?? schemaOf(values[name]).description;
    return description === '' ? name : `${name} (${description})`;
  });
  if (missing.length > 0) problems.push(`missing: ${explained.join(', ')}.`);
  if (problems.length > 0) throw invalid(`Not called: ${problems.join(' ')}`);
  return Object.fromEntries(read);
}

function unknownInput(tool: string, names: readonly string[], word: string): string {
  const meant = nearest(word, names);
  const advice =
    meant === undefined ? `its inputs are ${names.join(', ') || 'none'}` : `did you mean ${meant}?`;
  return `${clip(word)} is not an input of ${tool} (${advice}).`;
}

/** Converts a JSON value to the form in which the command line passes it. */
function rawOf(value: unknown, type: ValueSchema['type']): RawValue {
  if (type === 'boolean' && typeof value === 'boolean') return value;
  const texts = [value]
    .flat()
    .map((each) => (typeof each === 'number' && type === 'integer' ? String(each) : each));
  const isText = (each: unknown): each is string => typeof each === 'string' && each !== '';
  if (type === 'array' && texts.every(isText)) return texts;
  const [text] = texts;
  if (type !== 'boolean' && type !== 'array' && texts.length === 1 && isText(text)) return text;
  throw invalid(`${clip(JSON.stringify(value))} is not ${expected[type]}.`);
}

const expected: Readonly<Record<ValueSchema['type'], string>> = {
  boolean: 'true or false',
  array: 'a list of non-empty strings',
  integer: 'a number',
  string: 'a non-empty string',
};
