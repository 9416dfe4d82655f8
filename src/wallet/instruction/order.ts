// Derives an order, the body of a create request, from an instruction, with the rates and balances
// of the moment when an attempt begins. Derives both from a transaction of unknown origin. Refuses
// destinations that must not be paid.
import type { CreateSide, Rates, Wallet, Transaction } from '../../api/types.js';
import {
  btcFromMsat,
  money,
  type Money,
  fixed,
  fromWire,
  formatSats,
  satsOf,
} from '../../formats/amount.js';
import {
  type Bip21Destination,
  detectDestination,
  type Destination,
} from '../../formats/destination.js';
import { type Order, walletSide, type Worth, notObeyed } from '../order/orders.js';
import { bankKey, payeeOf } from '../payout/methods.js';
import { inBtc } from '../quote/quote.js';
import {
  exact,
  type Instruction,
  type UriRail,
  wholeOf,
  type WrittenAmount,
  invoiceKey,
  keysOf,
  nodeKey,
  walletKey,
} from './instruction.js';
import { decodeInvoice, type Invoice } from '../../formats/bolt11/decode.js';
import { Failure, ifAvailable, notSent, orFailure } from '../../formats/failure.js';
import { entryOf } from '../../formats/text.js';
import { isOnNetwork, railBy, railProperties, railTo, type Network } from '../../formats/rails.js';
import Big from 'big.js';
import { ServiceError } from '../../api/errors.js';
import {
  type BitcoinAddress,
  tronUsdtContract,
  type BitcoinNetwork,
} from '../../formats/address.js';

/** What the service reports at the moment when an attempt begins. */
export interface Moment {
  /** The current time in epoch ms. */
  readonly now: number;
  readonly rates?: Rates | undefined;
  readonly wallets?: readonly Wallet[] | undefined;
}

/** What svcpay must read from the service before it can derive the order. */
export function needOf(instruction: Instruction): 'rates' | 'wallets' | undefined {
  if (instruction.amount === 'all') return 'wallets';
  return isConverted(instruction) ? 'rates' : undefined;
}

/**
 * Whether each attempt converts the amount to bitcoin. Only a send from the BTC wallet has an
 * amount in another currency that the service does not convert itself.
 */
function isConverted({ verb, amount, from, keys: [key = ''] }: Instruction): boolean {
  const isForeign = (exact({ amount })?.ccy ?? 'BTC') !== 'BTC';
  return verb === 'send' && from === 'BTC' && /^(?:lnurl|onchain):/.test(key) && isForeign;
}

/** Derives the order of a new attempt. Reads rates or wallets only if the amount needs them. */
export async function orderFor(
  instruction: Instruction,
  service: { rates(): Promise<Rates>; wallets(): Promise<Wallet[]>; serviceNow(): number },
): Promise<Order> {
  const need = needOf(instruction);
  return orderOf(instruction, {
    now: service.serviceNow(),
    ...(need === 'rates' && { rates: await service.rates() }),
    ...(need === 'wallets' && { wallets: await service.wallets() }),
  });
}

/** Throws Failure if the amount of this moment cannot be paid, such as an empty wallet. */
export function orderOf(instruction: Instruction, moment: Moment): Order {
  const { note, deductFees, isImported, once, payout } = instruction;
  const { body, ...order } = bare(instruction, moment);
  return {
    ...order,
    body: {
      ...body,
      ...(payout?.sourceOfFunds !== undefined && { sourceOfFunds: payout.sourceOfFunds }),
      ...(deductFees && { deductNetworkFeesFromDest: true }),
      ...(note !== undefined && { note }),
    },
    idempotencyKey: once,
    ...(isImported === true && { isImported }),
  };
}

function bare(instruction: Instruction, moment: Moment): Order {
  const { from, payout } = instruction;
  const to = destinationNow(instruction, moment);
  if ('invoice' in to) return invoiceOrder(to, from);
  const { amount, worth } = spent(instruction, moment);
  const isOnchain = to.method === 'on-chain';
  if (isOnchain) checkOnchainAmount(amount);
  // An on-chain payment states the amount received, even of a whole balance (endpoint 6, rule 5).
  const side = exact(instruction)?.side ?? (isOnchain ? 'gets' : 'debits');
  return { ...pricedOrder(to, payout?.sourceReq ?? walletSide(from), amount, side), worth };
}

