// Shows a transaction as a receipt, and an open payment request with its QR code. Specification:
// endpoint 9.
import type { Transaction } from '../../api/types.js';
import { amountWithSats, moneyFromWire } from '../../formats/amount.js';
import { decodeInvoice, type Invoice } from '../../formats/bolt11/decode.js';
import { Failure, isUnknown } from '../../formats/failure.js';
import { invoiceCard, type InvoiceCard } from '../../terminal/cards/invoice-card.js';
import { receiptPage, receiptView } from '../../terminal/cards/receipt.js';
import { commandFor } from '../../terminal/next-step.js';
import type { Canvas } from '../../terminal/terminal.js';
import { checkedInvoice, checkedOnchainRequest } from '../../wallet/receive/checked.js';
import type { Context } from '../context.js';
import { explained, recipientsOf } from './local-facts.js';
import { pickId } from './resolve-id.js';
import { defineCommand } from '../define.js';
import { record } from '../show.js';
import { qrFile, writeQr } from '../receive/qr-file.js';
import { resolutionText } from '../../wallet/payment/outcomes.js';
import { movedAmounts } from '../../wallet/history/moved-amounts.js';
import {
  paymentOf,
  readDetails,
  receiptDetails,
  stateTimes,
  endOfTransaction,
} from './payments.js';
import { choice, flag, transaction } from '../values.js';

const receiptFormats = ['html'] as const;

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
  formats: receiptFormats,
  options: {
    qrFile: qrFile(),
    verbose: flag().describe('also show the invoice, its payment hash and the key of the payee'),
    format: choice(receiptFormats, 'FORMAT')
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
    const id = named ?? (await pickId('Which transaction?', [], context));
    const { client } = await context.account();
    const txn = await explained(await readDetails(id, context), context);
    const { failure, recorded } = await endOfTransaction(txn, context);
    const isUnresolved = failure !== undefined && isUnknown(failure);
    if (isUnresolved) context.out.warn(failure.message);
    const now = client.serviceNow();
    const request =
      context.out.forPeople || qrFile !== undefined ? openRequest(txn, now, context) : undefined;
    if (qrFile !== undefined) {
      if (request === undefined)
        throw new Failure(
          'usage',
          'This transaction has nothing left to pay, so there is no QR code.',
        );
      await writeQr(qrFile, request.code);
    }
    const shownBelow = request === undefined ? [] : [request.text, request.code];
    const times =
      context.out.forPeople || format !== undefined
        ? await stateTimes(txn.txnId, context)
        : undefined;
    const options = {
      now,
      times,
      total: movedAmounts(txn)?.left,
      invoice: invoiceOf(txn),
      party: await nameOf(txn, context),
      isVerbose: verbose || format !== undefined,
      shownBelow,
      isUnresolved,
      recorded: recorded && resolutionText(recorded),
    };
    if (format !== undefined) {
      const details = await receiptDetails(txn, context);
      return receiptPage(txn, { ...options, ...details });
    }
    const view = receiptView(options);
    const below = (canvas: Canvas): string[] =>
      request === undefined ? [] : ['', ...invoiceCard({ ...request, qrFile }, canvas)];
    const story = await storyCommand(txn.txnId, context);
    return { txn, story, screen: (canvas) => [...view.screen(canvas, txn), ...below(canvas)] };
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

/** Returns the command that tells the story of a payment of this home or database. */
async function storyCommand(txnId: string, context: Context): Promise<string | undefined> {
  if (!context.out.forPeople) return undefined;
  const payment = await paymentOf(txnId, context).catch(() => undefined);
  return payment && commandFor({ do: 'explain', id: txnId }, context.globals);
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
  const amounts = [destReq, sourceReq].map(({ ccy, amtRequested }) =>
    moneyFromWire(ccy, amtRequested),
  );
  const asked = amounts.find((amount) => amount?.ccy === 'BTC');
  if (asked === undefined) return undefined;
  const title = `Receive ${amountWithSats(asked)}`;
  try {
    if (sourceReq.method === 'lightning' && txnState === 'srccreated') {
      const { invoice } = checkedInvoice(txn, asked, settings.network, now);
      return { title, code: invoice, text: invoice, details: [] };
    }
    if (sourceReq.method === 'on-chain' && txnState === 'srcintent') {
      const { address, uri } = checkedOnchainRequest(txn, asked, settings.network, now);
      return { title, code: uri, text: address, details: [] };
    }
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
  const text = sourceReq.reqDetails?.['paymentRequest'] ?? destReq.reqDetails?.['paymentRequest'];
  try {
    return typeof text === 'string' ? decodeInvoice(text) : undefined;
  } catch {
    return undefined;
  }
}
