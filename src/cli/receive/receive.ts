// Requests a payment over Lightning, on-chain or at a permanent address: shows the card with its QR
// code, and waits for the money. Asks for what the command line does not name.
import { transactionNames } from '../../api/names.js';
import type { Context } from '../context.js';
import { defineCommand, type View } from '../define.js';
import { leftAtOnce, within } from '../process.js';
import { back, type Back } from '../../terminal/ask/questions.js';
import { depositView, invoiceCard, qrPage } from '../../terminal/cards/invoice-card.js';
import { paymentFields, transactionList } from '../../terminal/views/transaction-view.js';
import { readAddress, type PermanentAddress } from './address.js';
import { qrFile, writeQr } from './qr-file.js';
import { phrase, duration, onOff, text, type ValuesOf } from '../values.js';
import type { ServiceClient } from '../../api/client.js';
import type { Transaction } from '../../api/types.js';
import {
  amountWithSats,
  currencyOf,
  formatAmount,
  type Money,
  moneyFromWire,
  parseAmount,
} from '../../formats/amount.js';
import { describeDuration, formatDuration } from '../../formats/calendar.js';
import { Failure } from '../../formats/failure.js';
import { isFinal } from '../../formats/states.js';
import { worthText, type CardDetail } from '../../terminal/cards/card.js';
import { rateText } from '../../terminal/cards/quote-card.js';
import {
  besideSteps,
  recordLine,
  confirmationsText,
  stateWord,
} from '../../terminal/cards/steps.js';
import { nearTime, relativeTime } from '../../terminal/time.js';
import { receiveBody } from '../../wallet/order/orders.js';
import { waitUntilFinal } from '../../wallet/transaction/read.js';
import {
  notReceived,
  readAsked,
  type RequestedAmount,
  requestMoney,
} from '../../wallet/receive/request.js';
import {
  checkedInvoice,
  checkedOnchainRequest,
  invoiceText,
} from '../../wallet/receive/checked.js';
import { rememberIds } from '../tx/resolve-id.js';
import { readWorth, type WorthOf } from '../watch/worth.js';
import { guide } from '../payment/guided.js';
import { miningHint, showSearching } from '../payment/payment-screen.js';
import { reference } from '../payment/payment-options.js';
import { openFullScreen, takeKeys } from '../../terminal/full-screen.js';
import type { Key } from 'node:readline';

const receiveOptions = {
  note: text().optional().describe('a note for yourself; the payer does not see it'),
  ref: reference().optional().describe('your reference; the same reference shows the same request'),
  wait: onOff().describe('wait until the request is paid (the default on a terminal)'),
  waitTimeout: duration().optional().describe('longest wait for the payment'),
  qrFile: qrFile(),
};

type ReceiveFlags = ValuesOf<typeof receiveOptions>;

export interface PaymentRequest {
  /** The method in words, such as `over Lightning` or `on-chain`. */
  readonly how: string;
  /** The name of the text to copy, such as `invoice` or `address`. */
  readonly noun: string;
  readonly amount: Money;
  /** The content of the QR code. */
  readonly code: string;
  /** The invoice or address to copy, which `-q` prints too. */
  readonly text: string;
  readonly details: readonly CardDetail[];
  /** The expiry of the request in epoch ms by the service's clock. */
  readonly expiresAt: number | undefined;
}

type ReceiveMethod = 'lightning' | 'on-chain';

/**
 * Creates and checks a payment request. Asks for the amount if the command line contains no amount.
 * Resolves with `back` if the person goes back from the question for the amount.
 */
