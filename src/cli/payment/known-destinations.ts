// Recipients that this home can pay again: its address book, and the destinations of its payments.
import type { Money } from '../../formats/amount.js';
import { status, type Payment } from '../../store/journal/payment.js';
import type { Choice } from '../../terminal/ask/ask.js';
import type { Column } from '../../terminal/rows/view.js';
import { shortTime } from '../../terminal/time.js';
import { shortAmount, shortened } from '../../terminal/views/transaction-view.js';
import { knownAmounts } from '../../wallet/limits/limits.js';
import { decodeOrder, type Order } from '../../wallet/order/orders.js';
import type { Context } from '../context.js';

/** A party that was paid, or that is in the address book. */
export interface KnownDestination<T> {
  /** Equal for payments to the same destination. */
  readonly key: string;
  /** The name in the address book, or on the account. */
  readonly name: string;
  readonly destination: string;
  readonly value: T;
  /** The time of the last payment in epoch ms. Undefined before the first payment. */
  readonly lastAt?: number;
  readonly lastAmount?: Money | undefined;
}

/** The order of a payment that can be repeated. Undefined for a payment of an invoice. */
export function repeatable(payment: Payment): Order | undefined {
  const order = decodeOrder(payment.request);
  return order.idempotencyKey === null && order.isImported !== true ? order : undefined;
}

/**
 * The last payment to each destination, newest first, then the entries of the address book without
 * a payment.
 * @param describe the recipient of an order, or undefined for another kind of payment
 */
export function knownDestinations<T>(
  book: readonly KnownDestination<T>[],
  payments: readonly Payment[],
  describe: (order: Order) => KnownDestination<T> | undefined,
): KnownDestination<T>[] {
  const found = new Map<string, KnownDestination<T>>();
  for (const payment of payments.toSorted((a, b) => b.openedAt - a.openedAt)) {
    const order = status(payment) === 'abandoned' ? undefined : repeatable(payment);
    const paid = order && describe(order);
    if (order === undefined || paid === undefined || found.has(paid.key)) continue;
    const named = book.find(({ key }) => key === paid.key) ?? paid;
    const last = { lastAt: payment.openedAt, lastAmount: knownAmounts(order)[0] };
    found.set(paid.key, { ...named, ...last });
  }
  const others = book.filter(({ key }) => !found.has(key));
  return [...found.values(), ...others.toSorted((a, b) => a.name.localeCompare(b.name))];
}

const mostRead = 50;

export async function latestPayments({ account }: Context): Promise<readonly Payment[]> {
  const { id, journal } = await account();
  return (await journal()).latest(id, mostRead);
}

/** Each destination on one line: name, destination, last amount, time. */
export async function knownChoices<T>(
  known: readonly KnownDestination<T>[],
  { now, terminal }: Pick<Context, 'now' | 'terminal'>,
): Promise<Choice<T>[]> {
  const { menuLines } = await import('../../terminal/rows/table.js');
  const lines = menuLines(columns<T>(now()), known, terminal.stderrCanvas);
  return known.map(({ value, name, destination }, i) => ({
    value,
    name: lines[i] ?? name,
    // Includes the columns that a narrow window omits, so that a search finds them.
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
