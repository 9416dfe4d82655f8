// Sends BTC to any Bitcoin address. An on-chain send is completed once the chain has confirmed the
// transfer.
import Big from 'big.js';
import { parseBitcoinAddress } from '../../formats/address/bitcoin-address.js';
import { sendOn } from './incoming.js';
import { price } from '../service/pricing.js';
import { badRequest, orRefuse } from '../wire/refusal.js';
import { chainNetworkFee, durations, endingOfAddress } from '../unspecified.js';
import { amountOn, requiredDetail, type Kind } from './kind.js';
import { sending } from './sending.js';

const name = 'onchain-send';

/** The smallest amount of an on-chain send, in BTC. */
const minimum = new Big('0.00001');

export const onchainSend: Kind = {
  name,
  serves: (source, dest, wallet) => source === wallet && dest === 'on-chain',
  quote(_ctx, request) {
    if (request.dest.ccy !== 'BTC') throw badRequest('on-chain carries BTC');
    const text = requiredDetail(request, 'address');
    const { address, program } = readAddress(text);
    const { side, amount } = amountOn('dest', request);
    if (amount.lt(minimum)) throw badRequest(`the minimum is ${minimum.toFixed()} BTC`);
    return {
      ...price(request, { side, amount, fee: 'send', networkFee: chainNetworkFee.bitcoin }),
      destDetails: { reqDetails: { address: text } },
      extra: { address, planned: endingOfAddress(program) },
    };
  },
  ...sending({
    name,
    startAfter: durations.broadcast,
    send: sendOn('bitcoin'),
  }),
};

/** Reads an address of mainnet or testnet in one of the four formats from the specification. */
function readAddress(text: string) {
  const address = orRefuse(() => parseBitcoinAddress(text));
  if (address.network === 'regtest') throw badRequest('the address is on another network');
  if (address.type === 'witness') throw badRequest('the address has an undefined version');
  return address;
}
