// Prints an instruction as the command that asks for it: the inverse of the readers. Pure.
import type { Kyc } from '../../api/types.js';
import { detectDestination } from '../../formats/destination.js';
import { fixed } from '../../formats/amount.js';
import type { NextStep } from '../../formats/failure.js';
import { invoiceReference, type PaymentTerms } from '../../store/journal/payment.js';
import { methodOf, payeeOf } from '../payout/methods.js';
import { uriRails, type Instruction } from './instruction.js';

type RunStep = Extract<NextStep, { readonly do: 'run' }>;
type Options = NonNullable<RunStep['options']>;

/** The command that asks for this instruction under this reference, within these terms. */
export function commandOf(
  instruction: Instruction,
  ref: string,
  { maxFee, maxRateLoss }: PaymentTerms = {},
): RunStep {
  const { once, note, verb } = instruction;
  const isOwn = once !== null && ref === invoiceReference(once);
  const { argument, options } = printers[verb](instruction);
  return {
    do: 'run',
    command: verb,
    argument,
    options: {
      ...options,
      '--note': note,
      '--max-fee':
        maxFee && ('percent' in maxFee ? `${maxFee.percent}%` : maxFee.amount + maxFee.ccy),
      '--max-rate-loss': maxRateLoss && `${maxRateLoss}%`,
      '--ref': isOwn ? undefined : ref,
    },
  };
}

type Printed = Pick<RunStep, 'argument' | 'options'>;

const printers: Readonly<Record<Instruction['verb'], (instruction: Instruction) => Printed>> = {
  send: printSend,
  swap: ({ amount, from, to }) => ({
    argument: [typeof amount === 'string' ? amount : amount.written, from, to],
    options: {
      '--receive': typeof amount !== 'string' && amount.side === 'gets' ? true : undefined,
    },
  }),
  payout: printPayout,
};

function printSend({ to, amount, from, ways, deductFees }: Instruction): Printed {
  const { kind } = detectDestination(to);
  const isSpent = kind === 'tron-address' && typeof amount !== 'string' && amount.side === 'debits';
  const text =
    amount === 'invoice' ? undefined : typeof amount === 'string' ? amount : amount.written;
  const usual = kind === 'tron-address' ? 'USDT' : 'BTC';
  const isForeign = typeof amount !== 'string' && amount.ccy !== usual;
  return {
    argument: text === undefined || isSpent ? to : [to, text],
    options: {
      '--spend': isSpent ? text : undefined,
      '--from': from === usual && !isForeign ? undefined : from,
      '--via': ways === undefined || ways.length === uriRails.length ? undefined : ways[0],
      '--deduct-fees': deductFees && amount !== 'all' ? true : undefined,
    },
  };
}

function printPayout({ payout, amount, from }: Instruction): Printed {
  if (payout === undefined || typeof amount === 'string')
    throw new Error('The instruction of a payout lacks its details or its amount.');
  const { sourceReq, destReq, sourceOfFunds } = payout;
  const { account, institutionCode, institutionName } = payeeOf({ destReq });
  const { acctName } = destReq.reqDetails ?? {};
  const code = (value: number | undefined) => (value === undefined ? undefined : String(value));
  return {
    options: {
      '--method': methodOf(destReq)?.code ?? destReq.method,
      '--institution': institutionCode,
      '--institution-name': institutionName,
      '--acct-num': account,
      '--acct-name': typeof acctName === 'string' ? acctName : undefined,
      '--amount': `${fixed(amount.value)}${amount.ccy.toLowerCase()}`,
      '--from': from === 'BTC' ? undefined : from,
      '--purpose': code(sourceOfFunds?.purpose),
      '--source': code(sourceOfFunds?.source),
      '--relationship': code(sourceOfFunds?.relationship),
      ...partyOptions('sender', sourceReq.kyc),
      ...partyOptions('recipient', destReq.kyc),
    },
  };
}

const partyOptions = (whose: string, kyc: Kyc | undefined): Options => ({
  [`--${whose}-type`]: kyc?.type,
  [`--${whose}-name`]: kyc?.details.legalFullName,
  [`--${whose}-country`]: kyc?.details.countryCode,
  [`--${whose}-phone`]: kyc?.details.contactNumber,
  [`--${whose}-address`]: kyc?.details.address1,
});
