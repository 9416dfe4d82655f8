// Sums the fees of a month by wallet and payment method.
import { dayWriter, monthSpan, ownZone, parseMonth, type Span } from '../../formats/calendar.js';
import { feeList, type FeeSum } from '../../terminal/views/wallet-view.js';
import { periodText } from '../../terminal/views/statement-view.js';
import type { Books } from '../../wallet/books/gather.js';
import { sumsOf } from '../../wallet/books/movement.js';
import { defineCommand, list } from '../define.js';
import { openBooks } from '../statement/open-books.js';
import { word } from '../values.js';

export const fees = defineCommand({
  arguments: {
    month: word('MONTH', parseMonth)
      .optional()
      .describe('2026-10, or last (default: the present month)'),
  },
  examples: [
    ['svcpay fees', 'sums the fees of this month by wallet and payment method'],
    ['svcpay fees last --json', 'sums the fees of the last month, for a script'],
  ],
  async run({ month }, context) {
    const zone = ownZone();
    const period = monthSpan(month, zone, context.now());
    return feesOf(await openBooks({ zone, period }, context), period);
  },
  view: list(feeList),
  adapt(_sums, { month }, { now }) {
    const zone = ownZone();
    const { first, end } = monthSpan(month, zone, now());
    const [from, to] = [first, end - 1].map(dayWriter(zone));
    return { heading: `Fees · ${periodText(from, to)} · ${zone}` };
  },
});

function feesOf(books: Books, period: Span): FeeSum[] {
  const sums = sumsOf(books.movements(undefined, period), ({ wallet, kind, method, out }) =>
    (kind === 'send' || kind === 'swap') && out.gt(0)
      ? { wallet, method: method ?? 'swap' }
      : undefined,
  );
  return sums
    .map(({ wallet, method, count, out, serviceFee, networkFee, fee }) => ({
      wallet,
      method,
      payments: count,
      amount: out,
      serviceFee,
      networkFee,
      fee,
      percent: fee.div(out).times(100).round(2),
    }))
    .toSorted((a, b) => (a.wallet < b.wallet ? -1 : 1));
}
