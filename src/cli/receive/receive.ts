// Requests a payment over Lightning, on-chain or at a permanent address: shows the card with its QR
// code, and waits for the money. Asks for what the command line does not name.
import { transactionNames } from '../../api/names.js';
import type { Context } from '../context.js';
import { defineCommand, type View } from '../define.js';
import { within } from '../process.js';
import { type Choice, type Questions, stepFor } from '../../terminal/ask/questions.js';
import {
  depositView,
  invoiceCard,
  qrPage,
  type Deposit,
  depositFields,
} from '../../terminal/cards/invoice-card.js';
import { paymentFields, transactionList } from '../../terminal/views/transaction-view.js';
import { qrFile, writeQr } from './qr-file.js';
import { phrase, duration, onOff, text, type ValuesOf, choice } from '../values.js';
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
import { nearTime, relativeTime } from '../../terminal/time.js';
import { Failure, invalid } from '../../formats/failure.js';
import { isFinal } from '../../formats/states.js';
import { worthText, type CardLine } from '../../terminal/cards/card.js';
import { rateText } from '../../terminal/cards/quote-card.js';
import {
  besideSteps,
  recordLine,
  confirmationsText,
  stateWord,
} from '../../terminal/cards/steps.js';
import { receiveBody } from '../../wallet/order/orders.js';
import { waitUntilFinal } from '../../wallet/transaction/read.js';
import {
  checkedRequest,
  notReceived,
  requestMoney,
  type Payable,
  readDeposit,
  type DepositCcy,
  type DepositChain,
} from '../../wallet/receive/request.js';
import { readAsked, type RequestedAmount } from '../../wallet/quote/quote.js';
import { rememberIds } from '../tx/resolve-id.js';
import { readWorth, type WorthOf, miningHint, showSearching } from '../payment/payment-screen.js';
import { guide } from '../payment/guided.js';
import { reference } from '../payment/payment-options.js';
import { copying, openFullScreen, takeKeys } from '../../terminal/full-screen.js';
import type { Key } from 'node:readline';

const receiveOptions = {
  note: text().optional().describe('a note for yourself; the payer does not see it'),
  ref: reference().optional().describe('your reference; the same reference shows the same request'),
  wait: onOff().describe('wait until the request is paid (the default on a terminal)'),
  waitTimeout: duration().optional().describe('longest wait for the payment'),
  qrFile: qrFile(),
};

type ReceiveFlags = Partial<ValuesOf<typeof receiveOptions>>;

/** The methods of a request, in words, and the name of the text that a payer copies. */
const methods = {
  lightning: { how: 'over Lightning', noun: 'invoice', example: 'e.g. 50000sat or 10usd' },
  'on-chain': { how: 'on-chain', noun: 'address', example: 'e.g. 0.01btc' },
} as const;

type ReceiveMethod = keyof typeof methods;

/** What a person asks for: a payment request with an amount, or a permanent address. */
interface Asked {
  readonly method?: ReceiveMethod | 'address' | undefined;
  readonly amount?: string | undefined;
  readonly ccy?: DepositCcy | undefined;
  readonly chain?: DepositChain | undefined;
  /** The way that the person chose, which determines the other answers. */
  readonly way?: Asked | undefined;
}

const ways: readonly Choice<Asked>[] = [
  {
    name: 'Over Lightning',
    value: { method: 'lightning' },
    description: 'an invoice, paid in seconds',
  },
  { name: 'On-chain', value: { method: 'on-chain' }, description: 'an address for one payment' },
  {
    name: 'To my Bitcoin address',
    value: { method: 'address', ccy: 'btc' },
    description: 'permanent',
  },
  {
    name: 'USDT on TRON',
    value: { method: 'address', ccy: 'usdt', chain: 'tron' },
    description: 'permanent',
  },
  {
    name: 'USDT on Ethereum',
    value: { method: 'address', ccy: 'usdt', chain: 'eth' },
    description: 'permanent',
  },
];

const step = stepFor<Asked>();

