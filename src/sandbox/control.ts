// The `/_sandbox/` control endpoints for tests and for people, including snapshots: named copies of
// the sandbox's rows in its own file.
import * as v from 'valibot';
import {
  type ClockState,
  type Credentials,
  type OutsideInvoice,
  type SandboxStatus,
  type SandboxWallet,
  type Unserialized,
  type Snapshot,
  snapshotAnswer,
} from '../formats/sandbox/answers.js';
import { findAccount, listAccounts, walletsOf, type Account } from './accounts.js';
import {
  readClock,
  runDueActions,
  setClock,
  type Context,
  randomId,
  createInvoice,
} from './world.js';
import { addFault, clearFaults, faultRule, listFaults, removeFault } from './faults.js';
import {
  type Call,
  controlPrefix,
  idParam,
  openEndpoints,
  readLog,
  type Route,
  wholeNumber,
} from './routing.js';
import { mine, fund, payFromOutside } from './kinds.js';
import {
  badRequest,
  notFound,
  currency,
  duration,
  readAmount,
  whole,
  states,
  json,
  type State,
} from './wire.js';
import { readAutoPay, requireSetting, type Store, tableNames, writeAutoPay } from './database.js';
import { createAccount, reset, seeds, readCredentials } from './seed.js';
import { durations } from './unspecified.js';
import {
  enqueue,
  listDeliveries,
  replay,
  showDelivery,
  changeWebhookOptions,
  readWebhookOptions,
} from './deliveries.js';
import { findTransaction } from './transactions.js';

const endOfTime = Date.UTC(2200, 0);

/** An endpoint that reads a JSON body. */
const reading =
  <T>(shape: v.GenericSchema<unknown, T>, answer: (ctx: Context, body: T) => unknown) =>
  ({ ctx, read }: Call): unknown =>
    answer(ctx, read(shape));

/** Changes the clock and runs the actions that became due. */
function changeClock(ctx: Context, change: (clock: ClockState) => ClockState): ClockState {
  const clock = change(readClock(ctx.store, ctx.machine));
  setClock(ctx, clock);
  runDueActions({ ...ctx, now: clock.now });
  return clock;
}

