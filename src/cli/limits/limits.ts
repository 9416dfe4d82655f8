// Shows and changes the local spending limits. Each `limits` command returns the limits and the
// amounts used.
import { Big } from 'big.js';
import { money, parseAmount, amountWithSats, type Money } from '../../formats/amount.js';
import { Failure, invalid, unlessKind } from '../../formats/failure.js';
import type { Spend } from '../../store/journal/journal.js';
import type { Limits } from '../../store/profile/profiles.js';
import { back } from '../../terminal/ask/questions.js';
import { limitList, type LimitRow } from '../../terminal/views/settings-views.js';
import {
  byRule,
  noLimits,
  readAllowed,
  type Rule,
  ruleNames,
  rules,
  sumOf,
} from '../../wallet/limits/limits.js';
import type { Context } from '../context.js';
import { defineCommand, list } from '../define.js';
import {
  byCurrency,
  figure,
  changeStoredLimits,
  limitsInForce,
  storedLimits,
  unknownAccount,
} from './in-force.js';
import { spentToday } from '../payment/payment-flow.js';
import { currency, flagName, text } from '../values.js';

/** The limits with the line below their table. */
interface ShownLimits {
  readonly rows: readonly LimitRow[];
  readonly footer: string;
}

const shown = {
  view: list(limitList, ({ rows }: ShownLimits) => rows),
  adapt: ({ footer }: ShownLimits) => ({ footer }),
};

export const limitsList = defineCommand({
  ...shown,
  examples: [
    ['svcpay limits list', 'shows every limit and how much is used'],
    ['svcpay limits list --json', 'prints the limits, for a script'],
  ],
  run: (_values, context) => showLimits(context),
});

/** Sets the limits of the given currencies, and keeps the limits of all other currencies. */
export const limitsSet = defineCommand({
  changes: true,
  ...shown,
  options: {
    perPayment: figure('highest total of one payment, fees included'),
    perDay: figure('highest total of all payments in 24 hours'),
  },
  examples: [
    [
      'svcpay limits set --per-payment 100000sat --per-day 500000sat',
      'limits payments from the bitcoin wallet',
    ],
    [
      'svcpay limits set --per-day 1000000sat',
      'if you raise a limit, asks you to type the amount again; a script needs --yes',
    ],
    [
      'svcpay limits set --per-day 200usdt --per-day 5000000vnd',
      'limits USDT payments, and payouts in Vietnamese dong',
    ],
  ],
  async run(given, context) {
    if (given.perPayment.length + given.perDay.length === 0)
      throw invalid('No limit was set: give --per-payment AMOUNT or --per-day AMOUNT.');
    const change = byRule((rule) => byCurrency(given[rule], flagName(rule)));
    const stored = await storedLimits(context);
    for (const rule of rules) await agreeToRaise(rule, stored[rule], given[rule], context);
    return changeLimits(context, (before) => ({
      ...before,
      ...byRule((rule) => ({ ...before[rule], ...change[rule] })),
    }));
  },
});

/**
 * Adds a destination to the allow-list. The first entry of the allow-list blocks payments to all
 * other destinations.
 */
export const limitsAllow = defineCommand({
  changes: true,
  ...shown,
  arguments: {
    destination: text('DESTINATION').describe(
      'an address, a Lightning Address, an LNURL, a node key, an invoice (allows its node), ' +
        'or INSTITUTION:ACCOUNT',
    ),
  },
  examples: [
    [
      'svcpay limits allow satoshi@example.com',
      'allows this destination; an empty list allows every destination',
    ],
    [
      'svcpay limits allow 970436:0123456789',
      'allows payouts to an account: institution and account number',
    ],
    ['svcpay limits allow lnbc25u1…', 'allows every invoice of the node that issued this invoice'],
  ],
  async run({ destination }, context) {
    const names = readAllowed(destination);
    return changeLimits(context, (before) => ({
      ...before,
      destinations: [...new Set([...before.destinations, ...names])],
    }));
  },
});

/** Removes a destination from the allow-list. An empty allow-list permits every destination. */
export const limitsDisallow = defineCommand({
  changes: true,
  ...shown,
  arguments: {
    destination: text('DESTINATION').describe('destination, as shown by svcpay limits list'),
  },
  examples: [
    [
      'svcpay limits disallow satoshi@example.com',
      'removes this destination from the allow-list (an empty list allows every destination)',
    ],
  ],
  async run({ destination }, context) {
    const { destinations } = await storedLimits(context);
    const names = destinations.includes(destination) ? [destination] : readAllowed(destination);
    const without = (list: readonly string[]) => list.filter((each) => !names.includes(each));
    const left = without(destinations).length;
    if (left === destinations.length)
      throw new Failure('not-found', `${destination} is not on the allow-list.`, {
        next: { do: 'see-limits' },
      });
    if (left === 0)
      await context.ask.agree(
        'Without this last entry of the allow-list, payments can go to any destination. ' +
          'Remove the entry?',
        unchanged,
      );
    return changeLimits(context, (before) => ({
      ...before,
      destinations: without(before.destinations),
    }));
  },
});

