// Shows a permanent deposit address, checked, with its QR code. Specification: endpoints 3, 4 and 5.
import { formatBip21 } from '../../formats/bip21.js';
import { Failure } from '../../formats/failure.js';
import { encodeLnurl } from '../../formats/lnurl.js';
import { depositView, type Deposit, depositFields } from '../../terminal/cards/deposit-view.js';
import { lightningAddressOf } from '../../wallet/receive/lightning-address.js';
import { checkedBitcoinDeposit, checkedUsdtDeposit } from '../../wallet/receive/onchain.js';
import type { Needs } from '../context.js';
import { defineCommand } from '../define.js';
import { qrFile, writeQr } from './receive-flow.js';
import { choice } from '../values.js';

const chains = { tron: 'TRON', eth: 'ETH' } as const;
type Chain = keyof typeof chains;

const kinds = ['btc', 'usdt', 'lightning'] as const;

/** An address for any number of payments. */
export interface Permanent {
  readonly ccy: (typeof kinds)[number];
  readonly chain?: Chain | undefined;
}

export const receiveAddress = defineCommand({
  fields: depositFields,
  arguments: { ccy: choice(kinds).optional().describe('btc, usdt or lightning (the Lightning Address, where the account has one)') },
  options: {
    chain: choice(['tron', 'eth'], 'CHAIN').optional().describe('for usdt: tron or eth'),
    qrFile: qrFile(),
  },
  examples: [
    ['svcpay receive address btc', 'the permanent Bitcoin address with a QR code'],
    ['svcpay receive address usdt --chain tron -q', 'the address alone, for a script'],
    ['svcpay receive address lightning', 'the Lightning Address, where the account record names one'],
  ],
  async run({ ccy: given, chain, qrFile }, context) {
    const ccy = given ?? (await askCurrency(context));
    if (ccy !== 'usdt' && chain !== undefined) throw new Failure('usage', '--chain is for usdt. Leave it out.');
    await showAddress({ ccy, chain }, qrFile, context);
  },
});

export async function showAddress(
  { ccy, chain }: Permanent, qrFile: string | undefined, context: Needs<'out' | 'ask' | 'settings' | 'client' | 'ownClient'>,
): Promise<void> {
  const { answer, deposit } = await (ccy === 'usdt' ? usdtDeposit(chain, context) : deposits[ccy](context));
  if (qrFile !== undefined) await writeQr(qrFile, deposit.code);
  await context.out.record(answer, depositView({ ...deposit, qrFile }));
}

interface CheckedDeposit {
  /** As the service gives it. */
  readonly answer: object;
  readonly deposit: Deposit;
}

const deposits = { btc: bitcoinDeposit, lightning: lightningDeposit };

async function askCurrency({ ask }: Needs<'ask'>): Promise<Permanent['ccy']> {
  return ask.select({
    message: 'Which address?',
    flag: 'btc, usdt or lightning',
    choices: [
      { value: 'btc', name: 'Bitcoin' },
      { value: 'usdt', name: 'USDT' },
      { value: 'lightning', name: 'Lightning Address', description: 'where the account has one' },
    ],
  });
}

/** No default: what is sent over the wrong chain is lost. */
async function askChain({ ask }: Needs<'ask'>): Promise<Chain> {
  return ask.select({
    message: 'Over which chain will the USDT come?',
    flag: '--chain tron|eth',
    choices: [
      { value: 'tron', name: 'TRON (TRC-20)', description: 'there in seconds' },
      { value: 'eth', name: 'Ethereum (ERC-20)', description: 'there in about 15 minutes' },
    ],
  });
}

async function bitcoinDeposit({ ownClient, settings }: Needs<'ownClient' | 'settings'>): Promise<CheckedDeposit> {
  const answer = await (await ownClient()).bitcoinAddress();
  const address = checkedBitcoinDeposit(answer, settings.network);
  return { answer, deposit: { ccy: 'BTC', chain: 'Bitcoin', address, code: formatBip21({ address }) } };
}

async function usdtDeposit(named: Chain | undefined, context: Needs<'ask' | 'ownClient'>): Promise<CheckedDeposit> {
  const chain = chains[named ?? (await askChain(context))];
  const answer = await (await context.ownClient()).usdtAddress(chain);
  const address = checkedUsdtDeposit(answer, chain);
  return { answer, deposit: { ccy: 'USDT', chain: chain === 'TRON' ? 'TRON' : 'Ethereum', address, code: address } };
}

/** The QR code carries what a Lightning Address stands for (LUD-16), since more wallets read that. */
async function lightningDeposit({ client }: Needs<'client'>): Promise<CheckedDeposit> {
  const service = await client();
  const { address, user, domain } = lightningAddressOf(await service.account(await service.accountId()));
  const code = `lightning:${encodeLnurl(`https://${domain}/.well-known/lnurlp/${user}`)}`;
  return { answer: { lightningAddress: address }, deposit: { ccy: 'BTC', chain: 'Lightning', address, code } };
}