export const controls: readonly Route[] = openEndpoints(controlPrefix, {
  'GET status': ({ ctx }) => status(ctx),
  'POST fund': reading(
    v.object({ ccy: currency, amount: v.string(), accountId: v.optional(v.string()) }),
    (ctx, { ccy, amount, accountId = mainAccount(ctx) }) => {
      fund(ctx, requireAccount(ctx, accountId), ccy, readAmount(ccy, amount));
      return walletsIn(ctx.store, accountId).find((wallet) => wallet.ccy === ccy);
    },
  ),
  'POST accounts': reading(
    v.object({
      displayName: v.pipe(v.string(), v.nonEmpty(), v.maxLength(100)),
      /**
       * The id of the new account's parent, by default the main account. If `parentAccountId` is
       * null, the new account is unrelated to other accounts.
       */
      parentAccountId: v.optional(v.nullable(v.string())),
    }),
    openAccount,
  ),
  'POST pay': reading(
    v.object({ target: v.string(), amount: v.optional(v.string()) }),
    (ctx, { target, amount }) => payFromOutside(ctx, target, amount),
  ),
  'POST invoice': reading(
    v.object({
      amount: v.string(),
      description: v.optional(v.pipe(v.string(), v.maxBytes(639)), 'Outside invoice'),
      expiry: v.optional(duration, durations.invoice),
    }),
    outsideInvoice,
  ),
  'POST mine': reading(v.object({ n: v.optional(whole(1, 1000), 1) }), (ctx, { n }) => ({
    data: mine(ctx, n),
  })),
  'POST reset'({ ctx }) {
    reset(ctx);
    return status(ctx);
  },
  'POST seed': reading(
    v.object({ seed: v.picklist(seeds), months: v.optional(whole(1, 36), 1) }),
    (ctx, { seed, months }) => {
      reset(ctx, seed, months);
      return status(ctx);
    },
  ),
  'GET clock': ({ ctx }) => readClock(ctx.store, ctx.machine),
  'POST clock/advance': reading(v.object({ by: duration }), (ctx, { by }) =>
    changeClock(ctx, ({ now, frozen }) => {
      if (now + by > endOfTime) throw badRequest('the clock cannot advance beyond the year 2200');
      return { now: now + by, frozen };
    }),
  ),
  'POST clock/freeze': ({ ctx }) => changeClock(ctx, ({ now }) => ({ now, frozen: true })),
  'POST clock/thaw': ({ ctx }) => changeClock(ctx, ({ now }) => ({ now, frozen: false })),
  'PUT auto-pay': reading(
    v.object({ after: v.union([v.literal('off'), duration]) }),
    (ctx, { after }) => {
      writeAutoPay(ctx.store, after);
      return { after };
    },
  ),
  'GET log': ({ ctx, query }) => ({
    data: readLog(ctx.store, {
      method: query.get('method')?.toUpperCase(),
      path: query.get('path') ?? undefined,
      limit: wholeNumber(query, 'limit'),
    }),
  }),
  'GET faults': ({ ctx }) => ({ data: listFaults(ctx.store) }),
  'POST faults': reading(faultRule, (ctx, rule) => addFault(ctx.store, rule)),
  'DELETE faults'({ ctx }) {
    clearFaults(ctx.store);
    return { data: [] };
  },
  'DELETE faults/:id'(call) {
    removeFault(call.ctx.store, idParam(call));
    return { data: listFaults(call.ctx.store) };
  },
  'POST trigger': reading(
    v.object({
      state: v.picklist(states),
      /**
       * The id of the transaction that the test event names. Without an id, the test event names a
       * transaction that does not exist.
       */
      txnId: v.optional(v.string()),
      extRefId: v.optional(v.string()),
      msg: v.optional(v.string(), ''),
      /**
       * The account whose webhook gets the test event, by default the main account. If `txnId` is
       * given, the service ignores `accountId`.
       */
      accountId: v.optional(v.string()),
    }),
    trigger,
  ),
  'GET deliveries': ({ ctx, query }) => ({
    data: listDeliveries(ctx.store, {
      txnId: query.get('txnId') ?? undefined,
      status: query.get('status') ?? undefined,
      limit: wholeNumber(query, 'limit'),
    }),
  }),
  'POST deliveries/:id/replay'(call) {
    replay(call.ctx, idParam(call));
    return showDelivery(call.ctx.store, idParam(call));
  },
  'PUT webhook-options': reading(v.object({ allowHttpLoopback: v.boolean() }), (ctx, options) => {
    changeWebhookOptions(ctx.store, options);
    return readWebhookOptions(ctx.store);
  }),
  'GET snapshots': ({ ctx }) => ({ data: listSnapshots(ctx.store) }),
  'POST snapshots': reading(
    v.object({
      name: v.pipe(
        v.string(),
        v.regex(/^[\w.-]{1,64}$/, 'must have 1 to 64 letters, digits, ".", "_" or "-"'),
      ),
    }),
    (ctx, { name }) => saveSnapshot(ctx, name),
  ),
  'POST snapshots/:name/load': ({ ctx, param }) => loadSnapshot(ctx, param('name')),
  'DELETE snapshots/:name'({ ctx, param }) {
    removeSnapshot(ctx.store, param('name'));
    return { data: listSnapshots(ctx.store) };
  },
});

function status({ store, machine, baseUrl }: Context): Unserialized<SandboxStatus> {
  return {
    baseUrl,
    accountId: requireSetting(store, 'mainAccount'),
    clock: readClock(store, machine),
    autoPay: readAutoPay(store) ?? 'off',
    accounts: listAccounts(store).map(({ id, parentId, displayName }) => ({
      accountId: id,
      accountDisplayName: displayName,
      parentAccountId: parentId,
      wallets: walletsIn(store, id),
    })),
    transactions: counts(store, 'txn', 'state'),
    faults: listFaults(store).filter(({ spent }) => !spent).length,
    deliveries: counts(store, 'delivery', 'status'),
    due: countOf(store, 'due'),
  };
}

function walletsIn(store: Store, accountId: string): Unserialized<SandboxWallet>[] {
  return walletsOf(store, accountId).map(({ ccy, amount, availableBalance }) => ({
    ccy,
    amount,
    availableBalance,
  }));
}

const countOf = (store: Store, table: string): number =>
  store.one(v.object({ count: v.number() }), `SELECT count(*) AS count FROM ${table}`)?.count ?? 0;

/** Counts the rows of a table by the values of a column. */
function counts(store: Store, table: string, column: string): Record<string, number> {
  const rows = store.all(
    v.object({ value: v.string(), count: v.number() }),
    `SELECT ${column} AS value, count(*) AS count FROM ${table} GROUP BY ${column}`,
  );
  return Object.fromEntries(rows.map(({ value, count }) => [value, count]));
}

const mainAccount = ({ store }: Context): string => requireSetting(store, 'mainAccount');

