// The interface of a kind of transaction, and the steps that kinds share: reading a create request,
// pricing a quote, and sending.
import Big from 'big.js';
import { decimalsOf, formatAmount } from '../formats/amount.js';
import {
  badRequest,
  currency,
  fields,
  isMovable,
  number,
  type State,
  unmovable,
  notEnoughFunds,
} from './wire.js';
import { type Quote, insertTransaction, type Transaction } from './transactions.js';
import {
  serviceFeeOf,
  foreignUnitsPerDollar,
  rateBases,
  unitsPerDollar,
  durations,
} from './unspecified.js';
import * as v from 'valibot';
import { type Context, schedule } from './world.js';
import { type Account, availableIn } from './accounts.js';
import { recordState, scheduleLapse, completeSend, confirmSend, endSend, move } from './engine.js';

export const requestedSide = v.pipe(
  v.object({
    ccy: currency,
    method: v.string(),
    amtRequested: v.optional(number),
    reqDetails: v.optional(fields, {}),
    kyc: v.optional(fields),
  }),
  v.check(
    ({ ccy, amtRequested }) => amtRequested === undefined || isMovable(ccy, amtRequested),
    'amtRequested is not a valid amount in this currency',
  ),
);

export type RequestedSide = v.InferOutput<typeof requestedSide>;

/** A valid create request, which has known currencies and at most one amount. */
export interface CreateRequest {
  readonly source: RequestedSide;
  readonly dest: RequestedSide;
  /** The fees that the service deducts from the amount, so that the recipient bears them. */
  readonly deduct: { readonly serviceFee: boolean; readonly networkFee: boolean };
  readonly sourceOfFunds?: Readonly<Record<string, unknown>> | undefined;
}

type Step = (ctx: Context, txn: Transaction) => Transaction;

export interface Kind {
  /** The name of the kind, which the service stores with each transaction of the kind. */
  readonly name: string;
  /** The payment method of the source, by default the internal wallet. */
  readonly from?: string;
  /** The payment methods of the destination, by default the internal wallet. */
  readonly to?: readonly string[];
  /** The only currency of the payment network, if the kind uses one. */
  readonly carries?: { readonly network: string; readonly ccy: string };
  readonly fee: Parameters<typeof serviceFeeOf>[0];
  /**
   * A fixed fee in the destination currency, or a function of the source amount that returns a fee
   * in the source currency.
   */
  readonly networkFee?: Big | ((sourceAmount: Big, decimals: number) => Big);
  /** The side that must have the requested amount, by default the side that has an amount. */
  readonly amountOn?: Side;
  /** The smallest amount, in BTC. */
  readonly minimum?: Big;
  /** Reads the request. Throws a `Refusal` for requests that this kind does not support. */
  readonly read: (ctx: Context, request: CreateRequest) => Details;
  readonly confirm: Step;
  /** How an external payer pays a transaction that waits for a payment in the state `state`. */
  readonly payable?: { readonly state: State; readonly pay: Step };
  /** Starts the transfer of a confirmed send. */
  readonly start?: Step;
  /** Called when the payment arrives, on a blockchain with all its confirmations. */
  readonly arrive?: Step;
}

type Side = 'source' | 'dest';

/** The details of a quote, and the amount at the destination if the destination fixes it. */
type Details = Partial<
  Pick<Quote, 'sourceDetails' | 'destDetails' | 'sourceOfFunds' | 'invoice' | 'recipientId'>
> & { readonly amount?: Big };

function quoteOf(ctx: Context, kind: Kind, request: CreateRequest): Quote {
  const { amount: fixed, ...details } = kind.read(ctx, request);
  const side = kind.amountOn ?? (request.source.amtRequested === undefined ? 'dest' : 'source');
  const amount = fixed ?? request[side].amtRequested;
  if (amount === undefined)
    throw badRequest(`${kind.amountOn ? `${side}Req.` : ''}amtRequested is required`);
  if (kind.minimum !== undefined && amount.lt(kind.minimum))
    throw badRequest(`the minimum is ${kind.minimum.toFixed()} BTC`);
  return { ...price(request, kind, side, amount), ...details };
}

/**
 * Computes a quote without details, rounded in favour of the service: the amount of the side for
 * which the client requested no amount, fees, charge and arriving amount. Throws a `Refusal` for an
 * amount that is too small or too large, has too many decimals, or does not cover the fees.
 */
function price(
  { source: { ccy: sourceCcy }, dest: { ccy: destCcy }, deduct }: CreateRequest,
  { fee, networkFee: networkFeeRule = new Big(0) }: Kind,
  side: Side,
  amount: Big,
): Quote {
  const fxRate = rateBetween(sourceCcy, destCcy);
  const decimals = decimalsOf(sourceCcy);
  const sourceAmount = side === 'source' ? amount : amount.div(fxRate).round(decimals, Big.roundUp);
  const destAmount = side === 'dest' ? amount : convert(amount, fxRate, destCcy);
  if (!isMovable(sourceCcy, sourceAmount) || !isMovable(destCcy, destAmount)) throw unmovable();

  const serviceFee = serviceFeeOf(fee, sourceAmount, decimals);
  const networkFee =
    typeof networkFeeRule === 'function'
      ? networkFeeRule(sourceAmount, decimals)
      : networkFeeRule.div(fxRate).round(decimals, Big.roundUp);
  const deducted = new Big(0)
    .plus(deduct.serviceFee ? serviceFee : 0)
    .plus(deduct.networkFee ? networkFee : 0);
  const lost = deducted.times(fxRate).round(decimalsOf(destCcy), Big.roundUp);
  const arrives = destAmount.minus(lost);
  if (arrives.lte(0)) throw badRequest('the amount does not cover the fees');
  return {
    sourceCcy,
    sourceAmount,
    destCcy,
    destAmount,
    charge: sourceAmount.plus(serviceFee).plus(networkFee).minus(deducted),
    arrives,
    serviceFee,
    networkFee,
    fxRate,
    sourceDetails: { reqDetails: {} },
    destDetails: { reqDetails: {} },
  };
}