/** What an instruction pays to at this moment: an invoice, or a side that needs an amount. */
function destinationNow({ verb, to, payout, ways }: Instruction, moment: Moment) {
  if (verb === 'swap') return walletSide(to);
  return payout?.destReq ?? sendSide(detectDestination(to), ways, moment);
}

/** The invoice by which a URI is paid at this moment, or undefined if its address is paid. */
export function invoiceNow(
  { bitcoin, invoice }: Bip21Destination,
  ways: readonly UriRail[],
  { now }: Pick<Moment, 'now'>,
): Invoice | undefined {
  if (invoice === null) return undefined;
  const isPreferred = ways.length === 1 || invoice.expiresAt > now;
  return bitcoin === null || (ways[0] === 'lightning' && isPreferred) ? invoice : undefined;
}

/** @param moment the time that decides whether the invoice of a URI is still valid */
export function sendSide(
  found: Destination,
  ways: Instruction['ways'] = [],
  moment: Pick<Moment, 'now'>,
): CreateSide | Invoice {
  if (found.kind === 'bolt11') return found.value;
  if (found.kind === 'bip21') {
    const { bitcoin } = found.value;
    const invoice = invoiceNow(found.value, ways, moment);
    return invoice ?? sendSide(detectDestination(bitcoin?.address ?? ''), [], moment);
  }
  const { method, ccy } = railProperties(railTo(found.kind));
  return { ccy, method, reqDetails: { address: found.text } };
}

/**
 * Creates an order that pays an invoice. Neither side of the order has an amount, because the
 * invoice contains the amount (endpoint 6, rule 2).
 */
export const invoiceOrder = (invoice: Invoice, from: string): Order => ({
  kind: 'send lightning',
  body: {
    sourceReq: walletSide(from),
    destReq: { ccy: 'BTC', method: 'lightning', reqDetails: { paymentRequest: invoice.invoice } },
  },
  idempotencyKey: invoiceKey(invoice),
  notBefore: invoice.timestamp * 1000,
  expiresAt: invoice.expiresAt,
  destination: invoice.payee,
  key: nodeKey(invoice.payee),
  receives:
    invoice.amountMsat === null
      ? undefined
      : { ccy: 'BTC', value: btcFromMsat(invoice.amountMsat) },
});

/**
 * Creates an order that states its amount on one side (endpoint 6, rule 1). The rate decides what
 * the recipient gets for a debit in another currency, so the order does not define it.
 */
export function pricedOrder(
  destReq: CreateSide,
  sourceReq: CreateSide,
  amount: Money,
  side: WrittenAmount['side'],
): Order {
  const isDebit = side === 'debits';
  const stated = { amtRequested: amount.value };
  return {
    ...payeeNames(destReq),
    body: {
      sourceReq: { ...sourceReq, ...(isDebit && stated) },
      destReq: { ...destReq, ...(!isDebit && stated) },
    },
    idempotencyKey: null,
    receives: isDebit && sourceReq.ccy !== destReq.ccy ? undefined : amount,
  };
}

/** The kind of an order to this side, and its destination in words and as a key. */
function payeeNames(destReq: CreateSide): Pick<Order, 'kind' | 'destination' | 'key'> {
  const { method, ccy, reqDetails: { address } = {} } = destReq;
  if (method === 'servicepay') return { kind: 'swap', destination: ccy, key: walletKey(ccy) };
  const kind = `send ${railBy(method) ?? method}`;
  if (typeof address !== 'string') {
    const { account, institutionCode } = payeeOf({ destReq });
    const key = bankKey(destReq);
    return account === '' && institutionCode === ''
      ? { kind, destination: ccy, key }
      : { kind: 'payout', destination: `${method}:${institutionCode}:${account}`, key };
  }
  // The service may report an address that svcpay cannot read. It is its own key.
  const found = orFailure(() => detectDestination(address));
  const [key = address] = found instanceof Failure ? [`${method}:${address}`] : keysOf(found);
  return { kind, destination: address, key };
}

/** The exact amount of this moment, with the amount before its conversion to bitcoin. */
function spent(
  instruction: Instruction,
  { rates = {}, wallets = [] }: Moment,
): { readonly amount: Money; readonly worth?: Worth | undefined } {
  const { amount, from } = instruction;
  if (amount === 'all') return { amount: wholeOf(from, wallets) };
  if (amount === 'invoice') throw new Error('An order for an invoice states no amount.');
  const asked = money(amount.ccy, amount.value);
  if (!isConverted(instruction)) return { amount: asked };
  const { amount: bitcoin, worth } = inBtc(asked, rates);
  return { amount: bitcoin, worth: worth && { ...worth.given, rate: worth.rate } };
}

