// Combines the spending limits of the account (in the database), the profile and the environment,
// and changes the stored limits. Reads budgets, and flags that are given once for each currency.
import { type FailureKind, invalid } from '../../formats/failure.js';
import { changeProfile, type Limits } from '../../store/profile/profiles.js';
import { limitsFrom, narrower, noLimits } from '../../wallet/limits/limits.js';
import type { Budget } from '../../store/journal/journal.js';
import type { Context } from '../context.js';
import { amount } from '../values.js';
import { fixed, isCurrency, type Money } from '../../formats/amount.js';

/** The kinds of failures after which svcpay does not know the account. */
export const unknownAccount: readonly FailureKind[] = ['authentication', 'temporary'];

/**
 * Combines the spending limits of the account, the profile and the environment, with the strictest
 * value of each limit.
 */
export async function limitsInForce(context: Context): Promise<Limits> {
  return narrower(await storedLimits(context), limitsFrom(context.env));
}

/** Returns the limits of the profile and, with a database, the limits of the account. */
export async function storedLimits(context: Context): Promise<Limits> {
  const { config, settings } = context;
  const ofProfile = config.read().profiles[settings.profileName]?.limits ?? noLimits;
  const ofAccount = await (await accountLimits(context))?.read();
  return narrower(ofProfile, ofAccount ?? noLimits);
}

/**
 * Changes the stored spending limits. With a database, the first change moves the profile's limits
 * into the database, where the limits apply to every home.
 */
export async function changeStoredLimits(
  context: Context,
  change: (before: Limits) => Limits,
): Promise<void> {
  const { config, settings } = context;
  const database = await accountLimits(context);
  if (database === undefined) {
    await changeProfile(config, settings.profileName, (before) => ({
      ...before,
      limits: change(before.limits ?? noLimits),
    }));
    return;
  }
  const ofProfile = config.read().profiles[settings.profileName]?.limits;
  await database.change((before) => change(narrower(ofProfile ?? noLimits, before)));
  if (ofProfile !== undefined)
    await changeProfile(config, settings.profileName, ({ limits: _moved, ...rest }) => rest);
}

async function accountLimits(context: Context) {
  const found = await context.database();
  if (found === undefined) return undefined;
  const { id, journal } = await context.account();
  // Opens the journal to check that the database belongs to this home and has tables.
  await journal();
  const { changeLimitsOfAccount, limitsOfAccount } = await import('../../store/journal/records.js');
  return {
    read: () => limitsOfAccount(found.postgres, id),
    change: (change: (before: Limits) => Limits) =>
      changeLimitsOfAccount(found.postgres, id, change),
  };
}

/** Reads a budget of the account. */
export async function readBudget(name: string, context: Context): Promise<Budget | undefined> {
  const { id, client } = await context.account();
  return (await context.budgets()).one(id, name, client.datedNow());
}

/** A flag for the highest amounts by one rule. */
export const figure = (summary: string) =>
  amount().repeated().describe(`${summary}; at most one amount per currency`);

/** Throws Failure `usage` for a currency that is unknown or was given twice. */
export function byCurrency(amounts: readonly Money[], flag: string): Record<string, string> {
  const known = new Set<string>();
  for (const { ccy } of amounts) {
    if (known.size === known.add(ccy).size)
      throw invalid(`No limit was set: ${flag} was given twice for ${ccy}.`);
    if (!isCurrency(ccy))
      throw invalid(`No limit was set: ${ccy} is not a currency, so the limit would never apply.`);
  }
  return Object.fromEntries(amounts.map(({ ccy, value }) => [ccy, fixed(value)]));
}
