// A row of a batch file as the payment that it stands for: read as the same words on a command line would be.
import type { Institution } from '../api/types.js';
import { fixed, parseAmount } from '../formats/amount.js';
import { detectDestination, type Destination } from '../formats/destination.js';
import { Failure } from '../formats/failure.js';
import type { Network, Profile, Recipient } from '../store/profiles.js';
import { derivedRef, type PlannedRow } from '../wallet/batch/plan.js';
import type { BatchRow } from '../wallet/batch/rows.js';
import { checkBitcoinAddress, checkInvoice, checkOnchainAmount, checkTronAddress } from '../wallet/destinations.js';
import { lightningOrder, lnurlOrder, onchainOrder, usdtOrder, type Order } from '../wallet/orders.js';
import { payoutOrder } from '../wallet/payout.js';
import { readAll, type RawValues } from './define.js';
import { checkSameAmount, invoiceAmount, neededAmount, notYetAvailable } from './destination.js';
import { reference } from './payment-options.js';
import { readDraft } from './payout-draft.js';
import { completePayout } from './payout-flow.js';
import { answerOptions, missingFlags } from './payout-options.js';
import { currency } from './values.js';

const common = ['ref', 'to', 'amount', 'currency', 'note', 'from'];

/** `acct_num` for `acctNum`. */
const columnOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The answers of a payout as columns; a payout may also name a recipient of the address book. */
const payoutColumns = new Map(
  ['recipient', ...Object.keys(answerOptions).filter((name) => name !== 'amount')].map((name) => [columnOf(name), name]),
);

export const batchColumns: ReadonlySet<string> = new Set([...common, ...payoutColumns.keys()]);

export interface PlanDeps {
  /** Distinguishes batches whose rows without a reference are otherwise the same. */
  readonly name: string;
  /** The wallet that pays where neither row nor kind says. */
  readonly from: string | undefined;
  readonly network: Network;
  readonly recipients: Readonly<Record<string, Recipient>>;
  readonly sender: Profile['sender'];
  readonly lookUp: (countryCode: string) => Promise<readonly Institution[]>;
}

/** Throws Failure `usage` for a row that is no payment. */
export async function planRow({ line, cells }: BatchRow, deps: PlanDeps): Promise<PlannedRow> {
  const from = cells['from'] === undefined ? deps.from : currency().read(cells['from']);
  const given = Object.keys(cells).filter((name) => payoutColumns.has(name));
  const { to } = cells;
  if (to !== undefined && given.length > 0) {
    throw new Failure('usage', `"to" is for sends, and ${given.join(', ')} for payouts: a row is one of the two.`);
  }
  const paid = to === undefined ? await planPayout(cells, given, from, deps) : planSend(to, cells, from, deps.network);
  const { note, ref } = cells;
  const order = note === undefined ? paid.order : { ...paid.order, body: { ...paid.order.body, note } };
  return {
    line,
    ref: ref === undefined ? derivedRef(order, deps.name) : reference().read(ref),
    named: ref !== undefined,
    expiresAt: undefined,
    to: order.destination,
    amount: amountOf(cells) ?? named(order),
    ...paid,
    order,
  };
}

/** The amount that the destination itself says. */
const named = ({ receives }: Order): string =>
  receives === undefined ? '' : `${fixed(receives.value)}${receives.ccy.toLowerCase()}`;

type Planned = Pick<PlannedRow, 'order' | 'slow'> & Partial<Pick<PlannedRow, 'expiresAt' | 'to'>>;

