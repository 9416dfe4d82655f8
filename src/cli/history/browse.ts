// The history as a menu: a page of it, of which a row can be opened as a receipt.
import type { ListedTransaction } from '../../api/types.js';
import { back, type Choice } from '../../terminal/ask/ask.js';
import { tableLines } from '../../terminal/rows/table.js';
import { transactionList } from '../../terminal/views/transaction-view.js';
import type { Context } from '../context.js';
import { historyFilter } from './history-options.js';
import { knownParties } from './parties.js';
import { rememberIds } from './resolve-id.js';
import { hasMorePages, isExpiredQuote } from './tx-list.js';

/** The question, the help below it, the description, and room for what stood there before. */
const besideRows = 6;
const beforeRow = 4;

type Chosen = { readonly open: string } | { readonly page: number };

/** Ends when the person goes back, with the exit code of the last receipt. */
export async function browse(
  context: Context,
): Promise<number> {
  const { ask, argv, runLine, signal, terminal } = context;
  const { client: service } = await context.account();
  const filter = await historyFilter(everything, service);
  const limit = Math.max(5, Math.min(15, terminal.rows - besideRows));
  let code = 0;
  for (let page = 1; ; ) {
    const answer = await service.transactions({ ...filter, limit, page });
    const rows = answer.data.filter((txn) => !isExpiredQuote(txn, service.serviceNow()));
    await rememberIds(rows.map(({ txnId }) => txnId), context);
    const choices: Choice<Chosen>[] = [
      ...(await rowChoices(rows, context)),
      ...(hasMorePages(answer, page, limit) ? [{ value: { page: page + 1 }, name: 'Older' }] : []),
      ...(page > 1 ? [{ value: { page: page - 1 }, name: 'Newer' }] : []),
    ];
    const message = choices.length === 0 ? 'No transactions yet' : 'Open which one?';
    const chosen = await ask.steps.select({ message, flag: 'ID', choices, pageSize: choices.length + 1 });
    if (chosen === back) return code;
    if ('page' in chosen) page = chosen.page;
    else {
      code = await runLine([...argv, 'tx', 'get', chosen.open]);
      if (signal.aborted) return code;
    }
  }
}

const everything = {
  time: undefined, since: undefined, until: undefined, state: [], srcMethod: [], destMethod: [], excludeSrcMethod: [],
  excludeDestMethod: [],
};

async function rowChoices(
  rows: readonly ListedTransaction[],
  context: Context,
): Promise<Choice<Chosen>[]> {
  const { stderrCanvas } = context.terminal;
  const known = await knownParties(rows, context);
  const { client: service } = await context.account();
  const { columns } = transactionList(service.serviceNow(), { known, ids: rows.map(({ txnId }) => txnId) });
  const shown = columns.filter(({ only }) => only !== 'rows');
  const lines = await tableLines(shown, rows, stderrCanvas.columns - beforeRow);
  return rows.map(({ txnId }, i) => ({ value: { open: txnId }, name: lines[i] ?? txnId }));
}
