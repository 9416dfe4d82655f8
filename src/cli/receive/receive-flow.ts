// Being paid as a person or a script goes through it: the card with its QR code, the wait until the money is there.
import { writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Transaction } from '../../api/types.js';
import type { Money } from '../../formats/amount.js';
import { describeDuration, formatDuration } from '../../formats/duration.js';
import { Failure } from '../../formats/failure.js';
import { amountWithSats, type Fact } from '../../terminal/cards/card.js';
import { invoiceCard } from '../../terminal/cards/invoice-card.js';
import { qrPng, qrSvg } from '../../terminal/qr/qr.js';
import { recordLine } from '../../terminal/cards/record-line.js';
import { sanitize } from '../../terminal/sanitize.js';
import { stateWord } from '../../terminal/views/state-words.js';
import { relativeTime } from '../../terminal/time.js';
import { transactionList } from '../../terminal/views/transaction-view.js';
import { isFinal } from '../../formats/states.js';
import { waitUntilFinal } from '../../wallet/payment/wait.js';
import type { Context } from '../context.js';
import type { ValuesOf } from '../define.js';
import { reference } from '../payment/payment-options.js';
import { duration, onOff, text, word } from '../values.js';

/** Where to write the QR code; any other name is refused before anything is asked of the service. */
export const qrFile = () =>
  word('FILE', (given) => {
    if (['.svg', '.png'].includes(extname(given).toLowerCase())) return given;
    throw new Failure('usage', `"${given}" must end in .svg or .png.`);
  })
    .optional()
    .describe('write the QR code to FILE.svg or FILE.png');

export const receiveOptions = {
  note: text().optional().describe('a note for yourself; the payer does not see it'),
  ref: reference().optional().describe('your reference: run again with the same one, it asks for the same payment'),
  wait: onOff().describe('wait until it is paid (the default on a terminal)'),
  waitTimeout: duration().optional().describe('longest wait for the payment'),
  qrFile: qrFile(),
};

export type ReceiveFlags = ValuesOf<typeof receiveOptions>;

/** What a payer is shown. */
export interface PaymentRequest {
  /** `over Lightning`, `on-chain`. */
  readonly how: string;
  readonly amount: Money;
  /** What the QR code carries. */
  readonly code: string;
  /** What a person copies, and what `-q` prints. */
  readonly text: string;
  readonly facts: readonly Fact[];
  /** Epoch ms by the service's clock. */
  readonly expiresAt: number | undefined;
}

export async function runReceive(
  txn: Transaction,
  request: PaymentRequest,
  flags: ReceiveFlags,
  context: Context,
): Promise<void> {
  const { out, terminal } = context;
  if (isFinal(txn.txnState) && txn.txnState !== 'completed') throw notReceived(txn);
  if (flags.qrFile !== undefined) await writeQr(flags.qrFile, request.code);
  const wait = flags.wait ?? (out.forPeople && terminal.stdoutIsTty);
  if (!isFinal(txn.txnState)) showCard(request, wait, context);
  out.change(txn);
  const columns = [...transactionList(context.now()).columns, { title: 'Pay to', value: () => request.text }];
  const view = { columns, quiet: () => request.text, screen: () => [] };
  if (!wait || out.quiet) await out.record(txn, view);
  else if (!out.forPeople) out.say(request.text);
  if (!wait) return;
  const final = await follow(txn, request, flags, context);
  if (!out.quiet) await out.record(final, view);
}

/** While it is waited the time left stands in the live line. */
function showCard(request: PaymentRequest, wait: boolean, { out, now }: Context): void {
  const { amount, how, expiresAt } = request;
  const title = `Receive ${amountWithSats(amount)} ${how}`;
  const expires = wait || expiresAt === undefined ? [] : [{ label: 'Expires', value: relativeTime(expiresAt, now()) }];
  const facts = [...request.facts, ...expires];
  out.screen((canvas) => ['', ...invoiceCard({ ...request, title, facts }, canvas), '']);
}

/** The hosted payment page, where the service names one; that of the embedded sandbox no browser can reach. */
export function pageFact({ sourceReq }: Transaction, { embedded }: Context['settings']): Fact[] {
  if (embedded) return [];
  const page = sourceReq.reqDetails?.['invoicePageUrl'];
  return typeof page === 'string' ? [{ label: 'Page', value: sanitize(page), whole: true }] : [];
}

async function follow(
  txn: Transaction,
  request: PaymentRequest,
  { waitTimeout }: ReceiveFlags,
  context: Context,
): Promise<Transaction> {
  const { live, now, out } = context;
  const service = await context.ownClient();
  const started = now();
  let latest = txn;
  live.start(() => waitingText(latest, request.expiresAt, service.serviceNow()));
  try {
    const final = await waitUntilFinal(
      txn,
      {
        atMostMs: waitTimeout,
        onChange: (next) => {
          latest = next;
          out.change(next);
          live.update();
        },
      },
      { ...context, service },
    );
    if (final.txnState !== 'completed') throw notReceived(final);
    const after = describeDuration(Math.max(now() - started, 0));
    const text = `Received ${amountWithSats(request.amount)}, ${after} after it was asked for`;
    live.succeed(recordLine(text, final.txnId, context.terminal.stderrCanvas));
    return final;
  } finally {
    live.stop();
  }
}

function waitingText(txn: Transaction, expiresAt: number | undefined, now: number): string {
  const isSeen = txn.txnState === 'srccreated' && txn.sourceReq.method === 'on-chain';
  if (isSeen) return 'Seen, waiting to be confirmed';
  const text = isFinal(txn.txnState) ? stateWord(txn) : 'Waiting for the payment';
  return expiresAt === undefined ? text : `${text}   expires in ${formatDuration(Math.max(expiresAt - now, 0))}`;
}

function notReceived({ txnId, txnState }: Transaction): Failure {
  const what = txnState === 'expired' ? 'it expired unpaid' : `it ended as ${txnState}`;
  return new Failure('payment-failed', `Not received: ${what}.`, { next: { do: 'show', id: txnId }, txnId });
}

/** Writes the QR code as the picture that the file's name asks for. Throws Failure `usage` where that cannot be. */
export async function writeQr(file: string, code: string): Promise<void> {
  await writeFile(file, file.toLowerCase().endsWith('.svg') ? qrSvg(code) : qrPng(code)).catch((cause: unknown) => {
    throw new Failure('usage', `The QR code could not be written to ${file}.`, { cause });
  });
}
