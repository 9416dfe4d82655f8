// Shows a transaction as a receipt: progress with times, amounts, both sides, fees and notes. A
// receipt is text for the screen, or a self-contained HTML page to print or send.
import { ownReference, entryOf, escapeHtml } from '../../formats/text.js';
import {
  fixed,
  formatAmount,
  fromWire,
  moneyFromWire,
  type Money,
  type WireNumber,
  exchangeRate,
  decimalsOf,
  money,
} from '../../formats/amount.js';
import { formatDuration, ownZone } from '../../formats/calendar.js';
import { clockTime, dateTime, relativeTime } from '../time.js';
import { methodProperties } from '../../formats/rails.js';
import { hasLapsed, isFinal, isRetriable, movedNothing } from '../../formats/states.js';
import type { RequestSide, Transaction } from '../../api/types.js';
import { cardLines, type CardLine } from './card.js';
import { rateText } from './quote-card.js';
import {
  stepStyle,
  stepText,
  stepsOf,
  confirmationsText,
  stateWithReason,
  stateStyle,
} from './steps.js';
import type { Canvas } from '../terminal.js';
import { oneLine, padRight, paragraph, widthOf, sanitize } from '../text.js';
import { sideAmount, transactionKind, transactionList } from '../views/transaction-view.js';
import type { RecordView } from '../rows/view.js';
import { countryName } from '../../formats/country.js';

interface ReceiptOptions {
  /** The current time in epoch ms. */
  readonly now: number;
  /**
   * The time of older data, such as `as of 2026-11-21 14:02:11`, if svcpay could not read the
   * transaction now.
   */
  readonly seen?: string | undefined;
  /** The debited amount, including fees. */
  readonly total?: Money | undefined;
  /**
   * The times of the states in epoch ms, from the journal and the webhook inbox, because the
   * service reports only the first and the last time.
   */
  readonly times?: ReadonlyMap<string, number> | undefined;
  /**
   * Texts that the receipt omits, because the command shows them below the receipt, such as an
   * invoice or an address.
   */
  readonly shownBelow?: readonly string[] | undefined;
  /**
   * Whether the payment was submitted and no outcome is known, although the transaction expired or
   * was cancelled.
   */
  readonly isUnresolved?: boolean | undefined;
  /** The name of the other party, if this home knows the name. */
  readonly party?: string | undefined;
  /** Whether the receipt shows the invoice, the payee's key and the payment hash. */
  readonly isVerbose?: boolean | undefined;
  /** The recorded answer of `tx resolve`, as a sentence. */
  readonly recorded?: string | undefined;
  /** The decoded Lightning invoice. */
  readonly invoice?: InvoiceDetails | undefined;
}

interface InvoiceDetails {
  /** The payment hash in hexadecimal. */
  readonly paymentHash: string;
  readonly payee: string;
  readonly description: string | null;
}

/** The width of the label column in every part of a receipt. */
const labelWidth = 11;

/** Returns the content of a receipt for the screen or for an HTML page. */
const receiptParts = (transaction: Transaction, options: ReceiptOptions) => ({
  title: transactionKind(transaction),
  state: stateWithReason(transaction),
  place: placeOfMoney(transaction, options),
  times: timesOf(transaction, options),
  money: amounts(transaction, options.total),
  details: once([
    ...sideLines('From', transaction.sourceReq, options),
    ...sideLines('To', transaction.destReq, options),
    ...about(transaction, options),
  ]),
});

export function receipt(
  transaction: Transaction,
  options: ReceiptOptions,
  canvas: Canvas,
): string[] {
  const { style } = canvas;
  const { title, state, place, times, money, details } = receiptParts(transaction, options);
  const shown = stateStyle(transaction.txnState, style)(state);
  const [start] = times;
  const dates = [start && dateTime(start.at).slice(0, 10), options.seen];
  const head = [style.bold(title), shown, ...dates.map((date) => date && style.dim(date))];
  const parts = [
    [`  ${head.filter(Boolean).join('   ')}`],
    timeline(transaction, times, options.now, canvas),
    place === undefined ? [] : paragraph(place, canvas),
    cardLines(money, canvas, labelWidth),
    cardLines(details, canvas, labelWidth),
  ];
  return parts
    .filter((lines) => lines.length > 0)
    .flatMap((lines, i) => (i === 0 ? lines : ['', ...lines]));
}

