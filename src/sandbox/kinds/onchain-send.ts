// On-chain send: BTC to any Bitcoin address, complete once the chain has confirmed it.
import Big from 'big.js';
import * as v from 'valibot';
import { parseBitcoinAddress } from '../../formats/address/bitcoin-address.js';
import { broadcast } from '../world/chain.js';
import { payIfOwn } from './incoming.js';
import { flatFee, price } from '../service/pricing.js';
import { badRequest, orRefuse } from '../wire/refusal.js';
import { bitcoinConfirmations, chainNetworkFee, durations, fateOfAddress } from '../unspecified.js';
import type { Kind } from './kind.js';
import { destAmount, requiredDetail } from './requested.js';
import { sending } from './sending.js';

const name = 'onchain-send';

/** BTC. */
const minimum = new Big('0.00001');

/** Where the money goes, in the canonical spelling of the address. */
const target = v.object({ address: v.string() });

export const onchainSend: Kind = {
  name,
  serves: (source, dest, wallet) => source === wallet && dest === 'on-chain',
  quote(_ctx, request) {
    const { source, dest, deduct } = request;
    if (dest.ccy !== 'BTC') throw badRequest('on-chain carries BTC');
    const text = requiredDetail(request, 'address');
    const { address, program } = readAddress(text);
    const { side, amount } = destAmount(request);
    if (amount.lt(minimum)) throw badRequest(`the minimum is ${minimum.toFixed()} BTC`);
    const networkFee = flatFee('BTC', chainNetworkFee.bitcoin, source.ccy);
    return {
      ...price({ sourceCcy: source.ccy, destCcy: 'BTC', side, amount, fee: 'send', networkFee, deduct }),
      sourceDetails: { reqDetails: {} },
      destDetails: { reqDetails: { address: text } },
      extra: { address, fate: fateOfAddress(program) },
    };
  },
  ...sending({
    name,
    startAfter: durations.broadcast,
    send(ctx, txn) {
      broadcast(ctx, txn.id, 'bitcoin', bitcoinConfirmations(txn.arrives));
      payIfOwn(ctx, v.parse(target, txn.extra).address, txn.arrives);
    },
  }),
};

/** The four formats of the specification, of mainnet and of testnet. */
function readAddress(text: string) {
  const address = orRefuse(() => parseBitcoinAddress(text));
  if (address.network === 'regtest') throw badRequest('the address is of another network');
  if (address.type === 'witness') throw badRequest('the address is of a version that does not exist yet');
  return address;
}
