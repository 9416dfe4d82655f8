// Builds a receipt as an HTML page to print or send, in one self-contained file without scripts.
import type { Transaction } from '../../api/types.js';
import { decimalsOf, formatAmount, money, type Money } from '../../formats/amount.js';
import { ownZone } from '../../formats/calendar.js';
import { countryName } from '../../formats/country.js';
import { escapeHtml } from '../../formats/text.js';
import { sanitize } from '../sanitize.js';
import { dateTime } from '../time.js';
import type { CardDetail, MoneyLine } from './card.js';
import { receiptParts, type ReceiptOptions } from './receipt.js';
import { stepsOf } from './steps.js';

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
export interface ReceiptWorth {
  readonly amount: Money;
  readonly fiat: string;
  /** The price in `fiat` of one unit of the amount's currency, as a decimal. */
  readonly rate: string;
  /** The time when svcpay read the rate, in epoch ms. */
  readonly keptAt: number;
}

/** A transaction with the additional data for its receipt. */
export interface ReceiptOf {
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
      table([...amounts.map(moneyRow), ...agreedRows(options), ...worthRows(options, zone)]),
      table([...partyRows(transaction), ...details.map(detailRow)]),
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
const detailRow = ({ label, value }: CardDetail): Row => [
  label === 'Recipient' ? 'Account name' : label,
  value,
];

function agreedRows({ agreed = [], arrived }: ReceiptPageOptions): Row[] {
  return [
    ...(agreed.length === 0
      ? []
      : [['Approved', agreed.map(formatAmount).join(' for ')] satisfies Row]),
    ...(arrived === undefined ? [] : [['Arrived', formatAmount(arrived)] satisfies Row]),
  ];
}

function worthRows({ worth }: ReceiptPageOptions, zone: string): Row[] {
  if (worth === undefined) return [];
  const { amount, fiat, rate, keptAt } = worth;
  const value = formatAmount(money(fiat, amount.value.times(rate).round(decimalsOf(fiat))));
  const at = `on ${dateTime(keptAt)} ${zone}`;
  const by = amount.ccy === fiat ? '' : `, 1 ${amount.ccy} = ${rate} ${fiat} ${at}`;
  return [['Worth', `${value}${by}`]];
}

/**
 * Returns the legal names and countries of both parties, if known. If the legal name of the
 * account's owner is unknown, the receipt shows the display name of the account instead.
 */
function partyRows({ sourceReq, destReq, accountDisplayName }: Transaction): Row[] {
  const party = (label: string, { kyc, method, reqDetails }: Transaction['sourceReq']): Row[] => {
    const { legalFullName, countryCode } = kyc?.details ?? {};
    if (legalFullName) {
      const country = countryCode ? `, ${countryName(countryCode)}` : '';
      return [[label, `${legalFullName}${country}`]];
    }
    const own = method === 'servicepay' ? accountDisplayName : reqDetails?.acctName;
    return typeof own === 'string' && own !== '' ? [[label, own]] : [];
  };
  return [...party('Payer', sourceReq), ...party('Recipient', destReq)];
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

type Row = readonly [label: string, value: string, className?: string];

const moneyRow = ({ label, amount, note, total }: MoneyLine): Row => [
  label,
  [typeof amount === 'string' ? amount : formatAmount(amount), note ?? ''].join(' ').trim(),
  total === true ? 'total' : '',
];

const table = (rows: readonly Row[]): string =>
  rows.length === 0 ? '' : `<table>${rows.map(tableRow).join('\n')}</table>`;

function tableRow([label, value, className = '']: Row): string {
  const tr = className === '' ? '<tr>' : `<tr class="${className}">`;
  return `${tr}<th>${escaped(label)}</th><td>${escaped(value)}</td></tr>`;
}

const escaped = (text: string): string => escapeHtml(sanitize(text));
