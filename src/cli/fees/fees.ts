// Sums the fees of a month by wallet and payment method.
import Big from 'big.js';
import { dayWriter, monthSpan, ownZone, parseDate, parseMonth } from '../../formats/calendar.js';
import { feeList, type FeeSum } from '../../terminal/views/fee-view.js';
import type { Books } from '../../wallet/books/gather.js';
import { defineCommand } from '../define.js';
import { list } from '../show.js';
import { withBooks } from '../statement/open-books.js';
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
    const present = parseDate(dayWriter(zone)(context.now()).slice(0, 7));
    const period = monthSpan(month ?? present, zone, context.now());
    return withBooks({ zone, period }, (books) => Promise.resolve(sumsOf(books, period)), context);
  },
  view: list(feeList),
});

function sumsOf(books: Books, period: Parameters<Books['movements']>[1]): FeeSum[] {
  const sums = new Map<string, FeeSum>();
  for (const { ccy, kind, other, out, fee, ...fees } of books.movements(undefined, period)) {
    if (kind !== 'send' && kind !== 'swap') continue;
    if (out.eq(0)) continue;
    const method = kind === 'swap' ? 'swap' : other;
    const sum = sums.get(`${ccy} ${method}`) ?? { wallet: ccy, method, ...none };
    const amount = sum.amount.plus(out);
    const total = sum.fee.plus(fee);
    sums.set(`${ccy} ${method}`, {
      ...sum,
      payments: sum.payments + 1,
      amount,
      serviceFee: sum.serviceFee.plus(fees.serviceFee),
      networkFee: sum.networkFee.plus(fees.networkFee),
      fee: total,
      percent: total.div(amount).times(100).round(2),
    });
  }
  return [...sums.values()].toSorted((a, b) => (a.wallet < b.wallet ? -1 : 1));
}

const zero = new Big(0);
const none = {
  payments: 0,
  amount: zero,
  serviceFee: zero,
  networkFee: zero,
  fee: zero,
  percent: zero,
};
