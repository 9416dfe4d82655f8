// Requests money by any method. For each request, creates and confirms one transaction, and waits
// for its invoice or address. Checks what the service gives for payers before svcpay shows it.
import Big from 'big.js';
import { decimal, instant } from '../../api/reading.js';
import type {
  BitcoinAddress,
  CreateTransaction,
  Transaction,
  UsdtAddress,
  UsdtChain,
} from '../../api/types.js';
import {
  parseBitcoinAddress,
  parseEvmAddress,
  parseTronAddress,
  tronUsdtContract,
} from '../../formats/address.js';
import { fixed, fromWire, type Money, moneyFromWire, msatOf } from '../../formats/amount.js';
import { decodeInvoice } from '../../formats/bolt11/decode.js';
import {
  encodeLnurl,
  formatBip21,
  parseBip21,
  type LightningAddress,
  parseLightningAddress,
  payUrl,
} from '../../formats/destination.js';
import { isOnNetwork, type Network } from '../../formats/rails.js';
import { type Fields, messageOf } from '../../formats/text.js';
import { Failure } from '../../formats/failure.js';
import { policies, poll, type PollNext } from '../../formats/poll.js';
import { isFinal, isQuoted } from '../../formats/states.js';
import { isOfAccount } from '../order/orders.js';
import type { PaymentService } from '../payment/model.js';
import { requestQuote } from '../payment/quoting.js';
import {
  listedUnder,
  directionOf,
  pauseBefore,
  readTransaction,
  rereadWhileStale,
  waitUntilFinal,
  withEarlierFields,
} from '../transaction/read.js';
import { noQuote, refused, referenceUse, refusesConfirmation } from '../payment/outcomes.js';

