// Determines which wallet a tool that moves money debits, before any request.
import { Failure } from '../../formats/failure.js';
import { methodProperties } from '../../formats/rails.js';
import { attemptNamed } from '../../store/journal/payment.js';
import { uriRails } from '../../wallet/instruction/instruction.js';
import { readSendNow } from '../../wallet/instruction/send.js';
import { readSwap } from '../../wallet/instruction/swap.js';
import { readSwapWords } from '../swap/swap-words.js';
import { directionOf } from '../../wallet/transaction/direction.js';
import type { Context } from '../context.js';
import { readDraft } from '../payout/payout-draft.js';
import { missingAnswers, payoutOptions } from '../payout/payout-options.js';
import { readAll, type RawValues } from '../values.js';

export interface RequestedPayment {
  /** The wallet that pays. */
  readonly from: string;
  /**
   * Whether the payment takes hours or days to settle. If true, the call does not wait for the
   * outcome.
   */
  readonly slow: boolean;
}

type ReadRequest = (given: RawValues, context: Context) => Promise<RequestedPayment>;

const word = (raw: RawValues[string]): string | undefined =>
  typeof raw === 'string' ? raw : undefined;

const readSend: ReadRequest = async (given, context) => {
  const { settings, now } = context;
  const words = {
    to: word(given['destination']),
    amount: word(given['amount']),
    spend: word(given['spend']),
    from: word(given['from'])?.toUpperCase(),
    via: uriRails.find((each) => each === given['via']),
    deductFees: given['deductFees'] === true,
  };
  const { instruction, slow } = readSendNow(words, { network: settings.network, now: now() });
  return { from: instruction.from, slow };
};

/**
 * Reads the inputs of a payout tool. Throws Failure `usage` with the names of all missing inputs.
 */
export function payoutDraft(given: RawValues, { config, settings }: Context) {
  const flags = readAll(payoutOptions, given);
  const draft = readDraft(flags, config.read().recipients, settings.profile.sender);
  const missing = missingAnswers(draft);
  if (missing.length > 0)
    throw new Failure('usage', `Not called: a payout must also have ${missing.join(', ')}.`);
  return draft;
}

const readPayout: ReadRequest = async (given, context) => {
  const { from = 'BTC' } = payoutDraft(given, context);
  return { from, slow: true };
};

/**
 * Reads the wallet that a quote debits.
 */
const readQuote: ReadRequest = async (given, context) => {
  const { client } = await context.account();
  const txn = await client.transaction(String(given['id']));
  if (directionOf(txn) === 'receive')
    throw new Failure(
      'usage',
      `Not sent: transaction ${txn.txnId} receives money and cannot be paid.`,
    );
  const { sourceReq, destReq } = txn;
  const [own] = attemptNamed(txn.extRefId ?? '');
  if (given['ref'] !== undefined && given['ref'] !== own)
    throw new Failure(
      'usage',
      `Not called: ref is ${String(given['ref'])}, but the reference of this quote is ${own}. ` +
        'Omit ref.',
    );
  const slow = methodProperties(destReq.method)?.pace !== 'quick';
  return { from: sourceReq.ccy ?? '', slow };
};

/**
 * The functions that read the target of a payment, keyed by the command that the tool runs. Each
 * function that reads a target throws Failure `usage` if the inputs do not describe a payment.
 */
export const requestReaders: Readonly<Record<string, ReadRequest>> = {
  send: readSend,
  swap: async ({ words, receive }) => ({
    from: readSwap(readSwapWords(String(words), receive === true), receive === true).from,
    slow: false,
  }),
  payout: readPayout,
  'tx confirm': readQuote,
};