const questions: Questions<Asked> = {
  steps: [
    step(
      'way',
      ({ amount }) => ({
        message: 'How do you want to be paid?',
        flag: 'METHOD',
        choices: ways.filter(({ value }) => amount === undefined || value.method !== 'address'),
      }),
      ({ method }) => method === undefined,
      (soFar, way) => ({ ...soFar, ...way, way }),
    ),
    step(
      'amount',
      ({ method }) => ({
        message: 'Amount to request',
        example: methods[method === 'on-chain' ? method : 'lightning'].example,
        flag: 'AMOUNT',
        parse(text) {
          parseAmount(text, method === 'lightning' ? currencyOf(text) : 'BTC');
          return text;
        },
      }),
      ({ method }) => method !== 'address',
    ),
    step(
      'ccy',
      () => ({
        message: 'Which address?',
        flag: 'CCY',
        choices: [
          { value: 'btc', name: 'Bitcoin' },
          { value: 'usdt', name: 'USDT' },
          {
            value: 'lightning',
            name: 'Lightning Address',
            description: 'only for accounts with a Lightning Address',
          },
        ],
      }),
      ({ method }) => method === 'address',
    ),
    // The question has no default, because money sent over the wrong blockchain is lost.
    step(
      'chain',
      () => ({
        message: 'Receive USDT on which chain?',
        flag: '--chain',
        choices: [
          { value: 'tron', name: 'TRON (TRC-20)', description: 'arrives in seconds' },
          { value: 'eth', name: 'Ethereum (ERC-20)', description: 'arrives in about 15 minutes' },
        ],
      }),
      ({ ccy }) => ccy === 'usdt',
    ),
  ],
};

/** Returns the first argument that the command line lacks, as help shows the argument. */
function missingOf({ method, amount, ccy, chain }: Asked): string | undefined {
  if (method === undefined) return 'lightning, onchain or address';
  if (method !== 'address') return amount === undefined ? 'AMOUNT (e.g. 50000sat)' : undefined;
  if (ccy === undefined) return 'btc, usdt or lightning';
  return ccy === 'usdt' && chain === undefined ? '--chain tron|eth' : undefined;
}

/** Requests a payment, or reads a permanent address, and asks for what `start` lacks. */
async function runReceive(
  start: Asked,
  flags: ReceiveFlags,
  context: Context,
): Promise<Requested | CheckedDeposit> {
  const run = (asked: Asked): Promise<Requested | CheckedDeposit> =>
    asked.method === 'address'
      ? readAddress(asked, flags.qrFile, context)
      : createRequest(asked, flags, context);
  const missing = missingOf(start);
  if (missing === undefined) return run(start);
  const { amount = '50000sat' } = start;
  context.ask.demand(
    [missing],
    start.method === undefined ? `svcpay receive lightning ${amount}` : undefined,
  );
  const flow = {
    questions: () => questions,
    run,
    changes: {
      'Change the amount': ['amount'],
      'Choose another way': ['way', 'method', 'ccy', 'chain'],
    },
    paysNobody: true,
  } as const;
  return guide(start, flow, flags.ref, context);
}

/** A payment request that svcpay has created and checked, and its transaction. */
interface Requested extends Payable {
  readonly txn: Transaction;
  readonly method: ReceiveMethod;
  readonly amount: Money;
  readonly details: readonly CardLine[];
  readonly flags: ReceiveFlags;
}

