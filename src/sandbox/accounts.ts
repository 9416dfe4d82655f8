// Accounts, their access rules and wallets, and the double-entry books. The amounts of a movement
// sum to zero per currency, the books post each movement once, and no wallet becomes negative.
import type Big from 'big.js';
import * as v from 'valibot';
import { type Context, randomId } from './world.js';
import type { Store } from './database.js';
import { fromUnits, toUnits, notFound, permissionDenied, Refusal, unauthorized } from './wire.js';

/**
 * The side of a movement: the parts `available` and `reserved` of an account's wallet, or a wallet
 * of the house. The wallet `fees` belongs to the service, `desk` exchanges currencies, and
 * `outside` is the rest of the world.
 */
export type Role = Part | (typeof house)[number];

type Part = 'available' | 'reserved';

const house = ['fees', 'desk', 'outside'] as const;

export interface Leg {
  /** The account id, or the name of a wallet of the house. */
  readonly owner: string;
  readonly part: Part;
  readonly ccy: string;
  /** The change in the balance, which is positive for an increase. */
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

export const leg = (role: Role, accountId: string, ccy: string, amount: Big): Leg =>
  role === 'available' || role === 'reserved'
    ? { owner: accountId, part: role, ccy, amount }
    : { owner: role, part: 'available', ccy, amount };

/**
 * Posts a movement, and opens the wallets that do not exist yet. Throws `InsufficientFunds` and
 * posts nothing if a balance is too low.
 */
export function post(ctx: Context, { subject, step, legs }: Movement): void {
  const { store, now: at } = ctx;
  store.attempt(() => {
    for (const { owner, part, ccy, amount: decimal } of netted(legs)) {
      const amount = toUnits(ccy, decimal);
      const balance = addToWallet(ctx, owner, ccy, part, amount);
      if (balance < 0 && !house.some((each) => each === owner)) throw new InsufficientFunds(ccy);
      store.insert('entry', { subject, step, owner, part, ccy, amount, at });
    }
  });
}

const partRow = v.object({ balance: v.pipe(v.number(), v.safeInteger()) });

/**
 * Adds an amount in the smallest unit of the currency to a part of a wallet, opens the wallet if it
 * does not exist yet, and returns the new balance of the part.
 */
export function addToWallet(
  { store, now, random }: Context,
  owner: string,
  ccy: string,
  part: Part,
  amount: number,
): number {
  const sql = `INSERT INTO wallet (id, owner, ccy, ${part}, created_at, updated_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?5)
    ON CONFLICT (owner, ccy) DO UPDATE SET ${part} = ${part} + ?4, updated_at = ?5
    RETURNING ${part} AS balance`;
  const found = store.one(partRow, sql, randomId(random), owner, ccy, amount, now);
  if (found === undefined) throw new Error(`There is no wallet ${ccy} of ${owner}.`);
  return found.balance;
}

/**
 * Throws if the wallets of a currency, including the wallets of the house, do not sum to zero, or
 * if a wallet of an account is negative. The database calls `verifyBooks` before every commit.
 */
export function verifyBooks(store: Store): void {
  const wrong = store.one(
    v.object({ ccy: v.string(), total: v.number(), lowest: v.number() }),
    `SELECT ccy, sum(available + reserved) AS total,
       min(iif(owner IN ('${house.join("', '")}'), 0, min(available, reserved))) AS lowest
     FROM wallet GROUP BY ccy HAVING total <> 0 OR lowest < 0`,
  );
  if (wrong === undefined) return;
  const { ccy, total, lowest } = wrong;
  throw new Error(
    `The books are wrong: the sum in ${ccy} is ${total}, and the lowest balance is ${lowest}.`,
  );
}

/** Adds up the legs of each balance, and omits balances whose legs cancel out. */
function netted(legs: readonly Leg[]): Leg[] {
  const byBalance = new Map<string, Leg>();
  for (const leg of legs) {
    const key = `${leg.owner} ${leg.part} ${leg.ccy}`;
    byBalance.set(key, { ...leg, amount: leg.amount.plus(byBalance.get(key)?.amount ?? 0) });
  }
  return [...byBalance.values()].filter((leg) => !leg.amount.eq(0));
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
  owner: v.string(),
  ccy: v.string(),
  available: v.number(),
  reserved: v.number(),
  createdAt: time,
  updatedAt: time,
});

/** The wallets of an account, in the service's format. */
export function walletsOf(store: Store, accountId: string) {
  const rows = store.all(
    walletRow,
    'SELECT * FROM wallet WHERE owner = ? ORDER BY rowid',
    accountId,
  );
  return rows.map(({ id, ccy, available, reserved, createdAt, updatedAt }) => ({
    id,
    ccy,
    amount: fromUnits(ccy, available + reserved),
    availableBalance: fromUnits(ccy, available),
    accountId,
    createdAt,
    updatedAt,
  }));
}

/** The available balance of an account in a currency. */
export function availableIn(store: Store, owner: string, ccy: string): Big {
  return fromUnits(ccy, store.find(walletRow, 'wallet', { owner, ccy })?.available ?? 0);
}
