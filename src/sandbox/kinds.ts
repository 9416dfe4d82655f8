// All kinds of transaction: creates a transaction from a request, mines blocks, and pays as an
// external payer.
import type { Transfer, Paid, Unserialized } from '../formats/sandbox/answers.js';
import {
  type Context,
  type DueAction,
  runDueActions,
  unschedule,
  awaitBlock,
  blockAction,
  confirmTransfer,
  pendingTransfers,
  chainCurrency,
  findOwnAddress,
  findInvoice,
  type OwnAddress,
} from './world.js';
import { credit, endUnpaid, executeSwap, move, returnSend } from './engine.js';
import {
  requireTransaction,
  type Transaction,
  extRefIdExists,
  findTransaction,
} from './transactions.js';
import { type Kind, requestedSide, openQuote, type CreateRequest } from './kind.js';
import {
  autoPay,
  lightningReceive,
  onchainReceive,
  lightningSend,
  lnurlSend,
  onchainSend,
  usdtSend,
  payAddress,
} from './payments.js';
import { payout } from './payout.js';
import {
  badRequest,
  extRefIdUsed,
  fields,
  fromUnits,
  text,
  notFound,
  orRefuse,
  readAmount,
} from './wire.js';
import * as v from 'valibot';
import type { Account } from './accounts.js';
import { takeFault } from './faults.js';
import { maxTextLength, networkFeeDeduction, confirmationsNeeded } from './unspecified.js';
import { detectDestination } from '../formats/destination.js';
import type { Invoice } from '../formats/bolt11/decode.js';
import type Big from 'big.js';
import { type Store } from './database.js';

/** Swaps between two wallets of one account, which the client's confirmation executes. */
const swap: Kind = {
  name: 'swap',
  fee: 'swap',
  read(_ctx, { source, dest }) {
    if (source.ccy === dest.ccy) throw badRequest('a swap must have two different currencies');
    return {};
  },
  confirm: (ctx, txn) =>
    txn.planned === undefined ? executeSwap(ctx, txn) : endUnpaid(ctx, txn, txn.planned),
};

const kinds: readonly Kind[] = [
  lightningReceive,
  lightningSend,
  lnurlSend,
  onchainReceive,
  onchainSend,
  payout,
  swap,
  usdtSend,
];

export function kindOf(txn: Transaction): Kind {
  const kind = kinds.find(({ name }) => name === txn.kind);
  if (kind === undefined)
    throw new Error(`Transaction ${txn.id} has the unknown kind ${txn.kind}.`);
  return kind;
}

const onTransaction =
  (act: (ctx: Context, txn: Transaction) => unknown): DueAction =>
  (ctx, id) =>
    void act(ctx, requireTransaction(ctx.store, id));

const arrive = onTransaction((ctx, txn) => kindOf(txn).arrive?.(ctx, txn));

export const isPayable = (txn: Transaction): boolean => kindOf(txn).payable !== undefined;

/** Whether a payer can pay the transaction now. */
export const awaitsPayment = (txn: Transaction): boolean =>
  kindOf(txn).payable?.state === txn.state;

/** Pays a payment request as an external payer. */
export function payIncoming(ctx: Context, txn: Transaction): Transaction {
  const { payable } = kindOf(txn);
  if (payable === undefined) throw badRequest(`transaction ${txn.id} is not a payment request`);
  if (payable.state !== txn.state)
    throw badRequest(`transaction ${txn.id} is ${txn.state} and cannot be paid`);
  return payable.pay(ctx, txn);
}

const nextBlock: DueAction = (ctx, id) => {
  const { chain, confirmations, needed } = addConfirmations(ctx, id, 1);
  if (confirmations < needed) awaitBlock(ctx, id, chain);
};

/** Scheduled actions of transactions and blockchains, by name. */
export const dueActions: ReadonlyMap<string, DueAction> = new Map([
  ['lapse', onTransaction((ctx, txn) => move(ctx, txn, 'lapse'))],
  [autoPay, onTransaction(payIncoming)],
  ['start', onTransaction((ctx, txn) => kindOf(txn).start?.(ctx, txn))],
  ['arrive', arrive],
  ['return', onTransaction(returnSend)],
  [blockAction, nextBlock],
]);

/**
 * Mines `count` blocks on every chain: starts the transfers that are scheduled for later, then adds
 * `count` confirmations to each transfer that needs confirmations. Returns the transfers with their
 * new confirmations.
 */
export function mine(ctx: Context, count: number): Transfer[] {
  ctx.store.run(
    `UPDATE due SET at = ?1 WHERE at > ?1 AND action = 'start' AND subject IN
       (SELECT id FROM txn WHERE dest_method IN ('on-chain', 'tron'))`,
    ctx.now,
  );
  runDueActions(ctx);
  return pendingTransfers(ctx.store).map(({ id }) => addConfirmations(ctx, id, count));
}

/**
 * Adds confirmations to a transfer. If the transfer has all its confirmations, credits the deposit
 * or settles the transaction.
 */
function addConfirmations(ctx: Context, id: string, count: number): Transfer {
  const { transfer, accountId, amount } = confirmTransfer(ctx, id, count);
  if (transfer.confirmations < transfer.needed) return transfer;
  unschedule(ctx, id);
  if (accountId === null) arrive(ctx, id);
  else {
    const ccy = chainCurrency[transfer.chain];
    credit(ctx, id, accountId, ccy, fromUnits(ccy, amount));
  }
  return transfer;
}

