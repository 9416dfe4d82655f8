// Handles blockchain payments to an address of the service. A payment to an address belongs to a
// waiting receive request, or becomes a deposit.
import type Big from 'big.js';
import * as v from 'valibot';
import {
  broadcast,
  type Chain,
  chainCurrency,
  findOwnAddress,
  type OwnAddress,
} from '../world/chain.js';
import { chains } from '../../formats/sandbox/answers.js';
import { type Context, randomId } from '../world/context.js';
import type { Store } from '../storage/database.js';
import { credit } from '../service/engine.js';
import { detectPayment } from './onchain-receive.js';
import { requireTransaction, type Transaction } from '../service/transactions.js';
import { fromUnits, toUnits } from '../wire/values.js';

const depositRow = v.object({
  id: v.string(),
  accountId: v.string(),
  chain: v.picklist(chains),
  amount: v.number(),
});

type Deposit = v.InferOutput<typeof depositRow>;

/** Pays an address of the service, and returns the id of the transaction or deposit. */
export function payAddress(ctx: Context, own: OwnAddress, amount: Big): string {
  const txn = own.txnId === null ? undefined : requireTransaction(ctx.store, own.txnId);
  return txn?.state === 'srcintent'
    ? detectPayment(ctx, txn, amount).id
    : openDeposit(ctx, own, amount);
}

/**
 * The data that an on-chain or USDT send stores in `extra`: the address in its canonical spelling.
 */
const target = v.object({ address: v.string() });

/** Broadcasts a transfer, and credits it if its address belongs to a user of the service. */
export const sendOn =
  (chain: Chain) =>
  (ctx: Context, { id, extra, arrives }: Transaction): void => {
    broadcast(ctx, id, chain, arrives);
    const own = findOwnAddress(ctx.store, v.parse(target, extra).address);
    if (own !== undefined) payAddress(ctx, own, arrives);
  };

export function findDeposit(store: Store, id: string): Deposit | undefined {
  return store.one(
    depositRow,
    'SELECT id, account_id, chain, amount FROM deposit JOIN address USING (address) WHERE id = ?',
    id,
  );
}

export function creditDeposit(
  ctx: Context,
  { id, accountId, chain, amount: units }: Deposit,
): void {
  const ccy = chainCurrency[chain];
  credit(ctx, { subject: id, accountId, ccy, amount: fromUnits(ccy, units) });
}

/**
 * Records a deposit and broadcasts its transfer. Permanent addresses and the addresses of paid or
 * expired receive requests accept any amount.
 */
function openDeposit(ctx: Context, { address, chain }: OwnAddress, amount: Big): string {
  const id = randomId(ctx.random);
  ctx.store.insert('deposit', { id, address, amount: toUnits(chainCurrency[chain], amount) });
  broadcast(ctx, id, chain, amount);
  return id;
}
