// The world of the service: its clock and scheduled actions, blockchains that confirm transfers,
// and two Lightning nodes that issue invoices.
import { createHash, createHmac } from 'node:crypto';
import { toUnits, type WireNames, json } from './wire.js';
import { type Store, readSetting, writeSetting, requireSetting } from './database.js';
import * as v from 'valibot';
import {
  type ClockState,
  chains,
  type Transfer,
  transferAnswer,
} from '../formats/sandbox/answers.js';
import type Big from 'big.js';
import { blockTimes, confirmationsNeeded } from './unspecified.js';
import { encodeSegwitAddress, encodeEvmAddress, encodeTronAddress } from '../formats/address.js';
import { getPublicKey } from '@noble/secp256k1';
import { msatOf } from '../formats/amount.js';
import { encodeInvoice } from '../formats/bolt11/encode.js';

export type Random = (length: number) => Uint8Array;

export interface Context {
  readonly store: Store;
  /** The current time of the service's clock, in epoch ms. */
  readonly now: number;
  /** The machine's time in epoch ms. */
  readonly machine: number;
  /** The functions of all scheduled actions, by name. */
  readonly actions: ReadonlyMap<string, DueAction>;
  /** Reports an internal error. */
  readonly onError: (error: unknown) => void;
  readonly random: Random;
  readonly wireNames: WireNames;
  /** The address of the service as clients see it, without a trailing slash. */
  readonly baseUrl: string;
  /** Whether webhook callbacks may be plain http to this machine. */
  readonly allowHttpCallbacks: boolean;
  readonly allowSignatureReuse: boolean;
  /** The longest time of each step of a payment in ms, or undefined for the usual times. */
  readonly settleMs: number | undefined;
}

export const randomHex = (random: Random, length: number): string =>
  Buffer.from(random(length)).toString('hex');

