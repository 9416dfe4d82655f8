// Sums the movements of a period by currency and kind: the money received, sent, swapped, and the
// fees.
import Big from 'big.js';
import type { Failure } from '../../formats/failure.js';
import { dayWriter } from '../../formats/calendar.js';
import { totalList, type StatementTotal } from '../../terminal/views/statement-view.js';
import { defineCommand } from '../define.js';
import { list } from '../show.js';
import { currency } from '../values.js';
import { statementLines } from './lines.js';
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
    const sums = new Map<string, StatementTotal>();
    return withBooks(
      { zone, period },
      async (books) => {
        const wallets = chosenWallets(books, wallet);
        const wanted = { wallets, period, now: books.at, day: dayWriter(zone) };
        for await (const line of statementLines(books, wanted, withoutLookUps)) {
          if (!moves.has(line.kind)) continue;
          const { wallet: ccy, kind } = line;
          const sum = sums.get(`${ccy} ${kind}`) ?? { ccy, kind, count: 0, ...zero };
          sums.set(`${ccy} ${kind}`, {
            ...sum,
            count: sum.count + 1,
            in: sum.in.plus(line.in),
            out: sum.out.plus(line.out),
            fee: sum.fee.plus(line.fee),
          });
        }
        return { rows: [...sums.values()], failure: notTied(wallets, books, zone, context) };
      },
      context,
    );
  },
  view: list<StatementTotal, Totals>(totalList, ({ rows }) => rows),
  failure: ({ failure }) => failure,
});

const zero = { in: new Big(0), out: new Big(0), fee: new Big(0) };
const moves: ReadonlySet<string> = new Set(['receive', 'send', 'swap']);

/** Sums need no recipients and no exchange rates. */
const withoutLookUps = { parties: async () => () => undefined, rates: async () => new Map() };
