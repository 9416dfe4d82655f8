// Payments that a model asks for, through the same machine as every other: quoted, held to the limits, let go once.
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import type { Limits } from '../../store/profile/profiles.js';
import type { Approval, PaymentDeps } from '../../wallet/payment/contract.js';
import { ownAddressGuard } from '../../wallet/plan/destinations.js';
import { planSendNow } from '../../wallet/plan/send.js';
import { noLimits } from '../../wallet/limits/limits.js';
import type { Order } from '../../wallet/payment/orders.js';
import { pay } from '../../wallet/payment/payment.js';
import type { Context } from '../context.js';
import { paymentDeps } from '../payment/payment-flow.js';
import type { MaxFeeOf } from '../payment/payment-options.js';
import { readSwap, swapOrderOf } from '../payment/plan-swap.js';
import { currency, text, type ValuesOf } from '../values.js';

export const sendArguments = {
  destination: text().describe('an invoice, address, LNURL, Lightning Address or bitcoin: URI'),
  amount: text().optional().describe('with its unit, as in 50000sat or 25usdt; an invoice says it itself'),
  from: currency().optional().describe('the wallet that pays (default BTC; for a TRON address USDT)'),
};

export const swapArguments = {
  amount: text().describe('what leaves the first wallet, as in 25usdt'),
  from: currency().describe('the wallet to take it from'),
  to: currency().describe('the wallet to put it in'),
};

/** What a model asks to have paid; nobody is there to be asked what is missing. */
export interface PlannedOrder {
  readonly order: Order;
  readonly slow: boolean;
}

export const plannedSend = (
  { destination, amount, from }: ValuesOf<typeof sendArguments>,
  { settings, now }: Context,
): PlannedOrder => planSendNow({ to: destination, amount, from }, { network: settings.network, now: now() });

export const plannedSwap = ({ amount, from, to }: ValuesOf<typeof swapArguments>): PlannedOrder => ({
  order: swapOrderOf(readSwap(amount, from, to)),
  slow: false,
});

/** The full cost of an order, which lapses unused. */
export async function quoteOf(planned: PlannedOrder, signal: AbortSignal, context: Context): Promise<object> {
  await ownAddressGuard(context.account, context.out.say)(planned.order);
  let seen: Approval | undefined;
  const deps = await depsOf(signal, context, (approval) => (seen = approval));
  const request = { order: planned.order, ref: undefined, terms: {}, consent: 'none' } as const;
  const txn = await pay(request, { wait: false, retry: false, mode: 'look' }, deps);
  if (seen === undefined) return { txnId: txn.txnId, txnState: txn.txnState };
  const { total, receives, serviceFee, networkFee, rate, expiresAt } = seen.quote;
  return { txnId: txn.txnId, total, receives, serviceFee, networkFee, rate, expiresAt, available: seen.available };
}

export interface Payment {
  readonly planned: PlannedOrder;
  /** The same one never pays twice. */
  readonly ref: string;
  readonly maxFee: MaxFeeOf;
}

/** Long enough for Lightning; what takes longer is reported as on its way. */
const settlementWaitMs = 30_000;

/** The transaction in its last known state. Throws Failure as `pay` does, and `limit` where no limit holds. */
export async function payOrder(payment: Payment, signal: AbortSignal, context: Context): Promise<Transaction> {
  const { planned, ref, maxFee } = payment;
  checkLimited(limitsOf(context), planned.order.body.sourceReq.ccy);
  await ownAddressGuard(context.account, context.out.say)(planned.order);
  const deps = await depsOf(signal, context, () => undefined);
  const wait = planned.slow ? false : settlementWaitMs;
  const request = { order: planned.order, ref, terms: { maxFee: maxFee(planned.order.body.sourceReq.ccy) }, consent: 'standing' } as const;
  return pay(request, { wait, retry: false, mode: 'pay' }, deps);
}

/** As the profile has them now: a limit that is set while the server runs holds at once. */
export const limitsOf = ({ config, settings }: Context): Limits =>
  config.read().profiles[settings.profileName]?.limits ?? noLimits;

/**
 * A model pays only where a person has said how much: throws Failure `limit` for a wallet without a limit per day. One per
 * payment would be none, for whoever may pay as often as it likes.
 */
function checkLimited({ perDay }: Limits, ccy: string): void {
  if (perDay[ccy] !== undefined) return;
  throw new Failure('limit', `Not sent: no limit per day is set for ${ccy}, and without one nothing is paid from here.`, {
    hint: 'svcpay limits set',
  });
}

async function depsOf(
  signal: AbortSignal,
  context: Context,
  onQuote: (approval: Approval) => void,
): Promise<PaymentDeps> {
  const deps = await paymentDeps(context, {
    approve: () => Promise.resolve(false),
    on: (event) => {
      if (event.type === 'quoted') onQuote(event.approval);
      if (event.type === 'journal-failed') context.out.warn(`${event.error.message} The payment goes on without it.`);
    },
  });
  return { ...deps, signal, limits: limitsOf(context) };
}
