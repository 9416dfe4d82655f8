// Sends to a Lightning Address or LNURL. The recipient of an LNURL send is a user of the service or
// an external user.
import * as v from 'valibot';
import { findAccount } from '../world/accounts.js';
import { resolveLnurl } from '../world/lnurl.js';
import { price } from '../service/pricing.js';
import { badRequest } from '../wire/refusal.js';
import { durations, endingOfLnurlUser, lightningNetworkFeeOf } from '../unspecified.js';
import { amountOn, requiredDetail, type Kind } from './kind.js';
import { invoicePayer, payReceive } from './lightning-receive.js';
import { sending } from './sending.js';

const name = 'lnurl-send';

/** The recipient's account, if the recipient is a user of this service. */
const recipient = v.object({ accountId: v.optional(v.string()) });

export const lnurlSend: Kind = {
  name,
  serves: (source, dest, wallet) => source === wallet && dest === 'lnurl',
  quote(ctx, request) {
    if (request.dest.ccy !== 'BTC') throw badRequest('Lightning carries BTC');
    const address = requiredDetail(request, 'address');
    const { lnurlAddress, user, account } = resolveLnurl(ctx, address);
    return {
      ...price(request, {
        ...amountOn('source', request),
        fee: 'send',
        networkFee: lightningNetworkFeeOf,
      }),
      destDetails: { reqDetails: { address, lnurlAddress } },
      extra: { accountId: account?.id, planned: endingOfLnurlUser(user) },
    };
  },
  ...sending({
    name,
    startAfter: durations.lightningStart,
    settleAfter: () => durations.lightningSettle,
    deliver(ctx, txn) {
      const account = findAccount(ctx.store, v.parse(recipient, txn.extra).accountId ?? '');
      if (account === undefined) return;
      payReceive(
        ctx,
        invoicePayer(ctx, account, { amount: txn.arrives, description: account.displayName }),
      );
    },
  }),
};
