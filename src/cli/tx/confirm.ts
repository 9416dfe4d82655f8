// Confirms a quote: shows the cost, asks for approval, and submits the confirmation once.
// Specification: endpoint 7.
import type { Transaction } from '../../api/types.js';
import { decodeInvoice } from '../../formats/bolt11/decode.js';
import { Failure, isUnknown } from '../../formats/failure.js';
import type { CardDetail } from '../../terminal/cards/card.js';
import { receiptView } from '../../terminal/cards/receipt.js';
import { sendWord } from '../../terminal/views/state-words.js';
import { transactionKind } from '../../terminal/views/transaction-view.js';
import { directionOf } from '../../wallet/transaction/read.js';
import { confirmReceive } from '../../wallet/receive/request.js';
import { concernedBy, journalFirst } from '../../wallet/payment/journal-first.js';
import { transactionConcerned } from '../../wallet/transaction/read.js';
import { confirmQuote } from '../../wallet/payment/confirm-quote.js';
import { hasLapsed, isFinal, isQuoted } from '../../formats/states.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { record } from '../show.js';
import type { RecordView } from '../../terminal/rows/view.js';
import { optionsOf, showPayment, paidView } from '../payment/payment-flow.js';
import { paymentOptions, termsOf, type PaymentFlags } from '../payment/payment-options.js';
import { endedFailure } from './transaction-details.js';
import { resolveId } from './resolve-id.js';
import { transaction } from '../values.js';
import { aboutInvoice } from '../payment/send-flow.js';
import { swapPresentation, type Presentation } from '../payment/payment-model.js';

const { maxFee, maxRateLoss, wait, waitTimeout } = paymentOptions;

export const txConfirm = defineCommand({
  arguments: {
    id: transaction().describe(
      'reference or id of a quote; without --yes, the first 6 characters are enough',
    ),
  },
  options: { maxFee, maxRateLoss, wait, waitTimeout },
  examples: [
    ['svcpay tx confirm ID', 'shows the full cost, then asks for approval'],
    [
      'svcpay send lightning lnbc25u1… --quote-only -q | xargs svcpay tx confirm --yes',
      'quotes and pays in two steps, in a script',
    ],
  ],
  changes: true,
  run: (given, context) =>
    journalFirst(concernedBy(given.id), context.journal, () => confirm(given, context)),
  view: record(paidView, ({ txn }: Confirmed) => txn),
  adapt: ({ receipt }) => receipt ?? {},
});

interface Confirmed {
  readonly txn: Transaction;
  /** The view of a transaction whose confirmation the live line has not shown. */
  readonly receipt?: RecordView<Transaction>;
}

type Given = { readonly id: string } & Pick<
  PaymentFlags,
  'maxFee' | 'maxRateLoss' | 'wait' | 'waitTimeout'
>;

async function confirm({ id: named, ...given }: Given, context: Context): Promise<Confirmed> {
  const { agent, ask, globals, out } = context;
  const { client: service } = await context.account();
  const id = await resolveId(named, context, globals.yes);
  const txn = await service.transaction(id);
  if (isFinal(txn.txnState)) {
    const unpaid = await endedFailure(txn, context);
    if (unpaid !== undefined)
      throw hasLapsed(txn.txnState) && !isUnknown(unpaid) ? lapsedQuote(txn) : unpaid;
    if (txn.txnState === 'completed')
      out.say('Nothing moved: this transaction was already completed.');
    return { txn, receipt: receiptView({ now: service.serviceNow() }) };
  }
  if (directionOf(txn) === 'receive') {
    if (agent?.admit !== undefined)
      throw new Failure('usage', `transaction ${id} receives money and cannot be paid.`, {
        money: 'Not sent',
        ...transactionConcerned(txn),
      });
    const asked = isQuoted(txn.txnState) ? await confirmReceive(txn, { ...context, service }) : txn;
    return { txn: asked, receipt: receiptView({ now: service.serviceNow() }) };
  }
  if (!globals.yes) ask.demand(['--yes']);
  const from = txn.sourceReq.ccy ?? '';
  const ruled = { from, method: txn.destReq.method, txn };
  const flags = (await agent?.admit?.(ruled, given)) ?? given;
  const terms = termsOf(flags, from);
  const options = optionsOf({ ...flags, retry: false, quoteOnly: false });
  const isSwap = txn.destReq.method === 'servicepay';
  const presentation = { ...aboutQuote(txn), ...(isSwap && swapPresentation) };
  const paid = await showPayment(
    presentation,
    (deps, consent) => confirmQuote(txn, { terms, consent }, options, deps),
    context,
  );
  return { txn: paid };
}

const lapsedQuote = (txn: Transaction): Failure =>
  new Failure('payment-failed', `this quote is ${sendWord(txn.txnState)}. Request a new quote.`, {
    money: 'Nothing moved',
    next: { do: 'show', id: txn.txnId },
    ...transactionConcerned(txn),
  });

function aboutQuote(txn: Transaction): Presentation {
  const { paymentRequest, address, acctName, acctNum, bankAcctNum } = txn.destReq.reqDetails ?? {};
  const { institutionName, institutionCode } = txn.destReq.reqDetails ?? {};
  if (typeof paymentRequest === 'string') {
    const invoice = decodeInvoice(paymentRequest);
    return { about: aboutInvoice(invoice), expiresAt: invoice.expiresAt };
  }
  const institution = [institutionName, institutionCode].filter((each) => typeof each === 'string');
  const to = [address, acctName, acctNum, bankAcctNum].filter((value) => typeof value === 'string');
  return {
    about: [
      { label: 'What', value: transactionKind(txn) },
      ...to.map((value): CardDetail => ({ label: 'To', value, whole: value === address })),
      ...(institution.length === 0 ? [] : [{ label: 'At', value: institution.join(' · ') }]),
    ],
  };
}
