// Combines limits of several sources; each can only narrow the others.
import { Big } from 'big.js';
import { fixed, isCurrency, parseAmount } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import type { Limits } from '../../store/profile/profiles.js';
import { noLimits } from './limits.js';

/** The lower of two limits per currency, and the destinations that both allow. */
export function narrower(a: Limits, b: Limits): Limits {
  return {
    perPayment: lower(a.perPayment, b.perPayment),
    perDay: lower(a.perDay, b.perDay),
    destinations: common(a.destinations, b.destinations),
  };
}

function lower(
  a: Readonly<Record<string, string>>,
  b: Readonly<Record<string, string>>,
): Record<string, string> {
  const kept = Object.entries(b).filter(
    ([ccy, amount]) => a[ccy] === undefined || new Big(amount).lt(a[ccy]),
  );
  return { ...a, ...Object.fromEntries(kept) };
}

/** Matches no destination, whereas an empty list would allow all. */
const nowhere = 'no destination';

function common(a: readonly string[], b: readonly string[]): string[] {
  if (a.length === 0 || b.length === 0) return [...a, ...b];
  const both = a.filter((each) => b.includes(each));
  return both.length === 0 ? [nowhere] : both;
}

const variables = {
  perPayment: 'SVCPAY_LIMIT_PER_PAYMENT',
  perDay: 'SVCPAY_LIMIT_PER_DAY',
} as const;

/** Throws Failure `usage` for an invalid list of amounts instead of ignoring it. */
export function limitsFrom(env: Readonly<Record<string, string | undefined>>): Limits {
  return {
    ...noLimits,
    perPayment: amountsIn(env, variables.perPayment),
    perDay: amountsIn(env, variables.perDay),
  };
}

function amountsIn(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
): Record<string, string> {
  const texts = (env[name] ?? '')
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '');
  return texts
    .map((text) => ({ [amountIn(text, name).ccy]: fixed(amountIn(text, name).value) }))
    .reduce(lower, {});
}

function amountIn(text: string, name: string) {
  try {
    const amount = parseAmount(text);
    if (isCurrency(amount.ccy)) return amount;
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
  }
  throw new Failure('usage', `${name} is not a list of amounts: "${text}".`, {
    hint: 'Write amounts with their units, e.g. 100000sat,25usdt.',
  });
}
