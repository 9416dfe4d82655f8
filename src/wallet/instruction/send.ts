// Reads the instruction of a send from destination, amount and flags, for every command that sends.
// Pure: reading needs neither rates nor balances.
import type { BitcoinAddress } from '../../formats/address.js';
import {
  btcFromMsat,
  currencyOf,
  fixed,
  formatAmount,
  money,
  parseAmount,
  type Money,
} from '../../formats/amount.js';
import {
  detectDestination,
  type Bip21Destination,
  type Destination,
} from '../../formats/destination.js';
import { Failure, notSent, invalid } from '../../formats/failure.js';
import {
  isOnNetwork,
  railProperties,
  railTo,
  type Network,
  type Rail,
} from '../../formats/rails.js';
import { isForeign } from '../quote/quote.js';
import {
  checkBitcoinAddress,
  checkInvoice,
  checkOnchainAmount,
  checkTronAddress,
  invoiceNow,
} from './order.js';
import {
  type Instruction,
  isAll,
  type UriRail,
  uriRails,
  written,
  type WrittenAmount,
  keysOf,
  invoiceKey,
} from './instruction.js';

/** The payment that a person requests, as the text of arguments and flags. */
export interface SendWords {
  /** The rail that the person names, or undefined if svcpay should detect the rail. */
  readonly rail?: Rail | undefined;
  readonly to?: string | undefined;
  /** The name of the address book by which the person gave the destination. */
  readonly name?: string | undefined;
  /**
   * The amount that arrives, or the amount to debit if the destination is a Lightning Address or an
   * LNURL.
   */
  readonly amount?: string | undefined;
  /** The amount to debit, if the person specifies the debit instead of the amount that arrives. */
  readonly spend?: string | undefined;
  /** The wallet that pays, or undefined for the default wallet of the rail. */
  readonly from?: string | undefined;
  readonly via?: UriRail | undefined;
  readonly deductFees?: boolean | undefined;
  readonly note?: string | undefined;
}

/** The payable destination, which svcpay extracts from a URI if necessary. */
export type Payable = Exclude<Destination, { kind: 'bip21' | 'evm-address' }>;

export interface SendRequest {
  readonly instruction: Instruction;
  /** The destination by which svcpay pays now. */
  readonly pays: Payable;
  /** The label and message of the `bitcoin:` URI. */
  readonly uriTexts: readonly string[];
  /**
   * Whether the payment settles only after hours or days, so that svcpay waits for the settlement
   * only on request.
   */
  readonly slow: boolean;
}

/** The answer that svcpay still needs from the person. */
export type Missing = 'destination' | 'way' | 'amount';

export type ReadSend =
  | { readonly missing?: undefined; readonly request: SendRequest }
  | {
      readonly missing: Missing;
      /** The currency of the missing amount, or undefined if any wallet may pay. */
      readonly ccy?: string | undefined;
    };

export interface SendEnvironment {
  readonly network: Network;
  /** The current time in epoch ms. */
  readonly now: number;
  /** Whether a person can choose the way of a URI. If false, svcpay prefers Lightning. */
  readonly asksWay?: boolean | undefined;
}

/** Reads a send. Throws Failure `usage` for an invalid or impossible payment. */
export function readSend(words: SendWords, environment: SendEnvironment): ReadSend {
  if (words.to === undefined) return { missing: 'destination' };
  const found = detectDestination(words.to);
  if (found.kind === 'bip21') return readUri(found.value, words, environment);
  const { via, rail } = words;
  if (via !== undefined)
    throw refused('only a bitcoin: URI lets you choose between Lightning and on-chain');
  if (rail !== undefined && rail !== railTo(found.kind)) throw otherDestination(found.kind, rail);
  switch (found.kind) {
    case 'bolt11':
      return readInvoice(found, words, environment);
    case 'lnurl':
    case 'lightning-address':
      return readLnurl(found, words);
    case 'bitcoin-address':
      return readOnchain(found, words, environment);
    case 'tron-address':
      return readUsdt(found, words);
    // The service does not offer USDT on Ethereum yet (specification: eth).
    case 'evm-address':
      throw refused(
        'the service has announced USDT on Ethereum, but does not offer it yet',
        'Ask the recipient for a TRON address, which begins with T.',
      );
  }
}

/**
 * Reads a send without prompts. Throws Failure `usage` if an answer is missing. If a `bitcoin:` URI
 * offers two rails, svcpay prefers Lightning.
 */
export function readSendNow(words: SendWords, environment: SendEnvironment): SendRequest {
  const read = readSend(words, { ...environment, asksWay: false });
  if (read.missing === undefined) return read.request;
  if (read.missing === 'destination') throw refused('the destination is missing');
  const { ccy = 'BTC' } = read;
  const example = ccy === 'BTC' ? '50000sat' : `25${ccy.toLowerCase()}`;
  throw refused(`the amount is missing. Add an amount after the destination, such as ${example}`);
}

