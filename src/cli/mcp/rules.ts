// The rules for the payments of agents: a daily limit for the wallet that pays, a highest fee, and
// no payment that repeats a recent one, even under another reference. A person may set the rules
// aside for one payment.
import Big from 'big.js';
import { Failure } from '../../formats/failure.js';
import { methodProperties } from '../../formats/rails.js';
import type { Budget } from '../../store/journal/journal.js';
import { attemptNamed, decisive, status } from '../../store/journal/payment.js';
import type { PaymentEvent, Repeats } from '../../wallet/payment/model.js';
import type { Context } from '../context.js';
import { unknownAccount } from '../limits/in-force.js';
import {
  type MaxFee,
  type MaxFeeOf,
  parseMaxFee,
  type PaymentRules,
  type RuledFlags,
  type RuledPayment,
} from '../payment/payment-options.js';
import { concerned } from '../../wallet/payment/outcomes.js';

export interface AgentTerms {
  /** The server's fee limit, or undefined for the default of each rail. */
  readonly maxFee: string | undefined;
  /** The reference or the id of the payment that the agent repeats on purpose. */
  readonly differentFrom: string;
  /** The reference that the agent gave to the payment. */
  readonly ref: string | undefined;
  /** Whether a person agreed to this repetition. */
  readonly mayRepeat: boolean;
}

export function rulesFor(
  { maxFee, differentFrom, ref, mayRepeat }: AgentTerms,
  on: (event: PaymentEvent) => void,
): PaymentRules {
  return {
    on,
    repeats: repeatsOf(differentFrom, mayRepeat),
    async admit(payment, flags) {
      checkReference(payment, ref);
      const isQuick = methodProperties(payment.method)?.pace === 'quick';
      return {
        ...flags,
        maxFee: Object.assign(
          (from: string, method: RuledPayment['method'] = payment.method) =>
            lowerFee(ceilingFor(maxFee, { from, method }), flags, from),
          { written: maxFee ?? `${usualPercent}%` },
        ),
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

/** Reads the budget that the server charges. */
export async function budgetInForce(context: Context): Promise<Budget | undefined> {
  const { id, client } = await context.account();
  const { budget = '' } = context.settings;
  return (await context.budgets()).one(id, budget, client.datedNow());
}

/** Throws Failure `usage` for a server that pays without a budget, or with an unknown one. */
export async function demandBudget(context: Context): Promise<void> {
  const { budget } = context.settings;
  const next = { do: 'run', command: 'budget add agent --per-day 100000sat' } as const;
  if (budget === undefined)
    throw new Failure('usage', '--allow-payments requires a budget: --budget NAME.', { next });
  const found = await budgetInForce(context).catch((error: unknown) => {
    // The account may be known at the first payment.
    if (error instanceof Failure && unknownAccount.has(error.kind)) return null;
    throw error;
  });
  if (found === undefined)
    throw new Failure('usage', `there is no budget "${budget}".`, { money: 'Not served', next });
}

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

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Refuses the same payment within 24 hours, whatever its reference. To permit the repetition, the
 * caller sets `differentFrom` to the reference or transaction id of the latest one, or a person
 * agrees. A payment whose outcome is unknown is never repeated.
 */
export const repeatsOf = (differentFrom: string, isAgreed = false): Repeats => ({
  of: 'every reference',
  paidWithinMs: dayMs,
  async decide({ payment }) {
    const { ref, attempts } = payment;
    const isNamed = [ref, ...attempts.map(({ txnId }) => txnId)].includes(differentFrom);
    const isUnknown = ['unknown', 'error'].includes(status(payment));
    if ((isNamed || isAgreed) && !isUnknown) return 'another';
    const attempt = decisive(payment);
    const name = attempt.txnId ?? ref;
    const advice = isUnknown
      ? 'Its outcome must be known before the same payment can be made again. To see it'
      : `For a different payment, set differentFrom to ${name}. To see the earlier payment`;
    const Refusal = isUnknown ? Failure : Repetition;
    throw new Refusal(
      'usage',
      'an identical payment to this destination is already paid or in flight ' +
        `as ${ref} (${name}).`,
      {
        money: 'Not sent',
        ...concerned(payment, attempt),
        hint: `For the same purpose, use the ref ${ref}. ${advice}`,
        next: { do: 'show', id: name },
      },
    );
  },
});

/** The refusal of a repetition that a person can permit. */
export class Repetition extends Failure {}
