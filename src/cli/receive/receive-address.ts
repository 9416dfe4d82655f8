// Shows a permanent deposit address, checked, with its QR code. Specification: endpoints 4 and 5.
import { formatBip21 } from '../../formats/bip21.js';
import { Failure } from '../../formats/failure.js';
import { depositView, type Deposit } from '../../terminal/cards/deposit-view.js';
import { checkedBitcoinDeposit, checkedUsdtDeposit } from '../../wallet/receive/onchain.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { qrFile, writeQr } from './receive-flow.js';
import { choice } from '../values.js';

const chains = { tron: 'TRON', eth: 'ETH' } as const;
type Chain = keyof typeof chains;

export const receiveAddress = defineCommand({
  arguments: { ccy: choice(['btc', 'usdt']).describe('btc or usdt') },
  options: {
    chain: choice(['tron', 'eth'], 'CHAIN').optional().describe('for usdt: tron or eth'),
    qrFile: qrFile(),
  },
  examples: [
    ['svcpay receive address btc', 'the permanent Bitcoin address with a QR code'],
    ['svcpay receive address usdt --chain tron -q', 'the address alone, for a script'],
  ],
  async run({ ccy, chain, qrFile }, context) {
    if (ccy === 'btc' && chain !== undefined) throw new Failure('usage', '--chain is for usdt. Leave it out.');
    const { answer, deposit } = ccy === 'btc' ? await bitcoinDeposit(context) : await usdtDeposit(chain, context);
    if (qrFile !== undefined) await writeQr(qrFile, deposit.code);
    await context.out.record(answer, depositView(deposit));
  },
});

interface CheckedDeposit {
  /** As the service gives it. */
  readonly answer: object;
  readonly deposit: Deposit;
}

/** No default: what is sent over the wrong chain is lost. */
async function askChain({ ask }: Context): Promise<Chain> {
  return ask.select({
    message: 'Over which chain will the USDT come?',
    flag: '--chain tron|eth',
    choices: [
      { value: 'tron', name: 'TRON (TRC-20)', description: 'there in seconds' },
      { value: 'eth', name: 'Ethereum (ERC-20)', description: 'there in about 15 minutes' },
    ],
  });
}

async function bitcoinDeposit({ ownClient, settings }: Context): Promise<CheckedDeposit> {
  const answer = await (await ownClient()).bitcoinAddress();
  const address = checkedBitcoinDeposit(answer, settings.network);
  return { answer, deposit: { ccy: 'BTC', chain: 'Bitcoin', address, code: formatBip21({ address }) } };
}

async function usdtDeposit(named: Chain | undefined, context: Context): Promise<CheckedDeposit> {
  const chain = chains[named ?? (await askChain(context))];
  const answer = await (await context.ownClient()).usdtAddress(chain);
  const address = checkedUsdtDeposit(answer, chain);
  return { answer, deposit: { ccy: 'USDT', chain: chain === 'TRON' ? 'TRON' : 'Ethereum', address, code: address } };
}
