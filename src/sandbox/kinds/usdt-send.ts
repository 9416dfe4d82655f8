// Sends USDT to an address on TRON. The service refuses Ethereum addresses ("not available yet").
import { parseTronAddress, tronUsdtContract } from '../../formats/address/tron-address.js';
import { sendOn } from './incoming.js';
import { price } from '../service/pricing.js';
import { badRequest, orRefuse } from '../wire/refusal.js';
import { chainNetworkFee, durations, endingOfAddress } from '../unspecified.js';
import { requestedAmount, requiredDetail, type Kind } from './kind.js';
import { sending } from './sending.js';

const name = 'usdt-send';

export const usdtSend: Kind = {
  name,
  serves: (source, dest, wallet) => source === wallet && (dest === 'tron' || dest === 'eth'),
  quote(_ctx, request) {
    const { dest } = request;
    if (dest.method === 'eth') throw badRequest('eth is not available yet');
    if (dest.ccy !== 'USDT') throw badRequest('tron carries USDT');
    const address = requiredDetail(request, 'address');
    const { hex } = orRefuse(() => parseTronAddress(address));
    if (address === tronUsdtContract) throw badRequest('the address is the USDT contract');
    return {
      ...price(request, {
        ...requestedAmount(request),
        fee: 'send',
        networkFee: chainNetworkFee.tron,
      }),
      destDetails: { reqDetails: { address } },
      extra: { address, planned: endingOfAddress(hex.slice(2)) },
    };
  },
  ...sending({
    name,
    startAfter: durations.broadcast,
    send: sendOn('tron'),
  }),
};
