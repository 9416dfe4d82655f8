// The `/_sandbox/` control endpoints for tests and for people, including snapshots: named copies of
// the sandbox's state in its own file.
import Big from 'big.js';
import * as v from 'valibot';
import type {
  ClockState,
  Credentials,
  OutsideInvoice,
  SandboxStatus,
  SandboxWallet,
  Unserialized,
  Snapshot,
} from '../formats/sandbox/answers.js';
import { findAccount, listAccounts, walletsOf } from './accounts.js';
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
  type Answers,
  type Call,
  controlPrefix,
  idParam,
  openEndpoints,
  readLog,
  type Route,
  wholeNumber,
} from './routing.js';
import { mine, fund, payFromOutside } from './kinds.js';
import { badRequest, notFound, currency, duration, readAmount, whole, states } from './wire.js';
import { readAutoPay, requireSetting, type Store, tableNames, writeAutoPay } from './database.js';
import {
  createAccount,
  issueCredentials,
  reset,
  seeds,
  readCredentials,
  setCredentials,
} from './seed.js';
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

const fundBody = v.object({ ccy: currency, amount: v.string(), accountId: v.optional(v.string()) });
const accountBody = v.object({
  displayName: v.pipe(v.string(), v.nonEmpty(), v.maxLength(100)),
  /**
   * The id of the new account's parent, by default the main account. If `parentAccountId` is null,
   * the new account is unrelated to other accounts.
   */
  parentAccountId: v.optional(v.nullable(v.string())),
});
const payBody = v.object({ target: v.string(), amount: v.optional(v.string()) });
const mineBody = v.object({ n: v.optional(whole(1, 1000), new Big(1)) });
const invoiceBody = v.object({
  amount: v.string(),
  description: v.optional(v.pipe(v.string(), v.maxBytes(639)), 'Outside invoice'),
  expiry: v.optional(duration, new Big(durations.invoice)),
});
const seedBody = v.object({
  seed: v.picklist(seeds),
  months: v.optional(whole(1, 36), new Big(1)),
});
const advanceBody = v.object({ by: duration });
const autoPayBody = v.object({ after: v.union([v.literal('off'), duration]) });

/** Changes the clock and runs the actions that became due. */
const clock =
  (change: (clock: ClockState, call: Call) => ClockState) =>
  (call: Call): ClockState => {
    const { ctx } = call;
    const set = change(readClock(ctx.store, ctx.machine), call);
    setClock(ctx, set);
    runDueActions({ ...ctx, now: set.now });
    return set;
  };

const worldControls: Answers<Call> = {
  'GET status': ({ ctx }) => status(ctx),
  'POST fund': fundWallet,
  'POST accounts': openAccount,
  'POST pay'({ ctx, read }) {
    const { target, amount } = read(payBody);
    return payFromOutside(ctx, target, amount);
  },
  'POST invoice': outsideInvoice,
  'POST mine': ({ ctx, read }) => ({ data: mine(ctx, read(mineBody).n) }),
  'POST reset'({ ctx }) {
    reset(ctx);
    return status(ctx);
  },
  'POST seed'({ ctx, read }) {
    const { seed, months } = read(seedBody);
    reset(ctx, seed, Number(months));
    return status(ctx);
  },
  'GET clock': ({ ctx }) => readClock(ctx.store, ctx.machine),
  'POST clock/advance': clock(({ now, frozen }, { read }) => {
    const { by } = read(advanceBody);
    if (now + by > endOfTime) throw badRequest('the clock cannot advance beyond the year 2200');
    return { now: now + by, frozen };
  }),
  'POST clock/freeze': clock(({ now }) => ({ now, frozen: true })),
  'POST clock/thaw': clock(({ now }) => ({ now, frozen: false })),
  'PUT auto-pay'({ ctx, read }) {
    const { after } = read(autoPayBody);
    writeAutoPay(ctx.store, after);
    return { after };
  },
  'GET log': ({ ctx, query }) => ({
    data: readLog(ctx.store, {
      method: query.get('method')?.toUpperCase(),
      path: query.get('path') ?? undefined,
      limit: wholeNumber(query, 'limit'),
    }),
  }),
};

const faultControls: Answers<Call> = {
  'GET faults': ({ ctx }) => ({ data: listFaults(ctx.store) }),
  'POST faults': ({ ctx, read }) => addFault(ctx.store, read(faultRule)),
  'DELETE faults'({ ctx }) {
    clearFaults(ctx.store);
    return { data: [] };
  },
  'DELETE faults/:id'(call) {
    removeFault(call.ctx.store, idParam(call));
    return { data: listFaults(call.ctx.store) };
  },
};

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

function fundWallet({ ctx, read }: Call): Unserialized<SandboxWallet> | undefined {
  const { ccy, amount, accountId = mainAccount(ctx) } = read(fundBody);
  const account = findAccount(ctx.store, accountId);
  if (account === undefined) throw notFound();
  fund(ctx, account, ccy, readAmount(ccy, amount));
  return walletsIn(ctx.store, accountId).find((wallet) => wallet.ccy === ccy);
}

function openAccount({ ctx, read }: Call): Credentials {
  const body = read(accountBody);
  const { displayName, parentAccountId = mainAccount(ctx) } = body;
  if (parentAccountId !== null && findAccount(ctx.store, parentAccountId) === undefined)
    throw notFound();
  const { id } = createAccount(ctx, displayName, parentAccountId);
  return issueCredentials(ctx, id);
}

