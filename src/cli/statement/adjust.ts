// Records an adjustment for money that no transaction explains: the opening balance of a wallet, a
// deposit to a permanent address, a withdrawal outside the list, or a counter-entry that reverses
// an earlier entry.
import { fixed, formatAmount, parseAmount, type Money } from '../../formats/amount.js';
import { dateAfter, dayWriter, isMonth, ownZone, spanOf } from '../../formats/calendar.js';
import { Failure, invalid } from '../../formats/failure.js';
import type { Close, Tie } from '../../store/journal/records.js';
import { entryList } from '../../terminal/views/statement-view.js';
import { defineCommand, list } from '../define.js';
import { text, word } from '../values.js';
import { closesOf, date } from './open-books.js';

/** Reads the amount of an adjustment. A minus sign means that money left the wallet. */
function parseSigned(given: string): Money {
  if (!given.startsWith('-')) return parseAmount(given);
  const { ccy, value } = parseAmount(given.slice(1));
  return { ccy, value: value.neg() };
}

export const statementAdjust = defineCommand({
  arguments: {
    amount: word('AMOUNT', parseSigned).describe(
      'amount, e.g. 0.01btc; for an outgoing amount: -- -0.01btc',
    ),
  },
  options: {
    on: date().optional().describe('day of the entry; required, unless the wallet added up today'),
    note: text().optional().describe('the reason, shown in the statement'),
  },
  changes: true,
  examples: [
    [
      "svcpay statement adjust 1btc --on 2026-10-01 --note 'opening balance'",
      'records what the wallet held before its first transaction',
    ],
    [
      'svcpay statement adjust 0.01btc --on 2026-11-14 --note deposit',
      'records a deposit that the service does not list, made to the permanent address',
    ],
    [
      "svcpay statement adjust --on 2026-11-14 --note 'entered twice' -- -0.01btc",
      'records a counter-entry; recorded entries never change',
    ],
  ],
  async run({ amount, on, note }, context) {
    const { scope, client } = await context.account();
    const wallets = await client.wallets();
    if (!wallets.some((wallet) => wallet.ccy.toUpperCase() === amount.ccy))
      throw new Failure('not-found', `Nothing was recorded: there is no ${amount.ccy} wallet.`, {
        next: { do: 'see-wallets' },
      });
    const [now, zone] = [client.serviceNow(), ownZone()];
    const records = await context.books();
    const day = on ?? arisenOn(amount.ccy, await records.ties(scope), dayWriter(zone), now);
    if (isMonth(day)) throw invalid('--on must be a day such as 2026-11-14.');
    if (spanOf(day, zone).first > now)
      throw invalid(`Nothing was recorded: ${day} is in the future.`);
    checkOpen(day, await closesOf(context));
    const { ccy, value } = amount;
    await context.ask.agree(
      `Record ${formatAmount({ ccy, value })} on ${day}?`,
      'Nothing was recorded',
    );
    const id = context.newId();
    const entry = { id, ccy, amount: fixed(value), dated: day, note: note ?? null };
    await records.add(scope, { ...entry, recordedAt: now });
    return [{ wallet: ccy, amount: value, date: day, note: entry.note, id }];
  },
  view: list(entryList),
});

/**
 * Returns today if the wallet added up today. Otherwise throws Failure `usage`, which names the
 * days on which the difference may have arisen.
 */
function arisenOn(
  ccy: string,
  ties: readonly Tie[],
  dayOf: (at: number) => string,
  now: number,
): string {
  const tie = ties.find((each) => each.ccy === ccy);
  const [first, today] = [tie && dayOf(tie.tiedAt), dayOf(now)];
  if (first === today) return today;
  const arisen =
    first === undefined ? `by ${today}` : `between ${first} and ${today}, after it last added up`;
  throw invalid(
    `Nothing was recorded: name the day with --on. The difference of ${ccy} arose ${arisen}.`,
    { hint: `For the first possible day: --on ${first ?? today}` },
  );
}

/** Throws Failure `usage` for a day of a closed month. */
function checkOpen(day: string, closes: readonly Close[]): void {
  const month = closes.at(-1)?.month;
  if (month === undefined || day.slice(0, 7) > month) return;
  const first = `${dateAfter(month)}-01`;
  throw invalid(`Nothing was recorded: ${month} is closed.`, {
    hint: `Use the first day after it: --on ${first}`,
  });
}