/** Returns a random UUID, version 4. */
export function randomId(random: Random): string {
  const bytes = Buffer.from(random(16));
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export const sha256Hex = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex');

/**
 * Runs a scheduled action. `ctx.now` is the time at which the action was due, even if the action
 * runs later.
 */
export type DueAction = (ctx: Context, subject: string) => void;

const dueRow = v.object({
  at: v.number(),
  action: v.string(),
  subject: v.string(),
});

export function schedule(ctx: Context, action: string, subject: string, at: number): void {
  ctx.store.insert('due', { at, action, subject });
}

/** Cancels all scheduled actions for one subject, such as a transaction or a webhook delivery. */
export function unschedule(ctx: Context, subject: string): void {
  ctx.store.run('DELETE FROM due WHERE subject = ?', subject);
}

export function nextDue(store: Store): number | undefined {
  return store.one(v.object({ at: v.number() }), 'SELECT at FROM due ORDER BY at, id LIMIT 1')?.at;
}

const takeFirstDue = `DELETE FROM due
  WHERE id = (SELECT id FROM due WHERE at <= ? ORDER BY at, id LIMIT 1) RETURNING *`;

/** Runs all due actions, including actions that become due during the run. */
export function runDueActions(ctx: Context): void {
  for (;;) {
    const row = ctx.store.one(dueRow, takeFirstDue, ctx.now);
    if (row === undefined) return;
    const action = ctx.actions.get(row.action);
    if (action === undefined) throw new Error(`The action "${row.action}" is unknown.`);
    action({ ...ctx, now: row.at }, row.subject);
  }
}

/** The clock of the service at the machine's time `setAt`. */
const setting = json(v.object({ now: v.number(), frozen: v.boolean(), setAt: v.number() }));

/** Reads the service's clock. The argument `machine` is the machine's time in epoch ms. */
export function readClock(store: Store, machine: number): ClockState {
  const saved = readSetting(store, 'clock');
  if (saved === undefined) return { now: machine, frozen: false };
  const { now, frozen, setAt } = v.parse(setting, saved);
  return { now: frozen ? now : now + machine - setAt, frozen };
}

/**
 * Sets the service's clock. The service's time may go back, because restoring a snapshot restores
 * the time of the snapshot.
 */
export function setClock({ store, machine }: Context, clock: ClockState): void {
  writeSetting(store, 'clock', JSON.stringify({ ...clock, setAt: machine }));
}

export type Chain = Transfer['chain'];

export const chainCurrency: Readonly<Record<Chain, string>> = {
  bitcoin: 'BTC',
  tron: 'USDT',
  ethereum: 'USDT',
};

export const blockAction = 'chain.block';

/**
 * Broadcasts the transfer of a transaction, or a deposit to an account, and starts counting its
 * confirmations.
 */
export function broadcast(
  ctx: Context,
  id: string,
  chain: Chain,
  amount: Big,
  accountId: string | null = null,
): void {
  ctx.store.insert('transfer', {
    id,
    accountId,
    chain,
    amount: toUnits(chainCurrency[chain], amount),
    needed: confirmationsNeeded(chain, amount),
  });
  awaitBlock(ctx, id, chain);
}

export function awaitBlock(ctx: Context, id: string, chain: Chain): void {
  schedule(ctx, blockAction, id, ctx.now + blockTimes[chain]);
}

export function pendingTransfers(store: Store): Transfer[] {
  return store.all(
    transferAnswer,
    'SELECT * FROM transfer WHERE confirmations < needed ORDER BY rowid',
  );
}

export function findTransfer(store: Store, id: string): Transfer | undefined {
  return store.find(transferAnswer, 'transfer', { id });
}

const broadcastRow = v.object({
  ...transferAnswer.entries,
  accountId: v.nullable(v.string()),
  amount: v.number(),
});

/** Adds confirmations to a transfer, at most up to the number that the transfer needs. */
export function confirmTransfer({ store }: Context, id: string, count: number) {
  const sql = `UPDATE transfer SET confirmations = min(confirmations + ?, needed) WHERE id = ?
    RETURNING *`;
  const found = store.one(broadcastRow, sql, count, id);
  if (found === undefined) throw new Error(`There is no transfer ${id}.`);
  const { accountId, amount, ...transfer } = found;
  return { transfer, accountId, amount };
}

const addressRow = v.object({
  address: v.string(),
  chain: v.picklist(chains),
  accountId: v.string(),
  txnId: v.nullable(v.string()),
});

export type OwnAddress = v.InferOutput<typeof addressRow>;

export function staticAddress(store: Store, accountId: string, chain: Chain): string {
  const found = store.find(addressRow, 'address', { accountId, chain, txnId: null });
  if (found === undefined) throw new Error(`Account ${accountId} has no address on ${chain}.`);
  return found.address;
}

/**
 * Finds the record of an address in its canonical spelling. Returns undefined for an address that
 * the service has not issued.
 */
export function findOwnAddress(store: Store, address: string): OwnAddress | undefined {
  return store.find(addressRow, 'address', { address });
}

export function issueAddress(
  { store }: Context,
  chain: Chain,
  accountId: string,
  txnId: string | null,
): string {
  const key = requireSetting(store, 'nodeKey');
  const hash = createHmac('sha256', key)
    .update(`${chain}/${txnId ?? accountId}`)
    .digest()
    .subarray(0, 20);
  const address = encoders[chain](hash);
  store.insert('address', { address, chain, accountId, txnId });
  return address;
}

/**
 * Encodes an address. On Bitcoin, the encoded address is a testnet address. On TRON and Ethereum,
 * addresses have the same format on all networks.
 */
const encoders: Readonly<Record<Chain, (hash: Uint8Array) => string>> = {
  bitcoin: (hash) => encodeSegwitAddress('testnet', 0, hash),
  tron: encodeTronAddress,
  ethereum: encodeEvmAddress,
};

const invoiceRow = v.object({
  paymentHash: v.string(),
  invoice: v.string(),
  txnId: v.nullable(v.string()),
  paidAt: v.nullable(v.number()),
});

type KnownInvoice = v.InferOutput<typeof invoiceRow>;

export interface InvoiceTerms {
  /** The amount of the invoice, in BTC. */
  readonly amount: Big;
  /** The description of the invoice, or the hash of the description. */
  readonly description: string | { readonly sha256: string };
  readonly expiryMs: number;
  /** The id of the receive request, or null for an invoice of the external node. */
  readonly txnId: string | null;
}

export function createInvoice(ctx: Context, terms: InvoiceTerms) {
  const timestamp = Math.floor(ctx.now / 1000);
  const expiry = Math.max(1, Math.floor(terms.expiryMs / 1000));
  const paymentHash = sha256Hex(ctx.random(32));
  const key = requireSetting(ctx.store, terms.txnId === null ? 'outsideNodeKey' : 'nodeKey');
  const invoice = encodeInvoice(
    {
      network: 'testnet',
      amountMsat: msatOf(terms.amount),
      paymentHash,
      paymentSecret: randomHex(ctx.random, 32),
      ...(typeof terms.description === 'string'
        ? { description: terms.description }
        : { descriptionHash: terms.description.sha256 }),
      timestamp,
      expiry,
    },
    Buffer.from(key, 'hex'),
  );
  ctx.store.insert('invoice', { paymentHash, invoice, txnId: terms.txnId });
  return { paymentHash, invoice, expiresAt: (timestamp + expiry) * 1000 };
}

/** The settings with the keys of the service's Lightning node and of the external node. */
export const nodeKeys = ['nodeKey', 'outsideNodeKey'] as const;

/** Whether the public key (hex) belongs to the service's node or to the external node. */
export const isLocalNode = (store: Store, nodeId: string): boolean =>
  nodeKeys.some((name) => {
    const key = Buffer.from(requireSetting(store, name), 'hex');
    return Buffer.from(getPublicKey(key, true)).toString('hex') === nodeId;
  });

export function findInvoice(store: Store, paymentHash: string): KnownInvoice | undefined {
  return store.find(invoiceRow, 'invoice', { paymentHash });
}

export function markPaid(
  { store, now }: Context,
  invoice: { paymentHash: string } | { txnId: string },
): void {
  const changes = store.update('invoice', { paidAt: now }, { ...invoice, paidAt: null });
  if (changes !== 1) throw new Error('The invoice does not exist or is already paid.');
}