interface ReceiveDeps {
  readonly service: Pick<
    PaymentService,
    'createTransaction' | 'confirmTransaction' | 'transaction' | 'transactions' | 'eachTransaction'
  >;
  /** The account that receives the money. */
  readonly account: string;
  /** Called during a reference lookup with the number of transactions that svcpay has searched. */
  readonly onRead: (count: number) => void;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly newId: () => string;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

export interface Requested {
  readonly txn: Transaction;
  /** The requested amount. */
  readonly amount: Money;
}

/**
 * Creates and confirms the transaction of a receive request, or returns the earlier transaction if
 * the reference is already used. Throws Failure `refused` if the earlier transaction has a
 * different amount or method, and Failure `payment-failed` if it ended without a payment.
 * @param isConverted whether svcpay converted the amount, so that the amount of an earlier
 * transaction may differ because the rate has changed
 */
export async function requestMoney(
  body: CreateTransaction,
  ref: string | undefined,
  isConverted: boolean,
  deps: ReceiveDeps,
): Promise<Requested> {
  const asked = { ...body, extRefId: ref ?? deps.newId() };
  const { txn: quoted, isEarlier } = await createOrFind(asked, ref === undefined, deps);
  const tolerance = isEarlier && isConverted ? largestRateChange : new Big(0);
  const amount = checkedAmount(asked, quoted, tolerance, deps.account);
  const confirmed = isQuoted(quoted.txnState) ? await confirmReceive(quoted, deps) : quoted;
  const made = { atMostMs: longestMakingMs, onChange: () => undefined, enough: isPayable };
  const txn = await waitUntilFinal(withEarlierFields(quoted, confirmed), made, deps);
  if (isFinal(txn.txnState) && txn.txnState !== 'completed') throw notReceived(txn);
  return { txn, amount };
}

/** The failure for a payment request that ended without a payment. */
export function notReceived({ txnId, txnState, extRefId }: Transaction): Failure {
  const what =
    txnState === 'expired'
      ? 'the payment request expired unpaid'
      : `the payment request ended as ${txnState}`;
  const next = { do: 'show', id: txnId } as const;
  if (txnState === 'error')
    return new Failure('outcome-unknown', `It is unknown whether money arrived: ${what}.`, {
      next,
      txnId,
      txnState,
    });
  return new Failure('payment-failed', `Not received: ${what}.`, {
    hint:
      extRefId == null ? undefined : 'For a new request, use another reference. To see this one',
    next,
    txnId,
    txnState,
  });
}

/**
 * The longest wait in ms for the invoice or address, which the service may create only after the
 * confirmation.
 */
const longestMakingMs = 60_000;

/** Whether the transaction already contains the invoice or address. */
function isPayable({ sourceReq }: Transaction): boolean {
  const { paymentRequest, address } = sourceReq.reqDetails ?? {};
  return [paymentRequest, address].some((each) => typeof each === 'string' && each !== '');
}

type Found = { readonly txn: Transaction; readonly isEarlier: boolean };

/**
 * Creates the transaction of a receive request. svcpay searches the service's list only after the
 * service has refused the reference.
 */
async function createOrFind(
  body: CreateTransaction,
  isOwnReference: boolean,
  deps: ReceiveDeps,
): Promise<Found> {
  let [mayExist, error]: [boolean, Failure | undefined] = [false, undefined];
  const end = await poll<Found>(
    policies.createRequest,
    async ({ number }) => {
      const answer = await requestQuote(body, deps.service);
      if ('txn' in answer) return { done: { txn: answer.txn, isEarlier: false } };
      ({ error } = answer);
      if (answer.is === 'refused')
        return { done: await findEarlier(body, error, mayExist, isOwnReference, deps) };
      mayExist ||= answer.mayHaveArrived;
      return pauseOrThrow(number, error, () => noQuote(error));
    },
    deps,
  );
  if ('done' in end) return end.done;
  throw noQuote(error);
}

/**
 * Returns the pause before svcpay repeats a request to the service. Throws if the service requests
 * a pause that is too long.
 */
function pauseOrThrow<T>(number: number, error: unknown, otherwise: () => unknown): PollNext<T> {
  const afterMs = pauseBefore(number, error);
  if (afterMs === undefined) throw otherwise();
  return { afterMs };
}

/**
 * Finds the earlier transaction of a reference that is already used. Throws the service's refusal
 * if it does not concern the reference, or if the service's list does not show the reference.
 */
async function findEarlier(
  { extRefId = '' }: CreateTransaction,
  refusal: Failure,
  mayExist: boolean,
  isOwnReference: boolean,
  { service, account, onRead, ...clock }: ReceiveDeps,
): Promise<Found> {
  const use = referenceUse(refusal, mayExist, isOwnReference);
  if (use === undefined) throw refused('quote', refusal);
  const search = async () =>
    (await listedUnder(extRefId, { since: 0, depth: use.depth, onRead }, service)).find(({ row }) =>
      isOfAccount(row, account),
    );
  const own = await rereadWhileStale(
    await search(),
    search,
    (found) => use.isCertain && found === undefined,
    clock,
  );
  if (own === undefined) throw refused('quote', refusal);
  return { txn: await service.transaction(own.row.txnId), isEarlier: true };
}

/**
 * Confirms a receive request, which moves no money. After an unanswered confirmation, svcpay reads
 * the transaction, and confirms again if the transaction is still quoted. Throws Failure `refused`
 * unless the transaction is provably a receive request.
 */
export async function confirmReceive(
  quote: Transaction,
  deps: Pick<ReceiveDeps, 'service' | 'sleep' | 'now' | 'signal'>,
): Promise<Transaction> {
  const { txnId } = quote;
  if (directionOf(quote) !== 'receive')
    throw new Failure('refused', `transaction ${txnId} is a payment.`, {
      money: 'Not confirmed',
      txnId,
    });
  let error: unknown = new Failure('temporary', 'The service did not confirm the request.', {
    next: { do: 'show', id: txnId },
    txnId,
  });
  const step = async ({ number }: { readonly number: number }): Promise<PollNext<Transaction>> => {
    const before =
      number === 1 ? undefined : await readTransaction(deps.service, txnId).catch(() => undefined);
    if (before !== undefined && !isQuoted(before.txnState)) return { done: before };
    try {
      const txn = await deps.service.confirmTransaction(txnId);
      if (txn.txnId === txnId && !isQuoted(txn.txnState)) return { done: txn };
    } catch (caught) {
      if (!(caught instanceof Failure)) throw caught;
      if (refusesConfirmation(caught)) throw refused('confirmation', caught, undefined, txnId);
      error = caught;
    }
    return pauseOrThrow(number, error, () => error);
  };
  const end = await poll(policies.confirmation, step, deps);
  if ('done' in end) return end.done;
  throw error;
}

/** The largest plausible change of a rate during the lifetime of an invoice, as a fraction. */
const largestRateChange = new Big('0.1');

function checkedAmount(
  { sourceReq, destReq, extRefId }: CreateTransaction,
  txn: Transaction,
  tolerance: Big,
  account: string,
): Money {
  const answered = moneyFromWire(destReq.ccy, txn.destReq.amtRequested);
  const asked = new Big(destReq.amtRequested ?? 0);
  const isSame =
    txn.sourceReq.method === sourceReq.method &&
    txn.destReq.ccy === destReq.ccy &&
    isOfAccount(txn, account) &&
    answered?.value.minus(asked).abs().lte(asked.times(tolerance)) === true;
  if (answered !== undefined && isSame) return answered;
  const { txnId } = txn;
  throw new Failure(
    'refused',
    `Not usable: transaction ${txnId} (${extRefId}) is a different request.`,
    {
      next: { do: 'show', id: txnId },
      txnId,
    },
  );
}

/** What a payer needs to pay a request. */
export interface Payable {
  /** The invoice or the address. */
  readonly text: string;
  /**
   * The content of the QR code: the invoice, or a BIP21 URI that has only this address and amount,
   * and no other payment method.
   */
  readonly code: string;
  /** The expiry of the request in epoch ms, by the service's clock. */
  readonly expiresAt: number | undefined;
}

/**
 * Checks the invoice or the address of a request. Does not check the invoice of a request that is
 * already final. Throws Failure `refused` for a request that must not be shown to a payer.
 * @param now epoch ms by the service's clock
 */
export const checkedRequest = (
  txn: Transaction,
  asked: Money,
  network: Network,
  now: number,
): Payable =>
  txn.sourceReq.method === 'on-chain'
    ? checkedOnchain(txn, asked, network, now)
    : checkedInvoice(txn, asked, network, now);

/**
 * Checks the checksum and the network of the address, and checks that the BIP21 URI has the same
 * address and amount.
 */
function checkedOnchain(txn: Transaction, asked: Money, network: Network, now: number): Payable {
  const { txnId } = txn;
  const { address: given, amount, invoice, expiredAt } = txn.sourceReq.reqDetails ?? {};
  if (typeof given !== 'string') throw notUsable('no address', txnId);
  const address = checkedAddress(given, network, txnId);
  const uri = invoice ?? formatBip21(address, asked.value);
  if (typeof uri !== 'string') throw notUsable('no URI', txnId);
  const named = decimal.read(amount ?? fixed(asked.value));
  if (named === undefined || !fromWire(named).eq(asked.value))
    throw notUsable('a request for a different amount', txnId);

  const read = attempt('address', () => parseBip21(uri), txnId);
  const inUri = attempt('address', () => parseBitcoinAddress(read.address ?? ''), txnId);
  if (inUri.address !== address) throw notUsable('a URI with a different address', txnId);
  if (read.amount?.eq(asked.value) !== true)
    throw notUsable('a URI with a different amount', txnId);
  if (
    read.lightning !== undefined ||
    read.segwitAddresses.length > 0 ||
    read.otherMethods.length > 0
  )
    throw notUsable('a URI with additional ways to pay', txnId);
  const expiresAt = instant.read(expiredAt);
  if (txn.txnState === 'srcintent' && expiresAt !== undefined && expiresAt <= now)
    throw notUsable('an expired address', txnId);
  return { text: address, code: uri, expiresAt };
}

/** Checks the signature, the network, the amount and the expiry of an invoice. */
function checkedInvoice(txn: Transaction, amount: Money, network: Network, now: number): Payable {
  const { txnId } = txn;
  const text = txn.sourceReq.reqDetails?.['paymentRequest'];
  if (typeof text !== 'string') throw notUsable('no invoice', txnId);
  if (isFinal(txn.txnState)) return { text, code: text, expiresAt: undefined };
  const invoice = attempt('invoice', () => decodeInvoice(text), txnId);
  if (!isOnNetwork(invoice.network, network))
    throw notUsable(`an invoice for ${invoice.network}`, txnId);
  if (invoice.amountMsat !== msatOf(amount.value))
    throw notUsable('an invoice for a different amount', txnId);
  if (invoice.expiresAt <= now) throw notUsable('an expired invoice', txnId);
  return { text: invoice.invoice, code: invoice.invoice, expiresAt: invoice.expiresAt };
}

/** The currencies with permanent addresses, and the Lightning Address. */
export type DepositCcy = 'btc' | 'usdt' | 'lightning';

/** The blockchains of USDT: the names on the wire and in words. */
const usdtChains = {
  tron: { wire: 'TRON', chain: 'TRON' },
  eth: { wire: 'ETH', chain: 'Ethereum' },
} as const;
export type DepositChain = keyof typeof usdtChains;

/** A permanent address of the account. */
export interface PermanentAddress {
  readonly ccy: string;
  /** The common name of the blockchain, such as `TRON`. */
  readonly chain: string;
  readonly address: string;
  /** The content of the QR code. */
  readonly code: string;
}

/** Reads and checks a permanent address. `answer` is the response of the service. */
export async function readDeposit(
  ccy: DepositCcy,
  chainName: DepositChain | undefined,
  network: Network,
  service: {
    account(): Promise<Fields>;
    accountId(): Promise<string>;
    bitcoinAddress(): Promise<BitcoinAddress>;
    usdtAddress(chain: UsdtChain): Promise<UsdtAddress>;
  },
): Promise<{ readonly answer: object; readonly deposit: PermanentAddress }> {
  if (ccy === 'btc') {
    const answer = await service.bitcoinAddress();
    const address = checkedBitcoinDeposit(answer, network);
    return {
      answer,
      deposit: { ccy: 'BTC', chain: 'Bitcoin', address, code: formatBip21(address) },
    };
  }
  if (ccy === 'lightning') {
    const found = lightningAddressOf(await service.account());
    const { address } = found;
    // The QR code contains the LNURL of the Lightning Address (LUD-16), because more wallets can
    // read an LNURL from a QR code.
    const code = `lightning:${encodeLnurl(payUrl(found))}`;
    const answer = { lightningAddress: address };
    return { answer, deposit: { ccy: 'BTC', chain: 'Lightning', address, code } };
  }
  if (chainName === undefined) throw new Error('The chain of the USDT address was not chosen.');
  const { wire, chain } = usdtChains[chainName];
  const answer = await service.usdtAddress(wire);
  const own = await service.accountId().catch(() => undefined);
  const address = checkedUsdtDeposit(answer, wire, own);
  return { answer, deposit: { ccy: 'USDT', chain, address, code: address } };
}

/**
 * Reads the account's permanent Bitcoin address (endpoint 4). Throws Failure `refused` if the
 * address is invalid or on a different network.
 */
export const checkedBitcoinDeposit = (
  { staticOnchainAddress }: BitcoinAddress,
  network: Network,
): string => checkedAddress(staticOnchainAddress, network);

/**
 * Reads the account's permanent USDT address on a chain (endpoint 5). Throws Failure `refused` if
 * the response is for a different chain or account.
 */
export function checkedUsdtDeposit(
  { staticOnchainAddress: given, walletCcy, chainId, accountId }: UsdtAddress,
  chain: UsdtChain,
  own: string | undefined,
): string {
  // svcpay compares the currency and the chain only if the response contains them.
  const [ccy, on] = [walletCcy ?? 'USDT', chainId ?? chain];
  if (ccy !== 'USDT' || on.toUpperCase() !== chain)
    throw notUsable(`an address for ${ccy} on ${on}`);
  if (own !== undefined && (accountId ?? own) !== own)
    throw notUsable(`an address of the account ${accountId}`);
  const parse = chain === 'TRON' ? parseTronAddress : parseEvmAddress;
  const { address } = attempt('address', () => parse(given));
  if (address === tronUsdtContract) throw notUsable('the address of the USDT contract');
  return address;
}

function checkedAddress(given: string, wanted: Network, txnId?: string): string {
  const { address, network, type } = attempt('address', () => parseBitcoinAddress(given), txnId);
  if (!isOnNetwork(network, wanted)) throw notUsable(`an address on ${network}`, txnId);
  if (type === 'witness') throw notUsable('an address with an undefined witness version', txnId);
  return address;
}

/**
 * Converts a parse error to Failure `refused`, because the unreadable text comes from the service.
 */
function attempt<T>(what: 'address' | 'invoice', parse: () => T, txnId?: string): T {
  try {
    return parse();
  } catch (error) {
    throw notUsable(`an invalid ${what}`, txnId, ` ${messageOf(error)}`);
  }
}

const notUsable = (what: string, txnId?: string, why = ''): Failure =>
  new Failure('refused', `Not usable: the service returned ${what}.${why}`, {
    next: txnId === undefined ? { do: 'check-installation' } : { do: 'show', id: txnId },
    txnId,
  });

const addressNames = /^(ln|lightning|lnurl)_?(pay)?_?(address|identifier)$/i;

/**
 * Finds the Lightning Address of an account by field name and value, because the specification does
 * not define the fields of account records. Throws Failure `not-found` if the account record has no
 * Lightning Address.
 */
export function lightningAddressOf(account: Fields): LightningAddress {
  const found = Object.entries(account).find(
    ([name, value]) => addressNames.test(name) && typeof value === 'string' && value !== '',
  );
  if (typeof found?.[1] === 'string') return parseLightningAddress(found[1]);
  throw new Failure('not-found', 'The account record has no Lightning Address.', {
    hint: 'Ask the service for a Lightning Address.',
  });
}
