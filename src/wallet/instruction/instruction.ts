// The instruction: what a person, script, agent, row or file asked for, as it was asked, before any
// rate, balance, lookup or quote. Pure. The journal stores the instruction with its payment, and
// the digest of the instruction decides whether two requests are the same payment. Every question
// about the same payee compares the destination keys, which this file makes.
import { createHash } from 'node:crypto';
import Big from 'big.js';
import * as v from 'valibot';
import type { CreateSide, CreateTransaction, Wallet } from '../../api/types.js';
import {
  currencyOf,
  decimalsOf,
  fixed,
  formatAmount,
  type Money,
  moneyFromWire,
  parseAmount,
} from '../../formats/amount.js';
import { Failure, notSent, invalid } from '../../formats/failure.js';
import { isFields, entryOf } from '../../formats/text.js';
import type { Payment, PaymentDraft } from '../../store/journal/payment.js';
import { parseBitcoinAddress } from '../../formats/address.js';
import type { Invoice } from '../../formats/bolt11/decode.js';
import { type Destination, lnurlTarget } from '../../formats/destination.js';

/**
 * Writes a value as JSON in which identical values give identical text: decimals as fixed text, and
 * keys in order. Stored orders and instructions have this form.
 */
export const canonicalJson = (value: unknown): string => JSON.stringify(plain(value));

function plain(value: unknown): unknown {
  if (value instanceof Big) return fixed(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, plain(each)]));
}

/** Reads a decimal in the form that {@link canonicalJson} writes. */
export const decimal = v.pipe(
  v.string(),
  v.regex(/^\d+(\.\d+)?$/),
  v.transform((text) => new Big(text)),
);

/** The rails that a `bitcoin:` URI can offer. */
export const uriRails = ['lightning', 'onchain'] as const;
export type UriRail = (typeof uriRails)[number];

/** An amount as it was written, with its unit. */
export interface WrittenAmount extends Money {
  readonly written: string;
  /** Whether the recipient gets this amount, or the paying wallet is debited by it. */
  readonly side: 'gets' | 'debits';
}

export interface Instruction {
  readonly verb: 'send' | 'swap' | 'payout';
  /** The destination as written; for a swap the credited wallet, for a payout the account. */
  readonly to: string;
  /** The destination keys (see `keysOf`). A `bitcoin:` URI with an invoice has two. */
  readonly keys: readonly string[];
  /** The key of what can be paid only once, such as `bolt11:HASH` for an invoice, or null. */
  readonly once: string | null;
  /** The amount, `all` for the whole balance, or `invoice` if the invoice contains the amount. */
  readonly amount: WrittenAmount | 'all' | 'invoice';
  /** The currency of the paying wallet. */
  readonly from: string;
  /** The ways in which a `bitcoin:` URI may be paid, the preferred one first. */
  readonly ways?: readonly UriRail[] | undefined;
  readonly deductFees: boolean;
  /** The parties, the account and the codes of a payout, in the form of a create request. */
  readonly payout?: PayoutDetails | undefined;
  readonly note?: string | undefined;
  /** The name of the payee in the address book, if the destination was given by its name. */
  readonly name?: string | undefined;
  /**
   * Whether svcpay derived the instruction from a transaction that another program or a lost
   * journal requested. The transaction may lack parts of what was asked.
   */
  readonly isImported?: boolean | undefined;
}

/** The exact amount, or undefined for a whole balance and for the amount of an invoice. */
export const exact = ({ amount }: Pick<Instruction, 'amount'>): WrittenAmount | undefined =>
  typeof amount === 'string' ? undefined : amount;

export type PayoutDetails = Pick<CreateTransaction, 'sourceReq' | 'destReq' | 'sourceOfFunds'>;

const kycSchema = v.strictObject({
  type: v.picklist(['individual', 'business']),
  details: v.strictObject({
    legalFullName: v.string(),
    countryCode: v.string(),
    contactNumber: v.exactOptional(v.string()),
    address1: v.exactOptional(v.string()),
  }),
});

const sideSchema = v.strictObject({
  ccy: v.string(),
  method: v.string(),
  amtRequested: v.exactOptional(decimal),
  reqDetails: v.exactOptional(v.record(v.string(), v.unknown())),
  kyc: v.exactOptional(kycSchema),
});

/** The body of a create request, as the journal stores it. */
export const bodySchema = v.strictObject({
  sourceReq: sideSchema,
  destReq: sideSchema,
  note: v.exactOptional(v.string()),
  deductNetworkFeesFromDest: v.exactOptional(v.boolean()),
  deductServicepayFees: v.exactOptional(v.boolean()),
  deductNetworkFees: v.exactOptional(v.boolean()),
  sourceOfFunds: v.exactOptional(
    v.object({ purpose: v.number(), source: v.number(), relationship: v.number() }),
  ),
});

