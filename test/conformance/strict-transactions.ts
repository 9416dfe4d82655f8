// The transactions and wallets of the strict service: their amounts, state changes and JSON forms.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import Big from 'big.js';
import { encodeInvoice } from '../../src/formats/bolt11/encode.js';
import { decodeInvoice } from '../../src/formats/bolt11/decode.js';
import { isObject, type Json } from './strict-judge.js';
import type { Dialect } from './strict-service.js';

export interface Txn {
  readonly txnId: string;
  readonly accountId: string;
  readonly body: Json;
  readonly source: Json;
  readonly dest: Json;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly amounts: { readonly source: Big; readonly dest: Big };
  readonly fees: { readonly service: Big; readonly network: Big };
  state: string;
  updatedAt: number;
  /** Fields that the confirmation adds to the details of a receive. */
  added: Json;
}

const worth: Readonly<Record<string, number>> = {
  BTC: 100_000,
  USDT: 1,
  USD: 1,
  VND: 0.00004,
  KES: 0.0077,
};
const nodeKey = new Uint8Array(32).fill(7);
const receiveAddress = {
  mainnet: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  testnet: 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
};

export function invoiceFor(sat: bigint, { invoices }: Dialect): string {
  const paymentHash = createHash('sha256').update(randomBytes(32)).digest('hex');
  const paymentSecret = randomBytes(32).toString('hex');
  const timestamp = Math.floor(Date.now() / 1000);
  const fields = {
    amountMsat: sat * 1000n,
    paymentHash,
    paymentSecret,
    description: 'strict',
    timestamp,
  };
  return encodeInvoice({ network: invoices, ...fields }, nodeKey);
}

/** Creates a ledger of wallets, with the total and the reserved amount of each currency. */
export function ledger() {
  const since = new Date().toISOString();
  const total = new Map([
    ['BTC', Big('0.5')],
    ['USDT', Big(1000)],
    ['USD', Big(500)],
  ]);
  const reserved = new Map<string, Big>();
  const move = (of: Map<string, Big>, ccy: string, by: Big): void =>
    void of.set(ccy, (of.get(ccy) ?? Big(0)).plus(by));
  return {
    add: (ccy: string, by: Big): void => move(total, ccy, by),
    reserve: (ccy: string, by: Big): void => move(reserved, ccy, by),
    available: (ccy: string): Big => (total.get(ccy) ?? Big(0)).minus(reserved.get(ccy) ?? 0),
    wallets(accountId: string): Json[] {
      return [...total].map(([ccy, amount]) => ({
        id: `wallet-${ccy}`,
        ccy,
        amount: amount.toNumber(),
        availableBalance: amount.minus(reserved.get(ccy) ?? 0).toNumber(),
        accountId,
        createdAt: since,
        updatedAt: since,
      }));
    },
  };
}
export type Ledger = ReturnType<typeof ledger>;

const side = (value: unknown): Json => (isObject(value) ? value : {});
const isReceive = ({ source }: Txn): boolean => source['method'] !== 'servicepay';
const isSwap = ({ source, dest }: Txn): boolean =>
  source['method'] === 'servicepay' && dest['method'] === 'servicepay';

/** Creates a quote, or returns undefined if the body has an unknown currency. */
export function quote(body: Json, accountId: string, now: number): Txn | undefined {
  const [source, dest] = [side(body['sourceReq']), side(body['destReq'])];
  const amounts = amountsOf(source, dest);
  if (!amounts) return undefined;
  const receive = source['method'] !== 'servicepay';
  const swap = !receive && dest['method'] === 'servicepay';
  const scale = source['ccy'] === 'BTC' ? 8 : 6;
  const fees = {
    service: receive ? Big(0) : amounts.source.times('0.002').round(scale, Big.roundUp),
    network: receive || swap ? Big(0) : amounts.source.times('0.0005').round(scale, Big.roundUp),
  };
  const pending = receive ? { reqDetails: pendingDetails[String(source['method'])] } : {};
  return {
    txnId: randomUUID(),
    accountId,
    body,
    source: { ...source, ...pending },
    dest,
    createdAt: now,
    updatedAt: now,
    expiresAt: now + 60_000,
    amounts,
    fees,
    state: 'quoted',
    added: {},
    ...(dest['method'] === 'lnurl' && { dest: { ...dest, reqDetails: lnurlDetails(dest) } }),
  };
}

const pendingDetails: Readonly<Record<string, Json>> = {
  lightning: { paymentRequest: null, invoicePageUrl: null },
  'on-chain': { address: null, invoicePageUrl: null },
};
const lnurlDetails = (dest: Json): Json => {
  const details = side(dest['reqDetails']);
  return { ...details, lnurlAddress: details['address'] };
};

