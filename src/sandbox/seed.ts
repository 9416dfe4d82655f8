// What a fresh sandbox holds: its keys, the main account with its credentials, and the money to begin with.
import Big from 'big.js';
import * as v from 'valibot';
import { createAccount, openWallet } from './accounts.js';
import { type Context, randomHex, randomId } from './context.js';
import type { Store } from './database.js';
import { credit } from './engine.js';
import { createNodes } from './lightning.js';
import { readSetting, requireSetting, writeSetting } from './settings.js';
import { resetClock } from './clock.js';
import { demoBalances } from './unspecified.js';

/** `demo` has money in several wallets, `empty` has none. */
export type Seed = 'demo' | 'empty';

export interface Credentials {
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly accountId: string;
}

/** What a reset empties, apart from what the main account keeps. */
const forgotten = [
  'attempt', 'delivery', 'webhook', 'fault', 'entry', 'posting', 'book', 'due', 'transfer', 'deposit', 'state_change',
  'invoice', 'wallet', 'request_log',
];

/** Fills a new file; leaves one that was filled before as it is. */
export function plant(ctx: Context, seed: Seed): void {
  const { store, random } = ctx;
  if (readSetting(store, 'mainAccount') !== undefined) return;
  createNodes(ctx);
  writeSetting(store, 'tokenKey', randomHex(random, 32));
  writeSetting(store, 'seed', seed);
  const account = createAccount(ctx, 'Sandbox', null);
  writeSetting(store, 'mainAccount', account.id);
  issueCredentials(ctx, account.id);
  endow(ctx, account.id);
}

/**
 * Begins anew: forgets all transactions, money, webhooks, faults, time travel and further accounts. The main account
 * keeps its key.
 */
export function reset(ctx: Context, machine: number): void {
  const { store } = ctx;
  const main = requireSetting(store, 'mainAccount');
  for (const table of forgotten) store.run(`DELETE FROM ${table}`);
  store.run('DELETE FROM address WHERE account_id <> ? OR txn_id IS NOT NULL', main);
  store.run('DELETE FROM txn');
  store.run('DELETE FROM api_key WHERE account_id <> ?', main);
  store.run('DELETE FROM account WHERE id <> ?', main);
  resetClock(store);
  endow({ ...ctx, now: machine }, main);
}

export function readCredentials(store: Store): Credentials {
  const accountId = requireSetting(store, 'mainAccount');
  const row = store.one(
    v.object({ apiKey: v.string(), apiSecret: v.string() }),
    'SELECT key AS apiKey, secret AS apiSecret FROM api_key WHERE account_id = ?', accountId,
  );
  if (row === undefined) throw new Error('The main account has no API key.');
  return { ...row, accountId };
}

/** Makes a key and a secret for an account, in place of those before. */
export function issueCredentials({ store, random }: Context, accountId: string): Credentials {
  const credentials = { apiKey: `sandbox_${randomHex(random, 12)}`, apiSecret: randomHex(random, 32), accountId };
  setCredentials(store, accountId, credentials.apiKey, credentials.apiSecret);
  return credentials;
}

/** Gives an account one key and secret, in place of those before. */
export function setCredentials(store: Store, accountId: string, apiKey: string, apiSecret: string): void {
  store.run('DELETE FROM api_key WHERE account_id = ?', accountId);
  store.run('INSERT INTO api_key (key, secret, account_id) VALUES (?, ?, ?)', apiKey, apiSecret, accountId);
}

/** Puts money from outside into a wallet. */
export function fund(ctx: Context, accountId: string, ccy: string, amount: Big): void {
  credit(ctx, { subject: randomId(ctx.random), accountId, ccy, amount });
}

function endow(ctx: Context, accountId: string): void {
  const funded = requireSetting(ctx.store, 'seed') === 'demo';
  for (const [ccy, amount] of Object.entries(demoBalances)) {
    if (funded) fund(ctx, accountId, ccy, new Big(amount));
    else openWallet(ctx, accountId, ccy);
  }
}