/**
 * Returns the view of a receipt, which a command prints as its result. If the output goes to a
 * pipe, the view shows the transaction as a row of the history.
 */
export function receiptView(options: ReceiptOptions): RecordView<Transaction> {
  const { columns, fields, quiet } = transactionList(options.now);
  return {
    columns,
    fields,
    quiet,
    screen: (canvas, transaction) => receipt(transaction, options, canvas),
  };
}

/** Draws a line for each step of a payment, with the time of the step if known. */
function timeline(
  transaction: Transaction,
  reached: readonly StateTime[],
  now: number,
  canvas: Canvas,
): string[] {
  const [start] = reached;
  const steps = stepsOf(transaction);
  const longest = Math.max(9, ...steps.map(({ word }) => widthOf(word)));
  const sinceText = (at: number): string => {
    if (start !== undefined && at !== start.at) return `after ${formatDuration(at - start.at)}`;
    const since = relativeTime(at, now);
    // The head of the receipt has this date.
    return dateTime(at).startsWith(since) ? '' : since;
  };
  const lines = steps.map((step): CardLine => {
    const at = reached.find(({ state }) => state === step.state)?.at;
    return {
      label: at === undefined ? '' : clockTime(at),
      value: stepText({ ...step, word: padRight(step.word, longest) }),
      note: at === undefined ? '' : sinceText(at),
      style: stepStyle(step),
    };
  });
  return cardLines(lines, canvas, labelWidth);
}

interface StateTime {
  readonly state: string;
  /** The time of the step in epoch ms. */
  readonly at: number;
}

function timesOf(transaction: Transaction, { times = new Map() }: ReceiptOptions): StateTime[] {
  const ends = endsOf(transaction);
  const others = [...times].map(([state, at]) => ({ state, at }));
  return [...ends, ...others.filter(({ state }) => !ends.some((end) => end.state === state))];
}

/**
 * Returns the times of a transaction's first and last step, which are the only times that the
 * service reports.
 */
function endsOf({ createdAt, sourceReq, destReq, txnState }: Transaction): StateTime[] {
  const created = createdAt ?? sourceReq.createAt;
  if (created === undefined || created === null) return [];
  const updated = Math.max(sourceReq.updatedAt ?? 0, destReq.updatedAt ?? 0);
  const last = txnState !== 'quoted' && updated > 0 ? [{ state: txnState, at: updated }] : [];
  return [{ state: 'quoted', at: created }, ...last];
}

function amounts(transaction: Transaction, total: Money | undefined): CardLine[] {
  const { sourceReq, destReq } = transaction;
  const rate = exchangeRate(transaction);
  const fee = (amount: WireNumber | null | undefined): Money | undefined => {
    const paid = moneyFromWire(sourceReq.ccy, amount);
    return paid?.value.eq(0) === true ? undefined : paid;
  };
  const [source, dest] = [sideAmount(sourceReq), sideAmount(destReq)];
  const isSame = source !== undefined && source.ccy === dest?.ccy && source.value.eq(dest.value);
  return [
    ...(isSame
      ? [{ label: 'Amount', value: dest }]
      : [
          { label: 'Source', value: source },
          { label: 'Destination', value: dest },
        ]),
    {
      label: 'Rate',
      value:
        rate && rateText({ base: sourceReq.ccy ?? '?', quote: destReq.ccy ?? '?', value: rate }),
    },
    { label: 'Service fee', value: fee(sourceReq.servicepayFees) },
    { label: 'Network fee', value: fee(sourceReq.networkFees) },
    {
      label: 'Total',
      value: sourceReq.method === 'servicepay' && isPaying(transaction) ? total : undefined,
      total: true,
    },
  ];
}

