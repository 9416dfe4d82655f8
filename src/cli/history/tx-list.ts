// Lists transactions, a page at a time or all of them. Specification: endpoint 10.
import type { TransactionPage } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { transactionList } from '../../terminal/views/transaction-view.js';
import { defineCommand } from '../define.js';
import { historyFilter, historyOptions } from './history-options.js';
import { flag, whole } from '../values.js';

export const txList = defineCommand({
  arguments: {},
  options: {
    ...historyOptions,
    limit: whole(1, 1000).optional().describe('how many on a page (default 20)'),
    page: whole(1, 1_000_000).optional().describe('which page (default 1)'),
    all: flag().describe('every page, printed as it comes'),
  },
  examples: [
    ['svcpay tx list --state failed --state expired --time 30d', 'what did not work out'],
    ['svcpay tx list --since 2026-03-01 --until 2026-03-31 --all -o csv', 'a month, for a spreadsheet'],
    ['svcpay tx list --json --fields txnId,txnState', 'two fields of each, for a script'],
  ],
  async run({ limit, page, all, ...flags }, context) {
    if (all && (limit !== undefined || page !== undefined)) {
      throw new Failure('usage', '--all lists everything. Leave --limit and --page out.');
    }
    const { out } = context;
    const service = await context.ownClient();
    const filter = await historyFilter(flags, 'recent', service);
    if (all) return out.list(service.eachTransaction(filter), transactionList(service.serviceNow()));
    const answer = await service.transactions({ ...filter, limit, page });
    await out.list(answer.data, { ...transactionList(service.serviceNow()), footer: whatElse(answer) });
  },
});

/** Where to find what is not on this page; undefined when all is. */
function whatElse({ data, pagination }: TransactionPage): string | undefined {
  const { page, limit, total } = pagination;
  if (data.length >= total) return undefined;
  const last = Math.ceil(total / limit);
  const next = page < last ? `--page ${page + 1} for the next, ` : '';
  return `Page ${page} of ${last}, ${total} transactions: ${next}--all for every one`;
}
