// Accounts, their access rules and wallets, and the double-entry books. The amounts of a movement
// sum to zero per currency, the books post each movement once, and no wallet becomes negative.
import type Big from 'big.js';
import * as v from 'valibot';
import { type Context, randomId } from './world.js';
import type { Store } from './database.js';
import { fromUnits, toUnits, notFound, permissionDenied, Refusal, unauthorized } from './wire.js';

/**
 * The role of a book. The books `available` and `reserved` form a wallet, the book `fees` belongs
 * to the service, the book `desk` exchanges currencies, and the book `outside` is the rest of the
 * world.
 */
export type Role = 'available' | 'reserved' | 'fees' | 'desk' | 'outside';

export interface Leg {
  /** The account id, or `house` for the books with the roles `fees`, `desk` and `outside`. */
  readonly owner: string;
  readonly role: Role;
  readonly ccy: string;
  /** The change in the book's balance, which is positive for an increase. */
  readonly amount: Big;
}

/** A movement of money. The ledger posts each step of a transaction or deposit only once. */
export interface Movement {
  readonly subject: string;
  readonly step: 'deposit' | 'reserve' | 'release' | 'settle' | 'return';
  readonly legs: readonly Leg[];
}

export class InsufficientFunds extends Error {
  override readonly name = 'InsufficientFunds';
}

const house = 'house';
const bookRow = v.object({ id: v.number(), balance: v.number() });

/** A leg on a book of the account, or on a book of the house. */
export const leg = (role: Role, accountId: string, ccy: string, amount: Big): Leg => ({
  owner: role === 'available' || role === 'reserved' ? accountId : house,
  role,
  ccy,
  amount,
});

/** Posts a movement. Throws `InsufficientFunds` and posts nothing if a balance is too low. */
export function post(ctx: Context, { subject, step, legs: given }: Movement): void {
  const { store, now } = ctx;
  const legs = netted(given);
  assertBalanced(legs);
  store.attempt(() => {
    const postingId = store.insert('posting', { subject, step, at: now });
    for (const each of legs) store.insert('entry', { postingId, ...applyLeg(ctx, each) });
  });
}

export function balanceOf(
  store: Store,
  owner: string,
  ccy: string,
  role: 'available' | 'reserved',
): Big {
  return fromUnits(ccy, bookOf(store, { owner, role, ccy })?.balance ?? 0);
}

/**
 * Throws if the books of a currency do not sum to zero, or if a wallet is negative. The database
 * calls `verifyBooks` before every commit.
 */
export function verifyBooks(store: Store): void {
  const wrong = store.one(
    v.object({ ccy: v.string(), total: v.number(), lowest: v.number() }),
    `SELECT ccy, sum(balance) AS total,
       min(CASE WHEN owner = '${house}' THEN 0 ELSE balance END) AS lowest
     FROM book GROUP BY ccy HAVING total <> 0 OR lowest < 0`,
  );
  if (wrong === undefined) return;
  const { ccy, total, lowest } = wrong;
  throw new Error(
    `The books are wrong: the sum in ${ccy} is ${total}, and the lowest balance is ${lowest}.`,
  );
}

const bookOf = (store: Store, { owner, role, ccy }: Pick<Leg, 'owner' | 'role' | 'ccy'>) =>
  store.find(bookRow, 'book', { owner, role, ccy });

/** Changes the balance of a book, and opens the book if the book does not exist yet. */
function applyLeg({ store, now }: Context, leg: Leg): { bookId: number; amount: number } {
  const { owner, role, ccy } = leg;
  const book = bookOf(store, leg);
  const amount = toUnits(ccy, leg.amount);
  const balance = (book?.balance ?? 0) + amount;
  if (balance < 0 && owner !== house) throw new InsufficientFunds(ccy);
  if (!Number.isSafeInteger(balance)) throw new RangeError(`The ${role} book in ${ccy} is full.`);
  if (book === undefined)
    return { bookId: store.insert('book', { owner, role, ccy, balance, changedAt: now }), amount };
  store.update('book', { balance, changedAt: now }, { id: book.id });
  return { bookId: book.id, amount };
}

