// Accounts, their access rules and their wallets.
import * as v from 'valibot';
import { issueAddress } from './chain.js';
import { chains } from '../../formats/sandbox/answers.js';
import { type Context, randomHex, randomId } from './context.js';
import type { Store } from '../storage/database.js';
import { notFound, permissionDenied, Refusal, unauthorized } from '../wire/refusal.js';
import { fromUnits } from '../wire/values.js';

const accountRow = v.object({
  id: v.string(),
  parentId: v.nullable(v.string()),
  displayName: v.string(),
  createdAt: v.number(),
});

export type Account = v.InferOutput<typeof accountRow>;

export function findAccount(store: Store, id: string): Account | undefined {
  return store.one(accountRow, 'SELECT * FROM account WHERE id = ?', id);
}

export const listAccounts = (store: Store): Account[] =>
  store.all(accountRow, 'SELECT * FROM account ORDER BY rowid');

export function createAccount(ctx: Context, displayName: string, parentId: string | null): Account {
  const account = {
    id: `ne01-${randomHex(ctx.random, 4)}`,
    parentId,
    displayName,
    createdAt: ctx.now,
  };
  ctx.store.insert('account', account);
  for (const chain of chains) issueAddress(ctx, chain, account.id, null);
  return account;
}

/**
 * Returns the account that the path names. Throws a `Refusal` unless the account is the caller's
 * own account or a subaccount.
 */
export function reachAccount(store: Store, caller: Account, id: string): Account {
  assertAccountId(id);
  const account = findAccount(store, id);
  if (account === undefined) throw notFound();
  assertReach(caller, id, account.parentId);
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
export function assertReach(
  caller: Account,
  ownerId: string,
  ownersParent: string | null | undefined,
): void {
  if (ownerId === caller.id || ownersParent === caller.id) return;
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
  const sql = 'SELECT id FROM wallet WHERE account_id = ? AND ccy = ?';
  if (ctx.store.one(v.object({ id: v.string() }), sql, accountId, ccy) !== undefined) return;
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