/**
 * Whether a receipt shows a total. The receipt of a payment that moved no money, or whose outcome
 * is unknown, shows no total.
 */
const isPaying = ({ txnState }: Transaction): boolean =>
  !movedNothing(txnState) && txnState !== 'error';

/**
 * Describes in one sentence where the money of a transaction that has ended is. Returns undefined
 * for a transaction that has not ended, and if the service does not report the method.
 */
function placeOfMoney(
  transaction: Transaction,
  { total, isUnresolved, recorded }: Pick<ReceiptOptions, 'total' | 'isUnresolved' | 'recorded'>,
): string | undefined {
  const { sourceReq, destReq, txnState } = transaction;
  if (!isFinal(txnState) || !sourceReq.method) return undefined;
  const own = (ccy: string | null | undefined): string =>
    ccy ? `your ${ccy} wallet` : 'your wallet';
  const wallet = own(sourceReq.ccy);
  const isOutgoing = sourceReq.method === 'servicepay';
  if (txnState === 'completed') {
    const arrival = `arrived in ${own(destReq.ccy)}.`;
    if (!isOutgoing) return `The money ${arrival}`;
    const isSwap = destReq.method === 'servicepay';
    return `The money left ${wallet}${isSwap ? ` and ${arrival}` : '.'}`;
  }
  if (!isOutgoing) return movedNothing(txnState) ? 'Nothing was received.' : undefined;
  if (recorded !== undefined) return recorded;
  if (isUnresolved === true) return `Whether money left ${wallet} is not known.`;
  if (txnState === 'error') {
    const amount = total === undefined ? 'the money' : formatAmount(total);
    return `The service may hold ${amount}. Ask the service about this id.`;
  }
  if (hasLapsed(txnState)) return 'Nothing was sent.';
  if (!isRetriable(txnState)) return undefined;
  // A slow method, such as an on-chain transfer, debits the wallet when the payment starts
  // (endpoint 7). A quick method, such as Lightning, debits the wallet only when the payment
  // succeeds.
  return methodProperties(destReq.method)?.pace === 'quick'
    ? `Nothing was taken from ${wallet}.`
    : `Returned to ${wallet}.`;
}

const detailLabels: Readonly<Record<string, string>> = {
  paymentRequest: 'Invoice',
  invoice: 'URI',
  address: 'Address',
  lnurlAddress: 'LNURL',
  invoicePageUrl: 'Page',
  acctName: 'Recipient',
  acctNum: 'Account',
  bankAcctNum: 'Account',
  institutionName: 'Institution',
  institutionCode: 'Code',
};

/** Matches a field that the receipt shows in words elsewhere. */
const shownElsewhere = /confirmation|^amount$|^expiredAt$/i;

/** Matches a field with a text that only programs read. */
const code = /^(?:paymentRequest|invoice|invoicePageUrl|lnurlAddress)$/;

/** Returns the details of one side of a transaction as the lines of a card. */
export const sideLines = (
  label: 'From' | 'To',
  { method, ccy, reqDetails }: RequestSide,
  { shownBelow = [], isVerbose = false }: Partial<ReceiptOptions> = {},
): CardLine[] => [
  {
    label,
    value: `${ccy ?? '?'} ${methodProperties(method)?.route ?? `payout · ${method ?? '?'}`}`,
  },
  ...Object.entries(reqDetails ?? {})
    .filter(([key]) => !shownElsewhere.test(key) && (isVerbose || !code.test(key)))
    .flatMap(([key, given]): CardLine[] => {
      const value = typeof given === 'number' ? fixed(fromWire(given)) : given;
      if (typeof value !== 'string' || shownBelow.includes(value)) return [];
      const label = entryOf(detailLabels, key) ?? oneLine(key, 20);
      return [{ label, value, whole: !value.includes(' ') }];
    }),
];

/** Removes details with a repeated value, because a service may report a value under two names. */
const once = (details: readonly CardLine[]): CardLine[] =>
  details.filter(
    ({ value }, i) => value && details.findIndex((each) => each.value === value) === i,
  );