function planSend(to: string, cells: BatchRow['cells'], from: string | undefined, network: Network): Planned {
  const found = detectDestination(to);
  const amount = amountOf(cells);
  switch (found.kind) {
    case 'bolt11':
      return planInvoice(found, amount, from, network);
    case 'lnurl':
    case 'lightning-address':
      return { order: lnurlOrder(found.text, neededAmount(amount, from ?? currencyOf(amount) ?? 'BTC')), slow: false };
    case 'bitcoin-address':
      return planOnchain(found.value, amount, from, network);
    case 'tron-address': {
      const { address } = found.value;
      checkTronAddress(address);
      return { order: usdtOrder(address, neededAmount(amount, 'USDT'), from ?? 'USDT'), slow: true };
    }
    case 'evm-address':
      throw notYetAvailable();
    case 'bip21':
      return planUri(found, amount, from, network);
  }
}

type Found<K extends Destination['kind']> = Extract<Destination, { kind: K }>;

function planInvoice(
  { value, text }: Pick<Found<'bolt11'>, 'value' | 'text'>,
  amount: string | undefined,
  from: string | undefined,
  network: Network,
): Planned {
  checkInvoice(value, network);
  const named = invoiceAmount(value);
  if (named !== undefined) checkSameAmount(amount, named, 'this invoice');
  return { order: lightningOrder(value, from ?? 'BTC'), slow: false, expiresAt: value.expiresAt, to: text };
}

function planOnchain(
  address: Found<'bitcoin-address'>['value'],
  amount: string | undefined,
  from: string | undefined,
  network: Network,
): Planned {
  const sent = neededAmount(amount, 'BTC');
  checkBitcoinAddress(address, network);
  checkOnchainAmount(sent);
  return { order: onchainOrder(address.address, sent, from ?? 'BTC', false), slow: true };
}

/** Which of two ways is meant is for a person to say. */
function planUri({ value }: Found<'bip21'>, amount: string | undefined, from: string | undefined, network: Network): Planned {
  const { bitcoin, invoice } = value;
  if (bitcoin !== null && invoice !== null) {
    throw new Failure('usage', 'This URI can be paid in two ways: give its address or its invoice alone.');
  }
  if (invoice !== null) return planInvoice({ value: invoice, text: invoice.invoice }, amount, from, network);
  if (bitcoin === null) throw new Failure('usage', 'This URI has no address.');
  const named = value.amount === undefined ? undefined : { ccy: 'BTC', value: value.amount };
  if (named !== undefined) checkSameAmount(amount, named, 'this bitcoin: URI');
  return planOnchain(bitcoin, named === undefined ? amount : `${fixed(named.value)}btc`, from, network);
}

async function planPayout(
  cells: BatchRow['cells'],
  given: readonly string[],
  from: string | undefined,
  { recipients, sender, lookUp }: PlanDeps,
): Promise<Planned> {
  if (given.length === 0) throw new Failure('usage', '"to" is missing.');
  const raw: RawValues = Object.fromEntries(given.map((name) => [payoutColumns.get(name) ?? name, cells[name]]));
  const answers = { ...readAll(answerOptions, raw), amount: amountOf(cells), recipient: cells['recipient'] };
  const draft = readDraft(answers, recipients, sender);
  const missing = missingFlags(draft).map((flag) => columnOf(camel(flag)));
  if (missing.length > 0) throw new Failure('usage', `Missing for a payout: ${missing.join(', ')}.`);
  const payout = await completePayout(draft, from ?? 'BTC', lookUp);
  return { order: payoutOrder(payout), slow: true, to: payout.acctNum };
}

/** `acctNum` for `--acct-num NUMBER`. */
const camel = (flag: string): string =>
  (flag.split(' ')[0] ?? '').replace(/^--/, '').replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The amount with its unit, which stands beside it or in a column of its own. */
function amountOf({ amount, currency: unit }: BatchRow['cells']): string | undefined {
  if (amount === undefined || unit === undefined) return amount;
  if (/^[\d.]+$/.test(amount)) return `${amount}${unit}`;
  parseAmount(amount, /^sats?$/i.test(unit) ? 'BTC' : unit);
  return amount;
}

const currencyOf = (amount: string | undefined): string | undefined =>
  amount === undefined ? undefined : parseAmount(amount).ccy;
