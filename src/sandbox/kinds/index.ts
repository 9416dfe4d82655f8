// The kinds of transaction that the service knows, and everything they do later.
import type { Context } from '../world/context.js';
import { move } from '../service/engine.js';
import type { DueAction } from '../world/schedule.js';
import { requireTransaction, type Transaction } from '../service/transactions.js';
import type { Kind } from './kind.js';
import { lightningReceive } from './lightning-receive.js';
import { lightningSend } from './lightning-send.js';
import { lnurlSend } from './lnurl-send.js';
import { onchainReceive } from './onchain-receive.js';
import { onchainSend } from './onchain-send.js';
import { payout } from './payout.js';
import { startAction } from './sending.js';
import { swap } from './swap.js';
import { usdtSend } from './usdt-send.js';

const kinds: readonly Kind[] = [
  lightningReceive, lightningSend, lnurlSend, onchainReceive, onchainSend, payout, swap, usdtSend,
];

/** Schedule names of blockchain broadcasts. */
export const startActions: readonly string[] = [onchainSend, usdtSend].map(({ name }) => startAction(name));

export function findKind(sourceMethod: string, destMethod: string, wallet: string): Kind | undefined {
  return kinds.find((kind) => kind.serves(sourceMethod, destMethod, wallet));
}

export function kindOf(txn: Transaction): Kind {
  const kind = kinds.find(({ name }) => name === txn.kind);
  if (kind === undefined) throw new Error(`Transaction ${txn.id} is of the unknown kind ${txn.kind}.`);
  return kind;
}

function lapse(ctx: Context, txnId: string): void {
  const txn = requireTransaction(ctx.store, txnId);
  move(ctx, kindOf(txn).flow, txn, 'lapse');
}

/** Everything that a due row can ask for. */
export function dueActions(): ReadonlyMap<string, DueAction> {
  return new Map([['lapse', lapse], ...kinds.flatMap((kind) => Object.entries(kind.due))]);
}