/**
 * Derives an order from a quote. A quote has the amounts of both sides, but an order states only
 * the amounts that its destination method requires.
 */
export function orderOfQuote(txn: Transaction): Order {
  const { note, deductNetworkFeesFromDest } = txn;
  const [sourceReq, destReq] = [named(txn.sourceReq, txn), named(txn.destReq, txn)];
  const invoice = invoiceOf(destReq.reqDetails);
  const [source, dest] = entryOf(amountSides, destReq.method) ?? [false, true];
  const side = (of: typeof sourceReq, withAmount: boolean) => ({
    ccy: of.ccy,
    method: of.method,
    reqDetails: of.reqDetails ?? {},
    ...(withAmount && of.amtRequested != null && { amtRequested: fromWire(of.amtRequested) }),
  });
  const amount = destReq.amtRequested;
  return {
    ...payeeNames(side(destReq, false)),
    ...(invoice && { destination: invoice.payee, key: nodeKey(invoice.payee) }),
    body: {
      sourceReq: side(sourceReq, source),
      destReq: side(destReq, dest),
      ...(typeof note === 'string' && { note }),
      ...(deductNetworkFeesFromDest === true && { deductNetworkFeesFromDest }),
    },
    idempotencyKey: invoice === undefined ? null : invoiceKey(invoice),
    receives: dest && amount != null ? money(destReq.ccy, fromWire(amount)) : undefined,
  };
}

/**
 * Reads one side of a quote, with its currency and method. Throws Failure `refused` if the currency
 * or the method is missing, because an incomplete quote must not be confirmed.
 */
function named({ ccy, method, ...side }: Transaction['sourceReq'], { txnId }: Transaction) {
  if (typeof ccy === 'string' && typeof method === 'string') return { ...side, ccy, method };
  throw notObeyed('one side of the quote has no currency or no method', txnId);
}

/**
 * For each destination method, whether an order states the source amount and whether it states the
 * destination amount (endpoint 6, rules 2 to 8).
 */
const amountSides: Readonly<Record<string, readonly [source: boolean, dest: boolean]>> = {
  lightning: [false, false],
  lnurl: [true, false],
  servicepay: [true, false],
};

function invoiceOf(details: Transaction['destReq']['reqDetails']): Invoice | undefined {
  const text = details?.['paymentRequest'];
  return typeof text === 'string' ? decodeInvoice(text) : undefined;
}

/**
 * The instruction that an order of unknown origin carries out.
 * @param isImported whether the order may lack parts of what was asked
 */
export function instructionOfOrder(order: Order, isImported: boolean): Instruction {
  const { kind, body, key, idempotencyKey, destination } = order;
  const { sourceReq, destReq, note, sourceOfFunds, deductNetworkFeesFromDest } = body;
  const { address, paymentRequest, acctNum, bankAcctNum } = destReq.reqDetails ?? {};
  const isPayout = acctNum !== undefined || bankAcctNum !== undefined;
  const asked = amountOf(sourceReq, 'debits') ?? amountOf(destReq, 'gets');
  const to = [paymentRequest, address].find((each) => typeof each === 'string');
  return {
    verb: isPayout ? 'payout' : kind === 'swap' ? 'swap' : 'send',
    to: typeof to === 'string' ? to : isPayout ? payeeOf(body).account : destination,
    keys: [key],
    once: idempotencyKey,
    amount: asked ?? 'invoice',
    from: sourceReq.ccy,
    deductFees: deductNetworkFeesFromDest === true,
    ...(isPayout && {
      payout: { sourceReq, destReq, ...(sourceOfFunds !== undefined && { sourceOfFunds }) },
    }),
    ...(note !== undefined && { note }),
    ...(isImported && { isImported }),
  };
}

function amountOf(
  { ccy, amtRequested }: Order['body']['sourceReq'],
  side: WrittenAmount['side'],
): WrittenAmount | undefined {
  if (amtRequested === undefined) return undefined;
  const amount = money(ccy, amtRequested);
  return { ...amount, written: `${fixed(amount.value)}${ccy.toLowerCase()}`, side };
}

/**
 * Throws Failure `usage` for a destination on a different network, where the money would be lost.
 * @param noun a noun such as `invoice`
 */
