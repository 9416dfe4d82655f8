// Shows a transaction as a receipt, and an open payment request with its QR code. Specification:
// endpoint 9.
import type { Transaction } from '../../api/types.js';
import { amountWithSats, money, moneyFromWire, type Money } from '../../formats/amount.js';
import { decodeInvoice, type Invoice } from '../../formats/bolt11/decode.js';
import { Failure, isUnknown, unlessFailure, invalid } from '../../formats/failure.js';
import { invoiceCard, type InvoiceCard } from '../../terminal/cards/invoice-card.js';
import { receiptPage, receiptView, type ReceiptPageOptions } from '../../terminal/cards/receipt.js';
import { commandFor } from '../../terminal/next-step.js';
import { attemptOf, type Payment } from '../../store/journal/payment.js';
import type { Canvas } from '../../terminal/terminal.js';
import { checkedRequest } from '../../wallet/receive/request.js';
import type { Context } from '../context.js';
import { explained, recipientsOf } from './local-facts.js';
import { pickId } from './resolve-id.js';
import { defineCommand, record } from '../define.js';
import { qrFile, writeQr } from '../receive/qr-file.js';
import { endOf, resolutionText } from '../../wallet/payment/outcomes.js';
import { movedAmounts } from '../../wallet/history/moved-amounts.js';
import { ratesOf } from '../statement/open-books.js';
import { readDetails, stateTimes } from './payments.js';
import { choice, flag, transaction } from '../values.js';

interface Found {
  readonly txn: Transaction;
  /** Draws the receipt, and below it the open payment request. */
  readonly screen: (canvas: Canvas) => readonly string[];
  /** The command that tells the story of a payment. */
  readonly story: string | undefined;
}

export const txGet = defineCommand({
  arguments: {
    id: transaction()
      .optional()
      .describe('id (or its first 6 characters), reference, invoice or payment hash'),
  },
  options: {
    qrFile: qrFile(),
    verbose: flag().describe('also show the invoice, its payment hash and the key of the payee'),
    format: choice(['html'], 'FORMAT')
      .optional()
      .describe('same as -o html: a receipt to print or send'),
  },
  examples: [
    ['svcpay tx get ad79a67a-5e07-4094-92cd-1aeb3fbe8297', 'shows a readable receipt'],
    [
      'svcpay tx get ID -o html > receipt.html',
      'writes a page to print, without external resources',
    ],
    ['svcpay tx get lnbc25u1…', 'shows the transaction of an invoice'],
    ['svcpay tx get ID --json --fields txnState', 'prints one field, for a script'],
  ],
  async run({ id: named, qrFile, format, verbose }, context): Promise<Found | string> {
    const { out, globals } = context;
    const id = named ?? (await pickId('Which transaction?', [], context));
    const { txn: read, payment } = await readDetails(id, context);
    const txn = await explained(read, context);
    const { failure, recorded } = endOf(payment, txn);
    const isUnresolved = failure !== undefined && isUnknown(failure);
    if (isUnresolved) out.warn(failure.message);
    const now = (await context.client()).serviceNow();
    const request =
      out.forPeople || qrFile !== undefined ? openRequest(txn, now, context) : undefined;
    if (qrFile !== undefined) {
      if (request === undefined)
        throw invalid('This transaction has nothing left to pay, so there is no QR code.');
      await writeQr(qrFile, request.code);
    }
    const options = {
      now,
      times:
        out.forPeople || format !== undefined ? await stateTimes(txn.txnId, context) : undefined,
      total: movedAmounts(txn)?.left,
      invoice: invoiceOf(txn),
      party: await nameOf(txn, context),
      isVerbose: verbose || format !== undefined,
      shownBelow: request && [request.text, request.code],
      isUnresolved,
      recorded: recorded && resolutionText(recorded),
    };
    if (format !== undefined)
      return receiptPage(txn, { ...options, ...(await agreedAndMoved(txn, payment, context)) });
    const view = receiptView(options);
    return {
      txn,
      story: payment && commandFor({ do: 'explain', id: txn.txnId }, globals),
      screen: (canvas) => [
        ...view.screen(canvas, txn),
        ...(request === undefined ? [] : ['', ...invoiceCard({ ...request, qrFile }, canvas)]),
      ],
    };
  },
  view: record(
    (now) => receiptView({ now }),
    (found: Found | string) => (typeof found === 'string' ? found : found.txn),
  ),
  adapt(found) {
    if (typeof found === 'string') return {};
    const { screen, story } = found;
    const last = story === undefined ? [] : ['', `  Story: ${story}`];
    return { screen: (canvas) => [...screen(canvas), ...last] };
  },
});

/** The approved or requested amounts of a payment, what arrived, and its value at that time. */
async function agreedAndMoved(
  txn: Transaction,
  payment: Payment | undefined,
  context: Context,
): Promise<Pick<ReceiptPageOptions, 'agreed' | 'arrived' | 'worth'>> {
  const { sourceReq, destReq, txnId } = txn;
  const moved = txn.txnState === 'completed' ? movedAmounts(txn) : undefined;
  const attempt = attemptOf(payment, txnId);
  const amountOf = (ccy: string | null | undefined, amount: string | null | undefined): Money[] =>
    ccy == null || amount == null ? [] : [money(ccy, amount)];
  const approved = [
    ...amountOf(attempt?.spendCcy, attempt?.approvedTotal),
    ...amountOf(destReq.ccy, attempt?.approvedReceives),
  ];
  const requested = [sourceReq, destReq].flatMap(
    ({ ccy, amtRequested }) => moneyFromWire(ccy, amtRequested) ?? [],
  );
  const amount = sourceReq.method === 'servicepay' ? moved?.left : moved?.arrived;
  const kept = (await ratesOf([txnId], context)).get(txnId);
  const rate = kept?.rates[amount?.ccy ?? ''];
  return {
    agreed: approved.length === 0 ? requested : approved,
    arrived: moved?.arrived,
    worth: amount && kept && rate ? { ...kept, amount, rate } : undefined,
  };
}

/** Returns the recipient's name, but not a shortened address, which the receipt shows whole. */
async function nameOf(txn: Transaction, context: Context): Promise<string | undefined> {
  const name = (await recipientsOf([txn], context))(txn.txnId);
  return name?.includes('…') === true ? undefined : name;
}

/**
 * Checks and shows an open payment request in the same way as a new one. If the check fails, svcpay
 * reports the problem and does not show the payment request.
 */
function openRequest(
  txn: Transaction,
  now: number,
  { out, settings }: Context,
): InvoiceCard | undefined {
  const { txnState, sourceReq, destReq } = txn;
  const asked = [destReq, sourceReq]
    .map(({ ccy, amtRequested }) => moneyFromWire(ccy, amtRequested))
    .find((amount) => amount?.ccy === 'BTC');
  if (asked === undefined) return undefined;
  const title = `Receive ${amountWithSats(asked)}`;
  try {
    const isOpen =
      (sourceReq.method === 'lightning' && txnState === 'srccreated') ||
      (sourceReq.method === 'on-chain' && txnState === 'srcintent');
    if (isOpen) return { ...checkedRequest(txn, asked, settings.network, now), title, details: [] };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    out.warn(error.message);
  }
  return undefined;
}

/**
 * Returns the invoice of a Lightning transaction, or undefined if the transaction has no readable
 * invoice.
 */
function invoiceOf({ sourceReq, destReq }: Transaction): Invoice | undefined {
  const text = sourceReq.reqDetails?.paymentRequest ?? destReq.reqDetails?.paymentRequest;
  return typeof text === 'string' ? unlessFailure(() => decodeInvoice(text)) : undefined;
}
