// Shows the history as a menu in which each row opens as a receipt.
import type { ListedTransaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { back, type Back, type Choice } from '../../terminal/ask/ask.js';
import { menuLines } from '../../terminal/rows/table.js';
import { dateTime } from '../../terminal/time.js';
import { lineKind, transactionList } from '../../terminal/views/transaction-view.js';
import { failureLines } from '../../terminal/failure-view.js';
import type { Context } from '../context.js';
import { leftAtOnce } from '../exit-with.js';
import { historyFilter } from './history-options.js';
import { recipientsOf } from './parties.js';
import { rememberIds } from './resolve-id.js';
import { hasMorePages, isExpiredQuote } from './list.js';
import { findMethod } from '../../wallet/payout/methods.js';
import type { CardDetail } from '../../terminal/cards/card.js';
import type { Instruction } from '../../wallet/instruction/instruction.js';
import { inWords } from '../../wallet/instruction/words.js';
import { runPayoutInstruction } from '../payout/payout-flow.js';
import { readAll } from '../values.js';
import { repeatable } from '../../wallet/history/earlier-payments.js';
import { runPayment } from '../payment/payment-flow.js';
import { swapPresentation } from '../payment/payment-model.js';
import { paymentOptions } from '../payment/payment-options.js';

/** The number of lines besides the rows: question, help, description and earlier output. */
const besideRows = 6;

type Chosen = { readonly open: string } | { readonly page: number };

/**
 * Shows the menu. When the person goes back from the menu, resolves with the exit code of the last
 * receipt.
 */
export async function browse(context: Context): Promise<number> {
  const { argv, runLine, signal } = context;
  let code = 0;
  for (let page = 1; ;) {
    const picked = await pick('Open which one?', [], page, context);
    if (picked === back) return code;
    page = picked.page;
    code = await runLine([...argv, 'tx', 'get', picked.txnId]);
    if (signal.aborted) return code;
    code = (await offerAgain(picked.txnId, context)) ?? code;
    if (signal.aborted) return code;
  }
}

/**
 * Offers to repeat a payment, below the receipt of the payment. Resolves with the exit code of the
 * repeated payment, or with undefined if the person does not pay again.
 */
async function offerAgain(txnId: string, context: Context): Promise<number | undefined> {
  const { ask, out } = context;
  const instruction = await askedFor(txnId, context);
  if (instruction === undefined) return undefined;
  const chosen = await ask.steps.select<'again' | Back>({
    message: 'What next?',
    flag: 'ID',
    choices: [{ value: 'again', name: `Pay again: ${inWords(instruction)}` }],
    default: back,
    backName: 'Back to the list',
  });
  if (chosen === back) return undefined;
  try {
    await payAgain(instruction, context);
    return 0;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    out.card((canvas) => [
      '',
      ...failureLines(error, { money: true, canvas, run: context.globals }),
    ]);
    return error.exitCode;
  }
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
  const picked = await pick(message, states, 1, context);
  if (picked === back) throw leftAtOnce(context, 'Nothing was chosen');
  return picked.txnId;
}

/** Shows a page of the history as a searchable menu. */
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
    await rememberIds(rows, context, await recipientsOf(rows, context));
    const choices: Choice<Chosen>[] = [
      ...(await rowChoices(rows, context)),
      ...(hasMorePages(answer, page, limit) ? [{ value: { page: page + 1 }, name: 'Older' }] : []),
      ...(page > 1 ? [{ value: { page: page - 1 }, name: 'Newer' }] : []),
    ];
    if (choices.length === 0 && states.length > 0)
      throw new Failure('not-found', 'No transaction has a state that this command accepts.', {
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
    value: { open: txn.txnId },
    name: lines[i] ?? txn.txnId,
    // The description of a choice contains the columns that a narrow window omits, so that a search
    // finds the text of the omitted columns.
    description: [lineKind(txn), createdText(txn), txn.txnId].join(' · '),
  }));
}

const createdText = ({ createdAt }: ListedTransaction): string =>
  typeof createdAt === 'number' ? dateTime(createdAt) : '–';

/**
 * Returns the instruction of a payment of this home, or undefined if this home does not know the
 * payment or cannot repeat the payment.
 */
async function askedFor(txnId: string, context: Context): Promise<Instruction | undefined> {
  if (context.settings.accountId !== undefined) return undefined;
  const { scope, journal } = await context.account();
  const payment = await (await journal()).find(scope, txnId);
  return payment && repeatable(payment);
}

export async function payAgain(instruction: Instruction, context: Context): Promise<void> {
  const flags = readAll(paymentOptions, {});
  const { verb, payout, from, to } = instruction;
  if (payout !== undefined)
    return void (await runPayoutInstruction(
      instruction,
      findMethod(payout.destReq.method),
      flags,
      context,
    ));
  const about: CardDetail =
    verb === 'swap'
      ? { label: 'Swap', value: `${from} to ${to}` }
      : { label: 'To', value: to, whole: true };
  const presentation = verb === 'swap' ? swapPresentation : {};
  await runPayment(instruction, flags, { about: [about], ...presentation }, context);
}