/** Converts an amount to another currency, rounded down. */
export function convert(amount: Big, fxRate: Big, destCcy: string): Big {
  return amount.times(fxRate).round(decimalsOf(destCcy), Big.roundDown);
}

/**
 * The number of significant digits to which the service rounds a rate, so that `fxRate` shows
 * exactly the applied rate.
 */
const significantDigits = 12;

/** Returns the number of units of `to` for one unit of `from`. */
function rateBetween(from: string, to: string): Big {
  if (from === to) return new Big(1);
  return perDollar(to).div(perDollar(from)).prec(significantDigits, Big.roundHalfUp);
}

/** The rates of every currency pair in the response of `GET /rate`, by a name such as `BTCUSD`. */
export function rateTable(): Record<string, Big> {
  const currencies = [unitsPerDollar, foreignUnitsPerDollar].flatMap(Object.keys);
  const pairs = rateBases.flatMap((base) => currencies.map((ccy) => [base, ccy] as const));
  const changes = pairs.filter(([base, ccy]) => base !== ccy);
  return Object.fromEntries(changes.map(([base, ccy]) => [base + ccy, rateBetween(base, ccy)]));
}

function perDollar(ccy: string): Big {
  const units = unitsPerDollar[ccy] ?? foreignUnitsPerDollar[ccy];
  if (units === undefined) throw new RangeError(`${ccy} has no rate.`);
  return new Big(units);
}

export function requiredDetail({ dest }: CreateRequest, name: string): string {
  const value = dest.reqDetails[name];
  if (typeof value !== 'string' || value === '')
    throw badRequest(`destReq.reqDetails.${name} is required`);
  return value;
}

/**
 * Quotes a transaction and stores the quote, which expires if the client does not confirm the
 * quote. The service reserves the money for a quote only when the client confirms the quote.
 */
export function openQuote(
  ctx: Context,
  account: Account,
  kind: Kind,
  request: CreateRequest,
  labels: Pick<Transaction, 'extRefId' | 'note'> = {},
): Transaction {
  const { source, dest } = request;
  const quote = quoteOf(ctx, kind, request);
  if (kind.from === undefined) assertFunded(ctx, account, quote);
  const txn = insertTransaction(ctx, {
    ...quote,
    ...labels,
    accountId: account.id,
    accountDisplayName: account.displayName,
    kind: kind.name,
    sourceMethod: source.method,
    destMethod: dest.method,
    expiresAt: ctx.now + durations.quote,
  });
  recordState(ctx, txn);
  scheduleLapse(ctx, txn);
  return txn;
}

function assertFunded(ctx: Context, account: Account, { sourceCcy: ccy, charge }: Quote): void {
  const available = availableIn(ctx.store, account.id, ccy);
  if (available.gte(charge)) return;
  const [needed, left] = [charge, available].map((value) => formatAmount({ ccy, value }));
  throw notEnoughFunds(`${needed} needed, ${left} available`);
}

interface SendSteps {
  /** Milliseconds from the client's confirmation of the send until the transfer is in flight. */
  readonly startAfter: number;
  /**
   * Milliseconds from the start of the transfer until its arrival, or undefined if the transfer
   * waits for blockchain confirmations.
   */
  readonly settleAfter?: (txn: Transaction) => number;
  /**
   * Returns the reason why the transfer cannot start (in the state `srccreated`) or cannot arrive
   * (in the state `destsent`), or undefined if nothing prevents the transfer.
   */
  readonly obstacle: (ctx: Context, txn: Transaction) => string | undefined;
  /** Called when the transfer starts. */
  readonly send?: (ctx: Context, txn: Transaction) => void;
  /** Credits the recipient. */
  readonly deliver?: (ctx: Context, txn: Transaction) => void;
}

/** Builds the steps of a send kind after its quote. */
export function sending({ startAfter, settleAfter, obstacle, send, deliver }: SendSteps) {
  return {
    confirm(ctx, txn) {
      const confirmed = confirmSend(ctx, txn);
      if (confirmed.state === 'srccreated')
        schedule(ctx, 'start', txn.id, ctx.now + within(ctx, startAfter));
      return confirmed;
    },
    start(ctx, txn) {
      const msg = obstacle(ctx, txn);
      if (msg !== undefined) return endSend(ctx, txn, { state: 'failed', msg });
      const started = move(ctx, txn, 'start');
      send?.(ctx, started);
      const after = settleAfter?.(started) ?? ctx.settleMs;
      if (after !== undefined) schedule(ctx, 'arrive', txn.id, ctx.now + within(ctx, after));
      return started;
    },
    arrive(ctx, txn) {
      // With `settle`, a block may confirm a transfer that has already arrived.
      if (txn.state === 'completed') return txn;
      const msg = obstacle(ctx, txn);
      const ending = msg === undefined ? txn.planned : { state: 'failed' as const, msg };
      if (ending !== undefined) return endSend(ctx, txn, ending);
      deliver?.(ctx, txn);
      const completed = completeSend(ctx, txn);
      if (txn.returned !== undefined) schedule(ctx, 'return', txn.id, ctx.now + txn.returned.delay);
      return completed;
    },
  } satisfies Partial<Kind>;
}

const within = ({ settleMs = Infinity }: Context, ms: number): number => Math.min(settleMs, ms);
