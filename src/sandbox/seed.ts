// Seeds a sandbox: keys, accounts with their credentials, the first balances, and months of
// transactions.
import Big from 'big.js';
import { chains, type Credentials, credentialsAnswer } from '../formats/sandbox/answers.js';
import { type Account, findAccount, addToWallet } from './accounts.js';
import {
  type Context,
  randomHex,
  issueAddress,
  createInvoice,
  runDueActions,
  setClock,
  nodeKeys,
} from './world.js';
import {
  readAutoPay,
  readSetting,
  requireSetting,
  type Store,
  tableNames,
  writeAutoPay,
  writeSetting,
} from './database.js';
import { fund, createRequestBody, createTransaction, kindOf, payIncoming } from './kinds.js';
import { demoAge, demoBalances } from './unspecified.js';
import * as v from 'valibot';
import { move } from './engine.js';

const minute = 60_000;
const day = 24 * 60 * minute;

/** The number of days in a seeded month. The seeded history has one transaction a day. */
const monthDays = 30;

/** One side of a create request, by default of the internal wallet. */
interface Side {
  readonly ccy: string;
  readonly method?: string;
  readonly amount?: string;
  readonly reqDetails?: object;
  readonly kyc?: object;
  /** The amount in BTC and the description of an external invoice to pay. */
  readonly pays?: readonly [amount: string, description: string];
}

/**
 * A transaction of the seeded history. The second value is the last step that the sandbox takes.
 * For an activity that ends with `paid`, the sandbox acts as an external payer and pays the
 * confirmed request.
 */
type Activity = readonly [
  note: string,
  ends: 'confirm' | 'paid' | 'cancel' | 'nothing',
  source: Side,
  dest: Side,
];

const btc = { ccy: 'BTC' };
const usd = { ccy: 'USD' };
const lightning = { ccy: 'BTC', method: 'lightning' };
const onChain = { ccy: 'BTC', method: 'on-chain' };

