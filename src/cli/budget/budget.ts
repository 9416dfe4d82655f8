// Manages budgets: what agents, jobs and colleagues may spend. Each command returns the budget with
// what it was charged.
import { money, type Money } from '../../formats/amount.js';
import { Failure, invalid } from '../../formats/failure.js';
import { rails } from '../../formats/rails.js';
import type { BudgetChange, BudgetState } from '../../store/journal/spending.js';
import type { Budget, BudgetRules, Spend } from '../../store/journal/journal.js';
import { budgetCard, budgetTable, type BudgetView } from '../../terminal/views/budget-view.js';
import { sentenceView } from '../../terminal/cards/card.js';
import { readAllowed } from '../../wallet/limits/limits.js';
import type { Context } from '../context.js';
import { defineCommand, list, record } from '../define.js';
import { byCurrency, figure, readBudget } from '../limits/in-force.js';
import { withContact } from '../payment/send-flow.js';
import { outboxOption } from '../proposals/outbox.js';
import { choice, duration, flag, flagName, text, word, type ValuesOf } from '../values.js';

export const budgetName = () =>
  word('NAME', (given) => {
    if (/^[a-z0-9][a-z0-9_.-]{0,63}$/i.test(given)) return given;
    throw invalid(`"${given}" is not a name: use letters, digits, ".", "_" and "-".`);
  }).describe('name of the budget');

const rules = {
  perPayment: figure('highest total of one payment, fees included'),
  perDay: figure('highest total of all payments in 24 hours'),
  total: figure('highest total of all payments ever'),
  askAbove: figure('above this amount, write a proposal that the owner pays or refuses'),
  to: text('PAYEE').repeated().describe('pay only this payee; propose payments to others'),
  kinds: choice([...Object.keys(rails), 'swap', 'payout'])
    .repeated()
    .describe('pay only in this way'),
  expires: duration().optional().describe('refuse payments after this time, e.g. 30d'),
  outbox: outboxOption(),
};

export const budgetAdd = defineCommand({
  arguments: { name: budgetName() },
  options: rules,
  changes: true,
  examples: [
    [
      'svcpay budget add agent --per-payment 20000sat --per-day 100000sat --ask-above 10000sat',
      'lets svcpay mcp --allow-payments --budget agent pay, and propose what is above 10000 sat',
    ],
    [
      'svcpay budget add payroll --total 0.05btc --to 970436:0123456789 --expires 30d',
      'lets a job pay one account for a month',
    ],
  ],
  async run({ name: called, ...given }, context) {
    const wanted = rulesOf(given, context);
    const { expires } = given;
    if ((await readBudget(called, context)) !== undefined)
      await context.ask.agree(`Replace the rules of the budget ${called}?`, 'Nothing was changed.');
    const replace = ({ stopped }: BudgetState, time: number): BudgetState => ({
      stopped,
      rules: { ...wanted, expiresAt: expires === undefined ? null : time + expires },
    });
    await change(called, replace, context);
    return show(called, context);
  },
  view: record(budgetCard),
});

function rulesOf(
  { to, kinds, outbox, ...given }: ValuesOf<typeof rules>,
  context: Context,
): BudgetRules {
  const amounts = (key: 'perPayment' | 'perDay' | 'total' | 'askAbove') =>
    byCurrency(given[key], flagName(key));
  const [perPayment, askAbove] = [amounts('perPayment'), amounts('askAbove')];
  const [perDay, total] = [amounts('perDay'), amounts('total')];
  const sums = { ...perDay, ...total };
  const isEmpty = Object.keys(sums).length === 0;
  const endless = Object.keys({ ...perPayment, ...askAbove }).find((ccy) => !(ccy in sums));
  if (isEmpty || endless !== undefined)
    throw invalid(
      `A budget needs --per-day or --total${isEmpty ? '' : ` in ${endless}`}, because a limit ` +
        'per payment alone does not limit the sum.',
    );
  return {
    perPayment,
    perDay,
    total,
    askAbove,
    destinations: to.flatMap((each) => readAllowed(withContact({ to: each }, context).to ?? each)),
    kinds,
    expiresAt: null,
    outbox: outbox ?? null,
  };
}

export const budgetList = defineCommand({
  examples: [['svcpay budget list', 'shows the budgets and how much is used']],
  async run(_values, context) {
    const { id, client } = await context.account();
    const found = await (await context.budgets()).all(id, client.datedNow());
    return found.map((budget) => viewOf(budget, [], context));
  },
  view: list(budgetTable),
});

export const budgetShow = defineCommand({
  arguments: { name: budgetName().optional() },
  examples: [['svcpay budget show agent', 'shows rules, use and changes']],
  async run({ name: given }, context) {
    const called = given ?? context.settings.budget;
    if (called === undefined)
      throw invalid('Name a budget.', { next: { do: 'run', command: 'budget list' } });
    return show(called, context);
  },
  view: record(budgetCard),
});