async function runReceive(
  method: ReceiveMethod,
  amount: string | undefined,
  flags: ReceiveFlags,
  context: Context,
): Promise<Requested | Back> {
  const run = (text: string): Promise<Requested> => receiveAmount(method, text, flags, context);
  if (amount !== undefined) return run(amount);
  context.ask.demand(['AMOUNT (e.g. 50000sat)']);
  const parse = (text: string): string => {
    parseAmount(text, method === 'lightning' ? currencyOf(text) : 'BTC');
    return text;
  };
  const examples = method === 'lightning' ? '50000sat or 10usd' : '0.01btc';
  const question = {
    message: 'Amount to request',
    example: `e.g. ${examples}`,
    flag: 'AMOUNT',
    parse,
  };
  const flow = {
    ask: async (text: string, before?: string): Promise<string | Back> =>
      text === '' ? context.ask.pose({ ...question, default: before }) : text,
    run,
    changes: [{ name: 'Change the amount', forget: () => '' }],
    paysNobody: true as const,
  };
  return guide('', flow, flags.ref, context);
}

/** A payment request that svcpay has created and checked, and its transaction. */
export interface Requested {
  readonly txn: Transaction;
  readonly request: PaymentRequest;
  readonly flags: ReceiveFlags;
}

async function receiveAmount(
  method: ReceiveMethod,
  text: string,
  flags: ReceiveFlags,
  context: Context,
): Promise<Requested> {
  const { client: service, id: account } = await context.account();
  const now: RequestedAmount =
    method === 'lightning'
      ? await readAsked(text, () => service.rates())
      : { amount: parseAmount(text, 'BTC') };
  const body = { ...receiveBody(method, now.amount), note: flags.note };
  const rates = context.out.forPeople ? readWorth(context) : Promise.resolve(undefined);
  const onRead = (count: number): void => showSearching(count, context);
  const deps = { ...context, service, account, onRead };
  const { txn, amount } = await requestMoney(body, flags.ref, now.worth !== undefined, deps);
  // If the reference belongs to an earlier request, the amount of that request may differ from the
  // amount at the current exchange rate. svcpay then shows the earlier amount without conversion.
  const asked: RequestedAmount = amount.value.eq(now.amount.value) ? now : { amount };
  const request = requestOf(method, txn, asked, service.serviceNow(), context);
  const worth = worthDetails(asked, await within(decorationMs, rates, context));
  if (flags.qrFile !== undefined) await writeQr(flags.qrFile, request.code);
  await rememberIds([txn], context);
  return { txn, request: { ...request, details: [...worth, ...request.details] }, flags };
}

/**
 * The longest wait for the exchange rates after the service has created the payment request, in ms.
 */
const decorationMs = 300;

/**
 * Reads the payment request of a transaction, and checks its address or invoice. Does not check the
 * invoice of a payment request that is already final.
 */
function requestOf(
  method: ReceiveMethod,
  txn: Transaction,
  asked: RequestedAmount,
  now: number,
  context: Context,
): PaymentRequest {
  const { network } = context.settings;
  const { amount } = asked;
  const details = pageDetail(txn, context.settings);
  if (method === 'on-chain') {
    const { address, uri, expiresAt } = checkedOnchainRequest(txn, amount, network, now);
    const uriDetail = { label: 'URI', value: uri, whole: true };
    return {
      how: 'on-chain',
      noun: 'address',
      amount,
      code: uri,
      text: address,
      details: [uriDetail, ...details],
      expiresAt,
    };
  }
  const invoice = isFinal(txn.txnState) ? undefined : checkedInvoice(txn, amount, network, now);
  const code = invoice?.invoice ?? invoiceText(txn);
  return {
    how: 'over Lightning',
    noun: 'invoice',
    amount,
    code,
    text: code,
    details,
    expiresAt: invoice?.expiresAt,
  };
}

/**
 * Returns the line of the card that shows what the requested amount is worth. If the person gave
 * the amount in a currency other than BTC, the line shows that amount and the exchange rate. For an
 * amount given in BTC, the line shows an approximate value if the exchange rates are known.
 */
function worthDetails(
  { amount, worth }: RequestedAmount,
  worthOf: WorthOf | undefined,
): CardDetail[] {
  if (worth === undefined) {
    const roughly = worthText(worthOf?.(amount));
    return roughly === '' ? [] : [{ label: 'Worth', value: roughly }];
  }
  const { given, rate } = worth;
  return [
    {
      label: 'Worth',
      value: formatAmount(given),
      note: `at ${rateText({ base: 'BTC', quote: given.ccy, value: rate })}`,
    },
  ];
}