function checkNetwork(noun: string, actual: BitcoinNetwork, wanted: Network): void {
  if (isOnNetwork(actual, wanted)) return;
  throw notSent(`this is a ${actual} ${noun}, but your payments are on ${wanted}`, {
    hint: `Ask for an ${noun} on ${wanted}, or choose another network.`,
  });
}

/** The minimum on-chain send, in BTC (specification, section Limits). */
const smallestOnchain = new Big('0.00001');

/** Throws Failure `usage` for an invoice for a different network or without an amount. */
export function checkInvoice(invoice: Invoice, wanted: Network): void {
  checkNetwork('invoice', invoice.network, wanted);
  if (invoice.amountMsat !== null) return;
  throw notSent('this invoice has no amount, and the service pays only invoices with an amount', {
    hint: 'Ask for an invoice with an amount.',
  });
}

/** Throws Failure `usage` for an address on a different network or of an unsupported type. */
export function checkBitcoinAddress({ network, type }: BitcoinAddress, wanted: Network): void {
  checkNetwork('address', network, wanted);
  if (type !== 'witness') return;
  throw notSent('this address has an undefined witness version', {
    hint:
      'Anyone could take money sent to this address. Ask for an address that begins with bc1q, ' +
      'bc1p, 3 or 1.',
  });
}

/** Throws Failure `usage` for an amount below the on-chain minimum (endpoint 6, rule 5). */
export function checkOnchainAmount({ value }: Money): void {
  if (value.gte(smallestOnchain)) return;
  throw notSent(
    `${formatSats(value)} is too little. ` +
      `An on-chain payment must be at least ${formatSats(smallestOnchain)}`,
    {
      hint: `Send at least ${satsOf(smallestOnchain)}sat, or ask for a Lightning invoice.`,
    },
  );
}

/** Throws Failure `usage` for the address of the USDT contract, where the money would be lost. */
export function checkTronAddress(address: string): void {
  if (address !== tronUsdtContract) return;
  throw notSent('this is the address of the USDT contract. Money sent to it would be lost', {
    hint: "Ask for the recipient's own address.",
  });
}

/** The requests that read the permanent addresses of this account from the service. */
export interface OwnAddresses {
  bitcoinAddress(): Promise<{ readonly staticOnchainAddress: string }>;
  usdtAddress(chain: 'TRON'): Promise<{ readonly staticOnchainAddress: string }>;
}

/** Whether the account has a permanent address of the same type as a destination. */
export const mayBeOwn = ({ keys }: Instruction): boolean => keys.some((key) => isAddress.test(key));

const isAddress = /^(?:onchain|tron):/;

/**
 * Refuses instructions that pay to the account's own permanent addresses. Calls `say` if svcpay
 * cannot read the account's addresses.
 */
export function ownAddressGuard(
  open: () => Promise<{ readonly client: OwnAddresses }>,
  say: (line: string) => void,
): (instruction: Instruction) => Promise<void> {
  const accounts = new Map<string, Promise<{ readonly staticOnchainAddress: string }>>();
  return async ({ keys }) => {
    const key = keys.find((each) => isAddress.test(each));
    if (key === undefined) return;
    const isTron = key.startsWith('tron:');
    const method = isTron ? 'tron' : 'on-chain';
    const { client } = await open();
    const isFirst = !accounts.has(method);
    const own =
      accounts.get(method) ?? (isTron ? client.usdtAddress('TRON') : client.bitcoinAddress());
    accounts.set(method, own);
    own.catch(() => accounts.delete(method));
    await refuseOwnAddress(key, () => own, isFirst ? say : () => undefined);
  };
}

/**
 * Throws Failure `usage` for the account's own deposit address, because the money would return
 * minus the fees. Does not throw if the account has no deposit address, or if svcpay cannot read
 * it.
 */
export async function refuseOwnAddress(
  key: string,
  ownAddress: () => Promise<{ readonly staticOnchainAddress: string }>,
  say: (line: string) => void,
): Promise<void> {
  const asked = ownAddress().catch((error: unknown) => {
    if (error instanceof ServiceError && (error.kind === 'refused' || error.kind === 'not-found'))
      return undefined;
    throw error;
  });
  const own = await ifAvailable(asked, (why) =>
    say(`svcpay could not check whether this is your own deposit address. ${why}`),
  );
  const address = own?.staticOnchainAddress ?? '';
  if (key !== `tron:${address}` && key.toLowerCase() !== `onchain:${address.toLowerCase()}`) return;
  throw notSent('this is your own deposit address. The money would return to you minus the fees', {
    hint: "Ask for the recipient's address.",
  });
}