export const budgetStop = defineCommand({
  arguments: { name: budgetName() },
  changes: true,
  examples: [
    ['svcpay budget stop agent', 'refuses payments from now on, also of running programs'],
  ],
  run: ({ name: called }, context) => setStopped(called, true, context),
  view: record(budgetCard),
});

export const budgetStart = defineCommand({
  arguments: { name: budgetName().optional() },
  options: { all: flag().describe('undo svcpay stop-all') },
  changes: true,
  examples: [
    ['svcpay budget start agent', 'allows payments of a stopped budget again'],
    ['svcpay budget start --all', 'undoes svcpay stop-all'],
  ],
  async run({ name: called, all }, context): Promise<readonly BudgetView[]> {
    if (all === (called !== undefined)) throw invalid('Name one budget, or give --all.');
    if (called !== undefined) return [await setStopped(called, false, context)];
    return changeAll(false, context);
  },
  view: list(budgetTable),
});

export const stopAll = defineCommand({
  changes: true,
  examples: [['svcpay stop-all', 'refuses every payment of every budget from now on']],
  run: (_values, context) => changeAll(true, context),
  view: list(budgetTable),
});

export const budgetRemove = defineCommand({
  arguments: { name: budgetName() },
  changes: true,
  examples: [['svcpay budget remove agent', 'its total continues if you add the name again']],
  async run({ name: called }, context) {
    await show(called, context);
    await change(called, () => ({ stopped: false, rules: null }), context);
    return { name: called, state: 'removed' as const };
  },
  view: record(
    sentenceView<Pick<BudgetView, 'name'> & { readonly state: 'removed' }>(
      ['name', 'state'],
      ({ name: called }) => `Removed: ${called}`,
      ({ name: called }) => called,
    ),
  ),
});

async function setStopped(called: string, stopped: boolean, context: Context): Promise<BudgetView> {
  await show(called, context);
  await change(called, ({ rules: kept }) => ({ stopped, rules: kept }), context);
  return show(called, context);
}

async function changeAll(stopped: boolean, context: Context): Promise<readonly BudgetView[]> {
  await change(undefined, () => ({ stopped, rules: null }), context);
  return budgetList.run({}, context);
}

async function change(
  called: string | undefined,
  to: (before: BudgetState, time: number) => BudgetState,
  context: Context,
): Promise<void> {
  const { id, client } = await context.account();
  await (await context.budgets()).change(id, called, to, client.datedNow());
}

async function show(called: string, context: Context): Promise<BudgetView> {
  const budget = await readBudget(called, context);
  if (budget === undefined)
    throw new Failure('not-found', `There is no budget "${called}".`, {
      next: { do: 'run', command: 'budget list' },
    });
  const { id } = await context.account();
  return viewOf(budget, await (await context.budgets()).changes(id, called), context);
}

function viewOf(
  { name: called, rules: kept, stopped, time, ...spent }: Budget,
  changes: readonly BudgetChange[],
  { now }: Context,
): BudgetView {
  const figures = (of: Readonly<Record<string, string>>): Money[] =>
    Object.entries(of).map(([ccy, value]) => money(ccy, value));
  const sums = (of: readonly Spend[]): Money[] => of.map(({ ccy, total }) => money(ccy, total));
  const { expiresAt, destinations, kinds, outbox } = kept;
  const isExpired = expiresAt !== null && time >= expiresAt;
  return {
    name: called,
    state: stopped === 'all' ? 'all stopped' : stopped ? 'stopped' : isExpired ? 'expired' : 'open',
    perPayment: figures(kept.perPayment),
    perDay: figures(kept.perDay),
    total: figures(kept.total),
    askAbove: figures(kept.askAbove),
    spentToday: sums(spent.spentToday),
    spentTotal: sums(spent.spentEver),
    to: destinations,
    kinds,
    // The rules count by the clock of the daily limit, and people read their own clock.
    expiresAt: expiresAt === null ? null : now() + expiresAt - time,
    outbox,
    changes: changes.map((each, index) => {
      const before = changes.slice(0, index).findLast(({ ofAll }) => ofAll === each.ofAll);
      const { at, by } = each;
      return { at, by: `${by.user}@${by.host}`, change: wordFor(each, before) };
    }),
  };
}

function wordFor({ stopped, rules: after, ofAll }: BudgetChange, before?: BudgetState): string {
  const turned = stopped ? 'stopped' : 'started';
  if (ofAll) return `all ${turned}`;
  if (after === null) return 'removed';
  if (stopped !== (before?.stopped ?? false)) return turned;
  return before?.rules ? 'changed' : 'added';
}
