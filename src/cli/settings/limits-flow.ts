// What every `limits` command does: read the policy of the profile, change it, show it with what of it is used.
import { Big } from 'big.js';
import { Failure, type FailureKind } from '../../formats/failure.js';
import type { Spend } from '../../store/journal/journal.js';
import { changeProfile, type Limits } from '../../store/profile/profiles.js';
import { limitList, type LimitRow } from '../../terminal/views/limits-view.js';
import { noLimits, sumOf } from '../../wallet/limits/limits.js';
import type { Needs } from '../context.js';
import { spentToday } from '../payment/payment-flow.js';

export async function changeLimits(
  { config, settings }: Needs<'config' | 'settings'>,
  change: (before: Limits) => Limits,
): Promise<Limits> {
  const { limits } = await changeProfile(config, settings.profileName, (before) => ({
    ...before,
    limits: change(before.limits ?? noLimits),
  }));
  return limits ?? noLimits;
}

export async function showLimits(context: Needs<'config' | 'journal' | 'now' | 'out' | 'ownClient' | 'settings'>): Promise<void> {
  const { config, settings, out } = context;
  const limits = config.read().profiles[settings.profileName]?.limits ?? noLimits;
  const perDay = Object.keys(limits.perDay).length > 0;
  await out.list(rowsOf(limits, perDay ? await spentInWindow(context) : undefined), limitList(footerOf(limits, context)));
}

/** Undefined where the account is not known, because nobody is logged in or the service does not answer. */
async function spentInWindow(context: Needs<'journal' | 'now' | 'ownClient'>): Promise<readonly Spend[] | undefined> {
  try {
    return await spentToday(context);
  } catch (error) {
    if (error instanceof Failure && unknownAccount.has(error.kind)) return undefined;
    throw error;
  }
}

const unknownAccount: ReadonlySet<FailureKind> = new Set(['authentication', 'temporary']);

function rowsOf(limits: Limits, spent: readonly Spend[] | undefined): LimitRow[] {
  const rule = { used: null, left: null, destination: null };
  const perDay = ([ccy, text]: [string, string]): LimitRow => {
    const amount = new Big(text);
    if (spent === undefined) return { ...rule, rule: 'per day', ccy, amount };
    const used = sumOf(spent, ccy).value;
    const left = used.gt(amount) ? new Big(0) : amount.minus(used);
    return { ...rule, rule: 'per day', ccy, amount, used, left };
  };
  return [
    ...Object.entries(limits.perPayment).map(
      ([ccy, amount]): LimitRow => ({ ...rule, rule: 'per payment', ccy, amount: new Big(amount) }),
    ),
    ...Object.entries(limits.perDay).map(perDay),
    ...limits.destinations.map(
      (destination): LimitRow => ({ ...rule, rule: 'destination', ccy: null, amount: null, destination }),
    ),
  ];
}

/** A policy must not be taken for more than it is. */
function footerOf({ perPayment, perDay, destinations }: Limits, { settings }: Needs<'settings'>): string {
  const limited = [...new Set([...Object.keys(perPayment), ...Object.keys(perDay)])];
  const amounts = limited.length === 0 ? 'any amount' : `other currencies than ${limited.join(', ')} without limit`;
  const where = destinations.length === 0 ? 'any destination' : 'only the destinations above';
  return `${settings.profileName} · ${where} · ${amounts}`;
}
