// Determines the target of a tool that moves money, before any request: the paying wallet and the
// destination.
import { Failure } from '../../formats/failure.js';
import { methodProperties } from '../../formats/rails.js';
import { attemptNamed } from '../../store/journal/payment.js';
import { amountText, targetOf, type Target } from '../../wallet/payment/same-again.js';
import { payoutDestination } from '../../wallet/payout/order.js';
import { planSendNow, uriRails } from '../../wallet/plan/send.js';
import { directionOf } from '../../wallet/transaction/direction.js';
import type { Context } from '../context.js';
import { planSwap, readSwapWords } from '../payment/plan-swap.js';
import { ratesFor } from '../payment/send-flow.js';
import { readDraft } from '../payout/payout-draft.js';
import { missingAnswers, payoutOptions } from '../payout/payout-options.js';
import { readAll, type RawValues } from '../values.js';

export interface RequestedPayment {
  /** The wallet that pays. */
  readonly from: string;
  /**
   * The destination and amount that svcpay compares with earlier payments. Undefined for a swap.
   * Also undefined for an existing quote, because svcpay compares the quote's order when it submits
   * the payment.
   */
  readonly target: Target | undefined;
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
  const rates = await ratesFor(words, context);
  const { order, slow } = planSendNow(words, { network: settings.network, now: now(), rates });
  return { from: order.body.sourceReq.ccy, target: targetOf(order), slow };
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
  const {
    method,
    institution = '',
    acctNum = '',
    amount,
    from = 'BTC',
  } = payoutDraft(given, context);
  const destination = payoutDestination({
    method: method?.code ?? '',
    reqDetails: { institutionCode: institution, acctNum },
  });
  const target = amount && {
    destinations: [destination],
    amount: amountText(amount.ccy, amount.value),
  };
  return { from, target, slow: true };
};

/**
 * Reads the wallet that a quote debits. Returns no target, because svcpay compares the quote's
 * order with earlier payments when it submits the payment.
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
  return { from: sourceReq.ccy ?? '', target: undefined, slow };
};

/**
 * The functions that read the target of a payment, keyed by the command that the tool runs. Each
 * function that reads a target throws Failure `usage` if the inputs do not describe a payment.
 */
export const requestReaders: Readonly<Record<string, ReadRequest>> = {
  send: readSend,
  swap: async ({ words, receive }) => ({
    from: planSwap(readSwapWords(String(words), receive === true), receive === true).from,
    target: undefined,
    slow: false,
  }),
  payout: readPayout,
  'tx confirm': readQuote,
};