const cold = { address: 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx' };
const tron = { address: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8' };
const wages = {
  acctName: 'Le Van A',
  acctNum: '0123456789',
  institutionCode: '970436',
  institutionName: 'Vietcombank',
};

const person = (legalFullName: string) => ({
  type: 'individual',
  details: { legalFullName, countryCode: 'VN' },
});

/** The activities of a seeded history, one for each day, in a sequence that repeats. */
const activities: readonly Activity[] = [
  ['Invoice 118, Coffee House', 'paid', lightning, { ...btc, amount: '0.0042' }],
  ['Paper & Ink, order 4711', 'confirm', btc, { ...lightning, pays: ['0.00018', 'Order 4711'] }],
  ['Savings', 'confirm', { ccy: 'USDT', amount: '120' }, btc],
  [
    'Wages, Le Van A',
    'confirm',
    { ...btc, kyc: person('Tran Thi B') },
    {
      ccy: 'VND',
      method: 'vnd-instant',
      amount: '2500000',
      reqDetails: wages,
      kyc: person('Le Van A'),
    },
  ],
  ['From cold storage', 'paid', onChain, { ...btc, amount: '0.03' }],
  [
    'Supplier in Lagos',
    'confirm',
    { ccy: 'USDT' },
    { ccy: 'USDT', method: 'tron', amount: '75', reqDetails: tron },
  ],
  ['To cold storage', 'confirm', btc, { ...onChain, amount: '0.0125', reqDetails: cold }],
  ['Changed my mind', 'cancel', { ...btc, amount: '0.01' }, usd],
  ['Refund, order 52', 'confirm', btc, { ...lightning, pays: ['0.0006', 'no route'] }],
  ['Invoice 119, never paid', 'confirm', lightning, { ...btc, amount: '0.0099' }],
  ['Too slow', 'nothing', { ...usd, amount: '40' }, { ccy: 'USDT' }],
];

/**
 * The activities of the first day, which credit the wallets. The activities after the first day
 * spend about 6500 USDT a year.
 */
function openingActivities(months: number): Activity[] {
  const balances = { USDT: 10_000 * Math.ceil(months / 12), USD: 5000, CAD: 5000, VND: 50_000_000 };
  return [
    ['Capital', 'paid', onChain, { ...btc, amount: '2.5' }],
    ...Object.entries(balances).map(([ccy, amount]): Activity => [
      `Working balance, ${ccy}`,
      'confirm',
      btc,
      { ccy, amount: String(amount) },
    ]),
  ];
}

/**
 * Seeds months of transactions of every kind, with most of the possible outcomes. The seed credits
 * money only through transactions, so the list of transactions explains every wallet balance.
 */
function writeHistory(ctx: Context, account: Account, months: number): void {
  const payer = readAutoPay(ctx.store) ?? 'off';
  writeAutoPay(ctx.store, 'off');
  const days = months * monthDays;
  const at = (past: number, ms: number): Context => ({ ...ctx, now: ctx.now - past * day + ms });
  openingActivities(months).forEach((activity, hour) =>
    perform(at(days + 1, 2 * hour * 60 * minute), account, activity),
  );
  for (let past = days; past > 0; past -= 1) {
    // Each day's activity starts at a different time.
    const activity = activities[past % activities.length];
    if (activity !== undefined) perform(at(past, ((past * 37) % 600) * minute), account, activity);
  }
  runDueActions(ctx);
  writeAutoPay(ctx.store, payer);
}

function perform(ctx: Context, account: Account, [note, ends, ...sides]: Activity): void {
  runDueActions(ctx);
  const [sourceReq, destReq] = sides.map(({ amount, pays, ...side }) => ({
    method: ctx.wireNames.method,
    amtRequested: amount === undefined ? undefined : new Big(amount),
    ...(pays !== undefined && { reqDetails: newInvoice(ctx, ...pays) }),
    ...side,
  }));
  const order = v.parse(createRequestBody, { sourceReq, destReq, note });
  const txn = createTransaction(ctx, account, order);
  const soon = { ...ctx, now: ctx.now + minute / 6 };
  if (ends === 'cancel') move(soon, txn, 'cancel');
  if (ends === 'nothing' || ends === 'cancel') return;
  const confirmed = kindOf(txn).confirm(soon, txn);
  if (ends === 'paid') payIncoming({ ...ctx, now: ctx.now + 2 * minute }, confirmed);
}

function newInvoice(ctx: Context, amount: string, description: string): object {
  const terms = { amount: new Big(amount), description, expiryMs: 60 * minute, txnId: null };
  return { paymentRequest: createInvoice(ctx, terms).invoice };
}

export const seeds = ['demo', 'empty', 'history'] as const satisfies readonly Seed[];
/**
 * The initial state of a sandbox. `demo` has money in several wallets, `empty` has no money, and
 * `history` has months of transactions.
 */
export type Seed = 'demo' | 'empty' | 'history';

/** The tables that a reset keeps, at least in part. */
const keptTables = ['setting', 'snapshot', 'account', 'address'];

/** Seeds a new file, but does not change a file that already has a main account. */
export function seedStore(ctx: Context, seed: Seed): void {
  const { store, random } = ctx;
  if (readSetting(store, 'mainAccount') !== undefined) return;
  for (const name of [...nodeKeys, 'tokenKey'] as const)
    writeSetting(store, name, randomHex(random, 32));
  writeSetting(store, 'seed', seed);
  const account = createAccount({ ...ctx, now: ctx.now - demoAge }, 'Sandbox', null);
  writeSetting(store, 'mainAccount', account.id);
  endow(ctx, account);
}

/**
 * Resets the sandbox: deletes all transactions, money, webhooks, faults, clock changes and
 * additional accounts. A reset keeps the API key of the main account. If no seed is given, the
 * reset uses the previous seed.
 */
export function reset(ctx: Context, seed?: Seed, months = 1): void {
  const { store, machine } = ctx;
  const main = requireSetting(store, 'mainAccount');
  if (seed !== undefined) writeSetting(store, 'seed', `${seed} ${months}`);
  // Lets SQLite check foreign keys only at the commit, because rows refer to each other.
  store.run('PRAGMA defer_foreign_keys = ON');
  for (const table of tableNames)
    if (!keptTables.includes(table)) store.run(`DELETE FROM ${table}`);
  store.run('DELETE FROM address WHERE account_id <> ? OR txn_id IS NOT NULL', main);
  store.run('DELETE FROM account WHERE id <> ?', main);
  setClock(ctx, { now: machine, frozen: false });
  const account = findAccount(store, main);
  if (account !== undefined) endow({ ...ctx, now: machine }, account);
}

export function createAccount(ctx: Context, displayName: string, parentId: string | null) {
  const account = {
    id: `ne01-${randomHex(ctx.random, 4)}`,
    parentId,
    displayName,
    apiKey: `sandbox_${randomHex(ctx.random, 12)}`,
    apiSecret: randomHex(ctx.random, 32),
    createdAt: ctx.now,
  };
  ctx.store.insert('account', account);
  for (const chain of chains) issueAddress(ctx, chain, account.id, null);
  return account;
}

export function readCredentials(store: Store): Credentials {
  const sql = 'SELECT api_key, api_secret, id AS account_id FROM account WHERE id = ?';
  const found = store.one(credentialsAnswer, sql, requireSetting(store, 'mainAccount'));
  if (found === undefined) throw new Error('There is no main account.');
  return found;
}

function endow(ctx: Context, account: Account): void {
  const [seed, months = '1'] = requireSetting(ctx.store, 'seed').split(' ');
  const then = { ...ctx, now: ctx.now - demoAge };
  for (const [ccy, amount] of Object.entries(demoBalances)) {
    addToWallet(then, account.id, ccy, 'available', 0);
    if (seed === 'demo') fund(then, account, ccy, new Big(amount));
  }
  if (seed === 'history') writeHistory(ctx, account, Number(months));
}
