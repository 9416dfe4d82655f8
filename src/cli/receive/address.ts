// Shows a permanent deposit address with its QR code. Specification: endpoints 3, 4 and 5.
import { formatBip21, encodeLnurl, payUrl } from '../../formats/destination.js';
import { Failure } from '../../formats/failure.js';
import { depositView, type Deposit, depositFields } from '../../terminal/cards/invoice-card.js';
import {
  checkedBitcoinDeposit,
  checkedUsdtDeposit,
  lightningAddressOf,
} from '../../wallet/receive/request.js';
import type { Context } from '../context.js';
import { objectView } from '../../terminal/cards/card.js';
import {
  type Pose,
  back,
  type Back,
  type Choice,
  stepFor,
  walk,
} from '../../terminal/ask/questions.js';
import { defineCommand, record } from '../define.js';
import { leftAtOnce } from '../process.js';
import { qrFile, writeQr } from './qr-file.js';
import { choice } from '../values.js';

const chains = { tron: 'TRON', eth: 'ETH' } as const;
type Chain = keyof typeof chains;

const kinds = ['btc', 'usdt', 'lightning'] as const;

export interface PermanentAddress {
  readonly ccy: (typeof kinds)[number];
  readonly chain?: Chain | undefined;
}

export const receiveAddress = defineCommand({
  arguments: {
    ccy: choice(kinds)
      .optional()
      .describe('btc, usdt or lightning (your Lightning Address, if the account has one)'),
  },
  options: {
    chain: choice(['tron', 'eth'], 'CHAIN', { ethereum: 'eth' })
      .optional()
      .describe('for usdt: tron or eth'),
    qrFile: qrFile(),
  },
  examples: [
    ['svcpay receive address btc', 'shows the permanent Bitcoin address with a QR code'],
    ['svcpay receive address usdt --chain tron -q', 'prints only the address, for a script'],
    ['svcpay receive address lightning', 'shows your Lightning Address'],
  ],
  changes: true,
  async run({ ccy, chain, qrFile }, context) {
    if (ccy !== undefined && ccy !== 'usdt' && chain !== undefined)
      throw new Failure('usage', '--chain works only with usdt. Remove --chain.');
    const asked = await askPermanent({ ccy, chain }, context.ask.pose);
    if (asked === back) throw leftAtOnce(context, 'Nothing was requested');
    return readAddress(asked, qrFile, context);
  },
  view: record(objectView(depositFields), ({ answer }: CheckedDeposit) => answer),
  adapt: ({ deposit }) => depositView(deposit),
});

/** Reads the address, and writes its QR code to the file `qrFile`. */
export async function readAddress(
  { ccy, chain }: PermanentAddress,
  qrFile: string | undefined,
  context: Context,
): Promise<CheckedDeposit> {
  const { answer, deposit } = await (ccy === 'usdt'
    ? usdtDeposit(chain, context)
    : deposits[ccy](context));
  if (qrFile !== undefined) await writeQr(qrFile, deposit.code);
  return { answer, deposit: { ...deposit, qrFile } };
}

export interface CheckedDeposit {
  /** The response of the service, which `--json` prints. */
  readonly answer: object;
  readonly deposit: Deposit;
}

const deposits = { btc: bitcoinDeposit, lightning: lightningDeposit };

interface AddressAnswers {
  readonly ccy: PermanentAddress['ccy'] | undefined;
  readonly chain: Chain | undefined;
}

const step = stepFor<AddressAnswers>();

/**
 * Asks for the currency and the blockchain. The question about the blockchain has no default,
 * because money sent over the wrong blockchain is lost.
 */
async function askPermanent(start: AddressAnswers, pose: Pose): Promise<PermanentAddress | Back> {
  const asked = await walk<AddressAnswers>(pose, start, [
    step('ccy', () => currencyQuestion),
    step(
      'chain',
      () => chainQuestion,
      ({ ccy }) => ccy === 'usdt',
    ),
  ]);
  if (asked === back) return back;
  const { ccy, chain } = asked;
  if (ccy === undefined) throw new Error('The currency of the deposit address was not chosen.');
  return { ccy, chain };
}

const currencyQuestion: {
  message: string;
  flag: string;
  choices: Choice<PermanentAddress['ccy']>[];
} = {
  message: 'Which address?',
  flag: 'btc, usdt or lightning',
  choices: [
    { value: 'btc', name: 'Bitcoin' },
    { value: 'usdt', name: 'USDT' },
    {
      value: 'lightning',
      name: 'Lightning Address',
      description: 'only for accounts with a Lightning Address',
    },
  ],
};

const chainQuestion: { message: string; flag: string; choices: Choice<Chain>[] } = {
  message: 'Receive USDT on which chain?',
  flag: '--chain tron|eth',
  choices: [
    { value: 'tron', name: 'TRON (TRC-20)', description: 'arrives in seconds' },
    { value: 'eth', name: 'Ethereum (ERC-20)', description: 'arrives in about 15 minutes' },
  ],
};

async function bitcoinDeposit({ account, settings }: Context): Promise<CheckedDeposit> {
  const answer = await (await account()).client.bitcoinAddress();
  const address = checkedBitcoinDeposit(answer, settings.network);
  return { answer, deposit: { ccy: 'BTC', chain: 'Bitcoin', address, code: formatBip21(address) } };
}

async function usdtDeposit(named: Chain | undefined, context: Context): Promise<CheckedDeposit> {
  if (named === undefined) throw new Error('The chain of the USDT address was not chosen.');
  const chain = chains[named];
  const { client } = await context.account();
  const answer = await client.usdtAddress(chain);
  const address = checkedUsdtDeposit(
    answer,
    chain,
    await client.accountId().catch(() => undefined),
  );
  return {
    answer,
    deposit: { ccy: 'USDT', chain: chain === 'TRON' ? 'TRON' : 'Ethereum', address, code: address },
  };
}

/**
 * Returns the deposit address for a Lightning Address. The QR code contains the LNURL of the
 * Lightning Address (LUD-16), because more wallets can read an LNURL from a QR code.
 */
async function lightningDeposit({ client }: Context): Promise<CheckedDeposit> {
  const service = await client();
  const lightningAddress = lightningAddressOf(await service.account());
  const code = `lightning:${encodeLnurl(payUrl(lightningAddress))}`;
  return {
    answer: { lightningAddress: lightningAddress.address },
    deposit: { ccy: 'BTC', chain: 'Lightning', address: lightningAddress.address, code },
  };
}
