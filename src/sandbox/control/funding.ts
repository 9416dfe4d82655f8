// Funds a wallet through a paid and confirmed on-chain receive, so that the list of transactions
// explains every wallet balance.
import type Big from 'big.js';
import type { Account } from '../world/accounts.js';
import { requireTransfer } from '../world/chain.js';
import type { Context } from '../world/context.js';
import { createTransaction } from '../kinds/create-transaction.js';
import { addConfirmations, kindOf } from '../kinds/index.js';

export function fund(ctx: Context, account: Account, ccy: string, amount: Big): void {
  const quoted = createTransaction(ctx, account, {
    sourceReq: { ccy: 'BTC', method: 'on-chain', reqDetails: {} },
    destReq: { ccy, method: ctx.wireNames.method, amtRequested: amount, reqDetails: {} },
    note: 'Sandbox money',
    deductNetworkFeesFromDest: false,
    deductNetworkFees: false,
  });
  const kind = kindOf(quoted);
  kind.payFromOutside?.(ctx, kind.confirm(ctx, quoted));
  const transfer = requireTransfer(ctx.store, quoted.id);
  addConfirmations(ctx, transfer, transfer.needed);
}
