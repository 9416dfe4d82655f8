// Send to a Lightning Address or an LNURL, which the service resolves: to a user of its own or to the world outside.
import * as v from 'valibot';
import type { Account } from '../accounts.js';
import { findAccount } from '../accounts.js';
import type { Context } from '../context.js';
import { resolveLnurl } from '../lnurl.js';
import { price } from '../pricing.js';
import { openQuote } from '../quotes.js';
import { badRequest } from '../refusal.js';
import type { Transaction } from '../transactions.js';
import { durations, fateOfLnurlUser, lightningNetworkFeeOf } from '../unspecified.js';
import type { CreationRequest, Kind } from './kind.js';
import { lightningReceive, payReceive } from './lightning-receive.js';
import { requiredDetail, sourceAmount } from './requested.js';
import { sending } from './sending.js';

const name = 'lnurl-send';

/** The account that is paid, when it is one of this service. */
const recipient = v.object({ accountId: v.optional(v.string()) });

export const lnurlSend: Kind = {
  name,
  serves: (source, dest, wallet) => source === wallet && dest === 'lnurl',
  quote(ctx, request) {
    const { source, dest, deduct } = request;
    if (dest.ccy !== 'BTC') throw badRequest('Lightning carries BTC');
    const address = requiredDetail(request, 'address');
    const { lnurlAddress, user, account } = resolveLnurl(ctx, address);
    return {
      ...price({
        sourceCcy: source.ccy, destCcy: 'BTC', ...sourceAmount(request), fee: 'send', networkFee: lightningNetworkFeeOf,
        deduct,
      }),
      sourceDetails: { reqDetails: {} },
      destDetails: { reqDetails: { address, lnurlAddress } },
      extra: { accountId: account?.id, fate: fateOfLnurlUser(user) },
    };
  },
  ...sending({
    name,
    startAfter: durations.lightningStart,
    settleAfter: () => durations.lightningSettle,
    deliver(ctx, txn) {
      const account = findAccount(ctx.store, v.parse(recipient, txn.extra).accountId ?? '');
      if (account !== undefined) payReceive(ctx, openReceive(ctx, account, txn));
    },
  }),
};

/** The invoice that a user of this service gives for the payment is a receive like any other. */
function openReceive(ctx: Context, account: Account, { arrives, destCcy }: Transaction): Transaction {
  const deduct = { serviceFee: false, networkFee: false };
  const request: CreationRequest = {
    source: { ccy: destCcy, method: 'lightning', reqDetails: {} },
    dest: { ccy: destCcy, method: ctx.maker.method, amtRequested: arrives, reqDetails: {} },
    deduct,
  };
  const quote = lightningReceive.quote(ctx, request);
  const labels = { extRefId: null, note: null };
  return lightningReceive.confirm(ctx, openQuote(ctx, account, lightningReceive, request, quote, labels));
}
