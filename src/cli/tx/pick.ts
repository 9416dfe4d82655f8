// Asks the person to choose a transaction from the history, in a menu with the columns of the list.
import type { ListedTransaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { back, type Back, type Choice } from '../../terminal/ask/ask.js';
import { menuLines } from '../../terminal/rows/table.js';
import { dateTime } from '../../terminal/time.js';
import { lineKind, transactionList } from '../../terminal/views/transaction-view.js';
import type { Context } from '../context.js';
import { leftAtOnce } from '../exit-with.js';
import { historyFilter } from './history-options.js';
import { recipientsOf } from './local-facts.js';
import { rememberIds } from './resolve-id.js';
import { collected, hasMorePages, isExpiredQuote, newestLast } from './list.js';
import { searched } from './search.js';

/** The number of lines besides the rows: question, help, description and earlier output. */
const besideRows = 6;

/** The part of the history that a menu shows: a page, or everything that matches a text. */
export interface Place {
  readonly page: number;
  readonly search?: string | undefined;
  /** The transaction under the cursor, by default the newest transaction. */
  readonly txnId?: string | undefined;
}

/** A chosen transaction, and the rows from which the person chose it, newest last. */
export interface Picked extends Place {
  readonly txnId: string;
  readonly rows: readonly ListedTransaction[];
  /** The number of newer transactions on other pages. */
  readonly newer: number;
  readonly total: number | null;
}

/**
 * Asks the person to choose a transaction. Throws Failure `declined` if svcpay has no terminal for
 * the question.
 */
export async function pickId(
  message: string,
  states: readonly string[],
  context: Context,
): Promise<string> {
  context.ask.demand(['ID']);
  const picked = await pick(message, states, { page: 1 }, context);
  if (picked === back) throw leftAtOnce(context, 'Nothing was chosen');
  return picked.txnId;
}

type Chosen = string | { readonly go: Place };

/** Shows a page of the history as a searchable menu, with a search of the whole history. */
export async function pick(
  message: string,
  states: readonly string[],
  start: Place,
  context: Context,
): Promise<Picked | Back> {
  const { ask } = context;
  for (let place = start; ;) {
    const { rows, more, ...found } = await readPlace(place, states, context);
    const { page } = place;
    await rememberIds(rows, context, await recipientsOf(rows, context));
    const to = (name: string, go: Place): Choice<Chosen> => ({ value: { go }, name });
    const choices: Choice<Chosen>[] = [
      ...(more ? [to('Older', { page: page + 1 })] : []),
      ...(await rowChoices(rows, context)),
      ...(page > 1 ? [to('Newer', { page: page - 1 })] : []),
      ...(place.search === undefined ? [] : [to('All transactions', { page: 1 })]),
    ];
    if (choices.length === 0 && states.length > 0)
      throw new Failure('not-found', 'No transaction has a state that this command accepts.', {
        next: { do: 'see-history' },
      });
    const none =
      place.search === undefined ? 'No transactions yet' : `Nothing for "${place.search}"`;
    const chosen = await ask.steps.search<Chosen>({
      message: rows.length > 0 ? message : none,
      flag: 'ID',
      choices,
      default: place.txnId ?? rows.at(-1)?.txnId,
      typed: (text) => to(`Search all transactions for "${text}"`, { page: 1, search: text }),
      isTypedLast: true,
      // The question leaves no line, because the chosen transaction is shown instead.
      over: () => [],
      pageSize: choices.length + 1,
    });
    if (chosen === back) return back;
    if (typeof chosen === 'string') return { ...place, ...found, rows, txnId: chosen };
    place = chosen.go;
  }
}

async function readPlace(
  { page, search }: Place,
  states: readonly string[],
  context: Context,
): Promise<Omit<Picked, 'txnId' | 'page'> & { readonly more: boolean }> {
  const { client: service } = await context.account();
  const filter = await historyFilter({ ...everything, state: [...states] }, service);
  const isWanted = (txn: ListedTransaction): boolean =>
    states.length > 0 || !isExpiredQuote(txn, service.serviceNow());
  const limit = Math.max(5, Math.min(15, context.terminal.rows - besideRows));
  if (search !== undefined) {
    const pages = service.eachTransactionPage(filter);
    const rows = await collected(searched(pages, search, context), isWanted, limit);
    return { rows: newestLast(rows), newer: 0, total: rows.length, more: false };
  }
  const answer = await service.transactions({ ...filter, limit, page });
  return {
    rows: newestLast(answer.data.filter(isWanted)),
    newer: (page - 1) * limit,
    total: answer.pagination?.total ?? null,
    more: hasMorePages(answer, page, limit),
  };
}

const everything = {
  time: undefined,
  since: undefined,
  month: undefined,
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
  const recipientOf = await recipientsOf(rows, context);
  const { client: service } = await context.account();
  const { columns } = transactionList(service.serviceNow(), {
    recipientOf,
    ids: rows.map(({ txnId }) => txnId),
  });
  const shown = columns.filter(({ only }) => only !== 'rows');
  const lines = menuLines(shown, rows, stderrCanvas);
  return rows.map((txn, i) => ({
    value: txn.txnId,
    name: lines[i] ?? txn.txnId,
    // The description of a choice contains the columns that a narrow window omits, so that a search
    // finds the text of the omitted columns.
    description: [lineKind(txn), createdText(txn), txn.txnId].join(' · '),
  }));
}

export const createdText = ({ createdAt }: ListedTransaction): string =>
  typeof createdAt === 'number' ? dateTime(createdAt) : '–';
