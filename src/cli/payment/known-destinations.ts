// Builds the menu of recipients that this home can pay again.
import type { Payment } from '../../store/journal/payment.js';
import type { Choice } from '../../terminal/ask/ask.js';
import type { Column } from '../../terminal/rows/view.js';
import { shortTime } from '../../terminal/time.js';
import { shortened } from '../../formats/text.js';
import { shortAmount } from '../../terminal/views/transaction-view.js';
import type { KnownDestination } from '../../wallet/history/earlier-payments.js';
import type { Context } from '../context.js';

const mostRead = 50;

export async function latestPayments({ account }: Context): Promise<readonly Payment[]> {
  const { id, journal } = await account();
  return (await journal()).latest(id, mostRead);
}

/** Builds the choices of the menu, each with name, destination, last amount and time. */
export async function knownChoices<T>(
  destinations: readonly KnownDestination<T>[],
  { now, terminal }: Pick<Context, 'now' | 'terminal'>,
): Promise<Choice<T>[]> {
  const { menuLines } = await import('../../terminal/rows/table.js');
  const lines = menuLines(columns<T>(now()), destinations, terminal.stderrCanvas);
  return destinations.map(({ value, name, destination }, i) => ({
    value,
    name: lines[i] ?? name,
    // The description of a choice contains the columns that a narrow window omits, so that a search
    // finds the text of the omitted columns.
    description: [name, destination].filter((text) => text !== '').join(' · '),
  }));
}

const columns = <T>(now: number): Column<KnownDestination<T>>[] => [
  { name: 'name', title: '', value: ({ name }) => name, only: 'screen', shrinks: true },
  {
    name: 'destination',
    title: '',
    value: ({ name, destination }) => (destination === name ? '' : shortened(destination)),
    only: 'screen',
    priority: 1,
    shrinks: true,
  },
  {
    name: 'amount',
    title: '',
    value: ({ lastAmount }) => (lastAmount === undefined ? '' : shortAmount(lastAmount)),
    only: 'screen',
    align: 'decimal',
    priority: 2,
  },
  {
    name: 'when',
    title: '',
    value: ({ lastAt }) => (lastAt === undefined ? '' : shortTime(lastAt, now)),
    only: 'screen',
    priority: 3,
  },
];