const names: Readonly<Record<Destination['kind'], string>> = {
  bolt11: 'a Lightning invoice',
  'bitcoin-address': 'a Bitcoin address',
  'tron-address': 'a TRON address',
  'evm-address': 'an Ethereum address',
  lnurl: 'an LNURL',
  'lightning-address': 'a Lightning Address',
  bip21: 'a bitcoin: URI',
};

const otherDestination = (kind: Destination['kind'], rail: Rail): Failure =>
  refused(
    `this is ${names[kind]}, but send ${rail} requires ${railProperties(rail).destination}`,
    `Omit "${rail}", and svcpay detects the kind of payment from the destination.`,
  );

/** Reads the payment of an invoice, which fixes the amount (endpoint 6, rule 2). */
function readInvoice(
  pays: Payable & { kind: 'bolt11' },
  words: SendWords,
  { network }: SendEnvironment,
): ReadSend {
  const invoice = pays.value;
  checkInvoice(invoice, network);
  if (words.deductFees === true)
    throw refused('an invoice fixes the amount received, so fees cannot be deducted from it');
  if (words.spend !== undefined)
    throw refused('an invoice fixes the amount received, so you cannot fix the amount debited');
  if (invoice.amountMsat !== null)
    checkSameAmount(words.amount, money('BTC', btcFromMsat(invoice.amountMsat)), 'this invoice');
  return complete(pays, words, {
    once: invoiceKey(invoice),
    amount: 'invoice',
    from: words.from ?? 'BTC',
  });
}

/**
 * Reads a payment to an LNURL. The requested amount is the amount to debit (endpoint 6, rule 3), so
 * without `from`, the currency of this amount decides which wallet pays.
 */
function readLnurl(
  pays: Payable & { kind: 'lnurl' | 'lightning-address' },
  words: SendWords,
): ReadSend {
  const { from } = words;
  if (words.amount !== undefined && words.spend !== undefined) throw twoAmounts();
  const given = words.amount ?? words.spend;
  if (given === undefined) return { missing: 'amount', ccy: from };
  if (isAll(given)) return complete(pays, words, { amount: 'all', from: from ?? 'BTC' });
  const payer = from ?? currencyOf(given) ?? 'BTC';
  return complete(pays, words, { amount: inBitcoin(given, payer, 'debits', from), from: payer });
}

/** Reads an on-chain payment by the amount that arrives (endpoint 6, rule 5). */
function readOnchain(
  pays: Payable & { kind: 'bitcoin-address' },
  words: SendWords,
  environment: SendEnvironment,
): ReadSend {
  const { amount, from = 'BTC' } = words;
  checkBitcoinAddress(pays.value, environment.network);
  if (words.spend !== undefined)
    throw refused('an on-chain payment requires the amount received, not the amount debited');
  if (amount === undefined) return { missing: 'amount', ccy: 'BTC' };
  if (isAll(amount)) {
    if (from !== 'BTC') throw notAllOf(from);
    return complete(pays, words, { amount: 'all', from });
  }
  const asked = inBitcoin(amount, 'BTC', 'gets', words.from);
  if (asked.ccy === 'BTC') checkOnchainAmount(asked);
  return complete(pays, words, { amount: asked, from });
}

const notAllOf = (ccy: string): Failure =>
  refused(
    `an on-chain payment states its amount in BTC, so it cannot send all of your ${ccy}`,
    `Swap your ${ccy} to BTC first.`,
  );

/**
 * Reads an amount in `ccy`. If the person names the BTC wallet as the paying wallet, the amount may
 * be in another currency, and each attempt converts it at the rate of its moment.
 */
function inBitcoin(
  text: string,
  ccy: string,
  side: WrittenAmount['side'],
  named: string | undefined,
): WrittenAmount {
  const isConverted = ccy === 'BTC' && named === 'BTC' && isForeign(text);
  return written(text, side, isConverted ? undefined : ccy);
}

/**
 * Reads a USDT payment by the USDT amount that arrives. If the person fixes the debit with `spend`,
 * any wallet can pay.
 */
function readUsdt(pays: Payable & { kind: 'tron-address' }, words: SendWords): ReadSend {
  const { amount, spend, from } = words;
  checkTronAddress(pays.value.address);
  if (amount !== undefined && spend !== undefined) throw twoAmounts();
  if (amount === undefined && spend === undefined) return { missing: 'amount', ccy: 'USDT' };
  if (isAll(amount) || isAll(spend))
    return complete(pays, words, { amount: 'all', from: from ?? 'USDT' });
  if (spend === undefined)
    return complete(pays, words, { amount: usdtAmount(amount ?? ''), from: from ?? 'USDT' });
  const debit = written(spend, 'debits', from ?? currencyOf(spend));
  return complete(pays, words, { amount: debit, from: debit.ccy });
}

/**
 * Reads a USDT amount. For an amount in a currency other than USDT, the hint of the failure
 * suggests specifying the amount to debit.
 */
function usdtAmount(text: string): WrittenAmount {
  try {
    return written(text, 'gets', 'USDT');
  } catch (error) {
    const ccy = currencyOf(text);
    if (!(error instanceof Failure) || ccy === undefined || ccy === 'USDT') throw error;
    throw invalid(error.message, {
      hint: `To debit exactly ${text}, give ${text} as the amount to spend.`,
    });
  }
}