/** Creates and checks a payment request. */
async function createRequest(
  { method, amount: text }: Asked,
  flags: ReceiveFlags,
  context: Context,
): Promise<Requested> {
  if (method === undefined || method === 'address' || text === undefined)
    throw new Error('The payment request lacks its method or its amount.');
  const { client: service, id: account } = await context.account();
  const { embedded, network } = context.settings;
  const now = await readAsked(method, text, () => service.rates());
  const body = { ...receiveBody(method, now.amount), note: flags.note };
  const rates = context.out.forPeople ? readWorth(context) : Promise.resolve(undefined);
  const onRead = (count: number): void => showSearching(count, context);
  const deps = { ...context, service, account, onRead };
  const { txn, amount } = await requestMoney(body, flags.ref, now.worth !== undefined, deps);
  // If the reference belongs to an earlier request, the amount of that request may differ from the
  // amount at the current exchange rate. svcpay then shows the earlier amount without conversion.
  const asked: RequestedAmount = amount.value.eq(now.amount.value) ? now : { amount };
  const payable = checkedRequest(txn, amount, network, service.serviceNow());
  const page = txn.sourceReq.reqDetails?.['invoicePageUrl'];
  const details = [
    worthDetail(asked, await within(decorationMs, rates, context)),
    { label: 'URI', value: method === 'on-chain' ? payable.code : undefined, whole: true },
    // No browser can reach the payment page of the embedded sandbox.
    { label: 'Page', value: embedded || typeof page !== 'string' ? undefined : page, whole: true },
  ];
  if (flags.qrFile !== undefined) await writeQr(flags.qrFile, payable.code);
  if (context.out.forPeople) await rememberIds([txn], context);
  return { ...payable, txn, method, amount, details, flags };
}

/**
 * The longest wait for the exchange rates after the service has created the payment request, in ms.
 */
const decorationMs = 300;

/**
 * Returns the line of the card that shows what the requested amount is worth. If the person gave
 * the amount in a currency other than BTC, the line shows that amount and the exchange rate. For an
 * amount given in BTC, the line shows an approximate value if the exchange rates are known.
 */
const worthDetail = (
  { amount, worth }: RequestedAmount,
  worthOf: WorthOf | undefined,
): CardLine => ({
  label: 'Worth',
  value: worth === undefined ? worthText(worthOf?.(amount)) : formatAmount(worth.given),
  note: worth && `at ${rateText({ base: 'BTC', quote: worth.given.ccy, value: worth.rate })}`,
});

/** Shows a payment request, and waits for the money if the flags or the terminal ask for it. */
async function showRequest(request: Requested, context: Context): Promise<void> {
  const { txn, text, amount, method, expiresAt, flags } = request;
  const { out, terminal, now } = context;
  const wait = flags.wait ?? (out.forPeople && terminal.stdoutIsTty);
  if (!isFinal(txn.txnState)) {
    // The live line shows the remaining time if svcpay waits.
    const expires = wait || expiresAt === undefined ? undefined : relativeTime(expiresAt, now());
    const card = {
      ...request,
      title: `Receive ${amountWithSats(amount)} ${methods[method].how}`,
      details: [...request.details, { label: 'Expires', value: expires }],
      qrFile: flags.qrFile,
      opens: wait && takesKeys(context),
    };
    out.screen((canvas) => ['', ...invoiceCard(card, canvas)]);
  }
  const columns = [
    ...transactionList(context.present()).columns,
    { name: 'payTo', title: 'Pay to', value: () => text },
  ];
  const onChange = (next: Transaction): void => out.change(next, columns);
  onChange(txn);
  const view = { columns, fields: transactionNames, quiet: () => text, screen: () => [] };
  if (!wait || out.quiet) await out.record(txn, view);
  else if (!out.forPeople) out.say(text);
  if (!wait) return;
  const final = await follow(request, onChange, context);
  if (!out.quiet) await out.record(final, view);
}