/** Adds up the legs of each book, and omits books whose legs cancel out. */
function netted(legs: readonly Leg[]): Leg[] {
  const byBook = new Map<string, Leg>();
  for (const leg of legs) {
    const key = `${leg.owner} ${leg.role} ${leg.ccy}`;
    byBook.set(key, { ...leg, amount: leg.amount.plus(byBook.get(key)?.amount ?? 0) });
  }
  return [...byBook.values()].filter((leg) => !leg.amount.eq(0));
}

function assertBalanced(legs: readonly Leg[]): void {
  const sums = new Map<string, Big>();
  for (const leg of legs) sums.set(leg.ccy, leg.amount.plus(sums.get(leg.ccy) ?? 0));
  for (const [ccy, sum] of sums) {
    if (!sum.eq(0))
      throw new Error(`A movement in ${ccy} does not balance: ${sum.toFixed()} left over.`);
  }
}

const accountRow = v.object({
  id: v.string(),
  parentId: v.nullable(v.string()),
  displayName: v.string(),
  createdAt: v.number(),
});

export type Account = v.InferOutput<typeof accountRow>;

export function findAccount(store: Store, id: string): Account | undefined {
  return store.find(accountRow, 'account', { id });
}

export const listAccounts = (store: Store): Account[] =>
  store.all(accountRow, 'SELECT * FROM account ORDER BY rowid');

/**
 * Returns the account that the path names. Throws a `Refusal` unless the account is the caller's
 * own account or a subaccount.
 */
export function reachAccount(store: Store, caller: Account, id: string): Account {
  assertAccountId(id);
  const account = findAccount(store, id);
  if (account === undefined) throw notFound();
  assertReach(store, caller, id);
  return account;
}

/**
 * Returns the account that the path of a wallet request names. The refusal is the same for a
 * foreign account and for a missing account.
 */
export function reachWallets(store: Store, caller: Account, id: string): Account {
  assertAccountId(id);
  const account = findAccount(store, id);
  if (account === undefined || (id !== caller.id && account.parentId !== caller.id))
    throw anothersAccount();
  return account;
}

function assertAccountId(id: string): void {
  if (!/^ne01-[0-9a-z]+$/i.test(id)) throw new Refusal(400, { error: 'failed to get account' });
}

const anothersAccount = (): Refusal => unauthorized('you are not authorized to view this account');

/** Throws a `Refusal` unless the caller is the owner or the owner's parent. */
export function assertReach(store: Store, caller: Account, ownerId: string): void {
  if (ownerId === caller.id || findAccount(store, ownerId)?.parentId === caller.id) return;
  if (ownerId === caller.parentId) throw permissionDenied();
  throw anothersAccount();
}

const time = v.pipe(
  v.number(),
  v.transform((at) => new Date(at).toISOString()),
);
const walletRow = v.object({
  id: v.string(),
  ccy: v.string(),
  amount: v.number(),
  availableBalance: v.number(),
  accountId: v.string(),
  createdAt: time,
  updatedAt: time,
});

export function openWallet(ctx: Context, accountId: string, ccy: string): void {
  if (ctx.store.find(v.object({}), 'wallet', { accountId, ccy }) !== undefined) return;
  ctx.store.insert('wallet', { id: randomId(ctx.random), accountId, ccy, createdAt: ctx.now });
}

export function walletsOf(store: Store, accountId: string) {
  const rows = store.all(
    walletRow,
    `SELECT wallet.id, wallet.ccy, coalesce(sum(balance), 0) AS amount,
       coalesce(sum(balance) FILTER (WHERE role = 'available'), 0) AS available_balance,
       account_id, created_at, coalesce(max(changed_at), created_at) AS updated_at
     FROM wallet LEFT JOIN book ON owner = account_id AND book.ccy = wallet.ccy WHERE account_id = ?
     GROUP BY wallet.id ORDER BY wallet.rowid`,
    accountId,
  );
  return rows.map((row) => ({
    ...row,
    amount: fromUnits(row.ccy, row.amount),
    availableBalance: fromUnits(row.ccy, row.availableBalance),
  }));
}