/** Whether a transaction can expire, as quotes and unpaid requests can. */
const canExpire = ({ txnState, sourceReq }: Transaction): boolean =>
  ['quoted', 'srcintent', 'expired'].includes(txnState) ||
  (txnState === 'srccreated' && sourceReq.method === 'lightning');

function about(
  transaction: Transaction,
  { now, invoice, party, isVerbose = false }: ReceiptOptions,
): CardLine[] {
  const { txnId, note, extRefId, sourceReq, destReq } = transaction;
  const isSent = isVerbose && destReq.method === 'lightning';
  const confirmed = confirmationsText(transaction);
  const expires = canExpire(transaction) && sourceReq.expiresAt;
  return [
    { label: 'With', value: party },
    { label: 'For', value: invoice?.description },
    { label: 'Payee', value: isSent ? invoice?.payee : '', whole: true },
    { label: 'Hash', value: isVerbose ? invoice?.paymentHash : '', whole: true },
    { label: 'Confirmed', value: confirmed && `${confirmed} confirmations` },
    { label: 'Expires', value: expires ? relativeTime(expires, now) : '' },
    { label: 'Reference', value: isVerbose ? extRefId : ownReference(extRefId), whole: true },
    { label: 'Note', value: note },
    { label: 'Transaction', value: txnId, whole: true },
  ];
}

const css = `
  body {
    font: 11pt/1.5 system-ui, sans-serif; max-width: 42em; margin: 2em auto; padding: 0 1em;
    color: #111; background: #fff;
  }
  h1 { font-size: 1.5em; margin: 0; }
  h2 { font-size: 1.1em; margin: 2em 0 0; }
  table { border-collapse: collapse; width: 100%; margin: 1.5em 0; }
  th, td {
    text-align: left; vertical-align: top; padding: .2em .8em .2em 0;
    border-bottom: 1px solid #ddd; overflow-wrap: anywhere;
  }
  th { font-weight: normal; color: #555; width: 9em; }
  .total { font-weight: bold; }
  footer { color: #555; font-size: .9em; }
  @media print { body { margin: 0; } }`;

export interface ReceiptPageOptions extends ReceiptOptions {
  /**
   * The approved amounts of both sides or, without an approval, the amounts requested from the
   * service.
   */
  readonly agreed?: readonly Money[];
  readonly arrived?: Money | undefined;
  readonly worth?: ReceiptWorth | undefined;
}

/**
 * The fiat value of a debit or a received amount, at the rate that svcpay stored at the settlement.
 */
interface ReceiptWorth {
  readonly amount: Money;
  readonly fiat: string;
  /** The price in `fiat` of one unit of the amount's currency, as a decimal. */
  readonly rate: string;
  /** The time when svcpay read the rate, in epoch ms. */
  readonly keptAt: number;
}

/** A transaction with the additional data for its receipt. */
interface ReceiptOf {
  readonly transaction: Transaction;
  readonly options: ReceiptPageOptions;
}

export function receiptPage(transaction: Transaction, options: ReceiptPageOptions): string {
  const { heading, parts, place } = sectionOf({ transaction, options });
  return page(heading, [`<h1>${escaped(heading)}</h1>`, ...parts, footer(options, place)]);
}

/**
 * Builds a remittance advice: the totals of all payments to a payee, then the receipts of the
 * payments without the payer's note, cost, rate and fees.
 */
export function remittancePage(
  payee: string,
  amounts: readonly Money[],
  receipts: readonly ReceiptOf[],
): string {
  const sections = receipts.map(({ transaction, options }) =>
    sectionOf({ transaction: payeeSide(transaction), options: { ...options, total: undefined } }),
  );
  const [first] = receipts;
  const heading = `Remittance advice: ${payee}`;
  return page(heading, [
    `<h1>${escaped(heading)}</h1>`,
    table(amounts.map((amount): Row => ['Paid to you', formatAmount(amount), 'total'])),
    ...sections.flatMap((section) => [`<h2>${escaped(section.heading)}</h2>`, ...section.parts]),
    first === undefined ? '' : footer(first.options, undefined),
  ]);
}