async function follow(
  request: Requested,
  tell: (next: Transaction) => void,
  context: Context,
): Promise<Transaction> {
  const { live, now, terminal } = context;
  const { client: service } = await context.account();
  const started = now();
  let latest = request.txn;
  const keys = takeWaitKeys(request, context);
  live.start(() => {
    const waiting = waitingText(latest, request.expiresAt, service.serviceNow());
    const beside = besideSteps(waiting, keys.hint(), terminal.stderrCanvas);
    return `${beside}${miningHint(latest, context)}`;
  });
  const watched = {
    atMostMs: request.flags.waitTimeout,
    onChange: (next: Transaction) => {
      tell(next);
      live.update();
    },
    onRead: (next: Transaction) => void (latest = next),
  };
  try {
    const final = await waitUntilFinal(latest, watched, { ...context, service }).finally(
      keys.release,
    );
    if (final.txnState !== 'completed') throw notReceived(final);
    const after = describeDuration(Math.max(now() - started, 0));
    // A payer can send a different amount to an address.
    const settled = moneyFromWire(request.amount.ccy, final.destReq.amtSettled);
    const received = amountWithSats(settled ?? request.amount);
    const text = `Received ${received}, ${after} after the request`;
    live.succeed(recordLine(text, final.txnId, terminal.stderrCanvas));
    return final;
  } catch (error) {
    throw stopped(error, latest, request, service.serviceNow(), now());
  } finally {
    live.stop();
  }
}

/**
 * Describes the end of a wait for a payment. A payer can still pay the payment request until the
 * request expires.
 */
function stopped(
  error: unknown,
  txn: Transaction,
  { method, expiresAt }: Requested,
  serviceNow: number,
  now: number,
): unknown {
  if (!(error instanceof Failure) || error.kind !== 'pending') return error;
  const until =
    expiresAt === undefined ? '' : ` until ${nearTime(now + expiresAt - serviceNow, now)}`;
  const rest = isSeen(txn)
    ? 'The payment was seen and is waiting for confirmations.'
    : `The ${methods[method].noun} can be paid${until}.`;
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

/** The view of a payment request, which waits for the payment, and of a permanent address. */
const receiveView = (fields: readonly string[]): View<Requested | CheckedDeposit> => ({
  fields,
  dataOf: (result) => ('deposit' in result ? result.answer : { ...result.txn, payTo: result.text }),
  print: (result, _parts, context) =>
    'deposit' in result
      ? context.out.record(result.answer, depositView(result.deposit))
      : showRequest(result, context),
});

const requestView = receiveView([...paymentFields, 'payTo']);

export const receive = defineCommand({
  changes: true,
  arguments: { amount: phrase('AMOUNT').describe('amount to request') },
  options: receiveOptions,
  examples: [
    ['svcpay receive', 'asks for method and amount; Esc goes back'],
    ['svcpay receive lightning 50000sat', 'requests this amount over Lightning'],
  ],
  run: ({ amount, ...flags }, context) => runReceive({ amount }, flags, context),
  view: requestView,
});

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
  run: ({ amount, ...flags }, context) =>
    runReceive({ method: 'lightning', amount }, flags, context),
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
  run: ({ amount, ...flags }, context) =>
    runReceive({ method: 'on-chain', amount }, flags, context),
  view: requestView,
});

export const receiveAddress = defineCommand({
  arguments: {
    ccy: choice(['btc', 'usdt', 'lightning'])
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
      throw invalid('--chain works only with usdt. Remove --chain.');
    return runReceive({ method: 'address', ccy, chain }, { qrFile }, context);
  },
  view: receiveView(depositFields),
});

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
function takeWaitKeys({ method, code, text }: Requested, context: Context) {
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
      stderr.write(copying(text));
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
      [
        isCopied ? `${methods[method].noun} copied` : 'c copy',
        ...(blocks ? [opening] : []),
        'esc leave',
      ].join(' · '),
    release: (): void => {
      close?.();
      releaseKeys();
    },
  };
}

interface CheckedDeposit {
  /** The response of the service, which `--json` prints. */
  readonly answer: object;
  readonly deposit: Deposit;
}

/** Reads the address, and writes its QR code to the file `qrFile`. */
async function readAddress(
  { ccy, chain }: Asked,
  qrFile: string | undefined,
  context: Context,
): Promise<CheckedDeposit> {
  if (ccy === undefined) throw new Error('The currency of the deposit address was not chosen.');
  const { client } = await context.account();
  const { answer, deposit } = await readDeposit(ccy, chain, context.settings.network, client);
  if (qrFile !== undefined) await writeQr(qrFile, deposit.code);
  return { answer, deposit: { ...deposit, qrFile } };
}
