// The history as a menu whose rows open as receipts.
import type { ListedTransaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { back, type Back, type Choice } from '../../terminal/ask/ask.js';
import { tableLines } from '../../terminal/rows/table.js';
import { transactionList } from '../../terminal/views/transaction-view.js';
import type { Context } from '../context.js';
import { leftAtOnce } from '../exit-with.js';
import { historyFilter } from './history-options.js';
import { knownParties } from './parties.js';
import { rememberIds } from './resolve-id.js';
import { hasMorePages, isExpiredQuote } from './tx-list.js';

/** Lines for question, help, description and earlier output. */
const besideRows = 6;
const beforeRow = 4;

type Chosen = { readonly open: string } | { readonly page: number };

/** Resolves with the exit code of the last receipt when the person goes back. */
export async function browse(context: Context): Promise<number> {
  const { argv, runLine, signal } = context;
  let code = 0;
  for (let page = 1; ;) {
    const picked = await pick('Open which one?', [], page, context);
    if (picked === back) return code;
    page = picked.page;
    code = await runLine([...argv, 'tx', 'get', picked.txnId]);
    if (signal.aborted) return code;
  }
}

/** Asks for a transaction. Throws Failure `declined` without a terminal. */
export async function pickId(
  message: string,
  states: readonly string[],
  context: Context,
): Promise<string> {
  context.ask.demand(['ID']);
  const picked = await pick(message, states, 1, context);
  if (picked === back) throw leftAtOnce(context, 'Nothing was chosen');
  return picked.txnId;
}

/** A page of the history as a searchable menu. */
async function pick(
  message: string,
  states: readonly string[],
  start: number,
  context: Context,
): Promise<{ txnId: string; page: number } | Back> {
  const { ask, terminal } = context;
  const { client: service } = await context.account();
  const filter = await historyFilter({ ...everything, state: [...states] }, service);
  const limit = Math.max(5, Math.min(15, terminal.rows - besideRows));
  for (let page = start; ;) {
    const answer = await service.transactions({ ...filter, limit, page });
    const rows = answer.data.filter(
      (txn) => states.length > 0 || !isExpiredQuote(txn, service.serviceNow()),
    );
    await rememberIds(
      rows.map(({ txnId }) => txnId),
      context,
    );
    const choices: Choice<Chosen>[] = [
      ...(await rowChoices(rows, context)),
      ...(hasMorePages(answer, page, limit) ? [{ value: { page: page + 1 }, name: 'Older' }] : []),
      ...(page > 1 ? [{ value: { page: page - 1 }, name: 'Newer' }] : []),
    ];
    if (choices.length === 0 && states.length > 0)
      throw new Failure('not-found', 'No transaction is in a state that this command takes.', {
        next: { do: 'see-history' },
      });
    const question = choices.length > 0 ? message : 'No transactions yet';
    const chosen = await ask.steps.search({
      message: question,
      flag: 'ID',
      choices,
      pageSize: choices.length + 1,
    });
    if (chosen === back) return back;
    if ('open' in chosen) return { txnId: chosen.open, page };
    page = chosen.page;
  }
}

const everything = {
  time: undefined,
  since: undefined,
  until: undefined,
  state: [],
  srcMethod: [],
  destMethod: [],
  excludeSrcMethod: [],
  excludeDestMethod: [],
};

async function rowChoices(
  rows: readonly ListedTransaction[],
  context: Context,
): Promise<Choice<Chosen>[]> {
  const { stderrCanvas } = context.terminal;
  const known = await knownParties(rows, context);
  const { client: service } = await context.account();
  const { columns } = transactionList(service.serviceNow(), {
    known,
    ids: rows.map(({ txnId }) => txnId),
  });
  const shown = columns.filter(({ only }) => only !== 'rows');
  const lines = await tableLines(shown, rows, stderrCanvas.columns - beforeRow);
  return rows.map(({ txnId }, i) => ({ value: { open: txnId }, name: lines[i] ?? txnId }));
}
