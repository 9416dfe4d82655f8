// The rules for the payments of agents: a daily limit for the wallet that pays, a highest fee, and
// no payment that repeats a recent one. A person may set the rules aside for one payment.
import Big from 'big.js';
import { decimalsOf, isFiat } from '../../formats/amount.js';
import { Failure, type NextStep } from '../../formats/failure.js';
import { methodProperties } from '../../formats/rails.js';
import { attemptNamed } from '../../store/journal/payment.js';
import { noLimits } from '../../wallet/limits/limits.js';
import type { PaymentEvent } from '../../wallet/payment/contract.js';
import type { Context } from '../context.js';
import { limitsInForce } from '../limits/in-force.js';
import {
  parseMaxFee,
  type MaxFee,
  type MaxFeeOf,
  type PaymentRules,
  type RuledFlags,
  type RuledPayment,
} from '../payment/payment-options.js';
import { Repetition, repeatsOf } from './repeats.js';

/** The rules that a person has set aside for one payment: the limits, or the ban on repetition. */
export type Waived = 'limit' | 'repeat';

export interface AgentTerms {
  /** The server's fee limit, or undefined for the default of each rail. */
  readonly maxFee: string | undefined;
  /** The reference or the id of the payment that the agent repeats on purpose. */
  readonly differentFrom: string;
  /** The reference that the agent gave to the payment. */
  readonly ref: string | undefined;
  readonly waived: ReadonlySet<Waived>;
}

export function rulesFor(
  { maxFee, differentFrom, ref, waived }: AgentTerms,
  on: (event: PaymentEvent) => void,
  context: Context,
): PaymentRules {
  const isFree = waived.has('limit');
  return {
    on,
    repeats: repeatsOf(differentFrom, waived.has('repeat')),
    ...(isFree && {
      limits: noLimits,
      consent: { by: 'program', ask: async () => true },
    }),
    async admit(payment, flags) {
      checkReference(payment, ref);
      if (!isFree) await demandDailyLimit(payment.from, context);
      const isQuick = methodProperties(payment.method)?.pace === 'quick';
      return {
        ...flags,
        ...(!isFree && {
          maxFee: Object.assign(
            (from: string, method: RuledPayment['method'] = payment.method) =>
              lowerFee(ceilingFor(maxFee, { from, method }), flags, from),
            { written: maxFee ?? `${usualPercent}%` },
          ),
        }),
        ...(!isQuick && { wait: false, waitTimeout: undefined }),
      };
    },
  };
}

function checkReference({ txn }: RuledPayment, ref: string | undefined): void {
  const [own] = attemptNamed(txn?.extRefId ?? '');
  if (txn === undefined || ref === undefined || ref === own) return;
  throw new Failure(
    'usage',
    `Not called: ref is ${ref}, but the reference of this quote is ${own}. Omit ref.`,
  );
}

/** Returns the currencies that currently have a daily limit. */
export const dailyLimits = async (context: Context): Promise<readonly string[]> =>
  Object.keys((await limitsInForce(context)).perDay);

export async function demandDailyLimit(from: string, context: Context): Promise<void> {
  if ((await dailyLimits(context)).includes(from)) return;
  throw new Failure(
    'limit',
    `no daily limit is set for ${from}. An agent can pay only within a daily limit.`,
    { money: 'Not sent', next: dailyLimit(from) },
  );
}

const someLimit = (ccy: string): string =>
  ccy === 'BTC'
    ? '100000sat'
    : `${isFiat(ccy) && decimalsOf(ccy) === 0 ? '1000000' : '100'}${ccy.toLowerCase()}`;

/** The step that sets a daily limit in a currency. */
export const dailyLimit = (ccy: string): NextStep => ({
  do: 'run',
  command: `limits set --per-day ${someLimit(ccy)}`,
});

const usualPercent = '1';

/**
 * Returns the server's fee limit for a payment. The default limit is 1 %, or the usual fee of the
 * rail if the usual fee is higher. Throws Failure `limit` if the currency of the server's limit
 * differs from the currency of the fees.
 */
export function ceilingFor(
  maxFee: string | undefined,
  { from, method }: Pick<RuledPayment, 'from' | 'method'>,
): MaxFee {
  if (maxFee === undefined)
    return { percent: usualPercent, floor: methodProperties(method)?.usualFees?.[from] };
  return feeIn(
    parseMaxFee(maxFee),
    from,
    (cause) =>
      new Failure(
        'limit',
        `this server's fee limit is ${maxFee}, but the payment's fees are in ${from}.`,
        { money: 'Not sent', cause },
      ),
  );
}

function feeIn(maxFee: MaxFeeOf, ccy: string, refusal: (cause: Failure) => Failure): MaxFee {
  try {
    return maxFee(ccy);
  } catch (error) {
    throw error instanceof Failure ? refusal(error) : error;
  }
}

/**
 * Returns the lower of the server's fee limit and the call's `maxFee`. Throws Failure `usage` if
 * one limit is a percentage and the other an amount.
 */
function lowerFee(ceiling: MaxFee, { maxFee }: RuledFlags, ccy: string): MaxFee {
  const given = maxFee?.(ccy);
  if (given === undefined) return ceiling;
  if ('percent' in given && 'percent' in ceiling)
    return new Big(given.percent).lt(ceiling.percent) ? given : ceiling;
  if ('amount' in given && 'amount' in ceiling)
    return new Big(given.amount).lt(ceiling.amount) ? given : ceiling;
  const form = 'percent' in ceiling ? 'a percentage' : 'an amount';
  throw new Failure('usage', `maxFee must be ${form}, as the server's fee limit.`, {
    money: 'Not sent',
  });
}

/** Returns the rule that a person can set aside after a failure, if there is one. */
export function waivable(failure: Failure): Waived | undefined {
  if (failure instanceof Repetition) return 'repeat';
  return failure.kind === 'limit' && failure.next?.do !== 'see-wallets' ? 'limit' : undefined;
}