/** Reads a payment to a `bitcoin:` URI, by the ways that the URI offers and the flags allow. */
function readUri(uri: Bip21Destination, words: SendWords, environment: SendEnvironment): ReadSend {
  const { bitcoin, invoice } = uri;
  const { rail, via } = words;
  if (rail === 'lnurl' || rail === 'usdt') throw otherDestination('bip21', rail);
  if (rail !== undefined && via !== undefined && rail !== via)
    throw refused(`send ${rail} cannot pay ${via === 'onchain' ? 'on-chain' : 'over Lightning'}`);
  const named = via ?? rail;
  if (named === 'lightning' && invoice === null)
    throw refused('this bitcoin: URI has no Lightning invoice');
  if (named === 'onchain' && bitcoin === null) throw refused('this bitcoin: URI has no address');
  const ways = named === undefined ? waysOf(uri, words, environment) : [named];
  const isValid = invoice !== null && invoice.expiresAt > environment.now;
  if (ways.length > 1 && isValid && environment.asksWay !== false) return { missing: 'way' };
  const rest = { ...words, rail: undefined, via: undefined };
  const paid = invoiceNow(uri, ways, environment);
  const read =
    paid === undefined
      ? readUriAddress(uri, bitcoin, rest, environment)
      : readInvoice({ kind: 'bolt11', text: paid.invoice, value: paid }, rest, environment);
  return withUri(uri, words, ways, read);
}

/**
 * The ways in which the URI can be paid, Lightning first. An on-chain payment can replace an
 * expired invoice only if the amount is known without the invoice.
 */
function waysOf(
  { bitcoin, invoice, amount }: Bip21Destination,
  words: SendWords,
  { network, now }: SendEnvironment,
): readonly UriRail[] {
  if (bitcoin === null) return ['lightning'];
  const isPayable =
    invoice !== null &&
    invoice.amountMsat !== null &&
    isOnNetwork(invoice.network, network) &&
    words.deductFees !== true;
  if (!isPayable) return ['onchain'];
  const isKnown = amount !== undefined || words.amount !== undefined;
  if (isKnown) return uriRails;
  return invoice.expiresAt > now ? ['lightning'] : ['onchain'];
}

function readUriAddress(
  uri: Bip21Destination,
  bitcoin: BitcoinAddress | null,
  words: SendWords,
  environment: SendEnvironment,
): ReadSend {
  if (bitcoin === null) throw refused('this bitcoin: URI has no address');
  const pays = { kind: 'bitcoin-address', text: bitcoin.address, value: bitcoin } as const;
  if (uri.amount === undefined) return readOnchain(pays, words, environment);
  const named = money('BTC', uri.amount);
  checkSameAmount(words.amount, named, 'this bitcoin: URI');
  return readOnchain(pays, { ...words, amount: `${fixed(named.value)}btc` }, environment);
}

/** Completes the instruction of a URI: it pays the address or the invoice, but never both. */
function withUri(
  uri: Bip21Destination,
  { to = '' }: SendWords,
  ways: readonly UriRail[],
  read: ReadSend,
): ReadSend {
  if (read.missing !== undefined) return read;
  const { invoice, amount, label, message } = uri;
  const { instruction, ...request } = read.request;
  return {
    request: {
      ...request,
      instruction: {
        ...instruction,
        to: to.trim(),
        keys: keysOf({ kind: 'bip21', text: to, value: uri }),
        once: invoice === null ? null : invoiceKey(invoice),
        amount:
          amount === undefined ? instruction.amount : written(`${fixed(amount)}btc`, 'gets', 'BTC'),
        ways,
      },
      uriTexts: [label, message].flatMap((text) => (text ? [text] : [])),
    },
  };
}

function complete(
  pays: Payable,
  { name, note, deductFees = false }: SendWords,
  asked: Pick<Instruction, 'amount' | 'from'> & Partial<Pick<Instruction, 'once'>>,
): ReadSend {
  const instruction: Instruction = {
    verb: 'send',
    to: pays.text,
    keys: keysOf(pays),
    once: null,
    ...asked,
    deductFees: deductFees || asked.amount === 'all',
    ...(name !== undefined && { name }),
    ...(note !== undefined && { note }),
  };
  const slow = railProperties(railTo(pays.kind)).isSlow;
  return { request: { instruction, pays, uriTexts: [], slow } };
}

/** Throws Failure `usage` if the given amount differs from the destination's amount. */
function checkSameAmount(given: string | undefined, named: Money, where: string): void {
  if (given === undefined) return;
  if (!isAll(given) && parseAmount(given, named.ccy).value.eq(named.value)) return;
  throw refused(
    `${where} is for ${formatAmount(named)}, not for ${given}`,
    'Omit the amount, or ask the recipient for a new request.',
  );
}

const twoAmounts = (): Failure =>
  refused('give either the amount received or the amount debited, not both');

const refused = (reason: string, hint?: string): Failure => notSent(reason, { hint });