function requireAccount({ store }: Context, id: string): Account {
  const account = findAccount(store, id);
  if (account === undefined) throw notFound();
  return account;
}

function openAccount(
  ctx: Context,
  body: { displayName: string; parentAccountId?: string | null | undefined },
): Credentials {
  const { displayName, parentAccountId = mainAccount(ctx) } = body;
  if (parentAccountId !== null) requireAccount(ctx, parentAccountId);
  const { apiKey, apiSecret, id: accountId } = createAccount(ctx, displayName, parentAccountId);
  return { apiKey, apiSecret, accountId };
}

function outsideInvoice(
  ctx: Context,
  { amount: given, description, expiry }: { amount: string; description: string; expiry: number },
): Unserialized<OutsideInvoice> {
  const amount = readAmount('BTC', given);
  const terms = { amount, description, expiryMs: expiry, txnId: null };
  return { ...createInvoice(ctx, terms), amount };
}

/** Sends a test event. The state in the test event can differ from the state of the transaction. */
function trigger(
  ctx: Context,
  {
    state,
    txnId,
    extRefId,
    msg,
    accountId,
  }: { state: State; msg: string } & Partial<
    Record<'txnId' | 'extRefId' | 'accountId', string | undefined>
  >,
): unknown {
  const txn = txnId === undefined ? undefined : findTransaction(ctx.store, txnId);
  if (txnId !== undefined && txn === undefined) throw notFound();
  if (txn !== undefined && extRefId !== undefined)
    throw badRequest(
      'extRefId must not be set, because the event has the extRefId of the transaction',
    );
  const event = {
    txnId: txn?.id ?? randomId(ctx.random),
    extRefId: txn?.extRefId ?? extRefId,
    txnState: state,
    msg,
    updatedAt: ctx.now,
  };
  const owner = txn?.accountId ?? accountId ?? mainAccount(ctx);
  return showDelivery(ctx.store, enqueue(ctx, owner, event, ctx.now));
}

const savedRow = v.record(v.string(), v.union([v.string(), v.number(), v.null()]));
const snapshotRow = v.object({
  facts: json(snapshotAnswer),
  contents: json(v.record(v.string(), v.array(savedRow))),
});

/**
 * The tables of a snapshot: all except settings and keys of this file, faults, the request log, and
 * used signatures. Restoring a snapshot does not make used signatures valid again.
 */
const savedTables = tableNames.filter(
  (name) => !['setting', 'used_signature', 'request_log', 'fault', 'snapshot'].includes(name),
);

export const listSnapshots = (store: Store): Snapshot[] =>
  store
    .all(v.omit(snapshotRow, ['contents']), 'SELECT facts FROM snapshot ORDER BY id')
    .map(({ facts }) => facts);

/** Saves the state under a name, and replaces an earlier snapshot of this name. */
function saveSnapshot({ store, machine }: Context, name: string): Snapshot {
  const clock = readClock(store, machine);
  const facts = { name, savedAt: machine, clock, transactions: countOf(store, 'txn') };
  const contents = Object.fromEntries(
    savedTables.map((table) => [
      table,
      store.all(savedRow, `SELECT * FROM ${table} ORDER BY rowid`),
    ]),
  );
  store.run('DELETE FROM snapshot WHERE name = ?', name);
  store.insert('snapshot', {
    name,
    facts: JSON.stringify(facts),
    contents: JSON.stringify(contents),
  });
  return facts;
}

/**
 * Restores a snapshot, including its clock. Restoring a snapshot keeps the current credentials of
 * the main account.
 */
function loadSnapshot(ctx: Context, name: string): Snapshot {
  const { store } = ctx;
  const saved = store.find(snapshotRow, 'snapshot', { name });
  if (saved === undefined) throw notFound();
  const { apiKey, apiSecret, accountId } = readCredentials(store);
  // Lets SQLite check foreign keys only at the commit, because restored rows refer to each other.
  store.run('PRAGMA defer_foreign_keys = ON');
  for (const [table, rows] of Object.entries(saved.contents)) {
    store.run(`DELETE FROM ${table}`);
    for (const row of rows) store.insert(table, row);
  }
  // Ends the claims of workers that are posting now.
  store.run('UPDATE webhook SET claimed_until = 0');
  store.update('account', { apiKey, apiSecret }, { id: accountId });
  setClock(ctx, saved.facts.clock);
  return saved.facts;
}

function removeSnapshot(store: Store, name: string): void {
  if (store.run('DELETE FROM snapshot WHERE name = ?', name) === 0) throw notFound();
}
