// Records the opening balance of a wallet: the money in the wallet before its first transaction.
// Each wallet has one opening balance.
import { formatAmount, money } from '../../formats/amount.js';
import { dayWriter, ownZone } from '../../formats/calendar.js';
import { entryList, type RecordedEntry } from '../../terminal/views/statement-view.js';
import type { Opening } from '../../wallet/books/gather.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { withBooks } from './open-books.js';

export const statementOpen = defineCommand({
  fields: entryList.columns.map(({ name }) => name),
  examples: [
    ['svcpay statement open', 'asks for the opening balance of each wallet'],
    ['svcpay statement open --yes', 'records every opening balance without asking'],
  ],
  run: async (_values, context) => {
    const zone = ownZone();
    const openings = await withBooks({ zone }, async (books) => books.openings, context);
    const recorded: RecordedEntry[] = [];
    for (const opening of openings) {
      const entry = await record(opening, dayWriter(zone), context);
      if (entry !== undefined) recorded.push(entry);
    }
    if (openings.length === 0) context.out.say('No wallet needs an opening entry.');
    await context.out.list(recorded, entryList);
  },
});

/**
 * Records an opening balance. Returns undefined if the person declined, or if another process has
 * recorded the opening balance.
 */
async function record(
  { entry, value, at }: Opening,
  day: (at: number) => string,
  { account, books, ask, out }: Context,
): Promise<RecordedEntry | undefined> {
  const { id, ccy } = entry;
  const what = `${formatAmount(money(ccy, value))} as the opening balance on ${day(at)}`;
  if (!(await ask.confirm(`Record ${what}?`))) return undefined;
  const { scope, client } = await account();
  if (await (await books()).add(scope, { ...entry, recordedAt: client.serviceNow() }))
    return { wallet: ccy, amount: value, date: day(at), note: null, id };
  out.warn(`Another process has already recorded the opening balance of ${ccy}.`);
  return undefined;
}