function sectionOf({ transaction, options }: ReceiptOf) {
  const {
    title,
    state,
    place,
    times,
    money: amounts,
    details,
  } = receiptParts(transaction, options);
  const words = new Map(
    stepsOf(
      transaction,
      times.map((each) => each.state),
    ).map((step) => [step.state, step.word]),
  );
  const zone = ownZone();
  const states = times
    .toSorted((a, b) => a.at - b.at)
    .map((each): Row => [words.get(each.state) ?? each.state, `${dateTime(each.at)} ${zone}`]);
  return {
    heading: `${title}: ${state}`,
    parts: [
      table([
        ...amounts.map(rowOf),
        ['Approved', options.agreed?.map(formatAmount).join(' for ')],
        ['Arrived', options.arrived && formatAmount(options.arrived)],
        ['Worth', worthOf(options, zone)],
      ]),
      table([...partyRows(transaction), ...details.map(rowOf)]),
      table(states),
    ],
    place,
  };
}

/** Omits the data of a payment that concerns only the payer. */
const payeeSide = ({ note: _note, fxRate: _rate, ...txn }: Transaction): Transaction => {
  const { method, kyc, createAt, updatedAt } = txn.sourceReq;
  return { ...txn, sourceReq: { method, kyc, createAt, updatedAt } };
};

const footer = ({ now }: ReceiptPageOptions, place: string | undefined): string =>
  `<footer>${place === undefined ? '' : `${escaped(place)} `}Times are in ` +
  `${escaped(ownZone())}. The service reported this data on ` +
  `${escaped(dateTime(now))}.</footer>`;

/**
 * Returns a row of the receipt. The label `Account name` distinguishes the name on the account from
 * the legal name.
 */
const rowOf = ({ label, value, total }: CardLine): Row => [
  label === 'Recipient' ? 'Account name' : label,
  typeof value === 'object' && value !== null ? formatAmount(value) : value,
  total === true ? 'total' : '',
];

function worthOf({ worth }: ReceiptPageOptions, zone: string): string | undefined {
  if (worth === undefined) return undefined;
  const { amount, fiat, rate, keptAt } = worth;
  const value = formatAmount(money(fiat, amount.value.times(rate).round(decimalsOf(fiat))));
  return amount.ccy === fiat
    ? value
    : `${value}, 1 ${amount.ccy} = ${rate} ${fiat} on ${dateTime(keptAt)} ${zone}`;
}

/**
 * Returns the legal names and countries of both parties, if known. If the legal name of the
 * account's owner is unknown, the receipt shows the display name of the account instead.
 */
function partyRows({ sourceReq, destReq, accountDisplayName }: Transaction): Row[] {
  const party = ({ kyc, method, reqDetails }: Transaction['sourceReq']): unknown => {
    const { legalFullName, countryCode } = kyc?.details ?? {};
    if (!legalFullName) return method === 'servicepay' ? accountDisplayName : reqDetails?.acctName;
    return legalFullName + (countryCode ? `, ${countryName(countryCode)}` : '');
  };
  return [
    ['Payer', party(sourceReq)],
    ['Recipient', party(destReq)],
  ];
}

const page = (title: string, body: readonly string[]): string =>
  [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">' +
      '<meta name="viewport" content="width=device-width">' +
      `<title>${escaped(title)}</title><style>${css}\n</style></head><body>`,
    ...body,
    '</body></html>',
  ].join('\n');

/** A row of a table, which the table omits if its value is not a text. */
type Row = readonly [label: string, value: unknown, className?: string];

function table(rows: readonly Row[]): string {
  const lines = rows.flatMap(([label, value, className = '']) => {
    if (typeof value !== 'string' || value === '') return [];
    const tr = className === '' ? '<tr>' : `<tr class="${className}">`;
    return [`${tr}<th>${escaped(label)}</th><td>${escaped(value)}</td></tr>`];
  });
  return lines.length === 0 ? '' : `<table>${lines.join('\n')}</table>`;
}

const escaped = (text: string): string => escapeHtml(sanitize(text));
