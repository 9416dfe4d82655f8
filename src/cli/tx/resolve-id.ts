// Resolves a transaction by its id, by the beginning of an id that svcpay has shown, or by its
// reference.
import type { ListedTransaction, SoughtTransaction } from '../../api/types.js';
import { decodeInvoice } from '../../formats/bolt11/decode.js';
import { Failure } from '../../formats/failure.js';
import { keepSeenIds, seenIds } from '../../store/files/seen.js';
import type { Journal } from '../../store/journal/journal.js';
import { attemptNamed, decisive, type Payment } from '../../store/journal/payment.js';
import { pageSize } from '../../api/pages.js';
import { idLength, lineText, type RecipientOf } from '../../terminal/views/transaction-view.js';
import { listedUnder } from '../../wallet/payment/find.js';
import type { Context } from '../context.js';
import { showSearching } from '../payment/payment-screen.js';

/**
 * Stores the ids of shown transactions, so that a person can abbreviate an id, and a
 * shell can complete an id.
 */
export async function rememberIds(
  shown: readonly ListedTransaction[],
  context: Context,
  recipientOf: RecipientOf = () => undefined,
): Promise<void> {
  if (shown.length === 0) return;
  const seen = shown.map((txn) => ({ txnId: txn.txnId, about: lineText(txn, recipientOf) }));
  await keepSeenIds(context.home, (await context.account()).scope, seen);
}

/**
 * Resolves a name to a transaction id. svcpay looks an invoice or a payment hash up in the journal,
 * then among the latest Lightning transactions. svcpay looks any other name up as a reference or an
 * id, then as the beginning of an id. Throws Failure `usage` if several ids begin with the name,
 * and `not-found` if no transaction matches the name.
 * @param isExact whether the beginning of an id is refused, because the command pays without asking
 */
export async function resolveId(name: string, context: Context, isExact = false): Promise<string> {
  const onRead = (count: number): void => showSearching(count, context);
  const sought = soughtInvoice(name);
  if (sought !== undefined) return byInvoice(sought, context);
  const local = await resolveLocally(name, context, isExact);
  if (local !== undefined) return local;
  const { client: service } = await context.account();
  if (await service.transaction(name).then(isThere, notThere)) return name;
  const named = await listedUnder(name, { since: 0, depth: 'every page', onRead }, service);
  const [last] = named.toSorted((a, b) => b.number - a.number);
  if (last !== undefined) return last.row.txnId;
  if (isExact || !beginsId(name)) throw notFound(name, isExact && beginsId(name));
  const { data } = await service.transactions({ time: '1y', limit: pageSize });
  const listed = onlyOne(
    name,
    data.map(({ txnId }) => txnId),
  );
  if (listed !== undefined) return listed;
  throw notFound(name);
}

const notFound = (name: string, wantsWholeId = false): Failure =>
  new Failure('not-found', `No transaction has the id or the reference "${name}".`, {
    hint: wantsWholeId ? 'With --yes, give the whole id. To see it' : undefined,
    next: { do: 'see-history' },
  });

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

const isThere = (): boolean => true;

/**
 * Returns false if the failure means that the service has no transaction with the id, and rethrows
 * any other failure. Some services refuse a malformed id instead of reporting the id as not found.
 */
function notThere(error: unknown): boolean {
  if (error instanceof Failure && (error.kind === 'not-found' || error.kind === 'refused'))
    return false;
  throw error;
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
  if (payment?.attempts.some(({ txnId }) => txnId === name) === true) return name;
  const txnId = payment === undefined ? null : decisive(payment).txnId;
  if (txnId !== null) return txnId;
  if (isWhole(name)) return name;
  if (isExact || !beginsId(name)) return undefined;
  const recorded = ((await journal?.beginning(scope, name)) ?? []).flatMap(({ attempts }) =>
    attempts.flatMap((attempt) => attempt.txnId ?? []),
  );
  return onlyOne(name, [...recorded, ...seenIds(context.home, scope)]);
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
  throw new Failure('usage', `"${name}" matches several ids: ${named.join(', ')}${more}.`, {
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