function amountsOf(source: Json, dest: Json): Txn['amounts'] | undefined {
  const [from, to] = [worth[String(source['ccy'])], worth[String(dest['ccy'])]];
  if (from === undefined || to === undefined) return undefined;
  const scale = (side: Json): number => (side['ccy'] === 'BTC' ? 8 : 6);
  const details = side(dest['reqDetails']);
  const asked =
    dest['method'] === 'lightning'
      ? Big(String(decodeInvoice(String(details['paymentRequest'])).amountMsat ?? 0)).div(1e11)
      : dest['amtRequested'];
  if (asked !== undefined) {
    const value = Big(String(asked));
    return { dest: value, source: value.times(to).div(from).round(scale(source), Big.roundUp) };
  }
  const value = Big(String(source['amtRequested']));
  return { source: value, dest: value.times(from).div(to).round(scale(dest), Big.roundDown) };
}

const cost = ({ amounts, fees }: Txn): Big => amounts.source.plus(fees.service).plus(fees.network);

/** Confirms a quoted transaction as the state table of the specification defines. */
export function confirmed(txn: Txn, funds: Ledger, dialect: Dialect): void {
  const from = String(txn.source['ccy']);
  if (txn.source['method'] === 'lightning') {
    const paymentRequest = invoiceFor(BigInt(txn.amounts.dest.times(1e8).toFixed(0)), dialect);
    txn.added = { paymentRequest, invoicePageUrl: `https://pay.example/${txn.txnId}` };
    move(txn, 'srccreated');
  } else if (txn.source['method'] === 'on-chain') {
    const address = receiveAddress[dialect.invoices];
    const amount = txn.amounts.dest.toNumber();
    txn.added = {
      address,
      amount,
      invoice: `bitcoin:${address}?amount=${txn.amounts.dest.toFixed()}`,
      invoicePageUrl: `https://pay.example/${txn.txnId}`,
      expiredAt: new Date(Date.now() + 3_600_000).toISOString(),
    };
    move(txn, 'srcintent');
  } else if (funds.available(from).lt(cost(txn))) {
    move(txn, 'failed');
  } else if (isSwap(txn)) {
    funds.add(from, cost(txn).times(-1));
    funds.add(String(txn.dest['ccy']), txn.amounts.dest);
    move(txn, 'completed');
  } else {
    funds.reserve(from, cost(txn));
    move(txn, 'srccreated');
  }
}

/** Moves a transaction to its next state: a send always, a receive only if `payer` is set. */
export function advance(txn: Txn, funds: Ledger, { payer }: Dialect): void {
  const from = String(txn.source['ccy']);
  if (isReceive(txn)) {
    if (!payer) return;
    const next = { srcintent: 'srccreated', srccreated: 'completed' }[txn.state];
    if (next === 'completed') funds.add('BTC', txn.amounts.dest);
    move(txn, next);
  } else {
    const next = { srccreated: 'destsent', destsent: 'completed' }[txn.state];
    if (next === 'completed') {
      funds.reserve(from, cost(txn).times(-1));
      funds.add(from, cost(txn).times(-1));
    }
    move(txn, next);
  }
}

function move(txn: Txn, next: string | undefined): void {
  if (next === undefined) return;
  txn.state = next;
  txn.updatedAt = Date.now();
}

function fxRate({ source, dest }: Txn, { inverseRates }: Dialect): number {
  const [from, to] = [worth[String(source['ccy'])] ?? 1, worth[String(dest['ccy'])] ?? 1];
  return Number((inverseRates ? to / from : from / to).toPrecision(12));
}

const settled = (txn: Txn, amount: Big): { amtSettled: number | null } => ({
  amtSettled: txn.state === 'completed' ? amount.toNumber() : null,
});

/**
 * The full JSON of a transaction: the fields of the request and the fields that the service adds.
 */
export function view(txn: Txn, dialect: Dialect): Json {
  const { txnId, accountId, body, source, dest, amounts, fees, createdAt, expiresAt, updatedAt } =
    txn;
  const computed = (amount: Big): Json =>
    dialect.computedAmounts ? { amtRequested: amount.toNumber() } : {};
  const { sourceReq: _source, destReq: _dest, deductNetworkFeesFromDest: _deduct, ...own } = body;
  return {
    txnId,
    accountId,
    accountDisplayName: 'Strict',
    ...own,
    txnState: txn.state,
    sourceReq: {
      ...computed(amounts.source),
      ...source,
      reqDetails: { ...side(source['reqDetails']), ...txn.added },
      ...settled(txn, amounts.source),
      servicepayFees: fees.service.toNumber(),
      networkFees: fees.network.toNumber(),
      reqStatus: txn.state === 'completed' ? '2' : '0',
      expiresAt,
      createAt: createdAt,
      updatedAt,
    },
    destReq: { ...computed(amounts.dest), ...dest, ...settled(txn, amounts.dest) },
    fxRate: fxRate(txn, dialect),
    createdAt,
  };
}

/** The JSON of a transaction in a list: each side has only its currency, method and amounts. */
export function reducedView(txn: Txn, dialect: Dialect): Json {
  const { accountDisplayName: _name, sourceReq, destReq, ...rest } = view(txn, dialect);
  const reduced = (full: unknown): Json => {
    const { ccy, method, amtRequested, amtSettled } = side(full);
    return { ccy, method, ...(dialect.listedAmounts && { amtRequested, amtSettled }) };
  };
  return { ...rest, sourceReq: reduced(sourceReq), destReq: reduced(destReq) };
}
