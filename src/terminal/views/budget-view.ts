// Shows budgets: a list with what is used today, and the card of one budget with its changes.
import { amountWithSats, formatAmount, money, type Money } from '../../formats/amount.js';
import { cardLines, type CardLine } from '../cards/card.js';
import { columnsApart, type ListView, type RecordView } from '../rows/view.js';
import { dateTime, relativeTime } from '../time.js';

export interface BudgetView {
  readonly name: string;
  readonly state: 'open' | 'stopped' | 'all stopped' | 'expired';
  readonly perPayment: readonly Money[];
  readonly perDay: readonly Money[];
  readonly total: readonly Money[];
  readonly askAbove: readonly Money[];
  readonly spentToday: readonly Money[];
  readonly spentTotal: readonly Money[];
  /** The only payees, or empty for every payee. */
  readonly to: readonly string[];
  readonly kinds: readonly string[];
  readonly expiresAt: number | null;
  readonly outbox: string | null;
  readonly changes: readonly {
    readonly at: number;
    readonly by: string;
    readonly change: string;
  }[];
}

const fields = [
  'name',
  'state',
  'perPayment',
  'perDay',
  'total',
  'askAbove',
  'spentToday',
  'spentTotal',
  'to',
  'kinds',
  'expiresAt',
  'outbox',
  'changes',
];

const usedOf = ({ ccy }: Money, spent: readonly Money[]): Money =>
  spent.find((each) => each.ccy === ccy) ?? money(ccy, 0);

const figures = (amounts: readonly Money[], spent: readonly Money[]): string =>
  amounts.map((each) => `${formatAmount(usedOf(each, spent))} of ${formatAmount(each)}`).join(', ');

export const budgetTable = (now: number): ListView<BudgetView> => ({
  columns: columnsApart<BudgetView>(fields, [
    { name: 'name', title: 'Budget' },
    { name: 'state', title: 'State' },
    {
      name: 'today',
      title: 'Used in 24 h',
      value: ({ perDay, spentToday }) => figures(perDay, spentToday),
    },
    {
      name: 'ever',
      title: 'Used in total',
      value: ({ total, spentTotal }) => figures(total, spentTotal),
      priority: 1,
    },
    {
      name: 'expires',
      title: 'Expires',
      value: ({ expiresAt }) => (expiresAt === null ? '' : relativeTime(expiresAt, now)),
      priority: 2,
    },
  ]),
  quiet: ({ name }) => name,
  empty: 'No budgets. Add a budget',
  next: { command: 'budget add agent --per-day 100000sat' },
});

export const budgetCard = (now: number): RecordView<BudgetView> => ({
  ...budgetTable(now),
  screen: (canvas, view) => {
    const limits = (label: string, amounts: readonly Money[], spent?: readonly Money[]) =>
      amounts.map((each): CardLine => ({
        label,
        value: amountWithSats(each),
        note: spent && `${formatAmount(usedOf(each, spent))} used`,
      }));
    const { name, state, to, kinds, expiresAt, outbox, changes } = view;
    return cardLines(
      [
        { label: 'Budget', value: name, note: state },
        ...limits('Payment', view.perPayment),
        ...limits('24 hours', view.perDay, view.spentToday),
        ...limits('Total', view.total, view.spentTotal),
        ...limits('Ask above', view.askAbove),
        ...to.map((value) => ({ label: 'To', value, whole: true })),
        { label: 'Only', value: kinds.join(', ') },
        { label: 'Expires', value: expiresAt === null ? '' : dateTime(expiresAt) },
        { label: 'Outbox', value: outbox },
        ...changes.map(({ at, by, change }) => ({
          label: 'Changed',
          value: `${change} by ${by}`,
          note: relativeTime(at, now),
        })),
      ],
      canvas,
      10,
    );
  },
});