const version = 1;

/** The form in which the journal and proposals store an instruction. */
export const instructionSchema = v.strictObject({
  version: v.literal(version),
  verb: v.picklist(['send', 'swap', 'payout']),
  to: v.string(),
  keys: v.array(v.string()),
  once: v.nullable(v.string()),
  amount: v.union([
    v.picklist(['all', 'invoice']),
    v.strictObject({
      written: v.string(),
      ccy: v.string(),
      value: decimal,
      side: v.picklist(['gets', 'debits']),
    }),
  ]),
  from: v.string(),
  ways: v.exactOptional(v.array(v.picklist(uriRails))),
  deductFees: v.boolean(),
  payout: v.exactOptional(bodySchema),
  note: v.exactOptional(v.string()),
  name: v.exactOptional(v.string()),
  isImported: v.exactOptional(v.boolean()),
});

export const storedInstruction = (instruction: Instruction): object => ({
  version,
  ...instruction,
});

/**
 * Reads the instruction of a payment. Throws Failure `usage` that names the payment, if a newer
 * version of svcpay wrote the instruction.
 */
export function instructionOf({
  ref,
  instruction,
}: Pick<Payment, 'ref' | 'instruction'>): Instruction {
  const stored: unknown = JSON.parse(instruction);
  const read = v.safeParse(instructionSchema, stored);
  if (read.success) {
    const { version: _version, ...fields } = read.output;
    return fields;
  }
  const found = isFields(stored) ? stored['version'] : undefined;
  const isNewer = typeof found === 'number' && found > version;
  throw invalid(
    isNewer
      ? `A newer version of svcpay wrote the instruction of the payment ${ref} (version ${found}).`
      : `Journal entry ${ref} is inconsistent: svcpay cannot read its instruction.`,
    { hint: isNewer ? 'Upgrade svcpay on this machine.' : undefined, cause: read.issues },
  );
}

/**
 * Returns the instruction of a payment, or undefined if the payment cannot be repeated because it
 * paid an invoice or was imported.
 */
export function repeatable(payment: Payment): Instruction | undefined {
  const instruction = instructionOf(payment);
  const { once, isImported } = instruction;
  return once === null && isImported !== true ? instruction : undefined;
}

/**
 * The digest of an instruction: SHA-256 of its canonical JSON. The digest covers the keys, the
 * exact amount and its side, the wallet and the details. It ignores the note, the spelling of
 * destination and amount, the way that a URI is paid, and a name of the address book.
 */
export const digestOf = (instruction: Instruction): string =>
  createHash('sha256')
    .update(canonicalJson(canonical(instruction)))
    .digest('hex');

function canonical({ verb, keys, once, amount, from, deductFees, payout }: Instruction): unknown {
  return {
    version,
    verb,
    keys: [...keys].toSorted(),
    once,
    amount:
      typeof amount === 'string'
        ? amount
        : { ccy: amount.ccy, value: fixed(amount.value), side: amount.side },
    from,
    deductFees,
    ...(payout !== undefined && {
      payer: payout.sourceReq.kyc,
      payee: withoutListData(payout.destReq.reqDetails),
      recipient: payout.destReq.kyc,
      sourceOfFunds: payout.sourceOfFunds,
    }),
  };
}

/**
 * Removes from the details of a payee the data that came from the service's list of institutions,
 * because that list may later be unavailable or different.
 */
function withoutListData(details: CreateSide['reqDetails']) {
  const { institutionName: _name, institutionCode: code, ...rest } = details ?? {};
  return { ...rest, ...(typeof code === 'string' && { institutionCode: code.toUpperCase() }) };
}

/** The columns of the journal that store what was asked for. */
export const askedColumns = (
  instruction: Instruction,
  kind: string,
): Pick<PaymentDraft, 'kind' | 'instruction' | 'digest' | 'idempotencyKey'> => ({
  kind,
  instruction: canonicalJson(storedInstruction(instruction)),
  digest: digestOf(instruction),
  idempotencyKey: instruction.once,
});

/**
 * Reads an amount with its unit. Throws Failure `usage` for an invalid amount.
 * @param ccy the currency of the amount, if the command already names it
 */
export function written(
  text: string,
  side: WrittenAmount['side'],
  ccy?: string | undefined,
): WrittenAmount {
  const amount = parseAmount(text, ccy);
  const unit = currencyOf(text) === undefined ? amount.ccy.toLowerCase() : '';
  const { ccy: of, value } = amount;
  return { ccy: of, value, written: `${text.replaceAll(/\s/gu, '')}${unit}`, side };
}

