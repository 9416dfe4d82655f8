// Finds the transaction that a person means: by its id, by the beginning of an id that svcpay has
// shown, by its reference or its invoice, or in a menu of the history.
import type { ListedTransaction, SoughtTransaction } from '../../api/types.js';
import { decodeInvoice } from '../../formats/bolt11/decode.js';
import { Failure, invalid, unlessKind } from '../../formats/failure.js';
import { seenTransactions } from '../../store/files/seen.js';
import type { Journal } from '../../store/journal/journal.js';
import { attemptOf, attemptNamed, decisive, type Payment } from '../../store/journal/payment.js';
import { pageSize } from '../../api/pages.js';
import {
  idLength,
  lineText,
  type RecipientOf,
  lineKind,
  transactionList,
} from '../../terminal/views/transaction-view.js';
import { listedUnder } from '../../wallet/transaction/read.js';
import type { Context } from '../context.js';
import { showSearching } from '../payment/payment-screen.js';
import { back, type Back, type Choice } from '../../terminal/ask/questions.js';
import { dateTime } from '../../terminal/time.js';
import { leftAtOnce } from '../process.js';
import {
  historyFilter,
  historyOptions,
  isListed,
  newestLast,
  readPage,
  searched,
} from './history.js';
import { idsOf, recipientsOf } from './local-facts.js';
import { readAll } from '../values.js';

/**
 * Stores the ids of shown transactions, so that a person can abbreviate an id, and a shell can
 * complete an id.
 */
export async function rememberIds(
  shown: readonly ListedTransaction[],
  context: Context,
  recipientOf: RecipientOf = () => undefined,
): Promise<void> {
  if (shown.length === 0) return;
  const seen = shown.map((txn) => ({ txnId: txn.txnId, about: lineText(txn, recipientOf) }));
  const { scope } = await context.account();
  await seenTransactions(context.home, scope).update((before = []) => {
    const known = new Set(before.map(({ txnId }) => txnId));
    return [...before, ...seen.filter(({ txnId }) => !known.has(txnId))].slice(-mostKept);
  });
}

const mostKept = 2000;

/**
 * Resolves a name to a transaction id. svcpay looks an invoice or a payment hash up in the journal,
 * then among the latest Lightning transactions. svcpay looks any other name up as a reference or an
 * id, then as the beginning of an id. Throws Failure `usage` if several ids begin with the name,
 * and `not-found` if no transaction matches the name.
 * @param isExact whether the beginning of an id is refused, because the command pays without asking
 */
export async function resolveId(name: string, context: Context, isExact = false): Promise<string> {
  const sought = soughtInvoice(name);
  if (sought !== undefined) return byInvoice(sought, context);
  const local = await resolveLocally(name, context, isExact);
  if (local !== undefined) return local;
  const { client: service } = await context.account();
  // Some services refuse a malformed id instead of reporting the id as not found.
  if (await unlessKind(['not-found', 'refused'], service.transaction(name))) return name;
  const onRead = (count: number): void => showSearching(count, context);
  const named = await listedUnder(name, { since: 0, depth: 'every page', onRead }, service);
  const [last] = named.toSorted((a, b) => b.number - a.number);
  if (last !== undefined) return last.row.txnId;
  if (!isExact && beginsId(name)) {
    const { data } = await service.transactions({ time: '1y', limit: pageSize });
    const listed = onlyOne(name, idsOf(data));
    if (listed !== undefined) return listed;
  }
  throw new Failure('not-found', `No transaction has the id or the reference "${name}".`, {
    hint: isExact && beginsId(name) ? 'With --yes, give the whole id. To see it' : undefined,
    next: { do: 'see-history' },
  });
}

/** Whether a name is long enough to stand for an id that begins with it. */
const beginsId = (name: string): boolean => /^[0-9a-f-]{6,}$/i.test(name);

/** Returns the invoice or the payment hash that a text is, or undefined for any other text. */
function soughtInvoice(text: string): SoughtTransaction | undefined {
  const word = text.trim().toLowerCase();
  if (/^[0-9a-f]{64}$/.test(word)) return { paymentHash: word };
  return /^(?:lightning:)?ln[a-z0-9]{100,}$/.test(word)
    ? { invoice: word.replace('lightning:', '') }
    : undefined;
}

async function byInvoice(sought: SoughtTransaction, context: Context): Promise<string> {
  const { invoice, paymentHash = decodeInvoice(invoice ?? '').paymentHash } = sought;
  const known = await resolveLocally(`bolt11:${paymentHash}`, context);
  const txnId = known ?? (await (await context.account()).client.findTransaction(sought))?.txnId;
  if (txnId !== undefined) return txnId;
  throw new Failure('not-found', 'No transaction has this invoice or payment hash.', {
    next: { do: 'see-history' },
  });
}

/**
 * Resolves a name offline, by reference or id in the journal, or by the beginning of an id that
 * svcpay has shown.
 */
