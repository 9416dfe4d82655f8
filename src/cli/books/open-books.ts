// The books of an account: reads every transaction once, with progress.
import type { Big } from 'big.js';
import type { ListedTransaction } from '../../api/types.js';
import type { ServiceClient } from '../../api/client.js';
import type { Money } from '../../formats/amount.js';
import {
  always,
  ownZone,
  parseDate,
  parseZone,
  spanOf,
  type CalendarDate,
  type Span,
} from '../../formats/calendar.js';
import { Failure } from '../../formats/failure.js';
import { openSortedRows } from '../../store/files/sorted-rows.js';
import { gather, type Books } from '../../wallet/books/gather.js';
import type { Context } from '../context.js';
import { amount, word, type Value } from '../values.js';

export const zoneOption = (fallback = 'of this machine') =>
  word('ZONE', parseZone)
    .optional()
    .describe(`time zone of the calendar days, such as Asia/Ho_Chi_Minh (default: ${fallback})`);

export const openingOption = (): Value<Money[]> =>
  amount()
    .repeated()
    .describe(
      'what a wallet got outside the listed transactions, such as deposits to a permanent address; may be repeated',
    );

export const date = () => word('DATE', parseDate);

export const zoneOf = (tz: string | undefined): string => tz ?? ownZone();

/** From the first to the last day inclusive. Throws Failure `usage` for a period that ends before it begins. */
export function periodOf(
  from: CalendarDate | undefined,
  to: CalendarDate | undefined,
  zone: string,
): Span {
  const first = from === undefined ? always.first : spanOf(from, zone).first;
  const end = to === undefined ? always.end : spanOf(to, zone).end;
  if (first < end) return { first, end };
  throw new Failure('usage', 'No day lies between these dates: --from is later than --to.');
}

/** Opening balances by currency; amounts of one currency are added. */
export function openingsOf(amounts: readonly Money[]): ReadonlyMap<string, Big> {
  const sums = new Map<string, Big>();
  for (const { ccy, value } of amounts) sums.set(ccy, value.plus(sums.get(ccy) ?? 0));
  return sums;
}

export interface BooksWanted {
  /** Balances before the first listed transaction. */
  readonly before: ReadonlyMap<string, Big>;
  readonly entry?: ((txn: ListedTransaction) => string) | undefined;
}

/** Reads the books and passes them to `use`; then deletes the sorted copy. */
export async function withBooks<T>(
  wanted: BooksWanted,
  use: (books: Books, service: ServiceClient) => Promise<T>,
  context: Context,
): Promise<T> {
  const { live, out, terminal, signal, sleep } = context;
  const { client: service } = await context.account();
  const rows = openSortedRows();
  let count = 0;
  if (terminal.canAnimate) live.start(() => `Reading the history: ${count} transactions`);
  const onRead = (read: number): void => {
    count = read;
    live.update();
  };
  try {
    const books = await gather({ ...wanted, service, rows, signal, sleep, onRead });
    live.stop();
    for (const ccy of books.unreported)
      out.warn(
        `The service reports no total of the ${ccy} wallet: its closing balance is not checked.`,
      );
    return await use(books, service);
  } finally {
    live.stop();
    rows.close();
  }
}

/** Throws Failure `not-found` for a wallet without balance and movements. */
export function chosenWallets(
  { currencies }: Books,
  wallet: string | undefined,
): readonly string[] {
  if (wallet === undefined) return currencies;
  if (currencies.includes(wallet)) return [wallet];
  throw new Failure(
    'not-found',
    `No ${wallet} has moved, and no ${wallet} wallet holds anything.`,
    { next: { do: 'see-wallets' } },
  );
}
