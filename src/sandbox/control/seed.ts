// Seeds a sandbox: keys, the main account with its credentials, and the first balances.
import Big from 'big.js';
import { credentialsAnswer, type Credentials } from '../../formats/sandbox/answers.js';
import { createAccount, findAccount, openWallet, type Account } from '../world/accounts.js';
import { type Context, randomHex } from '../world/context.js';
import type { Store } from '../storage/database.js';
import { fund } from './funding.js';
import { writeHistory } from './history.js';
import { createNodes } from '../world/lightning.js';
import { readSetting, requireSetting, writeSetting } from '../storage/settings.js';
import { setClock } from '../world/clock.js';
import { demoAge, demoBalances } from '../unspecified.js';

export const seeds = ['demo', 'empty', 'history'] as const satisfies readonly Seed[];
/**
 * The initial state of a sandbox. `demo` has money in several wallets, `empty` has no money, and
 * `history` has months of transactions.
 */
export type Seed = 'demo' | 'empty' | 'history';

/** The tables that a reset empties completely. */
const clearedTables = [
  'attempt',
  'delivery',
  'webhook',
  'fault',
  'entry',
  'posting',
  'book',
  'due',
  'transfer',
  'deposit',
  'state_change',
  'invoice',
  'wallet',
  'request_log',
  'used_signature',
];

/** Seeds a new file, but does not change a file that already has a main account. */
export function seedStore(ctx: Context, seed: Seed): void {
  const { store, random } = ctx;
  if (readSetting(store, 'mainAccount') !== undefined) return;
  createNodes(ctx);
  writeSetting(store, 'tokenKey', randomHex(random, 32));
  writeSetting(store, 'seed', seed);
  const account = createAccount({ ...ctx, now: ctx.now - demoAge }, 'Sandbox', null);
  writeSetting(store, 'mainAccount', account.id);
  issueCredentials(ctx, account.id);
  endow(ctx, account);
}

/**
 * Resets the sandbox: deletes all transactions, money, webhooks, faults, clock changes and
 * additional accounts. A reset keeps the API key of the main account. If no seed is given, the
 * reset uses the previous seed.
 */
export function reset(ctx: Context, machine: number, seed?: Seed, months = 1): void {
  const { store } = ctx;
  const main = requireSetting(store, 'mainAccount');
  if (seed !== undefined) writeSetting(store, 'seed', `${seed} ${months}`);
  for (const table of clearedTables) store.run(`DELETE FROM ${table}`);
  store.run('DELETE FROM address WHERE account_id <> ? OR txn_id IS NOT NULL', main);
  store.run('DELETE FROM txn');
  store.run('DELETE FROM api_key WHERE account_id <> ?', main);
  store.run('DELETE FROM account WHERE id <> ?', main);
  setClock(store, machine, { now: machine, frozen: false });
  const account = findAccount(store, main);
  if (account !== undefined) endow({ ...ctx, now: machine }, account);
}

export function readCredentials(store: Store): Credentials {
  const accountId = requireSetting(store, 'mainAccount');
  const row = store.one(
    credentialsAnswer,
    'SELECT key AS api_key, secret AS api_secret, account_id FROM api_key WHERE account_id = ?',
    accountId,
  );
  if (row === undefined) throw new Error('The main account has no API key.');
  return row;
}

export function issueCredentials({ store, random }: Context, accountId: string): Credentials {
  const credentials = {
    apiKey: `sandbox_${randomHex(random, 12)}`,
    apiSecret: randomHex(random, 32),
    accountId,
  };
  setCredentials(store, accountId, credentials.apiKey, credentials.apiSecret);
  return credentials;
}

export function setCredentials(
  store: Store,
  accountId: string,
  apiKey: string,
  apiSecret: string,
): void {
  store.run('DELETE FROM api_key WHERE account_id = ?', accountId);
  store.insert('api_key', { key: apiKey, secret: apiSecret, accountId });
}

function endow(ctx: Context, account: Account): void {
  const [seed, months = '1'] = requireSetting(ctx.store, 'seed').split(' ');
  const then = { ...ctx, now: ctx.now - demoAge };
  for (const [ccy, amount] of Object.entries(demoBalances)) {
    openWallet(then, account.id, ccy);
    if (seed === 'demo') fund(then, account, ccy, new Big(amount));
  }
  if (seed === 'history') writeHistory(ctx, account, Number(months));
}