export async function resolveLocally(
  name: string,
  context: Context,
  isExact = false,
): Promise<string | undefined> {
  // The payments of the journal belong to the account of the API key, not to the subaccount in
  // `--account`.
  if (context.settings.accountId !== undefined) return isWhole(name) ? name : undefined;
  const { scope, ...account } = await context.account();
  // A failure to open the journal does not matter, because svcpay can resolve a complete id without
  // the journal.
  const journal = await account.journal().catch(() => undefined);
  const payment = journal && (await paymentExactly(name, scope, journal));
  if (isWhole(name) || attemptOf(payment, name) !== undefined) return name;
  const txnId = payment && decisive(payment).txnId;
  if (txnId != null) return txnId;
  if (isExact || !beginsId(name)) return undefined;
  const recorded = ((await journal?.beginning(scope, name)) ?? []).flatMap(({ attempts }) =>
    attempts.flatMap((attempt) => attempt.txnId ?? []),
  );
  const seen = seenTransactions(context.home, scope).load() ?? [];
  return onlyOne(name, [...recorded, ...seen.map(({ txnId }) => txnId)]);
}

const mostNamed = 5;

/**
 * Returns the only id with the given beginning, or undefined if no id matches. Throws Failure
 * `usage` if several ids have the given beginning.
 */
function onlyOne(name: string, among: readonly string[]): string | undefined {
  const ids = [...new Set(among.filter((txnId) => txnId.startsWith(name.toLowerCase())))];
  if (ids.length < 2) return ids[0];
  const named = ids.slice(-mostNamed).map((txnId) => txnId.slice(0, idLength(ids)));
  const more = ids.length > named.length ? ` and ${ids.length - named.length} more` : '';
  throw invalid(`"${name}" matches several ids: ${named.join(', ')}${more}.`, {
    next: { do: 'show', id: named.at(-1) ?? name },
  });
}

/** Finds a payment by its id, by the beginning of its id or by its reference. */
export async function paymentNamed(
  name: string,
  context: Context,
  isExact = false,
): Promise<Payment | undefined> {
  const { scope, ...account } = await context.account();
  const journal = await account.journal();
  return (
    (await paymentExactly(name, scope, journal)) ??
    journal.find(scope, (await resolveLocally(name, context, isExact)) ?? name)
  );
}

/**
 * Finds a payment by id or reference. The reference `R~2` names the second attempt of the payment
 * `R`.
 */
const paymentExactly = async (
  name: string,
  scope: string,
  journal: Journal,
): Promise<Payment | undefined> =>
  (await journal.find(scope, name)) ?? journal.find(scope, attemptNamed(name)[0]);

/** Whether a name is a complete id, which svcpay sends to the service unchanged. */
const isWhole = (name: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(name);

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
    const { page, search } = place;
    const recipientOf = await recipientsOf(rows, context);
    await rememberIds(rows, context, recipientOf);
    const to = (name: string, go: Place): Choice<Chosen> => ({ value: { go }, name });
    const choices: Choice<Chosen>[] = [
      ...(more ? [to('Older', { page: page + 1 })] : []),
      ...(await rowChoices(rows, recipientOf, context)),
      ...(page > 1 ? [to('Newer', { page: page - 1 })] : []),
      ...(search === undefined ? [] : [to('All transactions', { page: 1 })]),
    ];
    if (choices.length === 0 && states.length > 0)
      throw new Failure('not-found', 'No transaction has a state that this command accepts.', {
        next: { do: 'see-history' },
      });
    const none = search === undefined ? 'No transactions yet' : `Nothing for "${search}"`;
    const chosen = await ask.pose<Chosen>({
      isSearch: true,
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
  const { client } = await context.account();
  const flags = { ...readAll(historyOptions, {}), state: [...states] };
  const filter = await historyFilter(flags, client);
  const isWanted = isListed(states, client);
  const limit = Math.max(5, Math.min(15, context.terminal.rows - besideRows));
  if (search !== undefined) {
    const found = await searched(filter, search, isWanted, context, limit);
    return { rows: newestLast(found), newer: 0, total: found.length, more: false };
  }
  const { transactions, total, more } = await readPage(filter, page, limit, context);
  const rows = newestLast(transactions.filter(isWanted));
  return { rows, newer: (page - 1) * limit, total, more };
}

async function rowChoices(
  rows: readonly ListedTransaction[],
  recipientOf: RecipientOf,
  { client, terminal }: Context,
): Promise<Choice<Chosen>[]> {
  const now = (await client()).serviceNow();
  const { columns } = transactionList(now, { recipientOf, ids: idsOf(rows) });
  const shown = columns.filter(({ only }) => only !== 'rows');
  // Loads the code of tables only for a question.
  const { menuChoices } = await import('../../terminal/rows/table.js');
  return menuChoices(shown, rows, terminal.stderrCanvas, (txn) => ({
    value: txn.txnId,
    description: [lineKind(txn), createdText(txn), txn.txnId].join(' · '),
  }));
}

export const createdText = ({ createdAt }: ListedTransaction): string =>
  createdAt == null ? '–' : dateTime(createdAt);