export const limitsClear = defineCommand({
  changes: true,
  ...shown,
  arguments: { ccy: currency().optional().describe('only the limits in this currency') },
  examples: [
    ['svcpay limits clear', 'asks for confirmation, then removes all limits and the allow-list'],
    ['svcpay limits clear USDT --yes', 'removes the limits in one currency'],
  ],
  async run({ ccy }, context) {
    const { ask, database, settings } = context;
    const which = ccy === undefined ? 'all limits' : `the limits in ${ccy}`;
    const whose =
      (await database()) === undefined
        ? `profile ${settings.profileName}`
        : 'the account, in every home that uses the database';
    await ask.agree(`Remove ${which} of ${whose}?`, unchanged);
    const without = (limits: Readonly<Record<string, string>>): Record<string, string> =>
      Object.fromEntries(Object.entries(limits).filter(([each]) => each !== ccy));
    return changeLimits(context, (before) =>
      ccy === undefined ? noLimits : { ...before, ...byRule((rule) => without(before[rule])) },
    );
  },
});

const unchanged = 'The limits are unchanged';

/** Asks the person to type the new amount of a raised limit, to prevent a hasty approval. */
async function agreeToRaise(
  rule: Rule,
  before: Readonly<Record<string, string>>,
  amounts: readonly Money[],
  { ask, globals }: Context,
): Promise<void> {
  for (const { ccy, value } of globals.yes ? [] : amounts) {
    const former = before[ccy];
    if (former === undefined || value.lte(former)) continue;
    const [from, to] = [money(ccy, former), { ccy, value }].map(amountWithSats);
    const change = `${ruleNames[rule]} from ${from} to ${to}`;
    const answer = await ask.pose({
      message: `This raises the limit ${change}. Type the new amount to confirm:`,
      flag: '--yes',
      parse: (typed) => {
        if (!parseAmount(typed, ccy).value.eq(value))
          throw invalid(`To confirm, type ${to}. Esc keeps the current limit.`);
      },
    });
    if (answer === back) throw new Failure('declined', '', { money: unchanged });
  }
}

async function changeLimits(
  context: Context,
  change: (before: Limits) => Limits,
): Promise<ShownLimits> {
  await changeStoredLimits(context, change);
  return showLimits(context);
}

async function showLimits(context: Context): Promise<ShownLimits> {
  const limits = await limitsInForce(context);
  const hasDaily = Object.keys(limits.perDay).length > 0;
  // svcpay does not know the account if the profile is not logged in or the service did not answer.
  const spent = hasDaily ? await unlessKind(unknownAccount, spentToday(context)) : undefined;
  return { rows: rowsOf(limits, spent), footer: footerOf(limits, context) };
}

function rowsOf(limits: Limits, spent: readonly Spend[] | undefined): LimitRow[] {
  const none = { ccy: null, amount: null, used: null, left: null, destination: null };
  const amounts = rules.flatMap((rule) =>
    Object.entries(limits[rule]).map(([ccy, text]): LimitRow => {
      const row = { ...none, rule: ruleNames[rule], ccy, amount: new Big(text) };
      if (rule === 'perPayment' || spent === undefined) return row;
      const used = sumOf(spent, ccy).value;
      const left = used.gt(row.amount) ? new Big(0) : row.amount.minus(used);
      return { ...row, used, left };
    }),
  );
  const allowed = limits.destinations.map((destination): LimitRow => ({
    ...none,
    rule: 'destination',
    destination,
  }));
  return [...amounts, ...allowed];
}

/** Returns the footer, which names the payments that the limits do not cover. */
function footerOf({ perPayment, perDay, destinations }: Limits, { settings }: Context): string {
  const limited = [...new Set([...Object.keys(perPayment), ...Object.keys(perDay)])];
  const amounts =
    limited.length === 0 ? 'any amount' : `no limit in currencies other than ${limited.join(', ')}`;
  const where =
    destinations.length === 0 ? 'any destination' : 'payments only to the destinations above';
  return `${settings.profileName} · ${where} · ${amounts}`;
}