/** Shows a payment request, and waits for the money if the flags or the terminal ask for it. */
async function showRequest({ txn, request, flags }: Requested, context: Context): Promise<void> {
  const { out, terminal } = context;
  const wait = flags.wait ?? (out.forPeople && terminal.stdoutIsTty);
  if (!isFinal(txn.txnState)) showCard(request, wait, flags.qrFile, context);
  const columns = [
    ...transactionList(context.present()).columns,
    { name: 'payTo', title: 'Pay to', value: () => request.text },
  ];
  const onChange = (next: Transaction): void => out.change(next, columns);
  onChange(txn);
  const view = { columns, fields: transactionNames, quiet: () => request.text, screen: () => [] };
  if (!wait || out.quiet) await out.record(txn, view);
  else if (!out.forPeople) out.say(request.text);
  if (!wait) return;
  const final = await follow(txn, request, flags, onChange, context);
  if (!out.quiet) await out.record(final, view);
}

/**
 * Shows the card of a payment request. The card omits the remaining time if the live line shows the
 * remaining time.
 */
function showCard(
  request: PaymentRequest,
  wait: boolean,
  qrFile: string | undefined,
  context: Context,
): void {
  const { out, now } = context;
  const { amount, how, expiresAt } = request;
  const title = `Receive ${amountWithSats(amount)} ${how}`;
  const expires =
    wait || expiresAt === undefined
      ? []
      : [{ label: 'Expires', value: relativeTime(expiresAt, now()) }];
  const details = [...request.details, ...expires];
  out.screen((canvas) => [
    '',
    ...invoiceCard(
      { ...request, title, details, qrFile, opens: wait && takesKeys(context) },
      canvas,
    ),
  ]);
}

/**
 * Returns the link to the hosted payment page, but not for the embedded sandbox, which no browser
 * can reach.
 */
function pageDetail({ sourceReq }: Transaction, { embedded }: Context['settings']): CardDetail[] {
  if (embedded) return [];
  const page = sourceReq.reqDetails?.['invoicePageUrl'];
  return typeof page === 'string' ? [{ label: 'Page', value: page, whole: true }] : [];
}

async function follow(
  txn: Transaction,
  request: PaymentRequest,
  { waitTimeout }: ReceiveFlags,
  tell: (next: Transaction) => void,
  context: Context,
): Promise<Transaction> {
  const { live, now, terminal } = context;
  const { client: service } = await context.account();
  const started = now();
  let latest = txn;
  const keys = takeWaitKeys(request, context);
  live.start(() => {
    const waiting = waitingText(latest, request.expiresAt, service.serviceNow());
    const beside = besideSteps(waiting, keys.hint(), terminal.stderrCanvas);
    return `${beside}${miningHint(latest, context)}`;
  });
  try {
    const final = await waitUntilFinal(
      txn,
      {
        atMostMs: waitTimeout,
        onChange: (next) => {
          tell(next);
          live.update();
        },
        onRead: (next) => {
          latest = next;
        },
      },
      { ...context, service },
    ).finally(keys.release);
    if (final.txnState !== 'completed') throw notReceived(final);
    const after = describeDuration(Math.max(now() - started, 0));
    const text =
      'Received ' +
      `${amountWithSats(receivedBy(final, request))}, ` +
      `${after} after the request`;
    live.succeed(recordLine(text, final.txnId, context.terminal.stderrCanvas));
    return final;
  } catch (error) {
    throw stopped(error, latest, request, service, context);
  } finally {
    live.stop();
  }
}

/** Returns the settled amount, because a payer can send a different amount to an address. */
const receivedBy = ({ destReq }: Transaction, { amount }: PaymentRequest): Money =>
  moneyFromWire(amount.ccy, destReq.amtSettled) ?? amount;

