// Sums the movements of a period by currency and kind: the money received, sent, swapped, and the
// fees.
import type { Failure } from '../../formats/failure.js';
import { totalList, type StatementTotal } from '../../terminal/views/statement-view.js';
import { sumsOf } from '../../wallet/books/movement.js';
import { defineCommand } from '../define.js';
import { list } from '../show.js';
import { currency } from '../values.js';
import { chosenWallets, date, periodOf, withBooks, zoneOf, zoneOption } from './open-books.js';
import { notTied } from './statement.js';

interface Totals {
  readonly rows: readonly StatementTotal[];
  /** The failure of a statement that does not add up. */
  readonly failure: Failure | undefined;
}

export const statementTotals = defineCommand({
  options: {
    from: date().optional().describe('first day, or a month (default: the first transaction)'),
    to: date().optional().describe('last day, or a month (default: today)'),
    wallet: currency().optional().describe('only the wallet in this currency'),
    tz: zoneOption(),
  },
  examples: [
    ['svcpay statement totals --from 2026-10 --to 2026-10', 'sums a month by currency and kind'],
  ],
  async run({ from, to, wallet, tz }, context): Promise<Totals> {
    const zone = zoneOf(tz);
    const period = periodOf(from, to, zone);
    return withBooks(
      { zone, period },
      async (books) => {
        const wallets = chosenWallets(books, wallet);
        const rows = wallets.flatMap((each) =>
          sumsOf(books.movements(each, period), ({ kind }) =>
            moves.has(kind) ? kind : undefined,
          ).map(({ ccy, name, count, in: received, out, fee }) => ({
            ccy,
            kind: name,
            count,
            in: received,
            out,
            fee,
          })),
        );
        return { rows, failure: notTied(wallets, books, zone, context) };
      },
      context,
    );
  },
  view: list<StatementTotal, Totals>(totalList, ({ rows }) => rows),
  failure: ({ failure }) => failure,
});

const moves: ReadonlySet<string> = new Set(['receive', 'send', 'swap']);
