// A transaction named by its id, by the beginning of it that a screen shows, or by a reference.
import { Failure } from '../../formats/failure.js';
import { keepSeenIds, seenIds } from '../../store/files/seen.js';
import type { Intent, Journal } from '../../store/journal/journal.js';
import { attemptNamed } from '../../wallet/payment/history.js';
import type { Context } from '../context.js';
import { historyOf } from '../payment/payment-flow.js';

/** Ids that were shown can be named by their beginning from then on. */
export async function rememberIds(txnIds: readonly string[], context: Context): Promise<void> {
  if (txnIds.length > 0) await keepSeenIds(context.home, (await context.account()).scope, txnIds);
}

/** So many characters of an id can stand for it. */
const shortest = 8;

/**
 * The id of the transaction that is meant. What is neither known here nor found under its own name is looked for among
 * the references at the service. Throws Failure `usage` for a beginning that several ids share, `not-found` for nothing.
 */
export async function resolveId(
  name: string,
  context: Context,
): Promise<string> {
  const known = await resolveLocally(name, context);
  if (known !== undefined) return known;
  const { client: service } = await context.account();
  if (await service.transaction(name).then(isThere, notThere)) return name;
  const history = await historyOf(context);
  await history.update(0);
  const attempt = (await history.attempts(name)).at(-1);
  if (attempt !== undefined) return attempt.txnId;
  throw new Failure('not-found', `No transaction has the id or the reference "${name}".`, { hint: 'svcpay tx list' });
}

const isThere = (): boolean => true;

/** A service may refuse what has not the form of its ids. */
function notThere(error: unknown): boolean {
  if (error instanceof Failure && (error.kind === 'not-found' || error.kind === 'refused')) return false;
  throw error;
}

/** What this machine alone knows of a name: by reference or id in the journal, or by its beginning among those seen. */
export async function resolveLocally(name: string, context: Context): Promise<string | undefined> {
  // What was begun here belongs to the account of the key.
  if (context.settings.accountId !== undefined) return isWhole(name) ? name : undefined;
  const { scope, ...account } = await context.account();
  // A transaction can be read without a journal.
  const journal = await account.journal().catch(() => undefined);
  const intent = journal && (await paymentNamed(name, scope, journal));
  if (intent?.doubts.some(({ txnId }) => txnId === name) === true) return name;
  if (intent?.txnId != null) return intent.txnId;
  if (isWhole(name)) return name;
  if (name.length < shortest) return undefined;
  const begun = ((await journal?.beginning(scope, name)) ?? []).flatMap(({ txnId }) => txnId ?? []);
  const shown = seenIds(context.home, scope).filter((txnId) => txnId.startsWith(name));
  const ids = [...new Set([...begun, ...shown])];
  if (ids.length > 1) {
    throw new Failure('usage', `"${name}" is the beginning of ${ids.length} ids. Write more of it.`, { hint: 'svcpay tx list' });
  }
  return ids[0];
}

/** What the journal has under a name; `R~2` is an attempt of the payment `R`. */
export const paymentNamed = async (name: string, scope: string, journal: Journal): Promise<Intent | undefined> =>
  (await journal.find(scope, name)) ?? journal.find(scope, attemptNamed(name)[0]);

/** An id as services give them: it is asked for as it is. */
const isWhole = (name: string): boolean => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(name);