type ServiceClock = Pick<ServiceClient, 'serviceNow'>;

/**
 * Describes the end of a wait for a payment. A payer can still pay the payment request until the
 * request expires.
 */
function stopped(
  error: unknown,
  txn: Transaction,
  { noun, expiresAt }: PaymentRequest,
  service: ServiceClock,
  { now }: Context,
): unknown {
  if (!(error instanceof Failure) || error.kind !== 'pending') return error;
  const left = expiresAt === undefined ? undefined : expiresAt - service.serviceNow();
  const until = left === undefined ? '' : ` until ${nearTime(now() + left, now())}`;
  const rest = isSeen(txn)
    ? 'The payment was seen and is waiting for confirmations.'
    : `The ${noun} can be paid${until}.`;
  return new Failure('pending', `Stopped waiting. ${rest}`, {
    next: { do: 'watch', id: txn.txnId },
    txnId: txn.txnId,
    cause: error,
  });
}

/** Whether the service has detected a blockchain transfer that pays the payment request. */
const isSeen = ({ txnState, sourceReq }: Transaction): boolean =>
  txnState === 'srccreated' && sourceReq.method === 'on-chain';

function waitingText(txn: Transaction, expiresAt: number | undefined, now: number): string {
  const counted = confirmationsText(txn);
  if (isSeen(txn))
    return counted === undefined
      ? 'Seen, waiting for confirmations'
      : `Seen, ${counted} confirmations`;
  if (isFinal(txn.txnState)) return stateWord(txn);
  const text = 'Waiting for the payment';
  return expiresAt === undefined
    ? text
    : `${text}   expires in ${formatDuration(Math.max(expiresAt - now, 0))}`;
}

const fields = [...paymentFields, 'payTo'];

const requestView: View<Requested> = {
  fields,
  dataOf: ({ txn, request }) => ({ ...txn, payTo: request.text }),
  print: (requested, _parts, context) => showRequest(requested, context),
};

export const receiveLightning = defineCommand({
  changes: true,
  arguments: {
    amount: phrase('AMOUNT').describe(
      'amount to request, e.g. 50000sat, or 10usd at the current rate',
    ),
  },
  options: receiveOptions,
  examples: [
    ['svcpay receive lightning 50000sat', 'shows a QR code and waits for the payment'],
    ['svcpay receive lightning 10usd', 'requests 10 USD worth of bitcoin'],
    ['svcpay receive lightning 50000sat -q', 'prints only the invoice'],
    ['svcpay receive lightning 50000sat --wait --json', 'ends when the invoice is paid'],
  ],
  run: ({ amount, ...flags }, context) => receiveOver('lightning', amount, flags, context),
  view: requestView,
});

export const receiveOnchain = defineCommand({
  changes: true,
  arguments: { amount: phrase('AMOUNT').describe('amount to request, e.g. 0.01btc') },
  options: receiveOptions,
  examples: [
    ['svcpay receive onchain 0.01btc', 'shows a QR code and waits until the payment is confirmed'],
    ['svcpay receive onchain 0.01btc -q', 'prints only the address'],
  ],
  run: ({ amount, ...flags }, context) => receiveOver('on-chain', amount, flags, context),
  view: requestView,
});

async function receiveOver(
  method: ReceiveMethod,
  amount: string | undefined,
  flags: ReceiveFlags,
  context: Context,
): Promise<Requested> {
  const requested = await runReceive(method, amount, flags, context);
  if (requested === back) throw leftAtOnce(context, 'Nothing was requested');
  return requested;
}

type ReceiveChoice = { readonly method: ReceiveMethod } | { readonly address: PermanentAddress };