export const isAll = (amount: string | undefined): boolean =>
  amount?.trim().toLowerCase() === 'all';

/**
 * Returns the balance of a wallet, rounded down to the currency's smallest unit. Throws Failure
 * `limit` for a missing or empty wallet.
 */
export function wholeOf(ccy: string, wallets: readonly Wallet[]): Money {
  const held = moneyFromWire(ccy, wallets.find((each) => each.ccy === ccy)?.availableBalance);
  if (held === undefined) throw nothingIn(`you have no ${ccy} wallet.`);
  const whole = held.value.round(decimalsOf(ccy), Big.roundDown);
  if (whole.gt(0)) return { ccy, value: whole };
  throw nothingIn(`your ${ccy} wallet is empty.`);
}

const nothingIn = (why: string): Failure =>
  new Failure('limit', why, { money: 'Not sent', next: { do: 'see-wallets' } });

/** Throws Failure `usage` for an amount above the balance that svcpay shows on the screen. */
export function checkHeld({ ccy, value }: Money, balances: readonly Money[]): void {
  const held = balances.find((each) => each.ccy === ccy);
  if (held === undefined || held.value.gte(value)) return;
  throw invalid(`You have ${formatAmount(held)}. Write less, or all.`);
}

/**
 * The keys of a destination: `onchain:ADDRESS`, `tron:ADDRESS`, `lnurl:URL`, `node:KEY` for an
 * invoice. A `bitcoin:` URI has a key for its address and a key for its invoice.
 */
export function keysOf({ kind, value, text }: Destination): readonly string[] {
  switch (kind) {
    case 'bolt11':
      return [nodeKey(value.payee)];
    case 'bitcoin-address':
      return [onchainKey(value.address)];
    case 'tron-address':
      return [tronKey(value.address)];
    case 'lnurl':
    case 'lightning-address':
      return [lnurlKey(text)];
    case 'evm-address':
      return [`eth:${value.address}`];
    case 'bip21':
      return [
        ...(value.bitcoin === null ? [] : [onchainKey(value.bitcoin.address)]),
        ...(value.invoice === null ? [] : [nodeKey(value.invoice.payee)]),
      ];
  }
}

/** The key of an invoice, which can be paid only once. */
export const invoiceKey = ({ paymentHash }: Pick<Invoice, 'paymentHash'>): string =>
  `bolt11:${paymentHash}`;

export const nodeKey = (node: string): string => `node:${node}`;
export const tronKey = (address: string): string => `tron:${address}`;
/** @param text a Lightning Address or an LNURL, which lead to the same key */
export const lnurlKey = (text: string): string => `lnurl:${lnurlTarget(text)}`;
export const walletKey = (ccy: string): string => `wallet:${ccy}`;

/** @param address a valid address; upper-case and lower-case Bech32 addresses are the same */
export const onchainKey = (address: string): string =>
  `onchain:${parseBitcoinAddress(address).address}`;

const methods: Readonly<Record<string, string>> = {
  node: 'lightning',
  lnurl: 'lnurl',
  onchain: 'on-chain',
  tron: 'tron',
  wallet: 'servicepay',
};

/** Returns the method by which svcpay pays an instruction first, or undefined for a payout. */
export const methodOf = ({
  keys: [key = ''],
  ways: [way] = [],
}: {
  readonly keys: readonly string[];
  readonly ways?: readonly string[] | undefined;
}): string | undefined =>
  way === 'lightning' ? 'lightning' : entryOf(methods, key.replace(/:.*/, ''));

/**
 * Whether many payees may share the key, as the customers of one Lightning provider share its node.
 * Two invoices of one node are not the same payment, because each can be paid only once.
 */
export const isShared = (key: string): boolean => key.startsWith('node:');

export type SwapWords = Readonly<Partial<Record<'amount' | 'from' | 'to', string | undefined>>>;

/** Reads a swap. Throws Failure `usage` if both wallets are the same, and for invalid amounts. */
export function readSwap(
  { amount, from, to }: SwapWords,
  receive: boolean,
  note?: string | undefined,
): Instruction {
  if (amount === undefined || from === undefined || to === undefined)
    throw new Error('The swap lacks an amount or one of its two wallets.');
  if (from === to) throw notSent(`a swap needs two different wallets; both are ${from}`);
  const isWhole = isAll(amount);
  if (isWhole && receive)
    throw notSent('"all" means the whole balance of the paying wallet. Remove --receive');
  return {
    verb: 'swap',
    to,
    keys: [walletKey(to)],
    once: null,
    amount: isWhole ? 'all' : written(amount, receive ? 'gets' : 'debits', receive ? to : from),
    from,
    deductFees: isWhole,
    ...(note !== undefined && { note }),
  };
}