export const createRequestBody = v.pipe(
  v.objectWithRest(
    {
      sourceReq: requestedSide,
      destReq: requestedSide,
      extRefId: v.optional(v.pipe(text(maxTextLength.extRefId), v.nonEmpty())),
      note: v.optional(text(maxTextLength.note)),
      deductNetworkFeesFromDest: v.optional(v.boolean(), false),
      [networkFeeDeduction]: v.optional(v.boolean(), false),
      sourceOfFunds: v.optional(fields),
    },
    v.unknown(),
  ),
  v.check(
    ({ sourceReq, destReq }) =>
      sourceReq.amtRequested === undefined || destReq.amtRequested === undefined,
    'amtRequested must not be set in both sourceReq and destReq',
  ),
);

type CreateRequestBody = v.InferOutput<typeof createRequestBody>;

export function createTransaction(
  ctx: Context,
  account: Account,
  body: CreateRequestBody,
): Transaction {
  const { sourceReq: source, destReq: dest, extRefId } = body;
  const wallet = ctx.wireNames.method;
  const kind = kinds.find(
    ({ from = wallet, to = [wallet] }) => from === source.method && to.includes(dest.method),
  );
  if (kind === undefined)
    throw badRequest(`transactions from ${source.method} to ${dest.method} are not supported`);
  const { carries, from } = kind;
  if (carries !== undefined && (from === undefined ? dest : source).ccy !== carries.ccy)
    throw badRequest(`${carries.network} carries ${carries.ccy}`);
  if (
    extRefId !== undefined &&
    extRefIdExists(ctx.store, account.id, extRefId) &&
    takeFault(ctx.store, ['reference-reuse']) === undefined
  ) {
    throw extRefIdUsed();
  }
  const request: CreateRequest = {
    source,
    dest,
    deduct: deductionsOf(ctx, body),
    sourceOfFunds: body.sourceOfFunds,
  };
  return openQuote(ctx, account, kind, request, { extRefId, note: body.note });
}

/**
 * Reads the flags that deduct fees from the amount. The flag `deductNetworkFeesFromDest` from the
 * specification deducts both fees. The flag that deducts only the service fee, and the flag that
 * deducts only the network fee, are not in the specification.
 */
function deductionsOf(
  { wireNames: { feeDeduction } }: Context,
  body: CreateRequestBody,
): CreateRequest['deduct'] {
  const both = body.deductNetworkFeesFromDest;
  const ofService = body[feeDeduction] ?? false;
  if (typeof ofService !== 'boolean') throw badRequest(`${feeDeduction} must be true or false`);
  return { serviceFee: both || ofService, networkFee: both || body[networkFeeDeduction] };
}

/**
 * Pays the given target: a transaction by its id, an invoice, an address or a `bitcoin:` URI. Only
 * a payment to an address can have an amount, and the amount is optional if the address belongs to
 * a receive request.
 */
export function payFromOutside(
  ctx: Context,
  target: string,
  amount: string | undefined,
): Unserialized<Paid> {
  const { store } = ctx;
  const found = findTransaction(store, target) ?? findPaid(ctx, target);
  if ('state' in found) {
    if (amount !== undefined && isPayable(found))
      throw badRequest('amount must not be set, because this transaction has a fixed amount');
    return show(payIncoming(ctx, found));
  }
  if (amount === undefined) {
    if (found.txnId === null)
      throw badRequest('amount must be set, because this address accepts any amount');
    return show(payIncoming(ctx, requireTransaction(store, found.txnId)));
  }
  const ccy = chainCurrency[found.chain];
  const value = readAmount(ccy, amount);
  const id = payAddress(ctx, found, value);
  const txn = findTransaction(store, id);
  if (txn !== undefined) return show(txn);
  const needed = confirmationsNeeded(found.chain, value);
  return { depositId: id, ccy, amount: value, confirmations: 0, needed };
}

/** Finds the receive request of an invoice, or the record of an address. */
function findPaid({ store }: Context, target: string): Transaction | OwnAddress {
  if (/^[0-9a-f-]{36}$/i.test(target)) throw notFound();
  const found = orRefuse(() => detectDestination(target));
  switch (found.kind) {
    case 'bolt11':
      return receiveOf(store, found.value);
    case 'bip21':
      return ownAddress(store, found.value.bitcoin?.address ?? '');
    case 'bitcoin-address':
    case 'tron-address':
    case 'evm-address':
      return ownAddress(store, found.value.address);
    default:
      throw badRequest('only a transaction, an invoice or an address of this service can be paid');
  }
}

function receiveOf(store: Store, { invoice, paymentHash }: Invoice): Transaction {
  const stored = findInvoice(store, paymentHash);
  if (stored?.txnId == null || stored.invoice !== invoice)
    throw badRequest('the invoice is not from this service');
  return requireTransaction(store, stored.txnId);
}

function ownAddress(store: Store, address: string): OwnAddress {
  const own = findOwnAddress(store, address);
  if (own === undefined) throw badRequest('the address does not belong to this service');
  return own;
}

const show = ({ id, state }: Transaction): Paid => ({ txnId: id, txnState: state });

export function fund(ctx: Context, account: Account, ccy: string, amount: Big): void {
  const body = v.parse(createRequestBody, {
    sourceReq: { ccy: 'BTC', method: 'on-chain' },
    destReq: { ccy, method: ctx.wireNames.method, amtRequested: amount },
    note: 'Sandbox money',
  });
  const quoted = createTransaction(ctx, account, body);
  payIncoming(ctx, onchainReceive.confirm(ctx, quoted));
  addConfirmations(ctx, quoted.id, Number.MAX_SAFE_INTEGER);
}