const ways: readonly {
  readonly name: string;
  readonly value: ReceiveChoice;
  readonly description: string;
}[] = [
  {
    name: 'Over Lightning',
    value: { method: 'lightning' },
    description: 'an invoice, paid in seconds',
  },
  { name: 'On-chain', value: { method: 'on-chain' }, description: 'an address for one payment' },
  { name: 'To my Bitcoin address', value: { address: { ccy: 'btc' } }, description: 'permanent' },
  {
    name: 'USDT on TRON',
    value: { address: { ccy: 'usdt', chain: 'tron' } },
    description: 'permanent',
  },
  {
    name: 'USDT on Ethereum',
    value: { address: { ccy: 'usdt', chain: 'eth' } },
    description: 'permanent',
  },
];

export const receive = defineCommand({
  fields,
  arguments: { amount: phrase('AMOUNT').describe('amount to request') },
  options: receiveOptions,
  examples: [
    ['svcpay receive', 'asks for method and amount; Esc goes back'],
    ['svcpay receive lightning 50000sat', 'requests this amount over Lightning'],
  ],
  async run({ amount, ...flags }, context) {
    if (context.terminal.canPrompt) await context.client();
    context.ask.demand(
      ['lightning, onchain or address'],
      `svcpay receive lightning ${amount ?? '50000sat'}`,
    );
    const choices = amount === undefined ? ways : ways.filter(({ value }) => 'method' in value);
    for (let before: ReceiveChoice | undefined; ;) {
      const choice: ReceiveChoice | Back = await context.ask.pose<ReceiveChoice>({
        message: 'How do you want to be paid?',
        flag: 'METHOD',
        choices,
        default: before,
      });
      if (choice === back) throw leftAtOnce(context, 'Nothing was requested');
      if ('address' in choice) {
        const { answer, deposit } = await readAddress(choice.address, flags.qrFile, context);
        return context.out.record(answer, depositView(deposit));
      }
      const requested = await runReceive(choice.method, amount, flags, context);
      if (requested !== back) return showRequest(requested, context);
      before = choice;
    }
  },
});

interface Shown {
  readonly noun: string;
  readonly code: string;
  readonly text: string;
}

/** Whether the live line accepts keys. */
const takesKeys = ({ terminal, out }: Context): boolean =>
  terminal.canPrompt &&
  terminal.canAnimate &&
  out.forPeople &&
  terminal.stdin.isForeground?.() !== false;

/**
 * Handles the keys while a payment request waits for its payment. `hint` returns a text about the
 * keys, which svcpay shows below the live line, and `release` stops reading the keyboard.
 */
function takeWaitKeys({ noun, code, text }: Shown, context: Context) {
  const { terminal, live, interrupt } = context;
  if (!takesKeys(context)) return { hint: () => '', release: () => undefined };
  const {
    stderr,
    stderrCanvas: { blocks },
    unicode,
  } = terminal;
  let isCopied = false;
  let close: (() => void) | undefined;
  const open = (): void => {
    const resume = live.aside();
    const screen = openFullScreen(terminal, () => qrPage(code, terminal));
    close = () => {
      close = undefined;
      screen.close();
      resume();
    };
  };
  const onKey = ({ name, ctrl, sequence }: Key): void => {
    const leaves = name === 'escape' || sequence === 'q';
    if (ctrl === true && name === 'c') interrupt();
    else if (close !== undefined) close();
    else if (leaves) interrupt();
    else if (name === 'return' && blocks) open();
    else if (sequence === 'c') {
      // OSC 52 copies text to the clipboard, and the terminal sends no response.
      stderr.write(`\u001B]52;c;${Buffer.from(text).toString('base64')}\u0007`);
      isCopied = true;
      live.update();
    }
  };
  const hide = (): (() => void) => {
    close?.();
    return live.aside();
  };
  const releaseKeys = takeKeys(terminal, { onKey, hide });
  const opening = `${unicode ? '⏎' : 'Enter'} QR`;
  return {
    hint: () =>
      [isCopied ? `${noun} copied` : 'c copy', ...(blocks ? [opening] : []), 'esc leave'].join(
        ' · ',
      ),
    release: (): void => {
      close?.();
      releaseKeys();
    },
  };
}
