// What a paying tool is asked to pay, before anything is sent: which wallet pays, and where the money goes.
import { payoutDestination } from '../../wallet/payout/order.js';
import { planSendNow, ways } from '../../wallet/plan/send.js';
import type { Context } from '../context.js';
import { planSwap, readSwapWords } from '../payment/plan-swap.js';
import { readDraft } from '../payout/payout-draft.js';
import { payoutOptions } from '../payout/payout-options.js';
import { readAll, type RawValues } from '../values.js';
import { amountText, targetOf, type Target } from './pay-once.js';

export interface Asked {
  /** The wallet that pays. */
  readonly from: string;
  readonly target: Target | undefined;
  /** It settles within hours or days: nobody waits for its end. */
  readonly slow: boolean;
}

type ReadAsked = (given: RawValues, context: Context) => Asked;

/** By the command of the tool. Throws Failure `usage` for what is no payment. */
export const askedBy: Readonly<Record<string, ReadAsked>> = {
  send: ({ destination, amount, spend, from, via, deductFees }, { settings, now }) => {
    const word = (raw: RawValues[string]): string | undefined =>
      typeof raw === 'string' ? raw : undefined;
    const way = ways.find((each) => each === via);
    const words = {
      to: word(destination),
      amount: word(amount),
      spend: word(spend),
      from: word(from)?.toUpperCase(),
      via: way,
      deductFees: deductFees === true,
    };
    const { order, slow } = planSendNow(words, { network: settings.network, now: now() });
    return { from: order.body.sourceReq.ccy, target: targetOf(order), slow };
  },
  swap: ({ words, receive }) => ({
    from: planSwap(readSwapWords(String(words), receive === true), receive === true).from,
    target: undefined,
    slow: false,
  }),
  payout: (given, { config, settings }) => {
    const flags = readAll(payoutOptions, given);
    const {
      method,
      institution = '',
      acctNum = '',
      amount,
    } = readDraft(flags, config.read().recipients, settings.profile.sender);
    const destination = payoutDestination({
      method: method?.code ?? '',
      reqDetails: { institutionCode: institution, acctNum },
    });
    return {
      from: flags.from ?? 'BTC',
      target: amount && { destination, amount: amountText(amount.ccy, amount.value) },
      slow: true,
    };
  },
};