function outsideInvoice({ ctx, read }: Call): Unserialized<OutsideInvoice> {
  const { amount: given, description, expiry } = read(invoiceBody);
  const amount = readAmount('BTC', given);
  const terms = { amount, description, expiryMs: Number(expiry), txnId: null };
  const { invoice, paymentHash, expiresAt } = createInvoice(ctx, terms);
  return { invoice, paymentHash, amount, expiresAt };
}

const triggerBody = v.object({
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
});

const optionsBody = v.object({ allowHttpLoopback: v.boolean() });

const webhookControls: Answers<Call> = {
  'POST trigger': trigger,
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
  'PUT webhook-options'({ ctx, read }) {
    changeWebhookOptions(ctx.store, read(optionsBody));
    return readWebhookOptions(ctx.store);
  },
};

/** Sends a test event. The state in the test event can differ from the state of the transaction. */
function trigger({ ctx, read }: Call): unknown {
  const { state, txnId, extRefId, msg, accountId } = read(triggerBody);
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

const snapshotRow = v.pipe(
  v.object({
    id: v.number(),
    name: v.string(),
    savedAt: v.number(),
    clock: v.number(),
    frozen: v.number(),
    transactions: v.number(),
  }),
  v.transform(({ id, clock: now, frozen, ...row }) => ({
    id,
    snapshot: { ...row, clock: { now, frozen: frozen === 1 } },
  })),
);

const saveBody = v.object({
  name: v.pipe(
    v.string(),
    v.regex(/^[\w.-]{1,64}$/, 'must have 1 to 64 letters, digits, ".", "_" or "-"'),
  ),
});

/**
 * The tables of a snapshot: all except settings and keys of this file, faults, the request log, and
 * used signatures. Restoring a snapshot does not make used signatures valid again.
 */
const savedTables = tableNames.filter(
  (name) => !['setting', 'used_signature', 'request_log', 'fault', 'snapshot'].includes(name),
);

const snapshotControls: Answers<Call> = {
  'GET snapshots': ({ ctx }) => ({ data: listSnapshots(ctx.store) }),
  'POST snapshots': ({ ctx, read }) => saveSnapshot(ctx, read(saveBody).name),
  'POST snapshots/:name/load': ({ ctx, param }) => loadSnapshot(ctx, param('name')),
  'DELETE snapshots/:name'({ ctx, param }) {
    removeSnapshot(ctx.store, requireSnapshot(ctx.store, param('name')).id);
    return { data: listSnapshots(ctx.store) };
  },
};

export const controls: readonly Route[] = openEndpoints(controlPrefix, {
  ...worldControls,
  ...faultControls,
  ...webhookControls,
  ...snapshotControls,
});

export const listSnapshots = (store: Store): Snapshot[] =>
  store.all(snapshotRow, 'SELECT * FROM snapshot ORDER BY id').map(({ snapshot }) => snapshot);

/** Saves the state under a name, and replaces an earlier snapshot of this name. */
function saveSnapshot({ store, machine }: Context, name: string): Snapshot {
  const before = store.find(snapshotRow, 'snapshot', { name });
  if (before !== undefined) removeSnapshot(store, before.id);
  const clock = readClock(store, machine);
  const saved = { name, savedAt: machine, transactions: countOf(store, 'txn') };
  const row = { ...saved, clock: clock.now, frozen: Number(clock.frozen) };
  const id = store.insert('snapshot', row);
  for (const table of savedTables)
    store.run(`CREATE TABLE ${copyOf(id, table)} AS SELECT * FROM ${table}`);
  return { ...saved, clock };
}

/**
 * Restores a snapshot, including its clock. Restoring a snapshot keeps the current credentials of
 * the main account.
 */
function loadSnapshot(ctx: Context, name: string): Snapshot {
  const { store, machine } = ctx;
  const { id, snapshot } = requireSnapshot(store, name);
  const { apiKey, apiSecret, accountId } = readCredentials(store);
  // Lets SQLite check foreign keys only at the commit, because restored rows refer to each other.
  store.run('PRAGMA defer_foreign_keys = ON');
  for (const table of savedTables) {
    store.run(`DELETE FROM ${table}`);
    store.run(`INSERT INTO ${table} SELECT * FROM ${copyOf(id, table)} ORDER BY rowid`);
  }
  // A higher claim number invalidates the claims of workers that are posting now.
  store.run('UPDATE webhook SET claim = max(claim + 1, ?), claimed_until = 0', machine);
  setCredentials(store, accountId, apiKey, apiSecret);
  setClock(ctx, snapshot.clock);
  return snapshot;
}

function removeSnapshot(store: Store, id: number): void {
  for (const table of savedTables) store.run(`DROP TABLE ${copyOf(id, table)}`);
  store.run('DELETE FROM snapshot WHERE id = ?', id);
}

function requireSnapshot(store: Store, name: string): v.InferOutput<typeof snapshotRow> {
  const found = store.find(snapshotRow, 'snapshot', { name });
  if (found === undefined) throw notFound();
  return found;
}

const copyOf = (id: number, table: string): string => `copy_${id}_${table}`;
